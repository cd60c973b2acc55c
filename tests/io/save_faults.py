"""Power cuts and I/O errors at every system call by which `onmargin.save` changes a file.

    LD_PRELOAD=faults.so python -m tests.io.save_faults

A model is saved over another one, and as a new file, while each call in turn fails with EIO or ENOSPC, once or from
then on; then the power is cut after each call of a save (see `tests/faults.py`). The path must have the old file or the
new one, whole, and what a failed save leaves behind must be gone, at the latest after the next one.
"""

import errno
import os
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

import onmargin
from onmargin.io.model_file import to_bytes
from tests.faults import Disk, preloaded, read_trace

FAULTS = ((errno.EIO, 0), (errno.ENOSPC, 0), (errno.ENOSPC, 1))


def models():
    random_ = np.random.default_rng(0)
    X, y = random_.normal(size=(40, 300)), np.arange(40) % 3
    first = onmargin.PassiveAggressiveClassifier().partial_fit(X, y)
    return first, onmargin.PassiveAggressiveClassifier().partial_fit(X, y).partial_fit(X[::-1], y)


def check(condition, *what):
    if not condition:
        raise AssertionError(what)


def check_clean(folder, path, model, whole):
    """Save again, and check that no other file is left in the folder."""
    onmargin.save(model, path)
    check(path.read_bytes() == whole, "saved again")
    check(os.listdir(folder) == [path.name], os.listdir(folder))


def errors(faults, folder, old, new):
    """Make every call fail in turn, and return the number of failures."""
    path = folder / "m.safetensors"
    before, after = to_bytes(old), to_bytes(new)
    n = 0
    for at in range(1000):
        reached = 0
        for existing in (before, None):
            for code, sticky in FAULTS:
                path.unlink(missing_ok=True)
                if existing:
                    path.write_bytes(existing)
                faults.faults_watch(os.fsencode(folder), -1, at, code, sticky)
                try:
                    onmargin.save(new, path)
                    raised = None
                except OSError as error:
                    raised = error
                reached += (failed := faults.faults_calls() > at)
                faults.faults_watch(b"", -1, -1, 0, 0)
                found = path.read_bytes() if path.exists() else None
                check(found in {existing, after}, "neither the old file nor the new one", at, code)
                check(failed == (raised is not None), "an unreported error", at, code)
                check(raised is None or raised.errno == code, raised)
                check(raised is not None or found == after, "not saved", at)
                if not sticky:  # which does not let anything be removed
                    check(set(os.listdir(folder)) <= {path.name}, os.listdir(folder))
                check_clean(folder, path, new, after)
        n += reached
        if not reached:
            return n
    return n


def cuts(faults, work, old, new):
    """Cut the power after every call, and return the number of cuts."""
    folder, trace = work / "watched", work / "trace"
    folder.mkdir()
    path = folder / "m.safetensors"
    saved = []  # how many calls there were when a save was done
    with open(trace, "wb") as to:
        faults.faults_watch(os.fsencode(folder), to.fileno(), -1, 0, 0)
        for model in (old, new, old):
            onmargin.save(model, path)
            to.flush()
            saved.append(len(read_trace(trace)))
        faults.faults_watch(b"", -1, -1, 0, 0)
    states = [None, to_bytes(old), to_bytes(new), to_bytes(old)]
    disk, n = Disk(), 0
    for k, record in enumerate(read_trace(trace), 1):
        disk.do(*record)
        done = sum(k >= calls for calls in saved)
        for keep in (0, 1, 0.3, 0.7):
            with tempfile.TemporaryDirectory(dir=work) as name:
                disk.write(str(folder), Path(name), keep, random.Random(k))
                file = Path(name) / path.name
                found = file.read_bytes() if file.exists() else None
                check(found in states[done : done + 2], "cut after call", k, record[:3], "keep", keep)
                check_clean(Path(name), file, new, states[2])
            n += 1
    return n


if __name__ == "__main__":
    faults, (old, new) = preloaded(), models()
    with tempfile.TemporaryDirectory() as name:
        n_errors = errors(faults, Path(tempfile.mkdtemp(dir=name)), old, new)
        n_cuts = cuts(faults, Path(name), old, new)
    sys.stdout.write(f"{n_errors} errors and {n_cuts} cuts, nothing lost\n")
