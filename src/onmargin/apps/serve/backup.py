"""Backups of a folder while its service runs: one consistent copy of journal, snapshots and witnesses, as a tar file.

The copy is made between two groups: learning waits for it, and predictions continue.
"""

import os
import secrets
import shutil
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.repair import Report, check

if TYPE_CHECKING:
    from onmargin.apps.serve.service import Service

_PREFIX = ".backup-"


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of a service that was killed."""
    for path in folder.glob(f"{_PREFIX}*"):
        shutil.rmtree(path, ignore_errors=True)


async def backup(service: "Service") -> Path:
    """Create a tar file of a folder; the caller removes it together with the folder that contains it."""
    target = service.folder / f"{_PREFIX}{secrets.token_hex(4)}"
    try:
        async with service.turn:
            await service.on_disk(_copy, service, target / "data")
        await service.in_background(_pack, target / "data", target / "backup.tar")
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target / "backup.tar"


def _copy(service: "Service", target: Path) -> None:
    """Copy all files, in the thread of the journal."""
    target.mkdir(0o700, parents=True)
    try:
        service.journal.copy(target / "journal.sqlite")
        for part in ("snapshots", "witness"):
            (target / part).mkdir()
        for model in service.journal.ids():
            for _, file in service.journal.snapshots(model):
                _link(service.snapshots.folder / file, target / "snapshots" / file)
        for path in (service.folder / "witness").iterdir():
            shutil.copy(path, target / "witness" / path.name)
    except OSError as error:
        raise JournalError(f"the backup could not be written: {error.strerror or error}") from error


def _link(source: Path, target: Path) -> None:
    """Link a file into another folder, which is safe because snapshots are never modified."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def _pack(folder: Path, path: Path) -> None:
    with tarfile.open(path, "w") as tar:
        for part in sorted(folder.rglob("*")):
            tar.add(part, part.relative_to(folder).as_posix(), recursive=False)
    shutil.rmtree(folder)


def unpack(path: Path, folder: Path, room: Room) -> Report:
    """Unpack a backup to a new folder, and check its content."""
    if folder.exists() and any(folder.iterdir()):
        raise JournalError(f"{folder} must be a folder that is empty or does not exist")
    folder.mkdir(0o700, parents=True, exist_ok=True)
    try:
        with tarfile.open(path) as tar:
            tar.extractall(folder, filter="data")
    except (OSError, tarfile.TarError) as error:
        raise JournalError(f"{path} is not a whole backup: {error}") from error
    with suppress(OSError):
        folder.chmod(0o700)
    return check(folder, room)
