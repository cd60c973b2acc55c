"""Power cuts and failing system calls: the library of `faults.c`, and the disk contents after the recorded calls."""

import ctypes
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

SECTOR = 512


def preload(folder):
    """Compile the library into a folder and return its path, for LD_PRELOAD; skip the test without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux":
        pytest.skip("system calls are intercepted on Linux only")
    if compiler is None:
        pytest.skip("there is no C compiler to build the library that intercepts system calls")
    library = folder / "faults.so"
    source = Path(__file__).with_name("faults.c")
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    command = [compiler, *options, "-o", library, source, "-ldl"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f"the library that intercepts system calls cannot be built: {built.stderr[-300:]}")
    return library


def run_preloaded(library, module, *arguments):
    """Run a module of the tests with the library, and return its output."""
    run = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


def preloaded():
    """Return the functions of the library, in a process that was started with it."""
    faults = ctypes.CDLL(None)
    faults.faults_watch.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    faults.faults_calls.restype = ctypes.c_long
    return faults


def read_trace(path):
    data = path.read_bytes()
    at, found = 0, []
    while at < len(data):
        kind, length, offset, size = struct.unpack_from("<c7xqqq", data, at)
        at += 32
        name = data[at : at + length].decode()
        found.append((kind.decode(), name, offset, data[at + length : at + length + size]))
        at += length + size
    return found


class Inode:
    """A file: the writes to it, and how many of them were flushed."""

    def __init__(self):
        self.changes, self.flushed = [], 0

    def content(self, keep, random_):
        data = bytearray()
        for k, (kind, offset, whole) in enumerate(self.changes):
            written = whole
            if k >= self.flushed:
                if random_.random() >= keep:
                    continue
                if keep < 1 and kind == "W":  # cut off within a sector of the disk
                    written = whole[: random_.randrange(len(whole) // SECTOR + 1) * SECTOR or len(whole)]
            if kind == "T":
                del data[offset:]
                data.extend(bytes(offset - len(data)))
            else:
                data.extend(bytes(max(0, offset - len(data))))
                data[offset : offset + len(written)] = written
        return data


class Disk:
    """The contents of a disk after the calls of a trace."""

    def __init__(self):
        self.names, self.flushed, self.pending = {}, {}, {}

    def do(self, kind, name, offset, data):
        folder = os.path.dirname(name)
        if kind == "C":
            self.names[name] = Inode()
            self.pending.setdefault(folder, []).append((name, self.names[name]))
        elif kind == "U":
            self.names.pop(name)
            self.pending.setdefault(folder, []).append((name, None))
        elif kind == "R":
            inode = self.names.pop(name)
            self.names[data.decode()] = inode
            self.pending.setdefault(folder, []).append(((name, data.decode()), inode))
        elif kind == "S" and name not in self.names:
            self.flush(self.flushed, self.pending.pop(name, ()))
        elif kind == "S":
            self.names[name].flushed = len(self.names[name].changes)
        else:
            self.names[name].changes.append((kind, offset, data))

    @staticmethod
    def flush(names, changes):
        for name, inode in changes:
            if isinstance(name, tuple):
                names.pop(name[0], None)
                names[name[1]] = inode
            elif inode is None:
                names.pop(name, None)
            else:
                names[name] = inode

    def write(self, base, target, keep, random_):
        """Write the files; `keep` is the fraction of unflushed data that survives."""
        names = dict(self.flushed)
        for changes in self.pending.values():
            n = round(keep * len(changes)) if keep in {0, 1} else random_.randrange(len(changes) + 1)
            self.flush(names, changes[:n])
        for name, inode in names.items():
            (target / os.path.relpath(name, base)).write_bytes(inode.content(keep, random_))
