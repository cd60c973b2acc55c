"""Parallel training on files, one shard per file."""

from collections.abc import Iterator
from dataclasses import dataclass

import click

from onmargin import scale
from onmargin.apps.chunk_learner import Mark, make_batch
from onmargin.apps.chunks import Chunk, Position, read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.loaded import warn_columns
from onmargin.apps.progress import NullReporter, Reporter
from onmargin.apps.report import tell
from onmargin.apps.run import Run
from onmargin.apps.sniff import check_files
from onmargin.apps.tasks import guess_task
from onmargin.apps.training_options import TrainingOptions, begin, task_of
from onmargin.io.format import Recipe, is_pipe, pipe_name
from onmargin.io.sharding import Batch


@dataclass(frozen=True)
class Place:
    """The engine and workers of a parallel run."""

    engine: str
    workers: int | None = None
    address: str | None = None
    mixing: str = "updates"


@dataclass(frozen=True)
class FileShard:
    """Shard of one file, read as in `train`, with the labels of the task."""

    name: str
    recipe: Recipe
    task: str

    def batches(self) -> Iterator[Batch]:
        for chunk in read_chunks(self.name, self.recipe):
            yield make_batch(self.task, chunk)


def train(options: TrainingOptions, out: str, place: Place, *, resume: bool, quiet: bool) -> Run:
    """Train in parallel, with averaged weights after each pass; return the finished run."""
    check_files(options.files)
    for path in filter(is_pipe, options.files):
        raise click.UsageError(f"--engine reads several files in parallel, and {pipe_name(path)} is not a file")
    wrong = [
        flag
        for flag, given in {
            "--shuffle": options.shuffle,
            "--holdout": options.holdout,
            "--on-error skip": options.skip_errors,
        }.items()
        if given
    ]
    if wrong:
        raise click.UsageError(f"{wrong[0]} does not go with --engine")
    profile, say = options.profile(), NullReporter() if quiet else Reporter(options)
    recipe = profile.recipe
    say.profile(profile)
    for path in options.files[1:]:
        warn_columns(path, recipe, f"{options.files[0]} has")
    task = task_of(options.model, options.task) or guess_task(_first(options.files, recipe), recipe)
    learner = begin(options.model, task, recipe, options.parameters)
    say.task(learner)
    say.experts(scale.left_out_experts(learner.model))
    notes = {"task": task, "recipe": recipe.to_notes()}
    shards = [FileShard(path, recipe, task) for path in options.files]
    reports: list[scale.Report] = []
    try:
        scale.fit(
            learner.model,
            shards,
            engine=place.engine,
            epochs=options.passes,
            mixing=place.mixing,
            workers=place.workers,
            address=place.address,
            checkpoint=out,
            resume=resume,
            notes=notes,
            progress=lambda report: _tell(report, reports, quiet=quiet),
        )
    except (ConnectionError, TypeError, ValueError) as error:
        raise Failure(str(error)) from error
    marks = _marks(reports, options.passes)
    return Run(options, out, recipe, learner, Position(options.passes), marks=marks or [Mark()])


def _tell(report: scale.Report, reports: list[scale.Report], *, quiet: bool) -> None:
    reports.append(report)
    if not quiet:
        tell(_line(report))


def _marks(reports: list[scale.Report], passes: int) -> list[Mark]:
    """Return the sums up to the end of each pass; empty if an earlier run made some of the passes."""
    marks = [Mark()]
    for k in range(1, passes + 1):
        own = [report for report in reports if report.epoch == k]
        if not own:
            return []
        names = ("rounds", "mistakes", "loss", "squared_loss")
        marks.append(Mark(*(getattr(marks[-1], name) + sum(getattr(one, name) for one in own) for name in names)))
    return marks


def _first(files: tuple[str, ...], recipe: Recipe) -> Chunk:
    """Return the first examples of the first file that has any."""
    for path in files:
        for chunk in read_chunks(path, recipe):
            return chunk
    raise Failure(f"there are no examples in {', '.join(files)}")


def _line(report: scale.Report) -> str:
    rounds = max(1, report.rounds)
    return (
        f"pass {report.epoch}, {report.shard}: {report.rounds:,} examples, {report.updates:,} updates, "
        f"error {report.mistakes / rounds:.2%}, mean loss {report.loss / rounds:.4g}"
    )
