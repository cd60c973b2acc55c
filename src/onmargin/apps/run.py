"""A training run: the model, the position in the data, checkpoints and results.

A checkpoint is the model file itself, whose notes have the position in the data. Files are replaced atomically, so that
there is always a consistent checkpoint.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np

from onmargin.apps.chunk_learner import ChunkLearner, Mark
from onmargin.apps.chunks import Chunk, Digest, OddCells, Position
from onmargin.apps.report import Report, tell
from onmargin.apps.training_options import TrainingOptions
from onmargin.io import ReadError, save
from onmargin.io.format import Recipe, is_pipe

START = Position()
_ENDS = 1 << 16  # bytes at each end of a file that are compared when a run is resumed
_KEPT = 1 << 26  # maximum number of feature values kept for later passes, 12 bytes each
_NAMED = 10  # maximum number of skipped records that are named


@dataclass(frozen=True)
class CachedChunk:
    """Sequences with their features looked up, their end position, and the digest of their file up to there."""

    chunk: Chunk
    after: Position
    digest: Digest


@dataclass
class Run:
    """A training run: the model, the recipe for reading, and the position in the data."""

    options: TrainingOptions
    out: str
    recipe: Recipe
    learner: ChunkLearner | None = None
    position: Position = START
    digest: Digest = field(default_factory=Digest)  # digest of the learned examples of the current file
    unread: str | None = None  # digest of a checkpoint whose records are yet to be read again
    marks: list[Mark] = field(default_factory=lambda: [Mark()])  # sums at the start and at the end of each pass
    held_out: list[Report] = field(default_factory=list)  # measures on the held-out examples after each pass
    sources: list[list[int]] = field(default_factory=list)  # fingerprints of the files that were read to the end
    skipped: dict[str, int] = field(default_factory=dict)  # number of skipped records by file
    n_before: int = 0  # number of examples learned by an earlier run
    shuffled: Chunk | None = None  # all examples, if they are shuffled
    kept: "list[CachedChunk] | None" = None  # all examples of the first pass, if their features are worth keeping
    n_kept: int = 0  # number of kept feature values
    shown: Sequence[str] = ()  # notes on the columns of the first rows that were shown
    odd: OddCells = field(init=False)

    def __post_init__(self) -> None:
        self.odd = OddCells(self.recipe)

    def save(self, *, predict_only: bool = False) -> None:
        """Write the model with its position atomically."""
        if self.learner is not None:
            notes = {
                "task": self.learner.task,
                "recipe": self.recipe.to_notes(),
                "options": self.options.to_notes(),
                "position": list(self.position),
                "digest": str(self.digest) if self.unread is None else self.unread,
                # A signal may arrive between the end of a pass and the update of the position.
                "marks": [list(mark) for mark in self.marks[: 1 + self.position.passes]],
                "tokens": self.learner.n_tokens,
                "sources": self.sources[: None if self.position.passes else self.position.files],
                "held_out": self.held_out[: self.position.passes],
            }
            save(self.learner.saved, self.out, notes=notes, predict_only=predict_only)

    def report(self) -> Report:
        """Return the results of the run."""
        learner = self.learner
        if learner is None:
            return {}
        marks = self.marks if len(self.marks) > 1 else [*self.marks, learner.mark()]
        report = {
            "model": self.out,
            "task": learner.task,
            "format": self.recipe.format,
            "passes": self.position.passes,
            **learner.summary(marks),
        }
        report["recipe"] = describe_recipe(self.recipe, learner.model)
        if self.options.skip_errors:
            report["skipped"] = sum(self.skipped.values())
        if self.held_out:
            report["held_out"] = {f"pass {k}": _numbers(one) for k, one in enumerate(self.held_out, 1)}
        return report

    def warnings(self) -> list[str]:
        """Return warnings if the model may be useless, or worse than its progressive error."""
        if self.learner is None:
            return []
        model = self.learner.model
        results, labels = getattr(model, "experts_", None), list(getattr(model, "classes_", []))
        found = [problem for problem in self.odd.problems() if problem not in self.shown]
        if len(labels) == 1:
            found.append(
                f"all examples have the label {str(labels[0])!r}, which the model always predicts: if the label is "
                "another column, name it with --label"
            )
        twins = _differ_in_case(labels)
        if twins:
            found.append(f"the labels {twins[0]!r} and {twins[1]!r} differ only in case, and are two classes")
        if results is not None and _forgets(results):
            found.append(
                f"{results.names[results.leader]!r} leads, which follows the last examples: the model is for those "
                "that come next in this order. For examples from all of the files train with --shuffle"
            )
        return found

    def keep(self, piece: Chunk) -> None:
        """Keep the features of sequences for later passes, as long as there is room."""
        if self.position.passes == 0 and self.kept is not None and self.learner is not None:
            chunk = self.learner.looked_up(piece)
            self.kept.append(CachedChunk(chunk, self.position, replace(self.digest)))
            self.n_kept += chunk.X.n_values
            if self.n_kept > _KEPT:
                self.kept = None

    def skip(self, error: ReadError) -> None:
        """Count a record that is skipped, and name the first ones."""
        n = self.skipped[error.path] = self.skipped.get(error.path, 0) + 1
        if n <= _NAMED and self.position.passes == 0:
            tell(f"skipped: {error}")


def describe_recipe(recipe: Recipe, model: Any) -> Report:
    """Return how examples are read, in words: files, columns, and features of tokens."""
    features = model.window or model.features_ if model.task == "tag" else model.features_
    given = {name: value for name, value in features.get_params().items() if name != "missing"}
    given["left_out"] = [name for name in given.pop("ignore", ()) if name not in recipe.target_columns]
    targets = {"label": recipe.label, "labels": recipe.labels, "weight": recipe.weight, "encoding": recipe.encoding}
    shown = {**targets, **recipe.dialect, **given}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in shown.items() if v not in ((), [], None)}


def fingerprint(path: str) -> list[int]:
    """Return the size of a file and a checksum of its ends, or those of the names in a folder; empty for pipes."""
    if is_pipe(path):
        return []
    if os.path.isdir(path):
        names = sorted(os.path.join(folder, name) for folder, _, inner in os.walk(path) for name in inner)
        return [len(names), crc32("\n".join(names).encode("utf-8", "surrogateescape"))]
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        first = crc32(file.read(_ENDS))
        file.seek(max(0, size - _ENDS))
        return [size, crc32(file.read(_ENDS), first)]


def _differ_in_case(labels: list[Any]) -> list[str]:
    """Return the first labels that differ only in case or in blanks around them."""
    by_word: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            by_word.setdefault(label.strip().casefold(), []).append(label)
    return next((same for same in by_word.values() if len(same) > 1), [])


def _forgets(results: Any) -> bool:
    """Return whether the leading expert forgets, and does not lead by chance."""
    if not results.forgets[results.leader]:
        return False
    if results.judged != "mistakes":
        return True
    least, other = results.lost[results.leader], results.lost[~results.forgets].min(initial=np.inf)
    # The variance of the difference of two numbers of mistakes is at most their sum.
    return bool(other - least > np.sqrt(least + other))


def _numbers(report: Report) -> Report:
    return {name: value for name, value in report.items() if isinstance(value, int | float)}
