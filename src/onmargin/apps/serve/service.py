"""The service: models by name, one journal, and one writer that learns all that waits in groups.

All models are touched by one thread, that of the event loop. A second one writes the journal, and a third snapshots:
predictions go on while they wait for the disk. A group is checked, written, learned and answered, in this order:

    check every example against the models as they are      refuse what cannot be learned
    journal.append(group)                                   one transaction
    learn in order of sequence numbers                      each predicted before
    answer
"""

import asyncio
import errno
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.certified import certify_beside
from onmargin.apps.serve.contents import UNFINISHED, Found, open_to_read, read_folder, snapshot_files
from onmargin.apps.serve.costs import LONGEST_NGRAM
from onmargin.apps.serve.journal import Entry, FullError, Journal, JournalError, Kept, chained
from onmargin.apps.serve.json_learner import JsonLearner, NotYetError, Room
from onmargin.apps.serve.metrics import Metrics
from onmargin.apps.serve.problems import BusyError, ConflictError, DiskError, NoModelError, ProblemError
from onmargin.apps.serve.served_model import ADVICE, ServedModel, State, encode, restore
from onmargin.apps.serve.slices import SECONDS, in_slices

T = TypeVar("T")
_CERTIFIED = 2**27  # bytes of examples


@dataclass(frozen=True)
class Settings:
    """What bounds a service, and when it takes snapshots."""

    room: Room = field(default_factory=Room)
    models: int = 100
    waiting: int = 8192  # examples
    group: int = 1024  # examples written at once
    computing: float = 5.0  # seconds to check the examples of a request
    snapshot_every: int = 50_000  # examples
    compact: bool = False


def _read(reader: Journal, room: Room) -> list[Found]:
    """Return the models of a folder; the reader stays open."""
    try:
        reader.inspect()
        return read_folder(reader, room)
    except BaseException:
        reader.close()
        raise


def _writer(folder: Path, reader: Journal | None) -> tuple[Journal, str | None]:
    """Return the journal to write to, or the one to read with the reason why nothing can be written."""
    path = folder / "journal.sqlite"
    if reader is not None and not reader.sound:
        return reader, "the journal is damaged, and nothing more is learned"
    if reader is not None:
        reader.close()
    return Journal(path), None


@dataclass
class _Pending:
    """A request that waits to be learned."""

    model: ServedModel
    examples: list[schema.Example]
    key: str | None
    answer: asyncio.Future[schema.Learned]


