"""Snapshots: copies of models on disk, from which a service restarts and new models start."""

import asyncio
import errno
import os
import secrets
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from onmargin.apps.serve.contents import UNFINISHED, snapshot_files
from onmargin.apps.serve.journal import ModelRow, Start
from onmargin.apps.serve.journal_file import FullError
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.problems import DiskError, ProblemError
from onmargin.apps.serve.served_model import ServedModel
from onmargin.apps.serve.state import Snapshot, State
from onmargin.apps.serve.witness import sync_folder
from onmargin.io import load_with_notes

if TYPE_CHECKING:
    from onmargin.apps.serve.service import Service

T = TypeVar("T")


def _rehearse(path: Path, later: Path, kept: ModelRow, room: Room) -> None:
    """Refuse a snapshot that cannot be loaded again and learn, or that leads to a `later` one that cannot be loaded."""
    try:
        state = Snapshot.read(*load_with_notes(path), room).state
        state.rehearse()
        state.save(later, kept)
        Snapshot.read(*load_with_notes(later), room)
    except OSError:  # of the disk
        raise
    except Exception as error:
        raise ProblemError(f"the model cannot be used once it is loaded from a file: {error!r:.200}", 422) from error
    finally:
        later.unlink(missing_ok=True)


class Snapshots:
    """The folder of snapshots of a service, and the thread that writes them."""

    def __init__(self, service: "Service", folder: Path) -> None:
        self._service = service
        self.folder = folder
        self._background = ThreadPoolExecutor(1, "snapshots")

    def close(self) -> None:
        self._background.shutdown()

    def begin(self, model: ServedModel) -> None:
        """Take a snapshot while learning continues."""
        model.saved = model.state.seq
        self._service.spawn(self._take_or_count(model))

    async def _take_or_count(self, model: ServedModel) -> None:
        """Take a snapshot, and count a failure; the next one is due at the usual time, to spare a full disk."""
        try:
            await self.take(model, compact=False)
        except Exception:
            self._service.metrics.failed_snapshots += 1

    async def take(self, model: ServedModel, *, compact: bool) -> None:
        """Write a snapshot of a model.

        One snapshot per model is written at a time: when it is listed, all unlisted snapshots are removed.
        """
        async with self._service.turn:
            self._service.check_writable()
            copy, kept = deepcopy(model.state), model.kept
        async with model.writing:
            await self._take(model, copy, kept, compact=compact)

    async def do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run a function in the thread that writes snapshots."""
        return await asyncio.get_running_loop().run_in_executor(self._background, lambda: work(*arguments))

    async def write(self, copy: State, path: Path, kept: ModelRow, *, rehearse: bool = False) -> None:
        """Write a state in the background; with `rehearse`, refuse one that cannot be loaded again and learn."""
        try:
            await self.do(copy.save, path, kept)
            if rehearse:
                await self.do(_rehearse, path, self.temporary(), kept, self._service.settings.room)
        except OSError as error:
            full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
            words = f"the snapshot could not be written, and nothing has changed: {error.strerror or error}"
            raise (FullError if full else DiskError)(words) from error

    async def _take(self, model: ServedModel, copy: State, kept: ModelRow, *, compact: bool) -> None:
        service, journal = self._service, self._service.journal
        file = f"{model.id}-{copy.seq}-{secrets.token_hex(4)}.safetensors"
        # Nothing but the snapshot will have the examples that are removed.
        try:
            await self.write(copy, self.folder / file, kept, rehearse=compact or service.settings.compact)
        except ProblemError:
            await service.on_disk(self.remove, [file])
            raise
        async with service.turn:
            if model.deleted or model.kept.rewinds != kept.rewinds:
                await service.on_disk(self.remove, [file])
                return
            before = [seq for seq, _ in await service.on_disk(journal.snapshots, model.id) if seq < copy.seq]
            end = copy.seq if compact else max(before, default=0) if service.settings.compact else 0
            try:
                model.kept = await service.on_disk(
                    journal.add_snapshot,
                    model.kept,
                    copy.seq,
                    file,
                    compact=end,
                    keys=model.n_keys,
                    keys_from=model.keys_from,
                )
            except FullError:  # the snapshot is certainly not listed, and takes up space
                await service.on_disk(self.remove, [file])
                raise
            await service.on_disk(self.remove_unlisted, model.id)

    def temporary(self) -> Path:
        """Return the path of a temporary file, which is removed at the next start if it still exists."""
        return self.folder / f"0-0-{secrets.token_hex(4)}.safetensors.{secrets.token_hex(4)}.tmp"

    def begin_model(self, kept: ModelRow, state: State, path: Path) -> ModelRow:
        """Create a model from a state that is written at a path, in one transaction."""

        placed: list[str] = []

        def place(number: int) -> str:
            file = f"{number}-{state.seq}-{secrets.token_hex(4)}.safetensors"
            os.replace(path, self.folder / file)
            placed.append(file)
            sync_folder(self.folder)
            return file

        start = Start(state.seq, state.chain)
        try:
            return self._service.journal.create(kept.name, kept.task, kept.parameters, start, place)
        except Exception as error:
            if isinstance(error, FullError) or not isinstance(error, DiskError):  # certainly nothing was committed
                self.remove(placed)
            raise

    def remove_unlisted(self, model: int) -> None:
        """Remove the snapshots of a model that the journal no longer lists."""
        listed = {name for _, name in self._service.journal.snapshots(model)}
        self.remove({path.name for path in snapshot_files(self.folder).get(model, ())} - listed)

    def remove_all(self, model: int) -> None:
        """Remove the snapshots of a deleted model."""
        self.remove(path.name for path in snapshot_files(self.folder).get(model, ()))

    def remove_unfinished(self) -> None:
        self.remove(path.name for path in self.folder.iterdir() if UNFINISHED.fullmatch(path.name))

    def remove(self, files: Iterable[str]) -> None:
        for file in files:
            with suppress(OSError):  # remaining files are removed with the next snapshot
                (self.folder / file).unlink()
