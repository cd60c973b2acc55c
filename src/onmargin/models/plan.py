"""Plans: the task, step, geometry and other parts that options define, independent of the interface."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import ColumnMap, Geometry
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._warnings import warn_of_margin
from onmargin.learner import Learner
from onmargin.models.columns import Places, class_columns
from onmargin.models.ensemble import Kind
from onmargin.models.experts import Ensemble


class Shape(NamedTuple):
    """The shape and type of rows.

    Sparse rows may be records by name, possibly of a table; `entries` is then the number of entries of the first.
    """

    n_features: int
    dtype: Any
    sparse: bool
    entries: int = 0


def largest_score(X: Any, geometry: Any) -> float:
    """Return the largest score, up to its sign, that weights on the simplex can give a row of X."""
    return float(max(X.max() - geometry.threshold, geometry.threshold - X.min()))


@dataclass(frozen=True)
class RowRules:
    """What rows must satisfy to be learned."""

    dtypes: tuple[Any, ...] = (np.dtype(np.float64), np.dtype(np.float32))  # others are converted to the first
    sized: str = ""  # why the number of features must be known at the first example, if it must
    nonnegative: str | None = None  # the error for a negative value, with {} for the value
    simplex_margin: float | None = None  # the largest required margin of weights on the simplex, possibly out of reach
    simplex_reach: Callable[[Any, Any], float] = largest_score  # the largest margin that rows and geometry allow

    def check(self, X: Any, weight: NDArray[Any] | None, geometry: Geometry, *, first: bool) -> None:
        """Refuse rows that cannot be learned, and warn if the first rows cannot have the required margin."""
        if self.nonnegative is None and self.simplex_margin is None:
            return
        X = X if weight is None else X[weight > 0]
        if X.shape[0] == 0:
            return
        if self.nonnegative is not None and (lowest := X.min()) < 0:
            raise ValueError(self.nonnegative.format(lowest))
        if first and self.simplex_margin is not None:
            warn_of_margin(self.simplex_margin, self.simplex_reach(X, geometry))


@dataclass(frozen=True)
class ClassRules:
    """How labels become columns of weights."""

    # (places of the known labels, number of labels, geometry) -> columns of all labels as combinations of the known
    # ones; None if new ones are zero.
    columns: Callable[[Places, int, Any], ColumnMap | None] = class_columns
    calibrated: bool = False  # whether scores are those of classes with probabilities
    at_once: bool = False  # whether all labels of a call must be known in its first round


@dataclass(frozen=True, eq=False)
class Plan:
    """The task, step, geometry and other parts that a set of options defines."""

    task: Callable[[Sequence[Any]], Task]  # the task, given the labels known so far
    step: Step | Callable[[Any], Step]  # the step, or rows of the first call -> step; experts have their own
    weights: Callable[[Shape, Kind | None, int], Geometry]  # rows, kind (None: default), columns -> geometry
    ensemble: Ensemble | None = None  # models that learn side by side, and how they are combined
    # Creates the learner if it is not a plain one; a kernel learner is created for the rows of a matrix.
    learner: Callable[[Any, Step, Geometry], Learner[Any]] | None = None
    classes: ClassRules = ClassRules()
    rows: RowRules = RowRules()
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that cannot change after training has started
    adjust: Callable[[Any], None] | None = None  # updates a geometry with options that may change during training

    @property
    def names(self) -> list[str]:
        """The names of models side by side for sparse rows; empty if there is one model."""
        return [] if self.ensemble is None else [expert.name for expert in self.ensemble.sparse]
