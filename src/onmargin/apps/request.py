"""The options of a training run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import click

from onmargin.apps.failure import Failure
from onmargin.apps.formats import FORMATS, TEXT_PARAMETERS
from onmargin.apps.looks import Look, guessed, look_at
from onmargin.apps.new_learner import row_type, task_of


@dataclass(frozen=True)
class Request:
    """Options of a training run. A run is resumed with the same request; only passes and files at the end may be added,
    and the number of threads, `n_jobs`, may be another.

    `reading` has the options for reading files, by the names of `formats.OPTIONS`. If `holdout` is not 0, every
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

    def look(self) -> Look:
        """Return how to read the files."""
        formats = {path: guessed(path, self.format, self.reading.get("encoding")) for path in self.files}
        first = self.files[0]
        for path, format in formats.items():
            if format != formats[first]:
                raise Failure(f"{first} is {formats[first]} and {path} is {format}: a model learns from one format")
        task = task_of(self.model, self.task)
        if task not in {None, "rank"} and (self.reading.get("labels") or self.reading.get("label_separator")):
            raise click.UsageError(f"several labels per example are for --task rank; the task here is {task}")
        dtype = self.parameters.get("dtype")
        if dtype is None:
            dtype = "float32" if task in {None, "tag"} else row_type(self.model, task, self.parameters)
        options = {name: self.parameters[name] for name in TEXT_PARAMETERS if name in self.parameters}
        fixed = {"multilabel": task == "rank", "dtype": dtype, "text_options": options}
        if FORMATS[formats[first]].kind == "rows":
            fixed["hash"] = self.parameters.get("hash", 0)
        look = look_at(first, formats[first], self.reading, **fixed)
        _check_text_parameters(look, options)
        return look


def _plain(value: Any) -> Any:
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _check_text_parameters(look: Look, options: Mapping[str, Any]) -> None:
    """Raise an error for text parameters if there are no texts."""
    if not options:
        return
    name = next(iter(options))
    if not look.has_texts:
        raise click.UsageError(f"{name} is for texts, and the examples have none: name a column with --text")
    if look.settings.texts and look.settings.bare is None and options.get("idf"):
        raise click.UsageError("idf is for texts alone: keep nothing else with --only, or leave it out")
