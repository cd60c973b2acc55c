"""Loading of models trained on the command line, and reading of files for them."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from onmargin.apps.chunk_learner import ChunkLearner
from onmargin.apps.chunks import CHUNK, Chunk, read_chunks
from onmargin.apps.failure import Failure, listed
from onmargin.apps.formats import Settings
from onmargin.apps.looks import check_files, has_labels, missing_columns, settings_for, table_columns
from onmargin.io import load_with_notes

_ENOUGH = 1000  # number of examples without a known feature after which a file is reported as unsuitable


def load_learner(path: str) -> tuple[ChunkLearner, Settings]:
    """Return the model of a file, and the settings for reading its examples."""
    model, notes = load_with_notes(path)
    if "settings" not in notes:
        raise Failure(f"{path} was not made by onmargin train, and does not say how its examples are read")
    return ChunkLearner(notes["task"], model, notes["features"]), Settings.from_notes(notes["settings"])


def examples(
    files: tuple[str, ...],
    learner: ChunkLearner,
    settings: Settings,
    format: str | None,
    given: Mapping[str, Any],
    *,
    size: int = CHUNK,
    labels: bool,
    strict: bool = False,
) -> Iterator[tuple[str, int, Chunk]]:
    """Yield chunks of the files, each with its file and first record; with `labels`, files must have labels.

    A file that does not match the model causes a warning, or an error if `strict`.
    """
    check_files(files)
    for path in files:
        own = settings_for(path, settings, format, given)
        if own.kind != settings.kind or (own.kind == "sequences" and own.format != settings.format):
            raise Failure(
                f"{path} is {own.format}, and the model has learned from {settings.format}: their examples differ. If "
                "the format was not detected correctly, set --format"
            )
        if own.format == "csv" and not table_columns(path, own):
            raise Failure(f"{path} is empty")
        labelled = has_labels(own, path)
        if labels and not labelled:
            column = f" in a column {own.label!r}: name the column with --label" if own.is_table else ""
            column = f": it must have the columns {listed(own.labels)}" if own.labels else column
            raise Failure(f"{path} has no labels{column}")
        if missing := missing_columns(path, own):
            warn(f"{path} has no column {listed(missing)}, which the model has learned from", strict=strict)
        if not labels and own.format in {"csv", "arff", "arrow"}:
            own, labelled = own.without_targets(), False
        first, known, met = 1, False, False
        for chunk in read_chunks(path, own, labelled=labelled, size=size):
            if not known and first <= _ENOUGH:
                known, some = learner.familiar(chunk)
                met = met or some
                if met and not known and (len(chunk) > 1 or first == _ENOUGH):
                    warn(_UNKNOWN.format(path), strict=strict)
                    known = True  # warn only once
            yield path, first, chunk
            first += len(chunk)
        if met and not known:
            warn(_UNKNOWN.format(path), strict=strict)


_UNKNOWN = (
    "the model knows none of the features of {}, and predicts the same for all examples: are its columns or words "
    "those of the training data?"
)


def warn(problem: str, *, strict: bool) -> None:
    """Print a warning, or raise an error if `strict`."""
    if strict:
        raise Failure(problem)
    click.echo(f"warning: {problem}", err=True)
