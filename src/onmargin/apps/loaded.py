"""Loading of models trained on the command line, and reading of files for them."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from onmargin.apps.chunk_learner import ChunkLearner
from onmargin.apps.chunks import CHUNK, Chunk, OddCells, read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.learners import model_in
from onmargin.apps.report import tell
from onmargin.apps.sniff import adapt_recipe, check_files
from onmargin.io import load_with_notes
from onmargin.io.format import Recipe, list_names, pipe_name
from onmargin.io.formats import FORMATS

_ENOUGH = 1000  # number of examples without a known feature after which a file is reported as unsuitable


def load_learner(path: str) -> tuple[ChunkLearner, Recipe, dict[str, Any]]:
    """Return the model of a file, how its examples are read, and its notes."""
    saved, notes = load_with_notes(path)
    if "recipe" not in notes:
        raise Failure(f"{path} was not made by onmargin train, and does not say how its examples are read")
    model = model_in(saved)
    features = getattr(model, "window", None) if model.task == "tag" else model.features_
    learner = ChunkLearner(model.task, saved)
    learner.n_tokens = notes.get("tokens", 0)
    return learner, Recipe.from_notes(notes["recipe"], {} if features is None else features.get_params()), notes


def read_recipes(
    files: tuple[str, ...], trained: Recipe, format: str | None, given: Mapping[str, Any]
) -> dict[str, Recipe]:
    """Return how the files are read, before any of them is: pipes can be read once."""
    check_files(files)
    return {path: adapt_recipe(path, trained, format, given) for path in files}


def examples(
    recipes: Mapping[str, Recipe],
    learner: ChunkLearner,
    trained: Recipe,
    *,
    size: int = CHUNK,
    labels: bool,
    strict: bool = False,
) -> Iterator[tuple[str, int, Chunk]]:
    """Yield chunks of the files, each with its file and first record; with `labels`, files must have labels.

    A file that does not match the model causes a warning, or an error if `strict`.
    """
    n_examples = 0
    for path, recipe in recipes.items():
        own = recipe
        kind = FORMATS[own.format]
        if kind.kind != FORMATS[trained.format].kind or (kind.kind == "sequences" and own.format != trained.format):
            raise Failure(
                f"{path} is {own.format}, and the model has learned from {trained.format}: their examples differ. If "
                "the format was not detected correctly, set --format"
            )
        labeled = kind.has_labels(path, own)
        if labels and not labeled:
            remedy = ": name the column with --label" if kind.is_table(own) and not own.labels else ""
            raise Failure(f"{path} has no labels{labels_place(own)}{remedy}")
        if missing := kind.missing_columns(path, own):
            more = ": name the column with --text" if isinstance(own.features.get("text"), str) else ""
            warn(f"{path} has no column {list_names(missing)}, which the model has learned from{more}", strict=strict)
        if not labels:
            own, labeled = kind.to_predict(own, labeled=labeled)
        first, known, met, odd = 1, False, False, OddCells(own)
        strange: Collection[str] = ()
        for chunk in read_chunks(path, own, labeled=labeled, size=size, odd=odd):
            if not known and first <= _ENOUGH:
                try:
                    known, some = learner.familiar(chunk)
                except TypeError as error:  # such as lines of text, where the model reads texts in columns
                    raise Failure(f"{path}: {error}") from error
                met = met or some
                if first == 1 and (known or not met):
                    strange = warn_strange(learner, path, own, chunk, strict=strict)
                if met and not known and (len(chunk) > 1 or first == _ENOUGH):
                    warn(_UNKNOWN.format(path), strict=strict)
                    known = True  # warn only once
            yield path, first, chunk
            first += len(chunk)
        if met and not known:
            warn(_UNKNOWN.format(path), strict=strict)
        for problem in odd.problems(but=strange):
            warn(f"{path}: {problem}", strict=False)
        if first == 1 and len(recipes) > 1:
            warn(f"there are no examples in {pipe_name(path)}", strict=strict)
        n_examples += first - 1
    if not n_examples:
        raise Failure(f"there are no examples in {', '.join(map(pipe_name, recipes))}")


def labels_place(recipe: Recipe) -> str:
    """Return where labels are expected, for an error message."""
    if recipe.labels:
        return f": it must have the columns {list_names(recipe.labels)}"
    return "" if recipe.label is None else f" in a column {recipe.label!r}"


_UNKNOWN = (
    "the model knows none of the features of {}, and predicts the same for all examples: are its columns or words "
    "those of the training data?"
)


def warn_strange(
    learner: ChunkLearner, path: str, recipe: Recipe, chunk: Chunk, *, strict: bool = False
) -> Collection[str]:
    """Warn about columns of a file whose first values the model does not know; return their names."""
    found = learner.strange_columns(chunk, recipe.table)
    for name, cell in found.items():
        problem = f"the model knows none of the values of {name!r} in {path}, such as {cell!r:.60}"
        warn(f"{problem}: are they written as in the training data?", strict=strict)
    return found.keys()


def warn_columns(path: str, own: Recipe, known_from: str) -> None:
    """Warn about columns that a file lacks, and about those that no file had before."""
    format, features = FORMATS[own.format], own.features
    missing = format.missing_columns(path, own)
    known = {*own.table, *features.get("ignore", ()), *own.target_columns}
    ends = bool(features.get("only")) or isinstance(features.get("text"), str)  # no other column is read
    new = [] if ends else [name for name in format.passes_columns(path, own) if name not in known]
    problems = [f"has no column {list_names(missing)}, which {known_from}"] if missing else []
    problems += [f"its columns {list_names(new)} are new to the model"] if new else []
    if problems:
        warn(f"{path}{' ' if missing else ': '}{'; '.join(problems)}", strict=False)


def warn(problem: str, *, strict: bool) -> None:
    """Print a warning, or raise an error if `strict`."""
    if strict:
        raise Failure(problem)
    tell(f"warning: {problem}")
