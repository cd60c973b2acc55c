"""The options of a training run, and the learner that they create."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from onmargin.apps.chunk_learner import ChunkLearner
from onmargin.apps.failure import Failure
from onmargin.apps.learners import learner_class, make_learner, usual_learner
from onmargin.apps.sniff import detect_format, profile_file
from onmargin.errors import ParameterError
from onmargin.features.records import TEXT_OPTIONS
from onmargin.io.format import FileProfile, Recipe
from onmargin.io.formats import FORMATS

if TYPE_CHECKING:  # importing them takes time
    from onmargin.confidence import Intervals, PredictionSets


@dataclass(frozen=True)
class TrainingOptions:
    """Options of a training run. A run is resumed with the same request; only passes and files at the end may be added,
    and the number of threads, `n_jobs`, may be another.

    `reading` has the options for reading files, by the names of `Format.options`. If `holdout` is not 0, every
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
        notes["parameters"] = {name: repr(value) for name, value in self.parameters.items() if name != "n_jobs"}
        return notes

    def profile(self) -> FileProfile:
        """Return how to read the files."""
        formats = {path: detect_format(path, self.format, self.reading) for path in self.files}
        first = self.files[0]
        for path, format in formats.items():
            if format != formats[first]:
                raise Failure(f"{first} is {formats[first]} and {path} is {format}: a model learns from one format")
        task = task_of(self.model, self.task)
        if task not in {None, "rank"} and (self.reading.get("labels") or self.reading.get("label_separator")):
            raise click.UsageError(f"several labels per example are for --task rank; the task here is {task}")
        fixed: dict[str, Any] = {}
        if FORMATS[formats[first]].kind == "rows":
            dtype = self.parameters.get("dtype")
            if dtype is None and task not in {None, "tag"}:
                dtype = row_type(self.model, task, self.parameters)
            fixed = {"multilabel": task == "rank", "dtype": dtype, "hash": self.parameters.get("hash")}
        profile = profile_file(first, formats[first], self.reading, **fixed)
        _check_text_parameters(profile, self.parameters)
        return profile


def _plain(value: Any) -> Any:
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _check_text_parameters(profile: FileProfile, parameters: Mapping[str, Any]) -> None:
    """Raise an error for text parameters if there are no texts."""
    given = [name for name in TEXT_OPTIONS if name in parameters]
    if not given:
        return
    if not profile.has_texts:
        raise click.UsageError(f"{given[0]} is for texts, and the examples have none: name a column with --text")
    if not isinstance(profile.recipe.features.get("text", ""), str) and profile.recipe.text and parameters.get("idf"):
        raise click.UsageError("idf is for texts alone: keep nothing else with --only, or leave it out")


# Parameters of a tagger that only `fit` and lists of names use, with what to do instead.
_OF_FIT = {
    "max_iter": "use --passes",
    "shuffle": "use --shuffle",
    "random_state": "leave it out",
    "tol": "leave it out",
    "n_iter_no_change": "leave it out",
    "verbose": "leave it out",
    "warm_start": "use --from",
    "separator": "leave it out",
}


def begin(
    model: str | None, task: str, recipe: Recipe, parameters: dict[str, Any], coverage: float | None = None
) -> "ChunkLearner":
    """Create a learner by name, or the default one for a task, for examples that are read by a recipe.

    With `coverage` it has prediction sets or intervals.
    """
    kind = recipe.kind
    if (task == "tag") != (kind == "sequences"):
        problem = "sequences, which only a tagger learns" if task != "tag" else "no sequences, which a tagger needs"
        raise Failure(f"{recipe.format} files have {problem}: the task {task!r} does not go with them")
    parameters = dict(parameters)
    model = model or usual_learner(task, parameters)
    bits = parameters.pop("hash", None)
    if bits is not None and kind == "sequences":
        raise click.UsageError(f"--hash is for records and rows; {recipe.format} files have features of tokens")
    if task == "tag":
        useless = [f"{name} ({remedy})" for name, remedy in _OF_FIT.items() if name in parameters]
        if useless:
            raise click.UsageError(f"parameters of a tagger without effect on files: {', '.join(useless)}")
        parameters.setdefault("average", True)  # as `SequenceTagger.fit` does
        if recipe.features:
            parameters["window"] = _window(recipe)
    elif kind == "rows":
        parameters.setdefault("dtype", recipe.dialect["dtype"])
    else:
        parameters |= dict(recipe.features) | ({} if bits is None else {"n_features": 2**bits})
        if "separator" in parameters and recipe.format not in {"json", "jsonl"}:
            raise click.UsageError(f"separator is for lists of names in JSON, and {recipe.format} files have none")
    learner = made(model, task, parameters)
    return ChunkLearner(task, learner if coverage is None else covering(learner, coverage))


def _window(recipe: Recipe) -> Any:
    """Return the templates for the features of tokens in columns."""
    from onmargin.features.window import WindowFeatures

    try:
        return WindowFeatures(**recipe.features)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--template") from error


def covering(model: Any, coverage: float) -> "PredictionSets | Intervals":
    """Return prediction sets around a classifier or label ranker, or intervals around a regressor."""
    from onmargin.confidence import Intervals, PredictionSets

    try:
        return (Intervals if model.task == "regress" else PredictionSets)(model, coverage)
    except TypeError as error:
        raise click.UsageError(
            f"--coverage is for classifiers, label rankers and regressors, and a {type(model).__name__} is none of them"
        ) from error


def made(model: str | None, task: str | None, parameters: dict[str, Any]) -> Any:
    """Create a learner; invalid parameters raise a usage error."""
    try:
        return make_learner(learner_class(model, task), parameters)
    except (TypeError, ValueError) as error:
        # The advice of a ParameterError is written for Python callers.
        raise click.UsageError(error.problem if isinstance(error, ParameterError) else str(error)) from error


def task_of(model: str | None, task: str | None) -> str | None:
    """Return the requested task, or that of the named learner; None if it must be guessed."""
    if model is None:
        return task
    try:
        named: str = learner_class(model, task).task
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return named


def row_type(model: str | None, task: str, parameters: dict[str, Any]) -> str:
    """Return the type of weights for rows of numbers: single precision, if the learner supports it."""
    options = {name: value for name, value in parameters.items() if name not in {"dtype", "hash"}}
    dtypes = made(model or usual_learner(task, options), task, options).plan().rows.dtypes
    return "float32" if np.dtype(np.float32) in dtypes else "float64"
