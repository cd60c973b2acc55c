"""The service: models by name, one journal, and one writer that learns all waiting requests."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.backup import remove_abandoned
from onmargin.apps.serve.certified import check_certifiable, spawn_certificate
from onmargin.apps.serve.contents import Found, open_to_read, read_folder
from onmargin.apps.serve.costs import LONGEST_NGRAM
from onmargin.apps.serve.held import HeldLimits
from onmargin.apps.serve.journal import Entry, Journal, ModelRow
from onmargin.apps.serve.journal_file import FullError, JournalError
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.metrics import Metrics
from onmargin.apps.serve.problems import BusyError, ConflictError, DiskError, NoModelError, ProblemError
from onmargin.apps.serve.restoring import ADVICE, COVERAGE, Described, restore
from onmargin.apps.serve.served_model import ServedModel
from onmargin.apps.serve.slices import Turn
from onmargin.apps.serve.snapshots import Snapshots
from onmargin.apps.serve.state import State
from onmargin.apps.serve.writer import Writer

T = TypeVar("T")
_CERTIFIED = 2**27  # maximum bytes of examples for a certificate


@dataclass(frozen=True)
class Settings:
    """Limits of a service, and the interval of its snapshots."""

    room: Room = field(default_factory=Room)
    models: int = 100
    waiting: int = 8192  # examples
    group: int = 1024  # examples written at once
    computing: float = 5.0  # seconds to check the examples of a request
    snapshot_every: int = 50_000  # examples
    compact: bool = False
    held: HeldLimits = field(default_factory=HeldLimits)


def _read(reader: Journal, room: Room) -> list[Found]:
    """Return the models of a folder; the journal stays open."""
    try:
        reader.inspect()
        return read_folder(reader, room)
    except BaseException:
        reader.close()
        raise


def _writer(folder: Path, reader: Journal | None) -> tuple[Journal, str | None]:
    """Return the writable journal, or the read-only one with the reason why nothing can be written."""
    path = folder / "journal.sqlite"
    if reader is not None and not reader.sound:
        return reader, "the journal is damaged, and nothing more is learned"
    if reader is not None:
        reader.close()
    return Journal(path), None


class Service:
    """Models with a journal in a folder; created by `Service.open`, ended by `close`."""

    def __init__(self, folder: Path, journal: Journal, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.metrics = Metrics()
        self.problem: str | None = None  # reason why nothing is learned, shown to all clients
        self.detail = ""  # details of the reason, shown to clients with a token
        self.models: dict[str, ServedModel] = {}
        self.damaged: dict[str, str] = {}  # models that are not served, and why
        self.journal = journal
        self.snapshots = Snapshots(self, folder / "snapshots")
        self.turn = Turn()  # held by whoever writes or replaces models
        self.followers: list[Follower] = []
        self._writer = Writer(self)
        self._syncing: asyncio.TimerHandle | None = None
        self._disk = ThreadPoolExecutor(1, "journal")
        self._certifying = asyncio.Lock()
        self._certified: ServedModel | None = None  # model of the last certificate, which several clients may wait for
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False

    @classmethod
    def open(cls, folder: Path, settings: Settings) -> "Service":
        """Open the service of a folder. Damaged models are not served; if there are no others, it is an error."""
        folder.mkdir(0o700, parents=True, exist_ok=True)  # examples are private
        for name in ("snapshots", "witness"):
            (folder / name).mkdir(exist_ok=True)
        reader = open_to_read(folder)
        found = [] if reader is None else _read(reader, settings.room)
        good = [one for one in found if one.problem is None]
        damaged = {one.name: f"model {one.name!r}: {one.problem}" for one in found if one.problem and not one.gone}
        sound = reader is None or reader.sound
        if reader is not None and not good and (damaged or not sound):
            reader.close()
            raise JournalError("\n".join(damaged.values()) or f"{reader.path} is damaged: restore it from a copy")
        journal, problem = _writer(folder, reader)
        service = cls(folder, journal, settings)
        service.problem, service.detail = problem, f"{journal.path} is damaged. {ADVICE}"
        service.damaged = damaged
        try:
            for one in good:
                service._take(one)
            if problem is None:
                remove_abandoned(folder)
                for one in found:
                    if one.gone:
                        service.snapshots.remove_all(one.id)
                        journal.unwatch(one.id)
                service.snapshots.remove_unfinished()
        except BaseException:
            journal.close()
            raise
        return service

    def _take(self, one: Found) -> None:
        """Serve a model found in the folder."""
        if one.kept is None or one.state is None:
            return
        model = ServedModel(one.kept, one.state, one.n_keys, one.keys)
        model.saved = max((seq for seq, _ in self.journal.snapshots(one.id)), default=0)
        model.n_held = self.journal.held.last(one.id)
        model.n_kept = self.journal.held.size(one.id)[0]
        self.models[one.name] = model
        if self.problem is None:
            try:
                self.journal.watch(one.kept, one.state.seq, one.state.chain)
            except DiskError as error:
                self.fail(error)

    def start(self) -> None:
        """Start learning posted examples."""
        self._writer.start()

    async def close(self) -> None:
        """Learn and answer all waiting requests, and accept no more."""
        self._closing = True
        await self._writer.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.snapshots.close()
        self._disk.shutdown()
        self.journal.close()

    # Shared by the parts of a service

    def sync_later(self) -> None:
        """Flush the witnesses to disk within a second."""

        def sync() -> None:
            self._syncing = None
            if not self._closing:
                self.spawn(self._sync())

        if self._syncing is None:
            self._syncing = asyncio.get_running_loop().call_later(1.0, sync)

    async def _sync(self) -> None:
        try:
            await self.on_disk(self.journal.sync)
        except DiskError as error:
            self.fail(error)

    def fail(self, error: DiskError) -> None:
        """End learning because the disk has failed."""
        # It is not known what a failing disk has stored: SQLite finds out when the journal is opened again.
        self.end_learning("the journal cannot be written since it failed: restart the service", str(error))

    def end_learning(self, problem: str, detail: str) -> None:
        """End learning, and store the reason."""
        self.problem, self.detail = problem, detail
        self._writer.refuse_all(DiskError(f"{problem}. {detail}"))

    async def on_disk(self, work: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Run a function in the thread of the journal."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._disk, lambda: work(*arguments, **options))
        except JournalError as error:
            raise DiskError(str(error)) from error

    async def _of_model(self, model: ServedModel, work: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Read the journal of a model; errors about damage name the model."""
        try:
            return await self.on_disk(work, *arguments, **options)
        except DiskError as error:
            raise DiskError(f"model {model.name!r}: {error}") from error

    async def in_background(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run a function in the thread that writes snapshots."""
        return await self.snapshots.do(work, *arguments)

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task that `close` waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def to_the_end(self, change: Coroutine[Any, Any, T]) -> T:
        """Finish a change even if the client is gone, since a partial one would leave memory and disk inconsistent."""
        return await asyncio.shield(self.spawn(change))

    def check_writable(self) -> None:
        if self.problem is not None or self._closing:
            words = f"{self.problem}. {self.detail}" if self.problem else "the service is shutting down"
            raise DiskError(words, 503)

    def learned(self, entry: Entry) -> None:
        """Notify the followers of learned examples, before they are acknowledged."""
        for follower in self.followers:
            follower.learned(entry)

    def _changed(self, model: ServedModel) -> None:
        """Notify the followers that a model has changed."""
        for follower in self.followers:
            follower.changed(model)

    # Models

    def get(self, name: str) -> ServedModel:
        try:
            return self.models[name]
        except KeyError:
            raise self.absence(name) from None

    def absence(self, name: str) -> ProblemError:
        """Return the reason why a model is not served, or is no longer the one of its name."""
        if name in self.models:
            return BusyError(f"model {name!r} was replaced: try again")
        if name in self.damaged:
            return DiskError(self.damaged[name])
        return NoModelError(f"there is no model {name!r:.80}; {self._names()}")

    def damage(self, model: ServedModel, error: Exception) -> None:
        """Stop serving a model that raised an error while it learned; the others continue."""
        words = (
            f"model {model.name!r}: learning failed: {error!r:.200}. Its examples are in the journal, and a restart of "
            "the service learns them again"
        )
        self.damaged[model.name] = words
        model.deleted = True
        del self.models[model.name]
        self._changed(model)
        click.echo(f"warning: {words}", err=True)

    def _names(self) -> str:
        """Return a text with the names of all models."""
        names = sorted(self.models)
        shown = " and ".join([", ".join(names[:-1]), names[-1]]) if 1 < len(names) <= 10 else ", ".join(names[:10])
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return f"there {'is' if len(names) == 1 else 'are'} {shown or 'none yet: POST /v1/models creates one'}{more}"

    @property
    def waiting(self) -> int:
        return self._writer.n_waiting

    async def learn(self, name: str, request: schema.Learn) -> schema.Learned:
        """Queue examples for learning; return once they are on disk and learned."""
        return await self._writer.learn(self.get(name), request)

    async def keep(self, model: ServedModel, xs: list[Any], predictions: list[Any]) -> list[str]:
        """Keep predictions for labels that arrive later; return their ids once they are on disk."""
        return await self._writer.keep(model, xs, predictions)

    def _check_new(self, name: str) -> None:
        """Refuse a name that is taken, or a model beyond the limit."""
        self.check_writable()
        if name in self.models or name in self.damaged:
            raise ConflictError(f"there is a model {name!r} already")
        if len(self.models) >= self.settings.models:
            raise ConflictError(f"there are {len(self.models)} models, and more are not allowed here: delete one")

    async def create(self, request: schema.Create) -> schema.ModelDescription:
        """Create an untrained model."""
        room = self.settings.room
        learner = JsonLearner.begin(request.model, request.task, request.parameters, room)
        check_ngrams(learner)
        if request.coverage is not None and learner.task not in {"classify", "regress"}:
            raise ProblemError(f"coverage is for the tasks 'classify' and 'regress', not {learner.task!r}", 422)
        named: dict[str, Any] = {"model": type(learner.model).__name__}  # stored in the journal with the parameters
        if request.coverage is not None:
            named[COVERAGE] = request.coverage
        parameters = msgspec.json.encode(request.parameters | named)
        async with self.turn:
            self._check_new(request.name)
            kept = await self.on_disk(self.journal.create, request.name, learner.task, parameters)
            state = Described(named["model"], learner.task, request.parameters, request.coverage).begin(room)
            model = self._serve(kept, state)
        return model.describe()

    def _serve(self, kept: ModelRow, state: State) -> ServedModel:
        model = self.models[kept.name] = ServedModel(kept, state)
        self._changed(model)
        return model

    async def clone(self, name: str, new: str) -> schema.ModelDescription:
        """Copy the current state of a model. The journal of the copy begins with a snapshot."""
        async with self.turn:
            model = self.get(name)
            self._check_new(new)
            copy, kept = deepcopy(model.state), model.kept
            if copy.seq == 0:
                made = await self.on_disk(self.journal.create, new, kept.task, kept.parameters)
                return self._serve(made, copy).describe()
        return await self.create_from(ModelRow(0, new, kept.task, kept.parameters), copy)

    async def create_from(self, kept: ModelRow, state: State) -> schema.ModelDescription:
        """Create a model from a state: a snapshot of it, and an empty journal."""
        path = self.snapshots.temporary()
        try:
            await self.snapshots.write(state, path, kept, rehearse=True)
            async with self.turn:
                self._check_new(kept.name)
                try:
                    made = await self.on_disk(self.snapshots.begin_model, kept, state, path)
                except FullError:
                    raise
                except DiskError as error:  # the next start finds out whether the model exists
                    self.fail(error)
                    raise
                return self._serve(made, state).describe()
        finally:
            path.unlink(missing_ok=True)

    async def copy(self, name: str) -> tuple[Path, int]:
        """Write a model to a temporary file, which the caller removes; return it and the number of its last example."""
        async with self.turn:
            model = self.get(name)
            copy, kept = deepcopy(model.state), model.kept
        if not copy.learner.begun:
            raise ConflictError(f"model {name!r} has learned nothing yet")
        path = self.snapshots.temporary()
        await self.snapshots.write(copy, path, kept)
        return path, copy.seq

    async def rename(self, name: str, request: schema.Rename) -> schema.ModelDescription:
        """Rename a model; requests find either the model that it replaces or the new one."""
        async with self.turn:
            model, new = self.get(name), request.name
            self.check_writable()
            old = self.models.get(new) if request.replace and new != name else None
            if old is None and (new in self.models or new in self.damaged):
                raise ConflictError(f'there is a model {new!r} already: send "replace": true to replace it')
            model.kept = await self.on_disk(self.journal.rename, model.kept, new, None if old is None else old.id)
            if old is not None:
                old.deleted = True
                self._changed(old)
            self.models = {one.name: one for one in self.models.values() if one is not old}
            self._changed(model)
            if old is not None:
                await self._remove_files(old)
        return model.describe()

    async def _remove_files(self, model: ServedModel) -> None:
        """Remove the snapshots and the witness of a deleted model."""
        await self.on_disk(self.snapshots.remove_unlisted, model.id)
        await self.on_disk(self.journal.unwatch, model.id)

    async def delete(self, name: str) -> None:
        """Delete a model, its examples and its snapshots."""
        async with self.turn:
            model = self.get(name)
            self.check_writable()
            await self.on_disk(self.journal.delete, model.id)
            model.deleted = True
            del self.models[name]
            self._changed(model)
            await self._remove_files(model)

    async def rewind(self, name: str, request: schema.Rewind) -> schema.ModelDescription:
        """Return a model to its state after some number of examples; later examples are removed."""
        async with self.turn:
            model = self.get(name)
            self.check_writable()
            seq = await self._seq_of(model, request)
            if not model.earliest <= seq <= model.state.seq:
                raise ConflictError(
                    f"model {name!r} can be rewound to {model.earliest} up to {model.state.seq}; got {seq}"
                )
            state = await self._of_model(
                model, restore, self.journal, model.kept, self.snapshots.folder, self.settings.room, until=seq
            )
            keys = model.keys_until(seq)
            n_keys = model.n_keys - (len(model.keys) - len(keys))
            model.kept = await self.on_disk(
                self.journal.rewind, model.kept, seq, state.chain, n_keys, n_keys - len(keys) + 1
            )
            model.state, model.keys, model.n_keys = state, keys, n_keys
            model.saved = min(model.saved, seq)
            self._changed(model)
            await self.on_disk(self.snapshots.remove_unlisted, model.id)
        return model.describe()

    async def _seq_of(self, model: ServedModel, request: schema.Rewind) -> int:
        """Return the number to rewind to: the given one, or that of the last example at the given time."""
        if (request.seq is None) == (request.time is None):
            raise ProblemError(f"give either seq or time. Send a body like {request.shape}", 422)
        if request.time is None:
            return request.seq or 0
        seq = await self._of_model(model, self.journal.at, model.id, request.time.timestamp())
        if seq is None and model.earliest > 0:
            words = f"the journal of {model.name!r} begins after {model.earliest} examples, all of them later than "
            raise ConflictError(f"{words}{request.time.isoformat()}: it was compacted")
        return seq or 0

    async def compact(self, name: str) -> schema.ModelDescription:
        """Replace the examples learned so far with a snapshot."""
        model = self.get(name)
        await self.snapshots.take(model, compact=True)
        return model.describe()

    async def export(self, model: ServedModel) -> AsyncGenerator[bytes, None]:
        """Yield the journal of a model as lines of JSON."""
        seq, chain = model.earliest, None if model.earliest else 0
        last, rewinds = model.state.seq, model.kept.rewinds
        while rows := await self._of_model(model, self.journal.rows, model.id, seq, chain):
            yield b"".join(b'{"seq":%d,"at":%.3f,%b\n' % (row.seq, row.at, row.body[1:]) for row in rows)
            seq, chain = rows[-1].seq, rows[-1].chain
            if model.earliest > seq:  # the model was compacted in the meantime
                seq, chain = model.earliest, None
        if seq < last and model.kept.rewinds == rewinds and not model.deleted:
            raise DiskError(f"the journal of {model.name!r} is damaged: example {seq + 1} is missing. {ADVICE}")

    def _bodies(self, model: ServedModel, seq: int) -> list[bytes]:
        """Return the examples to certify, all in memory."""
        if self.journal.size(model.id) > _CERTIFIED:
            raise ConflictError(f"the examples of {model.name!r} have more than {_CERTIFIED >> 20} MB together")
        bodies = [row.body for row in self.journal.all_rows(model.id, 0, 0, seq)]
        if len(bodies) < seq:
            raise ConflictError(f"model {model.name!r} was rewound meanwhile")
        return bodies

    async def certificate(self, model: ServedModel, most: int) -> schema.Certificate:
        """Return a certificate for a model, if the journal has all its examples and they are not too many."""
        seq, chain = model.state.seq, model.state.chain
        if model.earliest > 0:
            raise ConflictError(
                f"the journal of {model.name!r} begins after {model.earliest} examples: it was compacted, cloned or "
                "uploaded"
            )
        if seq > most:
            raise ConflictError(f"model {model.name!r} has {seq} examples; up to {most} are certified here")
        if seq == 0:
            raise ConflictError("nothing was learned yet: there is nothing to certify")
        check_certifiable(model.state.learner)
        if self._certifying.locked() and self._certified is not model:
            raise BusyError("another certificate is being made: try again later", 5)
        async with self._certifying:
            self._certified = model
            if model.certified is None or model.certified[0] != (seq, chain):
                bodies = await self._of_model(model, self._bodies, model, seq)
                model.certified = (seq, chain), await spawn_certificate(model.kept, bodies)
            return model.certified[1]


class Follower:
    """Observer of the changes of the models of a service: see `readers`."""

    def learned(self, entry: Entry) -> None:
        """Examples were learned."""

    def changed(self, model: ServedModel) -> None:
        """A model was created, renamed, rewound or deleted."""


def check_ngrams(learner: JsonLearner) -> None:
    """Refuse n-grams that are too long."""
    longest = max(learner.reading.ngrams)
    if longest > LONGEST_NGRAM:
        raise ProblemError(f"ngrams have at most {LONGEST_NGRAM} words here; got {longest}", 422)
