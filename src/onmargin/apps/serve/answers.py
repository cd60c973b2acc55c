"""The operations of the service: one function per operation, and a table of all operations."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import aclosing
from dataclasses import dataclass, field
from shutil import rmtree
from typing import Any

import msgspec
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from onmargin.apps.serve import schema
from onmargin.apps.serve.backup import backup as make_backup
from onmargin.apps.serve.costs import SLICE
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.metrics import Times, quantile
from onmargin.apps.serve.problems import BadExampleError, BusyError, DiskError, ProblemError
from onmargin.apps.serve.served_model import ServedModel
from onmargin.apps.serve.service import Service
from onmargin.apps.serve.slices import at_once, in_slices
from onmargin.apps.serve.tokens import Right
from onmargin.apps.serve.transfer import read_model

_encode = msgspec.json.Encoder().encode


def json(answer: Any, status: int = 200) -> Response:
    return Response(_encode(answer), status, media_type="application/json")


@dataclass
class Context:
    """Shared objects of the operations."""

    service: Service
    limits: Limits
    stopping: asyncio.Event
    watchers: int = 0
    backing_up: asyncio.Lock = field(default_factory=asyncio.Lock)


async def learn(context: Context, name: str, sent: schema.Learn) -> schema.Learned:
    return await context.service.learn(name, sent)


async def predict(context: Context, name: str, sent: schema.Predict) -> schema.Predicted:
    model = context.service.get(name)
    if model.state.learner.costs.total([example.x for example in sent.examples]) <= SLICE:
        answer = at_once(_predicting(context, model, sent))
    else:
        async with context.service.turn.reading:  # all examples with the same state
            answer = await in_slices(_predicting(context, model, sent), context.limits.computing)
    if sent.keep:
        answer.ids = await context.service.keep(model, [example.x for example in sent.examples], answer.predictions)
    return answer


def _predicting(context: Context, model: ServedModel, sent: schema.Predict) -> Generator[None, None, schema.Predicted]:
    """Predict one example at a time."""
    state = model.state
    learner, covering = state.learner, state.covering
    if sent.sets and covering is None:
        raise ProblemError(f'model {model.name!r} has no sets: create it with a coverage, such as "coverage": 0.9', 422)
    xs = [example.x for example in sent.examples]
    learner.costs.check_answer(xs, scores=sent.scores or sent.probabilities or sent.sets)
    predictions, scores, probabilities, sets = [], [], [], []
    for k, x in enumerate(xs):
        try:
            predictions.append(learner.predict(x))
            if sent.keep:
                learner.check_kept(x)
        except BadExampleError as error:
            raise BadExampleError(f"example {k}: {error}") from error
        if sent.scores:
            scores.append(learner.scores(x))
        if sent.probabilities:
            probabilities.append(learner.probabilities(x))
        if sent.sets and covering is not None:
            sets.append(covering.answer(learner, x))
        yield
    lacking = [] if sent.columns is None else learner.lacking(sent.columns)
    context.service.metrics.predicted += len(predictions)
    model.throughput.count(predicted=len(predictions))
    return schema.Predicted(
        state.seq,
        predictions,
        scores if sent.scores else None,
        probabilities if sent.probabilities else msgspec.UNSET,
        sets if sent.sets else msgspec.UNSET,
        lacking=lacking or msgspec.UNSET,
    )


async def explain(context: Context, name: str, sent: schema.Explain) -> schema.Explained:
    async with context.service.turn.reading:  # all examples with the same state
        return await in_slices(_explaining(context, name, sent), context.limits.computing)


def _explaining(context: Context, name: str, sent: schema.Explain) -> Generator[None, None, schema.Explained]:
    """Explain one example at a time."""
    state = context.service.get(name).state
    explanations = []
    for k, example in enumerate(sent.examples):
        try:
            label, intercept, parts = state.learner.explain(example.x, sent.label, sent.top)
            prediction = state.learner.predict(example.x)
        except BadExampleError as error:
            raise BadExampleError(f"example {k}: {error}") from error
        listed = [schema.Part(*part) for part in parts.items()]
        explanations.append(schema.Explanation(prediction, label, intercept, listed))
        yield
    return schema.Explained(state.seq, explanations)


async def create(context: Context, name: str, sent: schema.Create) -> schema.ModelDescription:
    return await context.service.to_the_end(context.service.create(sent))


async def rewind(context: Context, name: str, sent: schema.Rewind) -> schema.ModelDescription:
    return await context.service.to_the_end(context.service.rewind(name, sent))


async def rename(context: Context, name: str, sent: schema.Rename) -> schema.ModelDescription:
    return await context.service.to_the_end(context.service.rename(name, sent))


async def clone(context: Context, name: str, sent: schema.Named) -> schema.ModelDescription:
    return await context.service.to_the_end(context.service.clone(name, sent.name))


async def upload(context: Context, name: str, sent: bytes) -> schema.ModelDescription:
    """Create a model from a file."""
    try:
        msgspec.convert(name, schema.Name)
    except msgspec.ValidationError as error:
        raise ProblemError(f"{schema.NAME_RULE}; got {name!r:.80}", 422) from error
    return await context.service.to_the_end(_uploaded(context.service, name, sent))


async def _uploaded(service: Service, name: str, sent: bytes) -> schema.ModelDescription:
    path = service.snapshots.temporary()
    try:
        await service.in_background(path.write_bytes, sent)
        kept, state = await service.in_background(read_model, path, name, service.settings.room)
    except OSError as error:
        raise DiskError(f"the file could not be written: {error.strerror or error}", 507) from error
    finally:
        path.unlink(missing_ok=True)
    return await service.create_from(kept, state)


async def download(context: Context, request: Request) -> Response:
    """Return a model as a file, and the number of its last example."""
    name = request.path_params["name"]
    path, seq = await context.service.to_the_end(context.service.copy(name))
    headers = {"onmargin-seq": str(seq)}
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=f"{name}-{seq}.safetensors",
        headers=headers,
        background=BackgroundTask(path.unlink, missing_ok=True),
    )


async def backup(context: Context, request: Request) -> Response:
    """Return all files of the folder, as they are after the last request, in one tar file."""
    if context.backing_up.locked():
        raise BusyError("another backup is being made: try again later", 10)
    async with context.backing_up:
        path = await context.service.to_the_end(make_backup(context.service))
    return FileResponse(
        path,
        media_type="application/x-tar",
        filename="onmargin.tar",
        background=BackgroundTask(rmtree, path.parent, ignore_errors=True),
    )


async def compact(context: Context, name: str, sent: schema.Compact) -> schema.ModelDescription:
    return await context.service.to_the_end(context.service.compact(name))


async def delete(context: Context, name: str, sent: None) -> None:
    await context.service.to_the_end(context.service.delete(name))


async def models(context: Context, name: str, sent: None) -> schema.Models:
    return schema.Models([model.describe() for model in context.service.models.values()])


async def model(context: Context, name: str, sent: None) -> schema.ModelDescription:
    return context.service.get(name).describe()


async def health(context: Context, name: str, sent: None) -> schema.Health:
    service = context.service
    problem = service.metrics.problem(service)
    return schema.Health(problem is None, len(service.models), len(service.damaged), service.waiting, problem)


async def certificate(context: Context, name: str, sent: None) -> schema.Certificate:
    """Return a certificate, without a time limit; the service does not wait for it when it shuts down."""
    found = context.service.spawn(context.service.certificate(context.service.get(name), context.limits.certified))
    stopped = asyncio.create_task(context.stopping.wait())
    try:
        await asyncio.wait([found, stopped], return_when=asyncio.FIRST_COMPLETED)
        if not found.done():
            raise ProblemError("the service is shutting down", 503)
        return found.result()
    finally:
        found.cancel()
        stopped.cancel()


async def weights(context: Context, request: Request) -> Response:
    """Return the weights of a label, which is given as JSON or as a plain string."""
    learner = context.service.get(request.path_params["name"]).state.learner
    text = request.query_params.get("label")
    top = request.query_params.get("top", "20")
    if not (top.isascii() and top.isdigit() and 1 <= len(top) <= 4 and 1 <= int(top) <= 1000):
        raise ProblemError(f"top must be a whole number from 1 to 1000; got {top!r:.40}", 422)
    label = next((known for known in learner.classes if str(known) == text), text)
    parts = learner.weights(label, int(top))
    return json(schema.Weights(label, [schema.Part(*part) for part in parts.items()]))


async def metrics(context: Context, request: Request) -> Response:
    return Response(
        context.service.metrics.text(context.service), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


async def journal(context: Context, request: Request) -> Response:
    model = context.service.get(request.path_params["name"])
    return await _stream(context.service.export(model), "application/jsonl")


async def _stream(parts: AsyncGenerator[bytes, None], media_type: str) -> Response:
    """Return an answer in parts; damage and limits are known before it begins, with the first part."""
    first = await anext(parts, b"")

    async def all_parts() -> AsyncIterator[bytes]:
        async with aclosing(parts):
            yield first
            async for part in parts:
                yield part

    return StreamingResponse(all_parts(), media_type=media_type)


async def progress(context: Context, name: str, sent: None) -> schema.Progress:
    return _progress(context.service.get(name))


def _progress(model: ServedModel) -> schema.Progress:
    state = model.state
    confusion = [(*cell, count) for cell, count in state.confusion.most_common(400)]
    last = [(state.seq, state.totals.mistakes + state.corrected, state.totals.loss)] if state.seq else []
    return schema.Progress(model.describe(), [*state.curve.points, *last], confusion, state.learner.experts())


async def events(context: Context, request: Request) -> Response:
    model = context.service.get(request.path_params["name"])
    if context.watchers >= context.limits.watchers:
        raise BusyError(f"{context.watchers} pages watch already: try again later", 10)
    return await _stream(_watch(context, model), "text/event-stream")


async def _watch(context: Context, model: ServedModel) -> AsyncGenerator[bytes, None]:
    """Yield the progress every second, until the client or the service stops."""
    metrics = context.service.metrics
    watched = {kind: metrics.requests[kind] for kind in ("learn", "predict")}
    before = {kind: list(times.counts) for kind, times in watched.items()}
    total = model.throughput
    counts, then = (total.learned, total.predicted), time.perf_counter() - 1
    context.watchers += 1
    try:
        while not model.deleted:
            shown = _progress(model)
            elapsed = time.perf_counter() - then
            shown.rates = ((total.learned - counts[0]) / elapsed, (total.predicted - counts[1]) / elapsed)
            shown.history = total.history()
            shown.latency = {kind: _latency(times, before[kind]) for kind, times in watched.items()}
            before = {kind: list(times.counts) for kind, times in watched.items()}
            counts, then = (total.learned, total.predicted), time.perf_counter()
            yield b"data: " + _encode(shown) + b"\n\n"
            try:
                await asyncio.wait_for(context.stopping.wait(), 1.0)
                return
            except TimeoutError:
                pass
    finally:
        context.watchers -= 1


def _latency(times: Times, before: list[int]) -> tuple[float | None, float | None]:
    new = [now - then for now, then in zip(times.counts, before, strict=True)]
    return quantile(new, 0.5), quantile(new, 0.99)


@dataclass(frozen=True)
class Operation:
    """An operation: its path, required right, request type and answer type.

    An operation whose answer is a type of `schema` is called with the context, the name of the model and the parsed
    request; others are called with the context and the raw request.
    """

    method: str
    path: str
    needs: Right | None  # None if no token is needed
    run: Callable[..., Awaitable[Any]]
    sent: type | None
    answer: type | str | None
    words: str
    status: int = 200
    query: tuple[str, ...] = ()
    patient: bool = False  # has no time limit

    @property
    def reads(self) -> bool:
        """Whether a reader process can answer it."""
        return self.run in READS


READS = {health, metrics, models, model, predict, explain, weights, progress, events}
ONE = "/v1/models/{name}"
READ, LEARN, ADMIN = Right
OPERATIONS = (
    Operation("GET", "/health", None, health, None, schema.Health, "Whether the service learns."),
    Operation("GET", "/metrics", READ, metrics, None, "text/plain", "Counters in the format of Prometheus."),
    Operation("GET", "/v1/backup", ADMIN, backup, None, "application/x-tar", "A copy of the folder.", patient=True),
    Operation("GET", "/v1/models", READ, models, None, schema.Models, "All models."),
    Operation("POST", "/v1/models", ADMIN, create, schema.Create, schema.ModelDescription, "Create a model.", 201),
    Operation("GET", ONE, READ, model, None, schema.ModelDescription, "A model."),
    Operation("DELETE", ONE, ADMIN, delete, None, None, "Delete a model and its journal.", 204),
    Operation("POST", f"{ONE}/learn", LEARN, learn, schema.Learn, schema.Learned, "Predict examples, then learn them."),
    Operation("POST", f"{ONE}/predict", READ, predict, schema.Predict, schema.Predicted, "Predict examples."),
    Operation("POST", f"{ONE}/explain", READ, explain, schema.Explain, schema.Explained, "Explain scores by feature."),
    Operation(
        "GET", f"{ONE}/weights", READ, weights, None, schema.Weights, "The heaviest features.", query=("label", "top")
    ),
    Operation(
        "GET",
        f"{ONE}/file",
        ADMIN,
        download,
        None,
        "application/octet-stream",
        "The model as a model file.",
        patient=True,
    ),
    Operation(
        "PUT",
        f"{ONE}/file",
        ADMIN,
        upload,
        bytes,
        schema.ModelDescription,
        "Create a model from a model file.",
        201,
        patient=True,
    ),
    Operation(
        "POST",
        f"{ONE}/clone",
        ADMIN,
        clone,
        schema.Named,
        schema.ModelDescription,
        "Copy a model to another name.",
        201,
    ),
    Operation(
        "POST",
        f"{ONE}/rename",
        ADMIN,
        rename,
        schema.Rename,
        schema.ModelDescription,
        "Rename a model, or replace another.",
    ),
    Operation(
        "GET", f"{ONE}/certificate", READ, certificate, None, schema.Certificate, "What a theorem allows.", patient=True
    ),
    Operation("GET", f"{ONE}/progress", READ, progress, None, schema.Progress, "Progress of a model."),
    Operation("GET", f"{ONE}/events", READ, events, None, "text/event-stream", "Progress of a model, every second."),
    Operation("GET", f"{ONE}/journal", ADMIN, journal, None, "application/jsonl", "All examples in the journal."),
    Operation(
        "POST",
        f"{ONE}/rewind",
        ADMIN,
        rewind,
        schema.Rewind,
        schema.ModelDescription,
        "Go back, and forget what came after.",
        patient=True,
    ),
    Operation(
        "POST",
        f"{ONE}/compact",
        ADMIN,
        compact,
        schema.Compact,
        schema.ModelDescription,
        "Put a snapshot in the place of the journal.",
    ),
)


def allowed(path: str) -> list[str]:
    """Return the methods that a path accepts; an empty list if there is no such path."""
    parts = path.split("/")
    matching = (one for one in OPERATIONS if _matches(one.path.split("/"), parts))
    return sorted({one.method for one in matching})


def _matches(template: list[str], parts: list[str]) -> bool:
    pairs = zip(template, parts, strict=False)
    return len(template) == len(parts) and all(part == given or (part == "{name}" and given) for part, given in pairs)
