"""Parallel training on files, one shard per file."""

from collections.abc import Iterator
from dataclasses import dataclass

import click

from onmargin import scale
from onmargin.apps.chunk_learner import ChunkReader, Mark, Notes
from onmargin.apps.chunks import Chunk, Position, read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.formats import Settings
from onmargin.apps.looks import check_files
from onmargin.apps.new_learner import begin, task_of
from onmargin.apps.request import Request
from onmargin.apps.run import Run
from onmargin.apps.tasks import guess_task
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
    """Shard of one file, read as in `train`, with the labels of the task and the features of tokens."""

    name: str
    settings: Settings
    task: str
    features: Notes

    def batches(self) -> Iterator[Batch]:
        reader = ChunkReader(self.task, self.features)
        for chunk in read_chunks(self.name, self.settings):
            yield reader.batch(chunk)


def train(request: Request, out: str, place: Place, *, resume: bool, quiet: bool) -> Run:
    """Train in parallel, with averaged weights after each pass; return the finished run."""
    check_files(request.files)
    if "-" in request.files:
        raise click.UsageError("--engine reads several files in parallel, and the standard input is not a file")
    wrong = [
        flag
        for flag, given in {
            "--shuffle": request.shuffle,
            "--holdout": request.holdout,
            "--on-error skip": request.skip_errors,
        }.items()
        if given
    ]
    if wrong:
        raise click.UsageError(f"{wrong[0]} does not go with --engine")
    settings = request.look().settings
    task = task_of(request.model, request.task) or guess_task(_first(request.files, settings), settings)
    learner = begin(request.model, task, settings, request.parameters)
    notes = {"task": task, "features": learner.features, "settings": settings.to_notes()}
    shards = [FileShard(path, settings, task, learner.features) for path in request.files]
    reports: list[scale.Report] = []
    try:
        scale.fit(
            learner.model,
            shards,
            engine=place.engine,
            epochs=request.passes,
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
    marks = _marks(reports, request.passes)
    return Run(request, out, settings, learner, Position(request.passes), marks=marks or [Mark()])


def _tell(report: scale.Report, reports: list[scale.Report], *, quiet: bool) -> None:
    reports.append(report)
    if not quiet:
        click.echo(_line(report), err=True)


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


def _first(files: tuple[str, ...], settings: Settings) -> Chunk:
    """Return the first examples of the first file that has any."""
    for path in files:
        for chunk in read_chunks(path, settings):
            return chunk
    raise Failure(f"there are no examples in {', '.join(files)}")


def _line(report: scale.Report) -> str:
    rounds = max(1, report.rounds)
    return (
        f"pass {report.epoch}, {report.shard}: {report.rounds:,} examples, {report.updates:,} updates, "
        f"error {report.mistakes / rounds:.2%}, mean loss {report.loss / rounds:.4g}"
    )
