"""Models that were trained by the command line, and the files that go with them."""

from collections.abc import Iterator
from dataclasses import replace

from onmargin.apps.chunk_learner import ChunkLearner
from onmargin.apps.chunks import CHUNK, Chunk, read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.formats import Settings, check_files, guessed, has_labels
from onmargin.io import load_with_notes


def load_learner(path: str) -> tuple[ChunkLearner, Settings]:
    """The model of a file, and how its examples are read."""
    model, notes = load_with_notes(path)
    if "settings" not in notes:
        raise Failure(f"{path} was not made by onmargin train, and does not say how its examples are read")
    return ChunkLearner(notes["task"], model, notes["features"]), Settings(**notes["settings"])


def examples(
    files: tuple[str, ...], settings: Settings, format: str | None, *, size: int = CHUNK, labels: bool
) -> Iterator[tuple[str, int, Chunk]]:
    """Chunks of the files, each with its file and its first record; with `labels` a file without them is refused."""
    check_files(files)
    for path in files:
        # What comes through a pipe is taken for what the model knows.
        own = replace(settings, format=guessed(path, format or (settings.format if path == "-" else None)))
        if own.kind != settings.kind:
            raise Failure(
                f"{path} is {own.format}, and the model has learned from {settings.format}: their examples differ"
            )
        labelled = has_labels(own, path)
        if labels and not labelled:
            raise Failure(f"{path} has no labels")
        first = 1
        for chunk in read_chunks(path, own, labelled=labelled, size=size):
            yield path, first, chunk
            first += len(chunk)
