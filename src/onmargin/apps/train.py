"""Training on files: passes over the data, checkpoints, and resuming after an interruption.

A checkpoint is the model file itself, whose notes have the position in the data. Files are replaced atomically, so that
there is always a consistent checkpoint.
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import click
import numpy as np

from onmargin.apps.chunk_learner import ChunkLearner, Mark, begin, row_type, task_of
from onmargin.apps.chunks import CHUNK, Chunk, Digest, Meter, Position, joined, read_chunks
from onmargin.apps.evaluate import measure_chunk, new_measure
from onmargin.apps.failure import Failure, listed
from onmargin.apps.formats import FORMATS, TEXT_PARAMETERS, Settings
from onmargin.apps.looks import Look, check_files, guessed, look_at, missing_columns, named_options
from onmargin.apps.progress import Progress
from onmargin.apps.report import Report
from onmargin.apps.signals import Signals, Stopped
from onmargin.apps.tasks import guess_task, usual_radius
from onmargin.errors import ExampleError
from onmargin.io import ReadError, load_with_notes, save

START = Position()
_EVERY = 60.0  # seconds between checkpoints, unless examples are counted
_SHARE = 20  # minimum time between checkpoints, as a multiple of the time to write one
_PIECE = 0.2  # approximate seconds to learn a piece of a block; signals wait this long
_KEPT = 1 << 26  # maximum number of feature values kept for later passes, 12 bytes each
_FEW_CLASSES = 10  # maximum number of distinct integer labels that are taken for classes without a message
_NAMED = 10  # maximum number of skipped records that are named


@dataclass(frozen=True)
class Request:
    """Options of a training run. A run is resumed with the same request; only passes and files at the end may be added.

    `reading` has the options for reading files, by the names of `formats.OPTIONS`. If `holdout` is not 0, every
    `holdout`-th example is not learned but used for evaluation after each pass.
    """

    files: tuple[str, ...]
    task: str | None = None
    format: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    passes: int = 1
    model: str | None = None  # the name of a learner
    holdout: int = 0
    shuffle: bool = False
    skip_errors: bool = False
    coverage: float | None = None  # coverage of prediction sets or intervals

    def to_notes(self) -> dict[str, Any]:
        notes = asdict(self) | {"files": list(self.files)}
        del notes["passes"]
        notes["reading"] = {name: _plain(value) for name, value in self.reading.items()}
        # repr also represents infinity, which JSON lacks.
        notes["parameters"] = {name: repr(value) for name, value in self.parameters.items()}
        return notes

    def look(self) -> Look:
        """Return how to read the files."""
        formats = {path: guessed(path, self.format) for path in self.files}
        first = self.files[0]
        for path, format in formats.items():
            if format != formats[first]:
                raise Failure(f"{first} is {formats[first]} and {path} is {format}: a model learns from one format")
        task = task_of(self.model, self.task)
        if task not in {None, "rank"} and (self.reading.get("labels") or self.reading.get("label_separator")):
            raise click.UsageError(f"several labels per example are for --task rank; the task here is {task}")
        dtype = self.parameters.get("dtype")
        if dtype is None:
            dtype = "float32" if task in {None, "tag"} else row_type(self.model, task, self.parameters)
        options = {name: self.parameters[name] for name in TEXT_PARAMETERS if name in self.parameters}
        fixed = {"multilabel": task == "rank", "dtype": dtype, "text_options": options}
        if FORMATS[formats[first]].kind == "rows":
            fixed["hash"] = self.parameters.get("hash", 0)
        look = look_at(first, formats[first], self.reading, **fixed)
        _check_text_parameters(look, options)
        return look


def _plain(value: Any) -> Any:
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _check_text_parameters(look: Look, options: Mapping[str, Any]) -> None:
    """Raise an error for text parameters if there are no texts."""
    if not options:
        return
    name = next(iter(options))
    if not look.has_texts:
        raise click.UsageError(f"{name} is for texts, and the examples have none: name a column with --text")
    if look.settings.texts and look.settings.bare is None and options.get("idf"):
        raise click.UsageError("idf is for texts alone: keep nothing else with --only, or leave it out")


@dataclass
class Run:
    """A training run: the model, the settings for reading, and the position in the data."""

    request: Request
    out: str
    settings: Settings
    learner: ChunkLearner | None = None
    position: Position = START
    digest: Digest = field(default_factory=Digest)  # digest of the learned examples of the current file
    unread: str | None = None  # digest of a checkpoint whose records are yet to be read again; "" if it has none
    marks: list[Mark] = field(default_factory=lambda: [Mark()])  # sums at the start and at the end of each pass
    held_out: list[Report] = field(default_factory=list)  # measures on the held-out examples after each pass
    skipped: dict[str, int] = field(default_factory=dict)  # number of skipped records by file
    n_before: int = 0  # number of examples learned by an earlier run
    shuffled: Chunk | None = None  # all examples, if they are shuffled
    kept: "list[Kept] | None" = None  # all examples of the first pass, if their features are worth keeping
    n_kept: int = 0  # number of kept feature values

    def save(self) -> None:
        """Write the model with its position atomically."""
        if self.learner is not None:
            notes = {
                "task": self.learner.task,
                "features": self.learner.features,
                "settings": self.settings.to_notes(),
                "request": self.request.to_notes(),
                "position": list(self.position),
                "digest": str(self.digest) if self.unread is None else self.unread,
                # A signal may arrive between the end of a pass and the update of the position.
                "marks": [list(mark) for mark in self.marks[: 1 + self.position.passes]],
                "tokens": self.learner.n_tokens,
                "held_out": self.held_out[: self.position.passes],
            }
            save(self.learner.saved, self.out, notes=notes)

    def report(self) -> Report:
        """Return the results of the run."""
        learner = self.learner
        if learner is None:
            return {}
        marks = self.marks if len(self.marks) > 1 else [*self.marks, learner.mark()]
        report = {
            "model": self.out,
            "task": learner.task,
            "format": self.settings.format,
            "passes": self.position.passes,
            **learner.summary(marks),
        }
        if self.request.skip_errors:
            report["skipped"] = sum(self.skipped.values())
        if self.held_out:
            report["held_out"] = {f"pass {k}": _numbers(one) for k, one in enumerate(self.held_out, 1)}
        return report

    def warnings(self) -> list[str]:
        """Return warnings if the model may be useless, or worse than its progressive error."""
        if self.learner is None:
            return []
        model = self.learner.model
        standing, labels = getattr(model, "experts_", None), list(getattr(model, "classes_", []))
        found = []
        if len(labels) == 1:
            found.append(
                f"all examples have the label {str(labels[0])!r}, which the model always predicts: if the label is "
                "another column, name it with --label"
            )
        if standing is not None and _forgets(standing):
            found.append(
                f"{standing.names[standing.leader]!r} leads, which follows the last examples: the model is for those "
                "that come next in this order. For examples from all of the files train with --shuffle"
            )
        return found

    def keep(self, piece: Chunk) -> None:
        """Keep the features of sequences for later passes, as long as there is room."""
        if self.position.passes == 0 and self.kept is not None and self.learner is not None:
            chunk = self.learner.looked_up(piece)
            self.kept.append(Kept(chunk, self.position, replace(self.digest)))
            self.n_kept += chunk.X.n_values
            if self.n_kept > _KEPT:
                self.kept = None

    def skip(self, error: ReadError) -> None:
        """Count a record that is skipped, and name the first ones."""
        n = self.skipped[error.path] = self.skipped.get(error.path, 0) + 1
        if n <= _NAMED and self.position.passes == 0:
            click.echo(f"skipped: {error}", err=True)


def _forgets(standing: Any) -> bool:
    """Return whether the leading expert forgets, and does not lead by chance."""
    if not standing.forgets[standing.leader]:
        return False
    if standing.judged != "mistakes":
        return True
    least, other = standing.lost[standing.leader], standing.lost[~standing.forgets].min(initial=np.inf)
    # The variance of the difference of two numbers of mistakes is at most their sum.
    return bool(other - least > np.sqrt(least + other))


def _numbers(report: Report) -> Report:
    return {name: value for name, value in report.items() if isinstance(value, int | float)}


def train(request: Request, out: str, *, resume: bool, start: str | None, every: int | None, quiet: bool) -> Run:
    """Train a model; return the finished run."""
    check_files(request.files)
    again = [name for name, asked in (("--passes", request.passes > 1), ("--holdout", request.holdout)) if asked]
    if "-" in request.files and again:
        raise click.UsageError(f"the standard input can be read once: give a file for several {again[0]}")
    if request.shuffle and request.holdout:
        raise click.UsageError("--holdout takes every N-th example in the order of the files: leave --shuffle out")
    if request.skip_errors and any(path != "-" and os.path.isdir(path) for path in request.files):
        raise click.UsageError("--on-error skip has no effect on folders: a file that cannot be read is named")
    if not os.path.isdir(folder := os.path.dirname(os.path.realpath(out))):
        raise Failure(f"there is no folder {folder} for {out}")
    say = _Silent() if quiet else _Said(request)
    run = resumed(request, out) if resume and os.path.exists(out) else _begun(request, out, start, say)
    once = request.holdout or request.shuffle or request.skip_errors or run.position != START
    if run.settings.kind == "sequences" and request.passes > 1 and not once:
        run.kept = []
    progress, meter, due, pace = Progress(quiet=quiet), Meter(), _Due(every), _Pace()
    with Signals() as signals, progress:
        try:
            for chunk, after, digest in _remaining(run, meter, min(every or CHUNK, CHUNK)):
                if run.learner is None:
                    _begin(run, chunk, say)
                for piece, place in pace.pieces(chunk, after) if digest is None else [(chunk, after)]:
                    with signals.whole():
                        _learn(run, piece, place, digest)
                        run.keep(piece)
                        if due.after(len(piece)):
                            due.time(run.save)
                    if run.learner is not None:
                        progress.update(run.learner.n_examples, run.learner.measure(run.marks[-1]), _done(run, meter))
            if run.learner is None:
                raise Failure(f"there are no examples in {', '.join(request.files)}")
            with signals.whole():
                run.save()
        except Stopped as stop:
            run.save()
            click.echo(f"stopped: {_kept(run)}; continue with --resume", err=True)
            raise SystemExit(128 + stop.number) from None
        except ReadError as error:
            run.save()
            raise Failure(f"{error}; {_kept(run)}{_remedy(run, error)}") from error
    return run


def resumed(request: Request, out: str) -> Run:
    """Return the run of a checkpoint."""
    model, notes = load_with_notes(out)
    if "position" not in notes:
        raise Failure(
            f"{out} is not a checkpoint of onmargin train: use --from to continue training a model with new data"
        )
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
    learner, position = ChunkLearner(notes["task"], model, notes["features"]), Position(*notes["position"])
    learner.n_tokens = notes["tokens"]
    return Run(
        request,
        out,
        Settings.from_notes(notes["settings"]),
        learner,
        position,
        unread=notes.get("digest", ""),
        marks=[Mark(*mark) for mark in notes["marks"]],
        held_out=notes["held_out"],
        n_before=learner.n_examples,
    )


def _begun(request: Request, out: str, start: str | None, say: "_Silent") -> Run:
    """Return a run from the beginning of the data, with a new model or one trained on other data."""
    if start is None:
        look = request.look()
        for path in request.files[1:]:
            if missing := missing_columns(path, look.settings):
                click.echo(f"warning: {path} has no column {listed(missing)}, which {request.files[0]} has", err=True)
        say.look(look)
        return Run(request, out, look.settings)
    model, notes = load_with_notes(start)
    if "settings" not in notes:
        raise Failure(f"{start} was not made by onmargin train, and does not say how its examples are read")
    learner = ChunkLearner(notes["task"], model, notes["features"])
    same = request.task in {None, notes["task"]} and request.model in {None, type(learner.model).__name__}
    if (
        request.parameters
        or request.coverage is not None
        or named_options(request.reading)
        or not same
        or request.format not in {None, notes["settings"]["format"]}
    ):
        raise click.UsageError(
            "--from keeps the task, the parameters, the coverage and the reading options of its model: leave those "
            "options out"
        )
    learner.n_tokens = notes.get("tokens", 0)
    settings = Settings.from_notes(notes["settings"])
    return Run(request, out, settings, learner, marks=[learner.mark()], n_before=learner.n_examples)


@dataclass(frozen=True)
class Kept:
    """Sequences with their features looked up, their end position, and the digest of their file up to there."""

    chunk: Chunk
    after: Position
    digest: Digest


def _remaining(run: Run, meter: Meter, size: int) -> Iterator[tuple[Chunk, Position, Digest | None]]:
    """Yield the remaining chunks with their end positions and, if kept from the first pass, the digest up to there."""
    while run.position.passes < run.request.passes:
        if run.kept and run.position == Position(run.position.passes) and run.position.passes:
            for one in run.kept:
                yield one.chunk, one.after._replace(passes=run.position.passes), one.digest
            _end_file(run, last=True)
            continue
        n_sources = 1 if run.request.shuffle else len(run.request.files)
        path = "the data" if run.request.shuffle else run.request.files[run.position.files]
        n_read, skip, digest = 0, run.position.records, Digest()
        if not skip:
            run.digest, run.unread = digest, None
        for chunk in _shuffled(run, size, meter) if run.request.shuffle else _chunks(run, path, size, meter):
            done = max(0, min(len(chunk), skip - n_read))
            n_read += len(chunk)
            if done:
                digest.update(chunk.part(0, done))
                if n_read >= skip:
                    if not digest.agrees(run.unread or ""):
                        raise Failure(
                            f"{path} has changed: its first {skip} records are not those that {run.out} has learned. "
                            "Give the file as it was, or start over without --resume"
                        )
                    run.digest, run.unread = digest, None
            if done < len(chunk):
                yield chunk.part(done, len(chunk)) if done else chunk, run.position._replace(records=n_read), None
        if n_read < skip:
            raise Failure(f"{path} has {n_read} records, and {run.out} has learned {skip} of it: it is another file")
        _end_file(run, last=run.position.files + 1 == n_sources)


def _end_file(run: Run, *, last: bool) -> None:
    """Move to the next file, or to the next pass after the last file."""
    if last and run.learner is not None:
        run.marks.append(run.learner.mark())
        if run.request.holdout:
            run.held_out.append(_measure_held_out(run))
    run.position = Position(run.position.passes + last, 0 if last else run.position.files + 1, 0)
    run.digest = Digest()


def _chunks(run: Run, path: str, size: int, meter: Meter) -> Iterator[Chunk]:
    """Yield the examples of a file."""
    run.skipped.pop(path, None)  # each pass counts them again
    on_error = run.skip if run.request.skip_errors else None
    return read_chunks(path, run.settings, size=size, meter=meter, on_error=on_error)


def _shuffled(run: Run, size: int, meter: Meter) -> Iterator[Chunk]:
    """Yield all examples in an order that depends only on the pass. They are kept in memory."""
    if run.shuffled is None:
        parts = [chunk for path in run.request.files for chunk in _chunks(run, path, CHUNK, meter)]
        run.shuffled = joined(parts)
    n = len(run.shuffled)
    order = np.random.default_rng([0, run.position.passes]).permutation(n)
    for start in range(0, n, size):
        yield run.shuffled.take(order[start : start + size])


def _begin(run: Run, chunk: Chunk, say: "_Silent") -> None:
    """Create the learner for examples like these."""
    request = run.request
    task = task_of(request.model, request.task) or guess_task(chunk, run.settings)
    parameters = request.parameters
    usual = task == "novelty" and run.settings.kind != "sequences"
    if usual and not parameters.keys() & {"epsilon", "radius", "max_radius", "geometry", "kernel"}:
        parameters = parameters | {"radius": "learn", "max_radius": usual_radius(chunk)}
    run.learner = begin(request.model, task, run.settings, parameters, request.coverage)
    say.task(run.learner)
    if request.model is None and request.task is None and task == "classify" and run.settings.is_table:
        say.classes({label for label in chunk.y if isinstance(label, int | float)})


def _learn(run: Run, chunk: Chunk, after: Position, digest: Digest | None) -> None:
    """Learn a chunk; if an example is refused, those before it are learned."""
    first = after.records - len(chunk)
    try:
        _learn_some(run, run.learner, chunk, first)
    except ExampleError as error:
        run.position = run.position._replace(records=first + error.index)
        run.digest.update(chunk.part(0, error.index))
        raise ReadError(error.reason, _path(run), run.position.records + 1) from error
    run.position = after
    if digest is None:
        run.digest.update(chunk)
    else:
        run.digest = digest


def _path(run: Run) -> str:
    return "the shuffled data" if run.request.shuffle else run.request.files[run.position.files]


def _learn_some(run: Run, learner: Any, chunk: Chunk, first: int) -> None:
    """Learn the examples of a chunk that are not held out; refused examples are skipped if requested."""
    places = np.arange(len(chunk))
    if run.request.holdout:
        places = places[~_held_out(run, first, len(chunk))]
    while len(places):
        whole = len(places) == len(chunk)
        try:
            learner.learn(chunk if whole else chunk.take(places), judge=run.position.passes == 0)
            return
        except ExampleError as error:
            k = int(places[error.index])
            if not run.request.skip_errors:
                raise ExampleError(error.reason, k) from error
            run.skip(ReadError(error.reason, _path(run), first + k + 1))
            places = places[error.index + 1 :]


def _held_out(run: Run, first: int, n: int) -> Any:
    """Return which of the n examples of a file after the first ones are held out."""
    return np.arange(first + 1, first + n + 1) % run.request.holdout == 0


def _measure_held_out(run: Run) -> Report:
    """Evaluate the model on the held-out examples of all files."""
    learner: Any = run.learner
    measure = new_measure(learner)
    n = 0
    for path in run.request.files:
        first = 0
        for chunk in read_chunks(path, run.settings, on_error=(lambda _: None) if run.request.skip_errors else None):
            places = np.flatnonzero(_held_out(run, first, len(chunk)))
            first += len(chunk)
            n += len(places)
            if len(places):
                measure_chunk(measure, learner, chunk.take(places))
    return {"examples": n, **(measure.report() if n else {})}


def _done(run: Run, meter: Meter) -> float | None:
    """Return the completed fraction of the run, assuming files of equal length."""
    if meter.fraction is None:
        return None
    passes, files, _ = run.position
    return (passes + (files + meter.fraction) / len(run.request.files)) / run.request.passes


def _kept(run: Run) -> str:
    n = 0 if run.learner is None else run.learner.n_examples - run.n_before
    if n == 0:
        return "nothing was learned" + (f" since {run.out} was written" if run.n_before else "")
    return f"{n} {'example is' if n == 1 else 'examples are'} learned and kept in {run.out}"


def _remedy(run: Run, error: ReadError) -> str:
    """Return what to do after a record that could not be read or learned."""
    if run.request.skip_errors or not error.skippable or run.settings.format == "folder":
        return ""
    return ". Correct the file and continue with --resume, or skip such records with --on-error skip"


class _Silent:
    """Messages about guesses, switched off."""

    def look(self, look: Look) -> None:
        pass

    def task(self, learner: ChunkLearner) -> None:
        pass

    def classes(self, numbers: set[float]) -> None:
        pass


class _Said(_Silent):
    """Messages about guesses: one line about what was guessed, and one about ignored columns."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._look: Look | None = None

    def look(self, look: Look) -> None:
        self._look = look

    def task(self, learner: ChunkLearner) -> None:
        if self._look is None:
            return
        click.echo(
            f"{self._request.files[0]}: {self._look}; task {learner.task}, {type(learner.model).__name__}", err=True
        )
        if self._look.left_out:
            names = ", ".join(f"{name!r} ({reason})" for name, reason in self._look.left_out.items())
            click.echo(f"left out: {names}; --only keeps what it names", err=True)

    def classes(self, numbers: set[float]) -> None:
        """Report that numbers were taken for classes, if there are more than classifications usually have."""
        if len(numbers) > _FEW_CLASSES:
            click.echo(
                f"{len(numbers)} different whole numbers as labels are taken for classes; if they are quantities, add "
                "--task regress",
                err=True,
            )


class _Pace:
    """Division of blocks into pieces that are learned quickly, so that signals can be handled between them."""

    def __init__(self) -> None:
        self._size = 10

    def pieces(self, chunk: Chunk, after: Position) -> Iterator[tuple[Chunk, Position]]:
        first, start, n = after.records - len(chunk), 0, len(chunk)
        while start < n:
            stop = min(n, start + self._size)
            begun = time.monotonic()
            yield chunk if stop - start == n else chunk.part(start, stop), after._replace(records=first + stop)
            seconds = time.monotonic() - begun
            if seconds > _PIECE:
                self._size = max(1, self._size // 4)
            elif seconds < _PIECE / 8 and stop - start == self._size:
                self._size *= 4
            start = stop


class _Due:
    """Schedule of checkpoints."""

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
