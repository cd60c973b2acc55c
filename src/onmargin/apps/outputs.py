"""Files that a command would write, looked at before anything is learned or written."""

import os
import stat
import sys
from collections.abc import Callable, Iterable

from onmargin.apps.failure import Failure


def check_output(out: str, inputs: Iterable[str], *, ours: Callable[[str], bool], force: bool) -> None:
    """Refuse an output that is an input, by whatever name, or that would destroy something else.

    A file that is there may be replaced if it is empty, if it is `ours`, or by `force`.
    """
    try:
        found = os.stat(out)
    except FileNotFoundError:
        return
    for path in inputs:
        if _is(path, found):
            raise Failure(f"{out} is an input, {path}: give another file with -o")
    if not stat.S_ISREG(found.st_mode):
        raise Failure(f"{out} is not a regular file: give another one with -o")
    if found.st_size and not force and not ours(out):
        raise Failure(f"{out} is there already: give another file with -o, or --force to replace it")


def _is(path: str, found: os.stat_result) -> bool:
    """Whether a file that is read, or the one behind the standard input, is the one found."""
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path), found)
    except (OSError, ValueError):  # no such file, or a standard input without one
        return False