class Service:
    """Models that learn from a journal in a folder; made by `Service.open`, ended by `close`."""

    def __init__(self, folder: Path, journal: Journal, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.problem: str | None = None  # why nothing is learned, for everybody
        self.detail = ""  # the same for those with a token
        self.models: dict[str, ServedModel] = {}
        self.damaged: dict[str, str] = {}  # models that are not served, and why
        self._snapshots = folder / "snapshots"
        self._journal = journal
        self._syncing: asyncio.TimerHandle | None = None
        self._disk = ThreadPoolExecutor(1, "journal")
        self._background = ThreadPoolExecutor(1, "snapshots")
        self._waiting: deque[_Pending] = deque()
        self._n_waiting = 0
        self._arrived = asyncio.Event()
        self.turn = asyncio.Lock()  # whoever writes or replaces models
        self._certifying = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False

    @classmethod
    def open(cls, folder: Path, settings: Settings) -> "Service":
        """The service as it was. A damaged model is not served; if there is no other, that is an error."""
        folder.mkdir(0o700, parents=True, exist_ok=True)  # examples are nobody else's
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
                for one in found:
                    if one.gone:
                        service._remove(path.name for path in snapshot_files(service._snapshots).get(one.id, ()))
                        journal.unwatch(one.id)
                unfinished = (path.name for path in service._snapshots.iterdir())
                service._remove(name for name in unfinished if UNFINISHED.fullmatch(name))
        except BaseException:
            journal.close()
            raise
        return service

    def _take(self, one: Found) -> None:
        """Serve a model that was found."""
        if one.kept is None or one.state is None:
            return
        model = ServedModel(one.kept, one.state, one.n_keys, one.keys)
        model.saved = max((seq for seq, _ in self._journal.snapshots(one.id)), default=0)
        self.models[one.name] = model
        if self.problem is None:
            try:
                self._journal.watch(one.kept, one.state.seq, one.state.chain)
            except DiskError as error:
                self._fail(error)

    def start(self) -> None:
        """Begin to learn what is posted."""
        self._writer = asyncio.create_task(self._write())

    async def close(self) -> None:
        """Learn and answer what waits, and take no more."""
        self._closing = True
        self._arrived.set()
        await asyncio.gather(self._writer, return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._background.shutdown()
        self._disk.shutdown()
        self._journal.close()

    def _sync_later(self) -> None:
        """Bring the witnesses to the disk within a second."""

        def sync() -> None:
            self._syncing = None
            if not self._closing:
                self._beside(self._sync())

        if self._syncing is None:
            self._syncing = asyncio.get_running_loop().call_later(1.0, sync)

    async def _sync(self) -> None:
        try:
            await self._on_disk(self._journal.sync)
        except DiskError as error:
            self._fail(error)

    def _fail(self, error: DiskError) -> None:
        """End learning."""
        # What a disk that fails has kept is not known: SQLite finds out when the journal is opened again.
        self.problem, self.detail = "the journal cannot be written since it failed: restart the service", str(error)
        self._refuse(self._waiting, error)

    async def _on_disk(self, work: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Do something in the thread of the journal."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._disk, lambda: work(*arguments, **options))
        except JournalError as error:
            raise DiskError(str(error)) from error

    def _beside(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin something that `close` waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def to_the_end(self, change: Coroutine[Any, Any, T]) -> T:
        """Go on when nobody waits any longer: what is half done would leave memory and disk at odds."""
        return await asyncio.shield(self._beside(change))

    def get(self, name: str) -> ServedModel:
        try:
            return self.models[name]
        except KeyError:
            if name in self.damaged:
                raise DiskError(self.damaged[name]) from None
            raise NoModelError(f"there is no model {name!r:.80}; {self._names()}") from None

    def _names(self) -> str:
        """Say which models there are."""
        names = sorted(self.models)
        shown = " and ".join([", ".join(names[:-1]), names[-1]]) if 1 < len(names) <= 10 else ", ".join(names[:10])
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return f"there {'is' if len(names) == 1 else 'are'} {shown or 'none yet: POST /v1/models creates one'}{more}"

    @property
    def waiting(self) -> int:
        return self._n_waiting

    def learn(self, name: str, request: schema.Learn) -> asyncio.Future[schema.Learned]:
        """Have examples learned in their turn; the answer is there once they are on the disk and learned."""
        model = self.get(name)
        self._check_writable()
        n = len(request.examples)
        model.state.learner.costs.check_answer([example.x for example in request.examples])
        if self._n_waiting + n > self.settings.waiting and self._n_waiting:
            raise BusyError(f"{self._n_waiting} examples wait to be learned: try again later")
        answer: asyncio.Future[schema.Learned] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Pending(model, request.examples, request.key, answer))
        self._n_waiting += n
        self._arrived.set()
        return answer

    def _check_writable(self) -> None:
        if self.problem is not None or self._closing:
            words = f"{self.problem}. {self.detail}" if self.problem else "the service is shutting down"
            raise DiskError(words, 503)

    async def _write(self) -> None:
        try:
            await self._write_on()
        except BaseException as error:
            self.problem, self.detail = "learning has ended: restart the service", f"{error!r:.200}"
            self._refuse(self._waiting, DiskError(self.problem))
            raise

    def _refuse(self, requests: Iterable[_Pending], problem: Exception) -> None:
        """Answer those that nobody has answered."""
        for request in requests:
            if not request.answer.done():
                request.answer.set_exception(problem)

    async def _write_on(self) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
                continue
            async with self.turn:
                if group := await self._next_group():
                    try:
                        await self._learn(group)
                    finally:
                        self._refuse(
                            group, DiskError("learning has ended: a retry with its key tells what was learned")
                        )

    async def _next_group(self) -> list[_Pending]:
        """Requests that are accepted, up to one that others must wait for."""
        group: list[_Pending] = []
        keys, models = set(), set()
        n = 0
        while self._waiting and n < self.settings.group:
            request = self._waiting[0]
            if request.key is not None and (request.model.id, request.key) in keys:
                break  # its answer is known once the group is learned
            learner = request.model.state.learner
            if request.model.id not in models:  # none of its examples is between check and learning
                models.add(request.model.id)
                learner.promised = 0
            self._waiting.popleft()
            self._n_waiting -= len(request.examples)
            if request.answer.done():  # nobody waits for it any more
                continue
            known = None if request.key is None else request.model.keys.get(request.key)
            if known is not None:
                request.answer.set_result(known)
                continue
            try:
                if request.model.deleted:
                    raise NoModelError(f"there is no model {request.model.name!r}")
                alone = await in_slices(learner.checking(request.examples), self.settings.computing)
            except NotYetError:
                self._waiting.appendleft(request)
                self._n_waiting += len(request.examples)
                break
            except ProblemError as problem:
                self.metrics.refused += 1
                self._refuse([request], problem)
                continue
            except Exception as error:  # a check that fails must not end the writer
                self._refuse([request], error)
                continue
            group.append(request)
            keys.add((request.model.id, request.key))
            n += len(request.examples)
            if alone:
                break
        return group

    async def _learn(self, group: list[_Pending]) -> None:
        """Write a group, learn it and answer."""
        ends: dict[int, tuple[int, int, int]] = {}
        entries = []
        for request in group:
            model = request.model
            seq, chain, keys = ends.get(model.id, (model.state.seq, model.state.chain, model.n_keys))
            keys += request.key is not None
            bodies = []
            for example in request.examples:
                body = encode(example)
                chain = chained(chain, body)
                bodies.append((chain, body))
            entries.append(Entry(model.id, seq + 1, bodies, request.key, keys))
            ends[model.id] = seq + len(bodies), chain, keys
        started = time.perf_counter()
        try:
            await self._on_disk(self._journal.append, entries)
        except DiskError as error:
            if not isinstance(error, FullError):
                self._fail(error)
            self._refuse(group, error)
            return
        self.metrics.commits.observe(time.perf_counter() - started)
        self._sync_later()
        for request, entry in zip(group, entries, strict=True):
            await self._apply(request, entry)

    async def _apply(self, request: _Pending, entry: Entry) -> None:
        """Learn what is in the journal, and answer."""
        model, predictions = request.model, []
        started = time.perf_counter()
        for k, example in enumerate(request.examples):
            if time.perf_counter() - started > SECONDS:
                await asyncio.sleep(0)
                started = time.perf_counter()
            predictions.append(model.state.learn(example))
            model.state.chain = entry.bodies[k][0]
        self.metrics.learned += len(predictions)
        learned = schema.Learned(entry.first, model.state.seq, predictions)
        if request.key is not None:
            model.remember(request.key, learned)
        if not request.answer.done():
            request.answer.set_result(learned)
        if model.state.seq - model.saved >= self.settings.snapshot_every:
            self._begin_snapshot(model)

    async def create(self, request: schema.Create) -> schema.Model:
        """A model that has learned nothing."""
        learner = JsonLearner.begin(request.model, request.task, request.parameters, self.settings.room)
        longest = max(learner.reading.ngrams)
        if longest > LONGEST_NGRAM:
            raise ProblemError(f"ngrams have at most {LONGEST_NGRAM} words here; got {longest}", 422)
        named = {"model": type(learner.model).__name__}  # it is in the journal with the parameters
        parameters = msgspec.json.encode(request.parameters | named)
        async with self.turn:
            self._check_writable()
            if request.name in self.models or request.name in self.damaged:
                raise ConflictError(f"there is a model {request.name!r} already")
            if len(self.models) >= self.settings.models:
                raise ConflictError(f"there are {len(self.models)} models, and more are not allowed here: delete one")
            kept = await self._on_disk(self._journal.create, request.name, learner.task, parameters)
            model = ServedModel(kept, State(learner))
            self.models[request.name] = model
        return model.describe()

    async def delete(self, name: str) -> None:
        """Forget a model, its examples and its snapshots."""
        async with self.turn:
            model = self.get(name)
            self._check_writable()
            await self._on_disk(self._journal.delete, model.id)
            model.deleted = True
            del self.models[name]
            await self._on_disk(self._remove_unlisted, model.id)
            await self._on_disk(self._journal.unwatch, model.id)

    async def rewind(self, name: str, seq: int) -> schema.Model:
        """The model as it was after some number of examples; those after it are forgotten."""
        async with self.turn:
            model = self.get(name)
            self._check_writable()
            if not model.earliest <= seq <= model.state.seq:
                raise ConflictError(
                    f"model {name!r} can be rewound to {model.earliest} up to {model.state.seq}; got {seq}"
                )
            state = await self._on_disk(
                restore, self._journal, model.kept, self._snapshots, self.settings.room, until=seq
            )
            keys = {key: learned for key, learned in model.keys.items() if learned.last <= seq}
            n_keys = model.n_keys - (len(model.keys) - len(keys))
            model.kept = await self._on_disk(
                self._journal.rewind, model.kept, seq, state.chain, n_keys, n_keys - len(keys) + 1
            )
            model.state, model.keys, model.n_keys = state, keys, n_keys
            model.saved = min(model.saved, seq)
            await self._on_disk(self._remove_unlisted, model.id)
        return model.describe()

    async def compact(self, name: str) -> schema.Model:
        """Put a snapshot in the place of the examples learned so far."""
        model = self.get(name)
        await self._snapshot(model, compact=True)
        return model.describe()

    def _begin_snapshot(self, model: ServedModel) -> None:
        """Take a snapshot while learning goes on."""
        model.saved = model.state.seq
        self._beside(self._snapshot_beside(model))

    async def _snapshot_beside(self, model: ServedModel) -> None:
        """One that fails is counted; the next is tried as if it had not, so that a full disk costs no more."""
        try:
            await self._snapshot(model, compact=False)
        except Exception:
            self.metrics.failed_snapshots += 1

    async def _snapshot(self, model: ServedModel, *, compact: bool) -> None:
        """A copy of a model on the disk, from which it starts again.

        Of each model one is written at a time: when it is listed, all that are not listed are removed.
        """
        async with self.turn:
            self._check_writable()
            copy, kept = deepcopy(model.state), model.kept
        async with model.writing:
            await self._write_snapshot(model, copy, kept, compact=compact)

    async def _write_snapshot(self, model: ServedModel, copy: State, kept: Kept, *, compact: bool) -> None:
        file = f"{model.id}-{copy.seq}-{secrets.token_hex(4)}.safetensors"
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._background, copy.save, self._snapshots / file, kept)
        except OSError as error:
            full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
            words = f"the snapshot could not be written, and nothing has changed: {error.strerror or error}"
            raise (FullError if full else DiskError)(words) from error
        async with self.turn:
            if model.deleted or model.kept.rewinds != kept.rewinds:
                await self._on_disk(self._remove, [file])
                return
            before = [seq for seq, _ in await self._on_disk(self._journal.snapshots, model.id) if seq < copy.seq]
            end = copy.seq if compact else max(before, default=0) if self.settings.compact else 0
            try:
                model.kept = await self._on_disk(
                    self._journal.add_snapshot,
                    model.kept,
                    copy.seq,
                    file,
                    compact=end,
                    keys=model.n_keys,
                    keys_from=model.keys_from,
                )
            except FullError:  # it is not listed for certain, and takes room
                await self._on_disk(self._remove, [file])
                raise
            await self._on_disk(self._remove_unlisted, model.id)

    def _remove_unlisted(self, model: int) -> None:
        """Remove the snapshots of a model that the journal no longer lists."""
        listed = {name for _, name in self._journal.snapshots(model)}
        self._remove({path.name for path in snapshot_files(self._snapshots).get(model, ())} - listed)

    def _remove(self, files: Iterable[str]) -> None:
        for file in files:
            with suppress(OSError):  # what stays is removed with the next snapshot
                (self._snapshots / file).unlink()

    async def export(self, model: ServedModel) -> AsyncIterator[bytes]:
        """The journal of a model as lines of JSON."""
        seq, chain = model.earliest, None if model.earliest else 0
        last, rewinds = model.state.seq, model.kept.rewinds
        while rows := await self._on_disk(self._journal.rows, model.id, seq, chain):
            yield b"".join(b'{"seq":%d,"at":%.3f,%b\n' % (row.seq, row.at, row.body[1:]) for row in rows)
            seq, chain = rows[-1].seq, rows[-1].chain
            if model.earliest > seq:  # it was compacted meanwhile
                seq, chain = model.earliest, None
        if seq < last and model.kept.rewinds == rewinds and not model.deleted:
            raise DiskError(f"the journal of {model.name!r} is damaged: example {seq + 1} is missing. {ADVICE}")

    def _bodies(self, model: ServedModel, seq: int) -> list[bytes]:
        """The examples to certify, which are all in memory at a time."""
        if self._journal.size(model.id) > _CERTIFIED:
            raise ConflictError(f"the examples of {model.name!r} have more than {_CERTIFIED >> 20} MB together")
        bodies = [row.body for row in self._journal.all_rows(model.id, 0, 0, seq)]
        if len(bodies) < seq:
            raise ConflictError(f"model {model.name!r} was rewound meanwhile")
        return bodies

    async def certificate(self, model: ServedModel, most: int) -> schema.Certificate:
        """What a theorem allows on the examples of a model, if the journal has them all and they are not too many."""
        seq, chain = model.state.seq, model.state.chain
        if model.earliest > 0:
            raise ConflictError(
                f"the journal of {model.name!r} begins after {model.earliest} examples: it was compacted"
            )
        if seq > most:
            raise ConflictError(f"model {model.name!r} has {seq} examples; up to {most} are certified here")
        if seq == 0:
            raise ConflictError("nothing was learned yet: there is nothing to certify")
        if self._certifying.locked():
            raise BusyError("another certificate is being made: try again later", 5)
        async with self._certifying:
            if model.certified is None or model.certified[0] != (seq, chain):
                bodies = await self._on_disk(self._bodies, model, seq)
                model.certified = (seq, chain), await certify_beside(model.kept, bodies)
            return model.certified[1]
