"""Training on files: passes over the data, checkpoints, and resuming after an interruption."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click
import numpy as np

from onmargin.apps.chunk_learner import ChunkLearner, Mark
from onmargin.apps.chunks import CHUNK, Chunk, Digest, Meter, Position, joined, read_chunks
from onmargin.apps.evaluate import measure_chunk, new_measure
from onmargin.apps.failure import Failure, listed
from onmargin.apps.formats import Settings
from onmargin.apps.guess_messages import Said, Silent
from onmargin.apps.looks import check_files, missing_columns, named_options
from onmargin.apps.new_learner import begin, task_of
from onmargin.apps.pace import Due, Pace
from onmargin.apps.progress import Progress
from onmargin.apps.report import Report
from onmargin.apps.request import Request
from onmargin.apps.run import START, Run
from onmargin.apps.signals import Signals, Stopped
from onmargin.apps.tasks import guess_task, usual_radius
from onmargin.errors import ExampleError
from onmargin.features.records import RecordFeatures
from onmargin.io import ReadError, load_with_notes


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
    say = Silent() if quiet else Said(request)
    run = resumed(request, out) if resume and os.path.exists(out) else _begun(request, out, start, say)
    once = request.holdout or request.shuffle or request.skip_errors or run.position != START
    if run.settings.kind == "sequences" and request.passes > 1 and not once:
        run.kept = []
    progress, meter, due, pace = Progress(quiet=quiet), Meter(), Due(every), Pace()
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
    if isinstance(getattr(learner.model, "features", None), RecordFeatures):
        learner.model.features = replace(learner.model.features, n_jobs=request.parameters.get("n_jobs"))
    elif hasattr(learner.model, "n_jobs"):
        learner.model.n_jobs = request.parameters.get("n_jobs")
    return Run(
        request,
        out,
        Settings.from_notes(notes["settings"]),
        learner,
        position,
        unread=notes["digest"],
        marks=[Mark(*mark) for mark in notes["marks"]],
        held_out=notes["held_out"],
        n_before=learner.n_examples,
    )


def _begun(request: Request, out: str, start: str | None, say: "Silent") -> Run:
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
                    if str(digest) != run.unread:
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


def _begin(run: Run, chunk: Chunk, say: "Silent") -> None:
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
    if run.request.skip_errors or not error.skippable or error.names_remedy or run.settings.format == "folder":
        return ""
    return ". Correct the file and continue with --resume, or skip such records with --on-error skip"
