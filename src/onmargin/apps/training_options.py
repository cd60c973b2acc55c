"""The options of a training run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import click

from onmargin.apps.failure import Failure
from onmargin.apps.new_learner import row_type, task_of
from onmargin.apps.sniff import detect_format, profile_file
from onmargin.features.records import TEXT_OPTIONS
from onmargin.io.format import FileProfile
from onmargin.io.formats import FORMATS


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
