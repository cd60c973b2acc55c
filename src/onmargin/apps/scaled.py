"""Training on files beside each other, each of them a shard."""

from collections.abc import Iterator
from dataclasses import dataclass

import click

from onmargin import scale
from onmargin.apps.chunk_learner import ChunkReader, Notes, begin, task_of
from onmargin.apps.chunks import Chunk, Position, read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.formats import Settings, check_files
from onmargin.apps.tasks import guess_task
from onmargin.apps.train import Request, Run
from onmargin.io.sharding import Batch


@dataclass(frozen=True)
class Place:
    """Where the work is done."""

    engine: str
    workers: int | None = None
    address: str | None = None
    mixing: str = "updates"


@dataclass(frozen=True)
class FileShard:
    """A file as `train` reads it: with the labels of a task, and with features of tokens."""

    name: str
    settings: Settings
    task: str
    features: Notes

    def batches(self) -> Iterator[Batch]:
        reader = ChunkReader(self.task, self.features)
        for chunk in read_chunks(self.name, self.settings):
            yield reader.batch(chunk)


def train(request: Request, out: str, place: Place, *, resume: bool, quiet: bool) -> Run:
    """Learn what is asked for, mixed after each pass; the run as it ended."""
    check_files(request.files)
    if "-" in request.files:
        raise click.UsageError("--engine reads files beside each other, and the standard input is not one")
    settings = request.settings()
    task = task_of(request.model, request.task) or guess_task(_first(request.files, settings), settings)
    learner = begin(request.model, task, settings, request.parameters)
    notes = {"task": task, "features": learner.features, "settings": settings.to_notes()}
    shards = [FileShard(path, settings, task, learner.features) for path in request.files]
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
            progress=None if quiet else lambda report: click.echo(_line(report), err=True),
        )
    except (ConnectionError, TypeError, ValueError) as error:
        raise Failure(str(error)) from error
    return Run(request, out, settings, learner, Position(request.passes))


def _first(files: tuple[str, ...], settings: Settings) -> Chunk:
    """The first examples of the first file that has some."""
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
