"""The writer: learns all waiting requests, in groups.

All models are used by one thread, that of the event loop. A second thread writes the journal, so that predictions
continue while the writer waits for the disk. A group is checked, written, learned and answered, in this order:

    check every example against the current models          refuse those that cannot be learned
    journal.append(group)                                   one transaction
    learn in order of sequence numbers                      each is predicted before it is learned
    answer
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import click
import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.held import Hold
from onmargin.apps.serve.journal import Entry, chained
from onmargin.apps.serve.journal_file import FullError
from onmargin.apps.serve.json_learner import NotYetError
from onmargin.apps.serve.problems import BadExampleError, BusyError, DiskError, NoModelError, ProblemError
from onmargin.apps.serve.served_model import ServedModel
from onmargin.apps.serve.slices import SECONDS, in_slices
from onmargin.apps.serve.state import decode, encode
from onmargin.learner import collect_warnings

if TYPE_CHECKING:
    from onmargin.apps.serve.service import Service


MOST_WARNINGS = 20  # per request


class Held(msgspec.Struct):
    """A kept prediction in the journal."""

    id: str
    x: schema.X
    prediction: Any


_decode_held = msgspec.json.Decoder(Held).decode


@dataclass
class _Learning:
    """A waiting request to learn examples."""

    model: ServedModel
    examples: list[schema.Example]
    key: str | None
    answer: asyncio.Future[schema.Learned]
    labeled: list[int] = field(default_factory=list)  # numbers of kept predictions

    def __post_init__(self) -> None:
        self.size = len(self.examples)

    def release(self) -> None:
        self.model.claimed.difference_update(self.labeled)


@dataclass
class _Keeping:
    """A waiting request to keep predictions."""

    model: ServedModel
    held: list[Held]
    answer: asyncio.Future[list[str]]

    def __post_init__(self) -> None:
        self.size = len(self.held)

    def release(self) -> None:
        """Do nothing, since nothing is claimed."""


_Waiting = _Learning | _Keeping


class Writer:
    """The queue of a service, and the task that processes it."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._waiting: dict[int, deque[_Waiting]] = {}  # by model; the first one is next
        self.n_waiting = 0  # number of waiting examples
        self._arrived = asyncio.Event()
        self._closing = False
        self._warned: deque[str] = deque(maxlen=MOST_WARNINGS)  # what models warned about since the last answer

    def start(self) -> None:
        self._task = asyncio.create_task(self._write())

    async def close(self) -> None:
        """Learn and answer all waiting requests, and accept no more."""
        self._closing = True
        self._arrived.set()
        await asyncio.gather(self._task, return_exceptions=True)

    async def learn(self, model: ServedModel, request: schema.Learn) -> schema.Learned:
        """Queue examples for learning; return once they are on disk and learned."""
        examples = request.examples
        if request.key in model.keys:
            return await self._learned_before(model, request.key, examples)
        labeled: list[int] = []
        if any(example.id is not msgspec.UNSET or example.x is msgspec.UNSET for example in examples):
            examples, labeled = await self._with_features(model, examples)
        model.state.learner.costs.check_answer([example.x for example in examples])
        answer: asyncio.Future[schema.Learned] = asyncio.get_running_loop().create_future()
        learning = _Learning(model, examples, request.key, answer, labeled)
        self._enqueue(learning)
        model.claimed.update(labeled)
        return await answer

    async def _learned_before(self, model: ServedModel, key: str, examples: list[schema.Example]) -> schema.Learned:
        """Return the answer to a request that was learned before; the key of other examples is refused."""
        known = model.known(key)
        if not await self._service.on_disk(self._are_those, model, known, examples):
            words = f"the key {key!r:.80} was used for other examples ({known.first} to {known.last}): use a new key"
            raise ProblemError(words, 422)
        return known

    def _are_those(self, model: ServedModel, known: schema.Learned, examples: list[schema.Example]) -> bool:
        """Return whether these examples were learned, as far as the journal has them; in the thread of the journal."""
        if known.last - known.first + 1 != len(examples):
            return False
        if known.first <= model.earliest:
            return True
        rows = self._service.journal.all_rows(model.id, known.first - 1, None, known.last)
        return all(_is_same(example, decode(row.body)) for example, row in zip(examples, rows, strict=True))

    async def keep(self, model: ServedModel, xs: list[Any], predictions: list[Any]) -> list[str]:
        """Keep predictions for their labels; return their ids once they are on disk."""
        held = [Held("", x, prediction) for x, prediction in zip(xs, predictions, strict=True)]
        answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._enqueue(_Keeping(model, held, answer))
        return await answer

    def _enqueue(self, request: _Waiting) -> None:
        self._service.check_writable()
        if self.n_waiting + request.size > self._service.settings.waiting and self.n_waiting:
            raise BusyError(f"{self.n_waiting} examples wait to be learned: try again later")
        self._waiting.setdefault(request.model.id, deque()).append(request)
        self.n_waiting += request.size
        self._arrived.set()

    async def _with_features(
        self, model: ServedModel, examples: list[schema.Example]
    ) -> tuple[list[schema.Example], list[int]]:
        """Return examples with their kept features, and the numbers of the kept predictions."""
        numbers: dict[str, int] = {}
        for k, example in enumerate(examples):
            if (example.id is msgspec.UNSET) == (example.x is msgspec.UNSET):
                raise BadExampleError(f"example {k}: give either x or the id of a kept prediction")
            if isinstance(example.id, str):
                if example.id in numbers:
                    raise BadExampleError(f"example {k}: the id {example.id!r} is given twice")
                numbers[example.id] = _number(example.id)
        bodies = await self._service.on_disk(self._bodies, model, numbers)
        if not model.claimed.isdisjoint(numbers.values()):
            raise BusyError("the label of one of these ids is being learned: try again later")
        found: list[schema.Example] = []
        for example in examples:
            if isinstance(example.id, str):
                held = bodies[example.id]
                given = schema.Given(held.prediction)
                found.append(schema.Recorded(held.x, example.y, example.weight, given=given))
            else:
                found.append(example)
        return found, list(numbers.values())

    def _bodies(self, model: ServedModel, numbers: dict[str, int]) -> dict[str, Held]:
        """Read kept predictions, in the thread of the journal."""
        found = {}
        for name, number in numbers.items():
            body = self._service.journal.held.body(model.id, number) if number else None
            held = None if body is None else _decode_held(body)
            if held is None or held.id != name:
                raise NoModelError(
                    f"model {model.name!r} keeps no prediction {name!r}: it was labeled before, has expired, or was "
                    "never kept"
                )
            found[name] = held
        return found

    def refuse_all(self, problem: Exception) -> None:
        self._refuse(chain.from_iterable(self._waiting.values()), problem)

    @staticmethod
    def _refuse(requests: Iterable[_Waiting], problem: Exception) -> None:
        """Answer all unanswered requests with a problem."""
        for request in requests:
            request.release()
            if not request.answer.done():
                request.answer.set_exception(problem)

    async def _write(self) -> None:
        try:
            with collect_warnings(self._warned):
                await self._write_on()
        except BaseException as error:
            self._service.end_learning("learning has ended: restart the service", f"{error!r:.200}")
            raise

    async def _write_on(self) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
                continue
            async with self._service.turn:
                if group := await self._next_group():
                    try:
                        await self._learn(group)
                    except BaseException:
                        words = "learning has ended: retry with the same key to see what was learned"
                        self._refuse(group, DiskError(words))
                        raise

    async def _next_group(self) -> list[_Waiting]:
        """Return accepted requests, up to one that others must wait for."""
        group: list[_Waiting] = []
        keys, models = set(), set()
        n = 0
        while self._waiting and n < self._service.settings.group:
            number, queue = next(iter(self._waiting.items()))
            request = queue[0]
            if isinstance(request, _Learning):
                if request.key is not None and (request.model.id, request.key) in keys:
                    break  # a repeated key is answered once the group is learned
                if request.model.id not in models:  # no example of the model is checked but not yet learned
                    models.add(request.model.id)
                    request.model.state.learner.forget_checked()
            try:
                alone = await self._accepted(request)
            except NotYetError:
                break
            queue.popleft()
            self.n_waiting -= request.size
            del self._waiting[number]  # models take turns
            if queue:
                self._waiting[number] = queue
            if alone is None:
                continue
            group.append(request)
            if isinstance(request, _Learning):
                keys.add((request.model.id, request.key))
            n += request.size
            if alone:
                break
        return group

    async def _accepted(self, request: _Waiting) -> bool | None:
        """Return whether a request must be learned before others are checked; None if there is nothing to do."""
        if request.answer.done():  # the client no longer waits
            request.release()
            return None
        try:
            if isinstance(request, _Learning) and request.key in request.model.keys:
                known = await self._learned_before(request.model, request.key, request.examples)
                request.release()
                if not request.answer.done():
                    request.answer.set_result(known)
                return None
            if request.model.deleted:
                raise self._service.absence(request.model.name)
            if isinstance(request, _Keeping):
                return False
            checking = request.model.state.learner.checking(request.examples)
            return await in_slices(checking, self._service.settings.computing)
        except NotYetError:
            raise
        except ProblemError as problem:
            self._service.metrics.refused += 1
            self._refuse([request], problem)
        except Exception as error:  # a check that fails must not end the writer
            self._refuse([request], error)
        return None

    async def _learn(self, group: list[_Waiting]) -> None:
        """Write a group, learn it and answer its requests."""
        entries: dict[int, Entry] = {}
        holds: list[Hold] = []
        ends: dict[int, tuple[int, int, int]] = {}
        counts: dict[int, int] = {}
        for k, request in enumerate(group):
            if isinstance(request, _Learning):
                entries[k] = self._entry(request, ends)
            else:
                holds += self._holds(request, counts)
        started, metrics = time.perf_counter(), self._service.metrics
        try:
            dropped = await self._service.on_disk(
                self._service.journal.append, list(entries.values()), holds, self._service.settings.held
            )
        except DiskError as error:
            if not isinstance(error, FullError):
                self._service.fail(error)
            elif not metrics.disk_full:
                metrics.disk_full = True
                click.echo(f"warning: {error}", err=True)
            metrics.refused_full += len(group) * isinstance(error, FullError)
            self._refuse(group, error)
            return
        metrics.disk_full = False
        metrics.commits.observe(time.perf_counter() - started)
        metrics.dropped += sum(dropped.values())
        self._service.sync_later()
        for k, request in enumerate(group):
            if isinstance(request, _Learning):
                await self._apply(request, entries[k])
            else:
                request.model.n_held += request.size
                request.model.n_kept += request.size - dropped.pop(request.model.id, 0)
                if not request.answer.done():
                    request.answer.set_result([held.id for held in request.held])

    @staticmethod
    def _entry(request: _Learning, ends: dict[int, tuple[int, int, int]]) -> Entry:
        """Return the journal entry of a request, and update `ends`, the positions of the models of the group."""
        model = request.model
        seq, chain, keys = ends.get(model.id, (model.state.seq, model.state.chain, model.n_keys))
        keys += request.key is not None
        bodies = []
        for example in request.examples:
            body = encode(example)
            chain = chained(chain, body)
            bodies.append((chain, body))
        ends[model.id] = seq + len(bodies), chain, keys
        return Entry(model.id, seq + 1, bodies, request.key, keys, labeled=request.labeled)

    @staticmethod
    def _holds(request: _Keeping, counts: dict[int, int]) -> Iterable[Hold]:
        """Yield the journal entries of predictions to keep, each with an id."""
        model = request.model
        for held in request.held:
            number = counts[model.id] = counts.get(model.id, model.n_held) + 1
            held.id = f"{number}-{secrets.token_hex(8)}"
            yield Hold(model.id, number, encode(held))

    async def _apply(self, request: _Learning, entry: Entry) -> None:
        """Learn the journaled examples of a request, and answer it."""
        model, predictions = request.model, []
        self._warned.clear()  # copies of models that checked these examples have warned as well
        started = time.perf_counter()
        try:
            for k, example in enumerate(request.examples):
                if model.deleted:
                    raise self._service.absence(model.name)
                if time.perf_counter() - started > SECONDS:
                    await asyncio.sleep(0)
                    started = time.perf_counter()
                predictions.append(model.state.learn(example))
                model.state.chain = entry.bodies[k][0]
                if model.watch():
                    click.echo(
                        f"model {model.name!r}: more mistakes than before, at example {model.state.seq}", err=True
                    )
        except ProblemError as problem:
            self._refuse([request], problem)
            return
        except Exception as error:  # the state may be half changed
            self._service.damage(model, error)
            self._refuse([request], self._service.absence(model.name))
            return
        request.release()
        model.n_kept -= len(request.labeled)
        model.throughput.count(learned=len(predictions))
        self._service.metrics.learned += len(predictions)
        self._service.learned(entry)
        learned = schema.Learned(entry.first, model.state.seq, predictions)
        if self._warned:
            learned.warnings = list(self._warned)
            for words in learned.warnings:
                click.echo(f"warning: model {model.name!r}: {words}", err=True)
        if request.key is not None:
            model.remember(request.key, learned)
        if not request.answer.done():
            request.answer.set_result(learned)
        if model.state.seq - model.saved >= self._service.settings.snapshot_every:
            self._service.snapshots.begin(model)


def _is_same(sent: schema.Example, learned: schema.Example) -> bool:
    """Return whether an example that was sent is the one in the journal; by the id of a prediction, its label is."""
    same = (sent.y, sent.weight) == (learned.y, learned.weight)
    return same and (sent.x is msgspec.UNSET or sent.x == learned.x)


def _number(name: str) -> int:
    """Return the number in the id of a kept prediction; 0 if it has none."""
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0
