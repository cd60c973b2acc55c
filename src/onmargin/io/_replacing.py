"""Atomic replacement of a file, once the new content is on disk."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None


def replace_file(path: str | os.PathLike[str], pieces: Iterable[Any]) -> None:
    """Write pieces of bytes to a file atomically: the path always holds the old file or the new one.

    A new file gets its permissions from the umask; a replaced file keeps its permissions. Temporary files left behind
    by killed processes are removed.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    _remove_abandoned(target)
    with _temporary(target) as (handle, temporary):
        if mode is not None:
            os.chmod(temporary, mode)  # before the file has content, so that it is never more readable than the old one
        for piece in pieces:
            view = memoryview(piece)
            view = view.cast("B") if view.nbytes else view[:0]
            while view:
                view = view[os.write(handle, view) :]
        os.fsync(handle)
        os.replace(temporary, target)
    if os.name == "posix":  # a folder cannot be opened on other systems
        _flush(target.parent)


def _mode(path: Path) -> int | None:
    """Return the permissions of the file to be replaced, or None if there is no such file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(f"cannot write {os.fspath(path)!r}: it is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"cannot write {os.fspath(path)!r}: it is a device, a pipe or a socket, which would be replaced")
    return stat.S_IMODE(found.st_mode)


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[int, Path]]:
    """Open a temporary file in the same folder, locked while its process lives. It is removed if anything fails."""
    while True:
        temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(handle)
            if not temporary.exists():  # another process removed it as abandoned before it was locked
                continue
            yield handle, temporary
            return
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of this path whose processes have ended, recognized by their released locks."""
    if fcntl is None:
        return
    for temporary in path.parent.glob(f".{_escaped(path.name)}.{'[0-9a-f]' * 16}.tmp"):
        with suppress(OSError):
            handle = os.open(temporary, os.O_RDWR)
            try:
                _lock(handle)
                temporary.unlink()
            finally:
                os.close(handle)


def _escaped(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _flush(folder: Path) -> None:
    """Wait until the entries of a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
