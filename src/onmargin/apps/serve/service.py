"""The service: models by name, one journal, and one writer that learns all that waits in groups.

All models are touched by one thread, that of the event loop. A second one writes the journal, and a third snapshots:
predictions go on while they wait for the disk. A group is checked, written, learned and answered, in this order:

    check every example against the models as they are      refuse what cannot be learned
    journal.append(group)                                   one transaction
    learn in order of sequence numbers                      each predicted before
    answer
"""

import asyncio
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.certified import certify_beside
from onmargin.apps.serve.journal import Entry, FullError, Journal, JournalError, Kept, chained
from onmargin.apps.serve.metrics import Metrics
from onmargin.apps.serve.problems import BusyError, ConflictError, DiskError, NoModelError, ProblemError
from onmargin.apps.serve.served import MOST_KEYS, Served, State, encode, restore
from onmargin.apps.serve.student import NotYetError, Room, Student

T = TypeVar("T")
_SNAPSHOT = re.compile(r"\.?\d+-\d+-[0-9a-f]{8}\.safetensors(\.[0-9a-f]+\.tmp)?")
_CERTIFIED = 2**27  # bytes of examples
_SLICE = 256  # examples that are learned before others have their turn


@dataclass(frozen=True)
class Settings:
    """What bounds a service, and when it takes snapshots."""

    room: Room = field(default_factory=Room)
    models: int = 100
    waiting: int = 8192  # examples
    group: int = 1024  # examples written at once
    snapshot_every: int = 50_000  # examples
    compact: bool = False


@dataclass
class _Pending:
    """A request that waits to be learned."""

    model: Served
    examples: list[schema.Example]
    key: str | None
    answer: asyncio.Future[schema.Learned]


