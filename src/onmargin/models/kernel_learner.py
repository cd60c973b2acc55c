"""Kernel learners: weights are an expansion over learned rows, and rows are processed block by block."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from onmargin._core import rounds
from onmargin._core.geometries.geometry import ColumnMap
from onmargin._core.geometries.kernel import Expansion, expand
from onmargin._core.restore import whole
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.steps.window import KernelWindow
from onmargin._core.tasks.task import Task
from onmargin._core.turns import TakingTurns
from onmargin.learner import STRETCH, Decode, Learner, Offsets, Vector, matrix_of, room_for
from onmargin.models.dual_ascent import Sight, check_kept, of_one_class, select_examples, sweep_window
from onmargin.models.kernels import Kernel, Matrix, Supports

__all__ = ["KernelLearner", "KernelWindowLearner"]

# Number of rows, and of supports, per matrix product of kernel values.
BLOCK, TILE = 192, 1024


class KernelLearner(Learner[Expansion]):
    """Runs rounds in blocks: their kernel values first, all at once, then round by round.

    The learner stores the rows of the supports, the geometry their coefficients. A support is known by its row's place
    in the stream of all rows; a row that is learned again adds to its coefficients.

    Parameters
    ----------
    task : Task
        Turns scores and targets into half-spaces, and scores into predictions.
    step : Step
        Says how far to move along each violated half-space.
    geometry : Expansion
        Holds the coefficients and moves them.
    kernel : Kernel or None
        Computes the inner products of rows. If None, the rows hold those inner products with the rows of the stream.
    supports : Supports
        Holds the rows of the supports.
    """

    forks = True

    def __init__(self, task: Task, step: Step, geometry: Expansion, kernel: Kernel | None, supports: Supports) -> None:
        super().__init__(task, step, geometry)
        self.kernel = kernel
        self.supports = supports
        self.first = 0  # number of rows of the stream before the current ones
        self._received = 0

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"totals": self._totals, "first": self.first, "received": self._received}
        return type(self), (self.task, self.step, self.geometry, self.kernel, self.supports), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._totals, self.first, self._received = state["totals"], state["first"], state["received"]

    def check(self) -> None:
        super().check()
        geometry, supports = self.geometry, self.supports
        if not isinstance(geometry, Expansion) or not isinstance(supports, Supports):
            raise ValueError(f"a kernel needs supports and their coefficients; got a {type(geometry).__name__}")
        width = 0 if self.kernel is None else geometry.n_features
        if len(supports) != geometry.n_slots or not supports.holds(width):
            raise ValueError(
                f"supports must be {geometry.n_slots} rows of {width} features; got {len(supports)} of {supports.width}"
            )
        whole(self.first, "first"), whole(self._received, "received")

    def check_like(self, other: Learner[Any]) -> None:
        expected, found = self.kernel, cast("KernelLearner", other).kernel
        fields = {} if expected is None else {name: value for name, value in vars(expected).items() if name != "gamma"}
        gamma = getattr(found, "gamma", 1.0)
        if (
            type(found) is not type(expected)
            or any(getattr(found, name) != value for name, value in fields.items())
            or not (isinstance(gamma, float) and gamma > 0)
        ):
            raise ValueError(f"the kernel is {found!r:.100}, and its parameters make {expected!r:.100}")

    def example(self) -> Any:
        from scipy import sparse

        return np.zeros((1, 1)) if self.kernel is None else sparse.csr_matrix((1, max(self.geometry.n_features, 1)))

    def __copy__(self) -> Self:
        """Return a learner to continue with; this one is kept for the case of an error."""
        other = type(self).__new__(type(self))
        other.__dict__ = vars(self).copy()
        other.geometry, other.supports = self.geometry.fork(), self.supports.fork()
        other._totals = copy(self._totals)
        return other

    def pace(self, X: Rows, trials: Offsets | None = None) -> int:
        at_once = (self.geometry.n_slots + BLOCK) * self.geometry.n_columns * self._effort()
        return max(STRETCH // at_once, 1)

    def close(self) -> None:
        """Mark the rows learned last as seen for the last time: the next rows are other ones."""
        super().close()
        self.first, self._received = self.first + self._received, 0

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
        if trials is not None:
            raise ValueError("an expansion learns one row per round, not trials of several")
        order = np.arange(X.n_rows) if order is None else order
        with self._count_rows(X.total):
            for start in range(0, len(order), BLOCK):
                part = order[start : start + BLOCK]
                with TakingTurns(self), self._face(X, part, self.first + X.first + part):
                    self.learn_by(self.step, X, y, weight, part, targets=targets, interruptible=interruptible)

    @contextmanager
    def _count_rows(self, rows: int) -> Iterator[None]:
        """Count new rows, unless none of them is learned.

        A matrix of kernel values has no columns for other rows.
        """
        if self.kernel is None and self.first > 0:
            raise ValueError(
                "kernel='precomputed' holds the kernel values of one matrix of rows, which was learned already: to "
                "learn on, begin with clone(model).fit and the values of all rows, or give the kernel as a function"
            )
        before, rounds = self._received, self._totals.rounds
        try:
            self._received = rows
            yield
        except BaseException:
            if self._totals.rounds == rounds:
                self._received = before
            raise

    def learn_window(
        self,
        step: KernelWindow,
        X: Rows,
        y: Vector,
        weight: Vector,
        keys: Offsets,
        *,
        now: int,
        window: int,
        received: int,
        interruptible: bool = False,
    ) -> None:
        """Run one round for each row from `now` on, by a step that returns to the last `window` of them.

        `keys` are their places in the stream of all rows.
        """
        with self._count_rows(received):
            while now < X.n_rows:
                first = max(now - window + 1, 0)
                # As many new rows as earlier ones, so that few kernel values are computed again.
                stop = min(now + max(BLOCK, now - first), X.n_rows)
                part = np.arange(now, stop)
                rows, before = np.arange(first, stop), now - first
                with TakingTurns(self), self._face(X, rows, keys[first:stop], before=before, by_values=True):
                    self.learn_by(step, X, y, weight, part, interruptible=interruptible)
                now = stop

    @contextmanager
    def _face(
        self, X: Rows, part: Offsets, keys: Offsets, before: int = 0, *, by_values: bool = False
    ) -> Iterator[None]:
        """Within the block, rounds with these rows may run; supports are kept. The first are earlier rows.

        If a step moves along several rows in each round, it is faster `by_values`: to compute scores in each round.
        """
        block = self.supports.as_these(matrix_of(X)[part])
        within = block[:, keys] if self.kernel is None else self.kernel(block, block)
        within = np.ascontiguousarray(self._check_input(within), dtype=np.float64)
        known = self._slots_of(keys)
        scores = self._ready(block, room=len(keys), by_values=by_values)
        self.geometry.face(self._diagonal(block, within), within, keys, known, before=before, **scores)
        kept: list[Any] = []
        try:
            try:
                yield
            finally:  # an interrupt may have come while they were learned
                self._keep_up(block, kept)
        except BaseException:  # or now
            self._keep_up(block, kept)
            raise

    def _keep_up(self, block: Matrix, kept: list[Any]) -> None:
        """Store exactly the supports that the rounds of a block have created.

        An interrupt may come between any two steps; the next call then does the rest. `kept` is memory that the
        calls share.
        """
        geometry, supports = self.geometry, self.supports.fork()
        if not kept:
            if len(supports) < geometry.n_slots:
                rows = block if self.kernel is not None else block[:, :0]  # not used: the keys suffice
                supports.append(rows[geometry.became_supports()])
                self.supports = supports
            geometry.settle()
            kept.append(geometry.to_keep())
        if kept[0] is not None:
            if geometry.n_slots > len(kept[0]):
                geometry.compact(kept[0])
            if len(self.supports) > len(kept[0]):
                supports = self.supports.fork()
                supports.keep(kept[0])
                self.supports = supports

    def _slots_of(self, keys: Offsets) -> Offsets:
        """Return the slot of each row, or -1 if it is not a support."""
        slots = self.geometry.supports()
        known = self.geometry.arrays()["keys"][slots]
        if known.max(initial=-1) < keys.min():  # new rows, as in a stream
            return np.full(len(keys), -1, np.intp)
        order = np.argsort(known)
        nearest = order[np.minimum(np.searchsorted(known, keys, sorter=order), len(order) - 1)]
        return np.where(known[nearest] == keys, slots[nearest], -1)

    def _ready(self, block: Matrix, room: int = 0, *, by_values: bool = False) -> dict[str, Any]:
        """Return what the geometry needs to compute the scores of the rows of a block."""
        geometry = self.geometry
        if not by_values and not geometry.needs_values:
            return {"sums": self._sums(block, geometry.coefficients())}
        values = np.empty((block.shape[0], geometry.n_slots + room))
        for start, stop in self._tiles():
            values[:, start:stop] = self._check_input(self._against(block, start, stop))
        return {"values": values}

    def _sums(self, block: Matrix, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of the rows of a block without intercept, columns by rows."""
        sums = np.zeros((self.geometry.width, block.shape[0]))
        for start, stop in self._tiles():
            values = self._against(block, start, stop, transposed=True)
            if not expand(values, coef[start:stop], sums):
                self._check_input(values)
        return sums

    def _tiles(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of slots, for one matrix product each."""
        n = self.geometry.n_slots
        for start in range(0, n, TILE):
            yield start, min(start + TILE, n)

    def _against(self, block: Matrix, start: int, stop: int, *, transposed: bool = False) -> NDArray[Any]:
        """Return K of the rows of a block and the supports of a range of slots, or slots by rows."""
        if self.kernel is None:
            values = block[:, self.geometry.arrays()["keys"][start:stop]]
            return np.ascontiguousarray(values.T) if transposed else values
        kernel = self.kernel.transpose_product if transposed else self.kernel
        return kernel(block, self.supports.rows(start, stop))

    @staticmethod
    def _check_input(values: NDArray[Any]) -> NDArray[Any]:
        """Return kernel values, which must be finite; their sum is tested, which may only overflow if they do."""
        with np.errstate(all="ignore"):
            total = values.sum()
        if not np.isfinite(total) and not np.isfinite(values).all():
            raise ValueError(
                "the kernel gives values that are not finite: scale X, for instance with "
                "sklearn.preprocessing.StandardScaler, or take smaller gamma, coef0 and degree"
            )
        return values

    def set_center(self, row: Matrix, key: int) -> None:
        """Set the center of an untrained ball to this row."""
        self.geometry.set_center(key, float(self._diagonal(row)[0]))
        self.supports.append(self.supports.as_these(row))
        self._received = max(self._received, key + 1)

    def _diagonal(self, block: Matrix, within: NDArray[np.float64] | None = None) -> Vector:
        """Return K(x, x) of the rows; unknown for new rows if only their values with others are given."""
        if self.kernel is None:
            return np.zeros(block.shape[0]) if within is None else within.diagonal().copy()
        return np.array(self._check_input(self.kernel.diagonal(block, within)), dtype=np.float64)

    def scores(
        self, X: Rows, *, n_jobs: int | None = 1, guarded: bool = False, decode: Decode | None = None
    ) -> NDArray[Any]:
        """Return the scores as other learners do. The threads are those of NumPy's products, whatever `n_jobs` is."""
        decode = decode or np.asarray
        out = room_for(X.n_rows, self.geometry.n_columns, decode)
        with TakingTurns(self):  # a learning thread may replace the memory of the supports
            coef = np.ascontiguousarray(self.geometry.mean()[0])
            for start, block in self._blocks(X):
                scores = self.geometry.project(self._sums(block, coef), self._diagonal(block))
                out[start : start + BLOCK] = decode(scores)
        return out

    def losses(self, X: Rows, y: Vector) -> Vector:
        out = np.empty(X.n_rows)
        with TakingTurns(self):
            for start, block in self._blocks(X):
                stop = start + block.shape[0]
                self.geometry.face(self._diagonal(block), **self._ready(block))
                rounds.losses(self.task, self.geometry, X.part(start, stop), y[start:stop], out[start:stop])
                self.geometry.settle()
        return out

    def _blocks(self, X: Rows) -> Iterator[tuple[int, Matrix]]:
        """Yield blocks of rows, with the first row of each."""
        whole = matrix_of(X)
        for start in range(0, X.n_rows, BLOCK):
            yield start, self.supports.as_these(whole[start : start + BLOCK])


class KernelWindowLearner(KernelLearner):
    """A learner whose rounds maximize the dual over the last examples, in the feature space of a kernel.

    Each call brings new rows: a row that occurs again has variables of its own.

    Parameters
    ----------
    task : Task
        Turns scores and targets into half-spaces, and scores into predictions.
    step : Step
        The settings of the window, an `Ascent`.
    geometry : Expansion
        Holds the coefficients and moves them.
    kernel : Kernel or None
        The kernel, as for a `KernelLearner`.
    supports : Supports
        Holds the rows of the supports.
    kept : KeptExamples or None, default=None
        The examples that the next round may change. If None, there are none yet.
    """

    def __init__(self, *parts: Any) -> None:
        *others, self.kept = parts if len(parts) > 5 else (*parts, None)
        super().__init__(*others)

    def __reduce__(self) -> tuple[Any, ...]:
        kind, arguments, state = super().__reduce__()
        return kind, (*arguments, self.kept), state

    def check(self) -> None:
        super().check()
        check_kept(self.kept, self.geometry, self.step)

    def recombine(self, column_map: ColumnMap) -> None:
        super().recombine(column_map)
        if self.kept is not None:
            self.kept = self.kept.recombine(column_map)

    def _effort(self) -> int:
        return sweep_window(self.kept, self.step)

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
        if X.first == 0:
            self.close()
        if of_one_class(self):
            super().learn(X, y, weight, order, interruptible=interruptible)
            return
        step: Any = self.step
        new = select_examples(X, y, weight, order, self.geometry.n_columns)
        sight = Sight.over(self.kept, replace(new, keys=self.first + X.first + new.keys), step.window)
        _, target, weight, alpha, scores, keys = sight.examples
        settings = step.settings(sight.window)
        windowed = KernelWindow(sight.rows, target, weight, sight.now, alpha, scores, **settings)
        places = {"now": sight.now, "window": sight.window, "received": X.total}
        self.learn_window(windowed, sight.rows, target, weight, keys, **places, interruptible=interruptible)
        self.kept = sight.kept(step.window)
