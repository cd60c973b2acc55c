"""Build backend: meson-python with a build directory that is kept, so that the next build compiles only what changed.

meson-python builds in a temporary directory unless it is given one. Here a build without settings, such as that of
`pip install .`, gets .build-VERSION. A second build at the same time gets a temporary directory as before.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mesonpy
from mesonpy import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # not on Windows: nothing is kept there
    flock = None  # type: ignore[assignment]

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel in a directory, and return its name."""
    with _kept_directory(config_settings) as settings:
        name: str = mesonpy.build_wheel(wheel_directory, settings, metadata_directory)
    return name


@contextmanager
def _kept_directory(settings: dict[str, Any] | None) -> Iterator[dict[str, Any] | None]:
    """Add the build directory that is kept, unless there are other settings or another build uses it."""
    if settings or flock is None:
        yield settings
        return
    # It has the depth of a temporary directory, so that ccache sees the same relative paths in both.
    kept = Path(f".build-{sys.implementation.cache_tag}").absolute()
    with open(f"{kept}.lock", "a+") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except OSError:
            yield settings
            return
        # Meson cannot use a directory whose sources were moved.
        lock.seek(0)
        if lock.read() != str(kept):
            shutil.rmtree(kept, ignore_errors=True)
            lock.truncate(0)
            lock.write(str(kept))
            lock.flush()
        yield {"build-dir": str(kept)}