class Service:
    """Models that learn from a journal in a folder; made by `Service.open`, ended by `close`."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.problem: str | None = None
        self.models: dict[str, Served] = {}
        folder.mkdir(0o700, parents=True, exist_ok=True)  # examples are nobody else's
        self._snapshots = folder / "snapshots"
        self._snapshots.mkdir(exist_ok=True)
        path = folder / "journal.sqlite"
        if not (path.exists() and path.stat().st_size) and self._files():
            raise JournalError(f"{path} is missing, and there are snapshots of its models: restore it from a copy")
        self._journal = Journal(path)
        self._disk = ThreadPoolExecutor(1, "journal")
        self._background = ThreadPoolExecutor(1, "snapshots")
        self._waiting: deque[_Pending] = deque()
        self._n_waiting = 0
        self._arrived = asyncio.Event()
        self._turn = asyncio.Lock()  # whoever writes or replaces models
        self._certifying = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False

    @classmethod
    def open(cls, folder: Path, settings: Settings) -> "Service":
        """The service as it was; damage is an error, and changes nothing."""
        service = cls(folder, settings)
        try:
            for kept in service._journal.models():
                state = restore(service._journal, kept, service._snapshots, settings.room)
                served = Served(kept, state, service._journal.keys(kept.id, MOST_KEYS))
                served.saved = max((seq for seq, _ in service._journal.snapshots(kept.id)), default=0)
                service.models[kept.name] = served
            service._remove(service._files() - service._journal.files())  # not finished, or no longer counted on
        except BaseException:
            service._journal.close()
            raise
        return service

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

    def get(self, name: str) -> Served:
        try:
            return self.models[name]
        except KeyError:
            raise NoModelError(f"there is no model {name!r:.80}") from None

    @property
    def waiting(self) -> int:
        return self._n_waiting

    def learn(self, name: str, request: schema.Learn) -> asyncio.Future[schema.Learned]:
        """Have examples learned in their turn; the answer is there once they are on the disk and learned."""
        model = self.get(name)
        if self.problem is not None or self._closing:
            raise DiskError(self.problem or "the service is shutting down", 503)
        n = len(request.examples)
        if self._n_waiting + n > self.settings.waiting and self._n_waiting:
            raise BusyError(f"{self._n_waiting} examples wait to be learned: come again")
        answer: asyncio.Future[schema.Learned] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Pending(model, request.examples, request.key, answer))
        self._n_waiting += n
        self._arrived.set()
        return answer

    async def _write(self) -> None:
        try:
            await self._write_on()
        except BaseException as error:
            self.problem = f"learning has ended: {error!r:.200}. Restart the service"
            self._refuse(self._waiting, DiskError(self.problem))
            raise

    def _refuse(self, requests: Iterable[_Pending], problem: ProblemError) -> None:
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
            async with self._turn:
                if group := self._next_group():
                    try:
                        await self._learn(group)
                    finally:
                        self._refuse(
                            group, DiskError("learning has ended: a retry with its key tells what was learned")
                        )

    def _next_group(self) -> list[_Pending]:
        """Requests that are accepted, up to one that others must wait for."""
        group: list[_Pending] = []
        keys, models = set(), set()
        n = 0
        while self._waiting and n < self.settings.group:
            request = self._waiting[0]
            if request.key is not None and (request.model.id, request.key) in keys:
                break  # its answer is known once the group is learned
            student = request.model.state.student
            if request.model.id not in models:  # none of its examples is between check and learning
                models.add(request.model.id)
                student.promised = 0
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
                alone = student.check(request.examples)
            except NotYetError:
                self._waiting.appendleft(request)
                self._n_waiting += len(request.examples)
                break
            except ProblemError as problem:
                self.metrics.refused += 1
                request.answer.set_exception(problem)
                continue
            except Exception as error:  # a check that fails must not end the writer
                request.answer.set_exception(error)
                continue
            group.append(request)
            keys.add((request.model.id, request.key))
            n += len(request.examples)
            if alone:
                break
        return group

    async def _learn(self, group: list[_Pending]) -> None:
        """Write a group, learn it and answer."""
        ends: dict[int, tuple[int, int]] = {}
        entries = []
        for request in group:
            model = request.model
            seq, chain = ends.get(model.id, (model.state.seq, model.state.chain))
            bodies = []
            for example in request.examples:
                body = encode(example)
                chain = chained(chain, body)
                bodies.append((chain, body))
            entries.append(Entry(model.id, seq + 1, bodies, request.key))
            ends[model.id] = seq + len(bodies), chain
        started = time.perf_counter()
        try:
            await self._on_disk(self._journal.append, entries)
        except DiskError as error:
            if not isinstance(error, FullError):
                # What a disk that fails has kept is not known: SQLite finds out when the journal is opened again.
                self.problem = f"the journal cannot be written since it failed; restart the service. {error}"
                self._refuse(self._waiting, error)
            self._refuse(group, error)
            return
        self.metrics.commits.observe(time.perf_counter() - started)
        for request, entry in zip(group, entries, strict=True):
            await self._apply(request, entry)

    async def _apply(self, request: _Pending, entry: Entry) -> None:
        """Learn what is in the journal, and answer."""
        model, predictions = request.model, []
        for k, example in enumerate(request.examples):
            if k % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
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
        student = Student.begin(request.task, request.parameters, self.settings.room)
        parameters = msgspec.json.encode(request.parameters)
        async with self._turn:
            if request.name in self.models:
                raise ConflictError(f"there is a model {request.name!r} already")
            if len(self.models) >= self.settings.models:
                raise ConflictError(f"there are {len(self.models)} models, and more are not allowed here: delete one")
            number = await self._on_disk(self._journal.create, request.name, request.task, parameters)
            model = Served(Kept(number, request.name, request.task, parameters, 0), State(student))
            self.models[request.name] = model
        return model.describe()

    async def delete(self, name: str) -> None:
        """Forget a model, its examples and its snapshots."""
        async with self._turn:
            model = self.get(name)
            files = [file for _, file in await self._on_disk(self._journal.snapshots, model.id)]
            await self._on_disk(self._journal.delete, model.id)
            model.deleted = True
            del self.models[name]
            await self._on_disk(self._remove, files)

    async def rewind(self, name: str, seq: int) -> schema.Model:
        """The model as it was after some number of examples; those after it are forgotten."""
        async with self._turn:
            model = self.get(name)
            if not model.earliest <= seq <= model.state.seq:
                raise ConflictError(
                    f"model {name!r} can be rewound to {model.earliest} up to {model.state.seq}; got {seq}"
                )
            state = await self._on_disk(
                restore, self._journal, model.kept(), self._snapshots, self.settings.room, until=seq
            )
            files = await self._on_disk(self._journal.rewind, model.id, seq)
            model.state = state
            model.saved = min(model.saved, seq)
            model.keys = {key: learned for key, learned in model.keys.items() if learned.last <= seq}
            await self._on_disk(self._remove, files)
        return model.describe()

    async def compact(self, name: str) -> schema.Model:
        """Put a snapshot in the place of the examples learned so far."""
        model = self.get(name)
        await self._snapshot(model, compact=True)
        return model.describe()

    def _begin_snapshot(self, model: Served) -> None:
        """Take a snapshot while learning goes on."""
        model.saved = model.state.seq
        self._beside(self._snapshot_beside(model))

    async def _snapshot_beside(self, model: Served) -> None:
        """One that fails is counted; the next is tried as if it had not, so that a full disk costs no more."""
        try:
            await self._snapshot(model, compact=False)
        except Exception:
            self.metrics.failed_snapshots += 1

    async def _snapshot(self, model: Served, *, compact: bool) -> None:
        """A copy of a model on the disk, from which it starts again."""
        async with self._turn:
            copy = deepcopy(model.state)
        file = f"{model.id}-{copy.seq}-{secrets.token_hex(4)}.safetensors"
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._background, copy.save, self._snapshots / file)
        async with self._turn:
            rewound = await self._on_disk(self._journal.chain, model.id, copy.seq) != copy.chain
            if model.deleted or (rewound and copy.seq != model.earliest):
                await self._on_disk(self._remove, [file])
                return
            before = [seq for seq, _ in await self._on_disk(self._journal.snapshots, model.id) if seq < copy.seq]
            end = copy.seq if compact else max(before, default=0) if self.settings.compact else 0
            old = await self._on_disk(
                self._journal.add_snapshot, model.id, copy.seq, file, compact=end, oldest_key=model.oldest_key
            )
            model.earliest = max(model.earliest, end)
            await self._on_disk(self._remove, old)

    def _files(self) -> set[str]:
        """The files of snapshots that are there, finished or not; others are none of ours."""
        return {path.name for path in self._snapshots.iterdir() if _SNAPSHOT.fullmatch(path.name)}

    def _remove(self, files: Iterable[str]) -> None:
        for file in files:
            (self._snapshots / file).unlink(missing_ok=True)

    async def export(self, model: Served) -> AsyncIterator[bytes]:
        """The journal of a model as lines of JSON."""
        seq = model.earliest
        while rows := await self._on_disk(self._journal.rows, model.id, seq):
            seq = rows[-1].seq
            yield b"".join(b'{"seq":%d,"at":%.3f,%b\n' % (row.seq, row.at, row.body[1:]) for row in rows)

    def _bodies(self, model: Served, seq: int) -> list[bytes]:
        """The examples to certify, which are all in memory at a time."""
        if self._journal.size(model.id) > _CERTIFIED:
            raise ConflictError(f"the examples of {model.name!r} have more than {_CERTIFIED >> 20} MB together")
        bodies = [row.body for row in self._journal.all_rows(model.id, 0, seq)]
        if len(bodies) < seq:
            raise ConflictError(f"model {model.name!r} was rewound meanwhile")
        return bodies

    async def certificate(self, model: Served, most: int) -> schema.Certificate:
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
            raise BusyError("another certificate is being made: come again", 5)
        async with self._certifying:
            if model.certified is None or model.certified[0] != (seq, chain):
                bodies = await self._on_disk(self._bodies, model, seq)
                model.certified = (seq, chain), await certify_beside(model.task, model.parameters, bodies)
            return model.certified[1]
