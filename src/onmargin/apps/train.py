"""Learning from files: passes over them, checkpoints on the way, and going on after an interruption.

A checkpoint is the model file itself, whose notes say how much of the data it has learned. Files are replaced in one
step, so that whatever happens there is one that agrees with itself.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import click

from onmargin.apps.chunk_learner import ChunkLearner, begin, row_type, task_of
from onmargin.apps.chunks import CHUNK, Chunk, Digest, Meter, Position, read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.formats import FORMATS, Settings, check_files, complete, guessed
from onmargin.apps.progress import Progress
from onmargin.apps.signals import Signals, Stopped
from onmargin.apps.tasks import guess_task
from onmargin.errors import ExampleError
from onmargin.io import ReadError, load_with_notes, save

START = Position()
_EVERY = 60.0  # seconds between checkpoints, unless examples are counted
_SHARE = 20  # and how many times as long as writing one takes, at least


@dataclass(frozen=True)
class Request:
    """What a user asks for. A run is resumed by the same request, but for more passes and more files at the end."""

    files: tuple[str, ...]
    task: str | None = None
    format: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    passes: int = 1
    model: str | None = None  # the name of a learner

    def to_notes(self) -> dict[str, Any]:
        notes = asdict(self) | {"files": list(self.files)}
        del notes["passes"]
        # Infinity is a word in JSON too.
        notes["parameters"] = {name: repr(value) for name, value in self.parameters.items()}
        return notes

    def settings(self) -> Settings:
        """How its files are read."""
        formats = {path: guessed(path, self.format) for path in self.files}
        first = self.files[0]
        for path, format in formats.items():
            if format != formats[first]:
                raise Failure(f"{first} is {formats[first]} and {path} is {format}: a model learns from one format")
        task = task_of(self.model, self.task)
        dtype = self.parameters.get("dtype")
        if dtype is None:
            dtype = "float32" if task in {None, "tag"} else row_type(self.model, task, self.parameters)
        reading = self.reading | {"multilabel": task == "rank", "dtype": dtype}
        if FORMATS[formats[first]].kind == "rows":
            reading["hash"] = self.parameters.get("hash", 0)
        return complete(Settings(formats[first], **reading), first)


@dataclass
class Run:
    """A model, how its examples are read, and how many of them it has learned."""

    request: Request
    out: str
    settings: Settings
    learner: ChunkLearner | None = None
    position: Position = START
    digest: Digest = field(default_factory=Digest)  # of what was learned of the file that is being read
    unread: str | None = None  # that of a checkpoint whose records were not read again yet; "": it does not say

    def save(self) -> None:
        """Write the model with its position, in one step."""
        if self.learner is not None:
            notes = {
                "task": self.learner.task,
                "features": self.learner.features,
                "settings": self.settings.to_notes(),
                "request": self.request.to_notes(),
                "position": list(self.position),
                "digest": str(self.digest) if self.unread is None else self.unread,
            }
            save(self.learner.model, self.out, notes=notes)


def train(request: Request, out: str, *, resume: bool, start: str | None, every: int | None, quiet: bool) -> Run:
    """Learn what is asked for; the run as it ended."""
    check_files(request.files)
    if "-" in request.files and request.passes > 1:
        raise click.UsageError("the standard input can be read once: give a file for several --passes")
    if not os.path.isdir(folder := os.path.dirname(os.path.realpath(out))):
        raise Failure(f"there is no folder {folder} for {out}")
    run = resumed(request, out) if resume and os.path.exists(out) else _begun(request, out, start)
    progress, meter, due = Progress(quiet=quiet), Meter(), _Due(every)
    with Signals() as signals, progress:
        try:
            for chunk, after in _remaining(run, meter, min(every or CHUNK, CHUNK)):
                with signals.whole():
                    _learn(run, chunk, after)
                    if due.after(len(chunk)):
                        due.time(run.save)
                if run.learner is not None:
                    progress.update(run.learner.n_examples, run.learner.measure(), _done(run, meter))
            if run.learner is None:
                raise Failure(f"there are no examples in {', '.join(request.files)}")
            with signals.whole():
                run.save()
        except Stopped as stop:
            run.save()
            click.echo(f"stopped: {_kept(run)}", err=True)
            raise SystemExit(128 + stop.number) from None
        except ReadError as error:
            run.save()
            raise Failure(f"{error}; {_kept(run)}") from error
    return run


def resumed(request: Request, out: str) -> Run:
    """The run that a model file is the checkpoint of."""
    model, notes = load_with_notes(out)
    if "position" not in notes:
        raise Failure(f"{out} is no checkpoint of onmargin train: to go on from a model with new data say --from")
    old, new = notes["request"], request.to_notes()
    n_files = len(old["files"])
    if new["files"][:n_files] == old["files"] and (notes["position"][0] == 0 or len(new["files"]) == n_files):
        new["files"] = old["files"]
    changed = [name for name in new if old.get(name) != new[name]]
    if changed:
        name = changed[0]
        raise Failure(
            f"{out} is the checkpoint of a run with other {name}: {old.get(name)!r}, not {new[name]!r}. Resume it with "
            "the same arguments, or start over without --resume"
        )
    settings = Settings(**notes["settings"])
    learner, position = ChunkLearner(notes["task"], model, notes["features"]), Position(*notes["position"])
    return Run(request, out, settings, learner, position, unread=notes.get("digest", ""))


def _begun(request: Request, out: str, start: str | None) -> Run:
    """A run from the beginning of its data, with a new model or with one that has learned others."""
    if start is None:
        return Run(request, out, request.settings())
    model, notes = load_with_notes(start)
    if "settings" not in notes:
        raise Failure(f"{start} was not made by onmargin train, and does not say how its examples are read")
    same = request.task in {None, notes["task"]} and request.model in {None, type(model).__name__}
    if request.parameters or not same:
        raise click.UsageError("--from goes on with the task and the parameters of its model")
    return Run(request, out, Settings(**notes["settings"]), ChunkLearner(notes["task"], model, notes["features"]))


def _remaining(run: Run, meter: Meter, size: int) -> Iterator[tuple[Chunk, Position]]:
    """What is left to learn, and where each chunk ends."""
    while run.position.passes < run.request.passes:
        path = run.request.files[run.position.files]
        n_read, skip, digest = 0, run.position.records, Digest()
        if not skip:
            run.digest, run.unread = digest, None
        for chunk in read_chunks(path, run.settings, size=size, meter=meter):
            done = max(0, min(len(chunk), skip - n_read))
            n_read += len(chunk)
            if done:
                digest.update(chunk.part(0, done))
                if n_read >= skip:
                    if run.unread not in {"", str(digest)}:
                        raise Failure(
                            f"{path} has changed: its first {skip} records are not those that {run.out} has learned. "
                            "Give the file as it was, or start over without --resume"
                        )
                    run.digest, run.unread = digest, None
            if done < len(chunk):
                yield chunk.part(done, len(chunk)) if done else chunk, run.position._replace(records=n_read)
        if n_read < skip:
            raise Failure(f"{path} has {n_read} records, and {run.out} has learned {skip} of it: it is another file")
        last = run.position.files + 1 == len(run.request.files)
        run.position = Position(run.position.passes + last, 0 if last else run.position.files + 1, 0)
        run.digest = Digest()


def _learn(run: Run, chunk: Chunk, after: Position) -> None:
    """Learn a chunk; if an example of it is refused, those before are learned."""
    if run.learner is None:
        request = run.request
        task = task_of(request.model, request.task) or guess_task(chunk, run.settings)
        run.learner = begin(request.model, task, run.settings, request.parameters)
    first = after.records - len(chunk)
    try:
        run.learner.learn(chunk)
    except ExampleError as error:
        run.position = run.position._replace(records=first + error.index)
        run.digest.update(chunk.part(0, error.index))
        path = run.request.files[run.position.files]
        raise ReadError(error.reason, path, run.position.records + 1) from error
    run.position = after
    run.digest.update(chunk)


def _done(run: Run, meter: Meter) -> float | None:
    """The part of the run that is behind, taking files for equally long."""
    if meter.fraction is None:
        return None
    passes, files, _ = run.position
    return (passes + (files + meter.fraction) / len(run.request.files)) / run.request.passes


def _kept(run: Run) -> str:
    if run.learner is None or not run.learner.n_examples:
        return "nothing was learned"
    return f"{run.learner.n_examples} examples are learned and kept in {run.out}; go on with --resume"


class _Due:
    """When the next checkpoint is."""

    def __init__(self, every: int | None) -> None:
        self._every = every
        self._examples = 0
        self._wait = _EVERY
        self._last = time.monotonic()

    def after(self, n_examples: int) -> bool:
        self._examples += n_examples
        if self._every is not None:
            return self._examples >= self._every
        return time.monotonic() - self._last >= self._wait

    def time(self, write: Any) -> None:
        start = time.monotonic()
        write()
        self._last = time.monotonic()
        self._wait = max(_EVERY, _SHARE * (self._last - start))
        self._examples = 0
