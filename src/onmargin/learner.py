"""Learner = task + step + geometry + totals. All interfaces of the library are built on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from onmargin._core import rounds
from onmargin._core.background import Background
from onmargin._core.geometries.geometry import ColumnMap, Euclidean, Geometry
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.tasks.sequence import Sequence
from onmargin._core.tasks.task import Task
from onmargin._parts import Part
from onmargin._tables import html_table, number
from onmargin._warnings import collect_warnings as collect_warnings  # noqa: PLC0414  # for the service

__all__ = ["Learner", "Totals", "as_rows", "matrix_of"]

Vector = NDArray[np.float64]
Offsets = NDArray[np.intp]
Decode = Callable[[NDArray[np.float64]], NDArray[Any]]
SomeGeometry = TypeVar("SomeGeometry", bound=Geometry)

# Numbers processed between two checks for signals: about 10 ms of work, a few seconds for the slowest learners. Plain
# weights process several times as many in that time.
STRETCH, PLAIN = 2**25, 4
# Cost of a row besides its numbers, in numbers processed, and the most times a round goes through a small window.
ROW, MOST_EFFORT = 32, 128


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a learner's rounds so far; ``dict(totals)`` gives a plain mapping.

    Attributes
    ----------
    rounds, mistakes, updates : int
        Number of examples learned, of examples that were predicted wrong before they were learned, and of examples that
        changed the weights. A margin of exactly zero is a mistake; in regression, a target outside the tube is a
        mistake.
    loss, squared_loss : float
        Sums over the rounds of the loss before each update, and of its square.
    dual_value : float
        The dual objective, which the updates increase: no fixed weights have a smaller regularized loss on these
        rounds.
    max_squared_norm : float
        The largest squared norm of a row, including the intercept coordinate; for structures, of the difference between
        the features of the right structure and of its rival.
    cost : float
        Total cost of the predictions: by a cost matrix, or by the cost of structures; for ranks, their distance; for
        blocks, the fraction of imperfect sets; for balls, the distance from the ball. 0 for other tasks.
    """

    rounds: int
    mistakes: int
    updates: int
    loss: float
    squared_loss: float
    dual_value: float
    max_squared_norm: float
    cost: float

    def keys(self) -> Iterator[str]:
        return (field.name for field in fields(self))

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def _repr_html_(self) -> str:
        """Return the totals as a table, for notebooks."""
        return html_table({"total": [*self.keys()], "value": [number(value) for value in dict(self).values()]})


class UnsoundRowError(Exception):
    """An unchecked row turned out to be invalid during its round: what the call has learned must be dropped."""


