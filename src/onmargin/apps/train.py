"""Training on files: passes over the data, checkpoints, and resuming after an interruption."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click
import numpy as np

from onmargin.apps.chunk_learner import ChunkLearner, Mark
from onmargin.apps.chunks import CHUNK, Chunk, Digest, Meter, Position, joined, read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.loaded import labels_place, load_learner, warn, warn_columns, warn_strange
from onmargin.apps.pace import Due, Pace, Signals, Stopped
from onmargin.apps.progress import NullReporter, Progress, Reporter
from onmargin.apps.report import Report, tell
from onmargin.apps.run import START, Run, fingerprint
from onmargin.apps.sniff import adapt_recipe, check_files, named_options
from onmargin.apps.tasks import guess_task, usual_radius
from onmargin.apps.training_options import TrainingOptions, begin, task_of
from onmargin.errors import ExampleError
from onmargin.features.records import RecordFeatures
from onmargin.io import ReadError
from onmargin.io.format import Recipe, is_pipe, pipe_name
from onmargin.io.formats import FORMATS
from onmargin.learner import mark_fitted


def train(
    options: TrainingOptions, out: str, *, resume: bool, start: str | None, every: int | None, quiet: bool
) -> Run:
    """Train a model; return the finished run."""
    check_files(options.files)
    again = [
        name for name, asked in (("several --passes", options.passes > 1), ("--holdout", options.holdout)) if asked
    ]
    pipes = list(filter(is_pipe, options.files))
    if pipes and again:
        raise click.UsageError(f"{pipe_name(pipes[0])} can be read once: give a file for {again[0]}")
    if options.shuffle and options.holdout:
        raise click.UsageError("--holdout takes every N-th example in the order of the files: leave --shuffle out")
    if options.skip_errors and any(map(os.path.isdir, options.files)):
        raise click.UsageError("--on-error skip has no effect on folders: a file that cannot be read is named")
    say = NullReporter() if quiet else Reporter(options)
    run = load_run(options, out) if resume and os.path.exists(out) else _begin_run(options, out, start, say)
    once = options.holdout or options.shuffle or options.skip_errors or run.position != START
    if FORMATS[run.recipe.format].kind == "sequences" and options.passes > 1 and not once:
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
                raise Failure(f"there are no examples in {', '.join(options.files)}")
            with signals.whole():
                mark_fitted(run.learner.model, fitted=True)
                run.save()
        except Stopped as stop:
            run.save()
            tell(f"stopped: {_kept(run)}; continue with --resume")
            raise SystemExit(128 + stop.number) from None
        except ReadError as error:
            run.save()
            raise Failure(f"{error}; {_kept(run)}{_remedy(run, error)}") from error
    return run


def load_run(options: TrainingOptions, out: str) -> Run:
    """Return the run of a checkpoint."""
    learner, recipe, notes = load_learner(out)
    learner.check_learns(out)
    if "position" not in notes:
        raise Failure(
            f"{out} is not a checkpoint of onmargin train: use --from to continue training a model with new data"
        )
    old, new = notes["options"], options.to_notes()
    n_files = len(old["files"])
    if new["files"][:n_files] == old["files"] and (notes["position"][0] == 0 or len(new["files"]) == n_files):
        new["files"] = old["files"]
    may_change = {"skip_errors"} if options.skip_errors else set()  # a record that ended the run can be skipped
    changed = [name for name in new if old.get(name) != new[name] and name not in may_change]
    if changed:
        name = changed[0]
        before, now = old.get(name), new[name]
        if isinstance(before, dict):  # only what differs of the parameters, or of how the files are read
            names = [key for key in {**before, **now} if before.get(key) != now.get(key)]
            before, now = ({key: one.get(key) for key in names} for one in (before, now))
        raise Failure(
            f"{out} is the checkpoint of a run with other {name}: {before!r}, not {now!r}. Resume it with the same "
            "arguments, or start over without --resume"
        )
    if isinstance(getattr(learner.model, "features", None), RecordFeatures):
        learner.model.features = replace(learner.model.features, n_jobs=options.parameters.get("n_jobs"))
    elif hasattr(learner.model, "n_jobs"):
        learner.model.n_jobs = options.parameters.get("n_jobs")
    mark_fitted(learner.model, fitted=False)
    position = Position(*notes["position"])
    _check_sources(options, out, position, notes["sources"])
    return Run(
        options,
        out,
        recipe,
        learner,
        position,
        unread=notes["digest"],
        marks=[Mark(*mark) for mark in notes["marks"]],
        held_out=notes["held_out"],
        n_before=learner.n_examples,
        sources=notes["sources"],
    )


def _check_sources(options: TrainingOptions, out: str, position: Position, learned: list[list[int]]) -> None:
    """Say that a finished run has nothing to do; refuse files that have changed since they were learned.

    The file that is being read is compared by a digest of its examples.
    """
    changed = [path for path, old in zip(options.files, learned, strict=False) if fingerprint(path) != old]
    finished = position.passes >= options.passes
    remedy = "To learn new examples use --from, to start over leave --resume out"
    if changed and not finished:
        raise Failure(f"{changed[0]} has changed since {out} has learned it. {remedy}")
    if finished:
        more = f". {remedy}" if any(map(is_pipe, options.files)) else ". More --passes would continue it"
        more = f", and {changed[0]} has changed since. {remedy}" if changed else more
        plural = "es" if options.passes > 1 else ""
        tell(f"nothing was learned: {out} has finished {options.passes} pass{plural}{more}")


def _begin_run(options: TrainingOptions, out: str, start: str | None, say: NullReporter) -> Run:
    """Return a run from the beginning of the data, with a new model or one trained on other data."""
    if start is None:
        profile = options.profile()
        recipe = profile.recipe
        for path in options.files[1:]:
            if (recipe.label or recipe.labels) and not FORMATS[recipe.format].has_labels(path, recipe):
                raise Failure(f"{path} has no labels{labels_place(recipe)}, as {options.files[0]} has")
            warn_columns(path, recipe, f"{options.files[0]} has")
        return Run(options, out, recipe, shown=say.profile(profile))
    learner, recipe, _ = load_learner(start)
    learner.check_learns(start)
    same = options.task in {None, learner.task} and options.model in {None, type(learner.model).__name__}
    others = [name for name in named_options(options.reading) if name != "encoding"]
    if options.parameters or options.coverage is not None or others or not same:
        raise click.UsageError(
            "--from keeps the task, the parameters, the coverage and the reading options of its model: leave those "
            "options out, except --encoding"
        )
    recipe = _recipe_to_continue(options, learner, recipe)
    return Run(options, out, recipe, learner, marks=[learner.mark()], n_before=learner.n_examples)


def _recipe_to_continue(options: TrainingOptions, learner: ChunkLearner, trained: Recipe) -> Recipe:
    """Return how to read the files that a model continues with; columns that differ cause a warning."""
    given = {"encoding": options.reading.get("encoding")}
    recipes = {path: adapt_recipe(path, trained, options.format, given) for path in options.files}
    first = recipes[options.files[0]]
    for path, own in recipes.items():
        format = FORMATS[own.format]
        if (own.format, own.dialect.get("delimiter")) != (first.format, first.dialect.get("delimiter")):
            raise Failure(f"{path} is not written as {options.files[0]} is: continue with one after the other")
        if learner.task != "novelty" and not format.has_labels(path, own):
            raise Failure(f"{path} has no labels{labels_place(own)}, as the training data of the model have")
        warn_columns(path, own, "the model has learned from")
        if not is_pipe(path) and (chunk := next(read_chunks(path, own), None)) is not None:
            warn_strange(learner, path, own, chunk)
    return first


def _remaining(run: Run, meter: Meter, size: int) -> Iterator[tuple[Chunk, Position, Digest | None]]:
    """Yield the remaining chunks with their end positions and, if kept from the first pass, the digest up to there."""
    while run.position.passes < run.options.passes:
        if run.kept and run.position == Position(run.position.passes) and run.position.passes:
            for one in run.kept:
                yield one.chunk, one.after._replace(passes=run.position.passes), one.digest
            _end_file(run, last=True)
            continue
        n_sources = 1 if run.options.shuffle else len(run.options.files)
        path = "the data" if run.options.shuffle else run.options.files[run.position.files]
        n_read, skip, digest = 0, run.position.records, Digest()
        if not skip:
            run.digest, run.unread = digest, None
        for chunk in _shuffled(run, size, meter) if run.options.shuffle else _chunks(run, path, size, meter):
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
        if not n_read and run.position.passes == 0 and run.learner is not None:
            warn(f"there are no examples in {pipe_name(path)}", strict=False)
        if n_read < skip:
            raise Failure(f"{path} has {n_read} records, and {run.out} has learned {skip} of it: it is another file")
        _end_file(run, last=run.position.files + 1 == n_sources)


def _end_file(run: Run, *, last: bool) -> None:
    """Move to the next file, or to the next pass after the last file."""
    if run.position.passes == 0:
        files = run.options.files
        run.sources += map(fingerprint, files if run.options.shuffle else [files[run.position.files]])
    if last and run.learner is not None:
        run.marks.append(run.learner.mark())
        if run.options.holdout:
            run.held_out.append(_measure_held_out(run))
    run.position = Position(run.position.passes + last, 0 if last else run.position.files + 1, 0)
    run.digest = Digest()


def _chunks(run: Run, path: str, size: int, meter: Meter) -> Iterator[Chunk]:
    """Yield the examples of a file."""
    run.skipped.pop(path, None)  # each pass counts them again
    on_error = run.skip if run.options.skip_errors else None
    odd = run.odd if run.position.passes == 0 else None
    return read_chunks(path, run.recipe, size=size, meter=meter, on_error=on_error, odd=odd)


def _shuffled(run: Run, size: int, meter: Meter) -> Iterator[Chunk]:
    """Yield all examples in an order that depends only on the pass. They are kept in memory."""
    if run.shuffled is None:
        parts = [chunk for path in run.options.files for chunk in _chunks(run, path, CHUNK, meter)]
        run.shuffled = joined(parts)
    n = len(run.shuffled)
    order = np.random.default_rng([0, run.position.passes]).permutation(n)
    for start in range(0, n, size):
        yield run.shuffled.take(order[start : start + size])


def _begin(run: Run, chunk: Chunk, say: NullReporter) -> None:
    """Create the learner for examples like these."""
    options = run.options
    task = task_of(options.model, options.task) or guess_task(chunk, run.recipe)
    parameters = options.parameters
    usual = task == "novelty" and FORMATS[run.recipe.format].kind != "sequences"
    if usual and not parameters.keys() & {"epsilon", "radius", "max_radius", "geometry", "kernel"}:
        parameters = parameters | {"radius": "learn", "max_radius": usual_radius(chunk)}
    run.learner = begin(options.model, task, run.recipe, parameters, options.coverage)
    say.task(run.learner)
    if (
        options.model is None
        and options.task is None
        and task == "classify"
        and FORMATS[run.recipe.format].is_table(run.recipe)
    ):
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
    return "the shuffled data" if run.options.shuffle else run.options.files[run.position.files]


def _learn_some(run: Run, learner: Any, chunk: Chunk, first: int) -> None:
    """Learn the examples of a chunk that are not held out; refused examples are skipped if requested."""
    places = np.arange(len(chunk))
    if run.options.holdout:
        places = places[~_held_out(run, first, len(chunk))]
    while len(places):
        whole = len(places) == len(chunk)
        try:
            learner.learn(chunk if whole else chunk.take(places), judge=run.position.passes == 0)
            return
        except ExampleError as error:
            k = int(places[error.index])
            if not run.options.skip_errors:
                raise ExampleError(error.reason, k) from error
            run.skip(ReadError(error.reason, _path(run), first + k + 1))
            places = places[error.index + 1 :]


def _held_out(run: Run, first: int, n: int) -> Any:
    """Return which of the n examples of a file after the first ones are held out."""
    return np.arange(first + 1, first + n + 1) % run.options.holdout == 0


def _measure_held_out(run: Run) -> Report:
    """Evaluate the model on the held-out examples of all files."""
    from onmargin.apps.evaluate import measure_chunk, new_measure

    learner: Any = run.learner
    measure = new_measure(learner)
    n = 0
    for path in run.options.files:
        first = 0
        for chunk in read_chunks(path, run.recipe, on_error=(lambda _: None) if run.options.skip_errors else None):
            places = np.flatnonzero(_held_out(run, first, len(chunk)))
            first += len(chunk)
            n += len(places)
            if len(places):
                measure_chunk(measure, learner, chunk.take(places))
    if not n:
        click.echo(
            f"warning: no example is held out: no file has {run.options.holdout} examples, the number of --holdout",
            err=True,
        )
    return {"examples": n, **(measure.report() if n else {})}


def _done(run: Run, meter: Meter) -> float | None:
    """Return the completed fraction of the run, assuming files of equal length."""
    if meter.fraction is None:
        return None
    passes, files, _ = run.position
    return (passes + (files + meter.fraction) / len(run.options.files)) / run.options.passes


def _kept(run: Run) -> str:
    n = 0 if run.learner is None else run.learner.n_examples - run.n_before
    if n == 0:
        return "nothing was learned" + (f" since {run.out} was written" if run.n_before else "")
    return f"{n} {'example is' if n == 1 else 'examples are'} learned and kept in {run.out}"


def _remedy(run: Run, error: ReadError) -> str:
    """Return what to do after a record that could not be read or learned."""
    if run.options.skip_errors or not error.skippable or error.names_remedy or not FORMATS[run.recipe.format].can_skip:
        return ""
    return ". Correct the file and continue with --resume, or skip such records with --on-error skip"