class Learner(Part, Generic[SomeGeometry]):
    """A task, a step and a geometry that together run rounds, with their totals.

    The step and the task may be replaced between calls; the geometry carries the state.

    An interrupt (Ctrl-C) never comes between two rounds of `learn`, unless it is `interruptible`; therefore `stretches`
    splits long work into pieces between which it can come.

    Parameters
    ----------
    task : Task
        Turns scores and targets into half-spaces, and scores into predictions.
    step : Step
        Determines how far to move along each violated half-space.
    geometry : Geometry
        Holds the weights and updates them.
    """

    forks: ClassVar[bool] = False  # whether a copy has its own weights, so that what it learned can be dropped

    def __init__(self, task: Task, step: Step, geometry: SomeGeometry) -> None:
        self.task = task
        self.step = step
        self.geometry = geometry
        self._totals = rounds.Totals()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.task, self.step, self.geometry), self._totals

    def __setstate__(self, totals: rounds.Totals) -> None:
        self._totals = totals

    def check(self) -> None:
        """Refuse parts loaded from a file that do not fit together."""
        kinds = {"task": Task, "step": Step, "geometry": Geometry, "_totals": rounds.Totals}
        for name, kind in kinds.items():
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"the {name.strip('_')} of a learner is a {type(getattr(self, name)).__name__}")

    def check_like(self, other: Learner[Any]) -> None:
        """Refuse another learner of the same kind that the same parameters could not have made."""

    def example(self) -> Any:
        """Return a matrix of one row, if the learner was created for the rows of a matrix."""
        return None

    def __copy__(self) -> Self:
        """Return a learner with its own totals that updates the same weights."""
        other = type(self).__new__(type(self))
        other.__dict__ = vars(self).copy()
        other._totals = self._totals.__copy__()
        return other

    def learn(
        self,
        X: Rows,
        y: Vector,
        weight: Vector | None = None,
        order: Offsets | None = None,
        *,
        trials: Offsets | None = None,
        targets: Offsets | None = None,
        interruptible: bool = False,
    ) -> None:
        """Run one round per row, in the given order; `weight` scales C row by row, and 0 skips a row.

        `trials` are the offsets of trials of several rows in X, `targets` those of targets of several numbers in y.
        With `interruptible`, an interrupt may come between rounds; the caller must then drop the learner.
        """
        pace = self.pace(X, trials) if interruptible else 0
        parts = self.task, self.step, self.geometry, self._totals
        rounds.run(*parts, X, y, weight, order, trials=trials, targets=targets, pace=pace)

    def learn_in(
        self, background: Background, X: Rows, y: Vector, weight: Vector | None, *, trials: Offsets, targets: Offsets
    ) -> None:
        """Run rounds like `learn`, in a second thread: do not use the learner until its work is done."""
        parts = self.task, self.step, self.geometry, self._totals
        rounds.run(*parts, X, y, weight, trials=trials, targets=targets, background=background)

    def learn_unchecked(self, X: Rows, y: Vector) -> None:
        """Run one round per row of an unchecked X, with plain weights; targets may also be unchecked numbers.

        An invalid row or target raises `UnsoundRowError`, and the caller must drop what was learned.
        """
        if not rounds.run(self.task, self.step, self.geometry, self._totals, X, y, guarded=True):
            raise UnsoundRowError

    def learn_by(
        self,
        step: Step,
        X: Rows,
        y: Vector,
        weight: Vector | None,
        order: Offsets,
        *,
        targets: Offsets | None = None,
        interruptible: bool,
    ) -> None:
        """Run rounds like `learn`, with a step made for these rows."""
        pace = self.pace(X) if interruptible else 0
        rounds.run(self.task, step, self.geometry, self._totals, X, y, weight, order, targets=targets, pace=pace)

    def pace(self, X: Rows, trials: Offsets | None = None) -> int:
        """Return how many of these rounds to run between two checks for signals."""
        geometry = self.geometry
        if X.n_rows * (X.n_features + ROW + self._links(X.n_rows)) * geometry.n_scores * MOST_EFFORT < STRETCH:
            return STRETCH  # all of them
        by_stored = X.is_sparse() and not hasattr(geometry, "theta")  # with a link function, all weights change
        stored = len(X.owners[0]) / max(X.total, 1) if by_stored else geometry.n_features
        rows = X.n_rows / max(len(trials) - 1, 1) if trials is not None else 1
        numbers = STRETCH * PLAIN if self.plain else STRETCH
        return max(int(numbers / ((stored + ROW + self._links(rows)) * geometry.n_scores * rows * self._effort())), 1)

    def _effort(self) -> int:
        """Return how many times a round goes through its rows."""
        return 1

    def _links(self, rows: float) -> float:
        """Return how many previous labels the search for the best labels compares per label, given the rows."""
        task = getattr(self.task, "judge", self.task)  # of models side by side
        if not isinstance(task, Sequence):
            return 0
        counted = task.max_loss and not task.squared  # by the number of wrong labels so far
        return len(task.cost) * (rows if counted else 1)

    def stretches(self, X: Rows, start: int, stop: int, trials: Offsets | None = None) -> list[tuple[int, int]]:
        """Split the rows (or trials) from start up to stop into pieces that take some milliseconds each.

        A learner that forks is not split: what it learned before an interrupt is dropped.
        """
        pace = STRETCH if self.forks else self.pace(X, trials)
        return [(first, min(first + pace, stop)) for first in range(start, stop, pace)]

    def recombine(self, column_map: ColumnMap) -> None:
        """Replace the columns by multiples of them, and new ones."""
        geometry: Any = self.geometry
        self.geometry = geometry.recombine(column_map)

    @property
    def plain(self) -> bool:
        """Whether weights are plain."""
        return type(self.geometry) is Euclidean

    def scores(
        self, X: Rows, *, n_jobs: int | None = 1, guarded: bool = False, decode: Decode | None = None
    ) -> NDArray[Any]:
        """Return the scores, rows by columns; of the averaged weights if the geometry averages.

        Up to `n_jobs` threads (one per core if None) score the rows piece by piece, if that is faster. With `decode`,
        return what it makes of the scores of each piece, one item per row. With `guarded`, X was not checked: an
        invalid row raises `UnsoundRowError`; only for a learner that guards.
        """
        rounds.set_asleep(self.task, self.geometry)
        n, width, columns = X.n_rows, self.geometry.n_scores, self.geometry.n_columns

        def score_rows(rows: Rows, out: NDArray[np.float64] | None = None) -> NDArray[Any]:
            scores = np.empty((rows.n_rows, width)) if out is None else out
            sound = rounds.score(self.geometry, rows, scores, guarded=guarded)
            scores = scores[:, :columns]
            if guarded and not (sound and np.isfinite(scores).all()):
                raise UnsoundRowError
            return scores if decode is None else decode(scores)

        pace = -(-self.pace(X) // PLAIN)  # the scores of a piece stay in the cache
        most_threads = 8 * n // pace  # starting a thread takes a fraction of a millisecond
        if most_threads <= 1:
            return score_rows(X)
        n_threads = min(threads(n_jobs), most_threads)
        n_pieces = -(-n // pace)
        n_pieces += -n_pieces % n_threads  # all threads get the same number of pieces
        piece = -(-n // n_pieces)
        starts = iter(range(0, n, piece))  # shared: each thread takes the next piece
        results = np.empty((n, width)) if decode is None else room_for(n, columns, decode)

        def fill() -> None:
            for start in starts:
                rows, part = X.part(start, min(start + piece, n)), results[start : start + piece]
                if decode is None:
                    score_rows(rows, part)
                else:
                    part[...] = score_rows(rows)

        if n_threads > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(n_threads - 1) as pool:
                others = [pool.submit(fill) for _ in range(n_threads - 1)]
                try:
                    fill()
                    for other in others:
                        other.result()
                finally:
                    for _ in starts:  # after an error the others find no more pieces
                        pass
        else:
            fill()
        return results[:, :columns] if decode is None else results

    def losses(self, X: Rows, y: Vector) -> Vector:
        """Return the current loss of each row."""
        out = np.empty(X.n_rows)
        rounds.losses(self.task, self.geometry, X, y, out, pace=self.pace(X))
        return out

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return the prediction of the task for each row: the index of a class, or a number."""
        return self.task.decode(self.scores(X))

    def calibrate(self, *, on: bool) -> None:
        """Turn on or off the calibration of probabilities by the scores of the next rounds, if there are classes."""
        calibration = self._totals.calibration
        if calibration is not None and calibration.learning != on:
            calibration.learning, calibration.wait = on, 0

    def mark_seen(self, *, seen: bool) -> None:
        """Set whether the next rows were learned before, in an earlier pass.

        How well they are predicted then says little about new rows: probabilities are not calibrated on them, and
        models are not compared.
        """
        self._totals.seen = seen
        self.calibrate(on=not seen)

    @property
    def predict_only(self) -> bool:
        """Whether what is needed to learn was left out."""
        return bool(self._totals.predict_only)

    def check_learns(self) -> None:
        """Refuse to learn if the model was saved with `predict_only`."""
        self._totals.check_learns()

    def close(self) -> None:
        """Mark the rows learned last as seen for the last time."""

    def record_mistakes(self, n: int) -> NDArray[np.bool_]:
        """Return an array into which the next n rounds write whether each was a mistake."""
        mistakes = np.zeros(n, np.bool_)
        self._totals.record_mistakes(mistakes)
        return mistakes

    @property
    def rounds(self) -> int:
        """Number of rounds so far."""
        return self._totals.rounds

    @property
    def totals(self) -> Totals:
        """The current totals."""
        return Totals(**self._totals.__getstate__())


def room_for(n: int, columns: int, decode: Decode) -> NDArray[Any]:
    """Return an uninitialized array for what `decode` makes of n rows of scores."""
    kind = decode(np.empty((0, columns)))
    return np.empty((n, *kind.shape[1:]), kind.dtype)


def threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`, as in scikit-learn; None and -1 both mean one per core."""
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if n_jobs is None else max(cores + 1 + n_jobs, 1)


def mark_seen(model: Any, *, seen: bool) -> None:
    """Set whether the next examples of a fitted model were learned before, as `Learner.mark_seen` does."""
    model._learner.mark_seen(seen=seen)


def mark_fitted(model: Any, *, fitted: bool) -> None:
    """Set whether passes over data are over, so that learning goes on from the averaged weights."""
    model._model.fitted = fitted


def is_predict_only(model: Any) -> bool:
    """Return whether a trained model was saved with `predict_only`, so that it cannot learn."""
    only: bool = model._learner.predict_only
    return only


def check_learns(model: Any) -> None:
    """Refuse to learn if a trained model was saved with `predict_only`."""
    model._learner.check_learns()


def as_rows(X: Any, *, guarded: bool = False) -> Rows:
    """Return the rows of a C-contiguous array or CSR matrix of float32 or float64.

    Nothing is copied, unless an array is not aligned, or a CSR matrix has wide, unsorted or repeated indices. A
    malformed matrix is refused. Indices are not checked with `guarded`, because the rounds do that, nor those of the
    library's own readers (`is_canonical`).
    """
    if not hasattr(X, "indptr"):
        return Rows(X if X.flags.aligned else X.copy(), X.shape[1])
    n_rows, n_features = X.shape
    if n_features > np.iinfo(np.int32).max:
        raise ValueError(f"X has {n_features} features, more than the {np.iinfo(np.int32).max} that can be indexed")
    ends, stored = X.indptr, len(X.indices)
    if len(ends) != n_rows + 1 or ends[0] != 0 or not 0 <= ends[-1] <= stored == len(X.data):
        raise ValueError("X is not a valid CSR matrix: its indptr, indices and data do not fit together")
    values, indices = X.data[: ends[-1]], X.indices[: ends[-1]]
    rows = Rows(values, n_features, indices.astype(np.int32, copy=False), ends)
    if indices.dtype == np.int32 and (guarded or getattr(X, "is_canonical", False)):
        return rows
    narrow = indices.dtype == np.int32 or not len(indices) or 0 <= indices.min() <= indices.max() < n_features
    if narrow and rows.is_canonical():
        return rows
    if (np.diff(ends) < 0).any() or not 0 <= indices.min() <= indices.max() < n_features:
        raise ValueError(f"X is not a valid CSR matrix: its indices are not all within its {n_features} features")
    X = X.copy()
    X.sum_duplicates()
    return Rows(X.data, n_features, X.indices.astype(np.int32, copy=False), X.indptr)


def matrix_of(X: Rows) -> Any:
    """Return the rows as an array or CSR matrix, without a copy."""
    values, indices, indptr = X.owners
    if indices is None or indptr is None:
        return values
    from scipy import sparse

    start, stop = indptr[0], indptr[-1]
    return sparse.csr_matrix((values[start:stop], indices[start:stop], indptr - start), shape=(X.n_rows, X.n_features))
