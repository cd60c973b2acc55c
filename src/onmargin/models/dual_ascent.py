"""Dual ascent: each round optimizes the last examples of a stream again ([PD] sec. 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import ColumnMap, Euclidean, Geometry
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.steps.window import LIMITS, GramWindow, TubeWindow, Window
from onmargin._core.tasks.task import Binary, Regression, Task
from onmargin._parts import Part
from onmargin.learner import Learner, Offsets, Vector, as_rows, matrix_of
from onmargin.models import options as shared
from onmargin.models import quasi_additive
from onmargin.models import weights as kernels
from onmargin.models.ensemble import Kind
from onmargin.models.links import link, norm
from onmargin.models.options import option
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import FLAG, NONE, Number

# The longest window with inner products, and the most sweeps of a round: the service estimates times by them.
MOST_GRAM_ROWS, MOST_SWEEPS = LIMITS
WHOLE = Number(1, 2**62, whole=True)


@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentOptions:
    """Options of dual ascent for classification, shared by all interfaces.

    Parameters
    ----------
    geometry : {"euclidean", "entropic", "pnorm"}, default="euclidean"
        How the weights are computed from the sum of the examples: "euclidean" weights are the sum itself, "entropic"
        weights are on the simplex, and "pnorm" lies in between.
    p : float or None, default=None
        The norm p of ``geometry="pnorm"``, from 2 to 500. If None, p is 2 ln(n_features) in the first call.
    C : float, default=1.0
        The largest dual variable, above 0.
    margin : float or None, default=None
        Required margin, above 0. If None, 1, or 0.1 for the entropic geometry.
    window : int or None, default=8
        Number of most recent examples, including the newest, that each round optimizes again; their rows are kept. If
        None, all examples are, at a cost that grows with every round.
    sweeps : int or None, default=None
        Number of times that a round goes through the window, one example at a time, from the newest to the oldest. If
        None, it repeats until the dual no longer increases.
    balanced : bool, default=True
        Whether the entropic weights can have either sign.
    fit_intercept : bool, default=False
        Whether to learn an intercept; only for the Euclidean geometry.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or None, default=None
        Kernel of the feature space in which to learn, with the Euclidean geometry. The weights are then an expansion
        over the examples whose dual variables are not zero (the supports), and the cost of a round grows with their
        number. A callable returns the kernel values of the rows of two matrices. If "precomputed", X holds the kernel
        values, n x n in `fit` and n_test x n in prediction. Only for the rows of a matrix.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "poly", "rbf" and "sigmoid", above 0. If "scale", ``1 / (n_features * X.var())`` with the X of
        `fit` or of the first `partial_fit`; if "auto", ``1 / n_features``.
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    """

    geometry: str = quasi_additive.geometry()
    p: float | None = norm()
    C: float = quasi_additive.size_of_step()
    margin: float | None = quasi_additive.margin()
    window: int | None = option(8, WHOLE, NONE)
    sweeps: int | None = option(None, WHOLE, NONE)
    balanced: bool = option(True, FLAG)
    fit_intercept: bool = option(False, FLAG)
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()
    kernel: str | Callable[[Any, Any], Any] | None = kernels.kernel()
    gamma: float | str = kernels.gamma()
    degree: int = kernels.degree()
    coef0: float = kernels.coef0()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        step = Ascent(float(self.C), quasi_additive.margin_of(self), self.window, self.sweeps)
        plan = quasi_additive.in_geometry(self, step, learner=_window_learner)
        fixed = dict(plan.fixed) | {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0")}
        if self.kernel is None:
            return replace(plan, fixed=fixed)
        return replace(plan, fixed=fixed, weights=_expansion(self), learner=_kernel_window_learner(self))


@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentRegressorOptions:
    """Options of dual ascent for regression, shared by all interfaces.

    Parameters
    ----------
    C : float, default=1.0
        The largest dual variable, above 0. Smaller values are more cautious and better under noise.
    epsilon : float, default=0.1
        Half the width of the tube: predictions within epsilon of their target have no loss.
    window : int or None, default=8
        Number of most recent examples, including the newest, that each round optimizes again; their rows are kept. If
        None, all examples are, at a cost that grows with every round.
    sweeps : int or None, default=None
        Number of times that a round goes through the window, one example at a time, from the newest to the oldest. If
        None, it repeats until the dual no longer increases.
    """

    C: float = quasi_additive.size_of_step()
    epsilon: float = option(0.1, Number(0, below=True))
    window: int | None = option(8, WHOLE, NONE)
    sweeps: int | None = option(None, WHOLE, NONE)
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return Plan(
            task=lambda labels: Regression(float(self.epsilon)),
            step=TubeAscent(float(self.C), float(self.epsilon), self.window, self.sweeps),
            learner=_window_learner,
            **link("euclidean", bias=quasi_additive.bias(self)),
        )


class Ascent(Step):  # type: ignore[misc]
    """Settings of dual ascent over a window; a `WindowLearner` creates the compiled step for its rows.

    Parameters
    ----------
    C, margin : float
        The largest dual variable, and the required margin.
    window, sweeps : int or None
        The options of these names.
    """

    plain_window: ClassVar[type[GramWindow]] = GramWindow  # for plain weights

    def __init__(self, C: float, margin: float, window: int | None, sweeps: int | None) -> None:
        self.C = C
        self.margin = margin
        self.window = window
        self.sweeps = sweeps

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.C, self.margin, self.window, self.sweeps)

    def settings(self, window: int) -> dict[str, Any]:
        """Return what a compiled window is made with."""
        return {"C": self.C, "margin": self.margin, "window": window, "sweeps": self.sweeps or 0}


class TubeAscent(Ascent):
    """The same for numbers; `margin` is epsilon, half the width of the tube."""

    plain_window = TubeWindow


@dataclass(frozen=True)
class KeptExamples(Part):
    """The examples whose variables a later round may change, oldest first."""

    X: Any
    target: Vector
    weight: Vector
    alpha: NDArray[np.float64]  # their variables, one per column
    scores: NDArray[np.float64]  # with the current weights; only plain weights need them
    keys: Offsets  # with a kernel, their places in the stream of all rows

    def __iter__(self) -> Iterator[Any]:
        return iter(vars(self).values())

    def __reduce__(self) -> tuple[Any, ...]:
        clipped = vars(self) | {"scores": np.nan_to_num(self.scores)}  # they may overflow
        return type(self), tuple(clipped.values())

    def last(self, window: int | None) -> KeptExamples:
        """Return those that are in the window with one more."""
        first = 0 if window is None else max(len(self.target) - window + 1, 0)
        return KeptExamples(*(part[first:] for part in self)) if first else self

    def recombine(self, column_map: ColumnMap) -> KeptExamples:
        """Return the examples for new columns, so that sums stay what they are.

        The one variable of an example of two classes becomes that of the other class as its rival. It stays if the two
        classes change places.
        """
        factor, source = column_map.factor, column_map.source
        if len(factor) == 1:
            return replace(self, target=-self.target, scores=-self.scores)
        alpha = np.zeros((len(self.target), len(factor)))
        if not source.any():  # of a single column
            low, high = factor.argmin(), factor.argmax()
            target = np.where(self.target > 0, high, low).astype(np.float64)
            rival = np.where(self.target > 0, low, high)
            alpha[np.arange(len(alpha)), rival] = factor[high] * self.alpha[:, 0]
        else:
            places = np.flatnonzero(factor)  # the old columns stay in order
            target = places[self.target.astype(np.intp)].astype(np.float64)
            alpha[:, places] = self.alpha
        return replace(self, target=target, alpha=alpha, scores=column_map.of(self.scores))


def check_kept(kept: Any, geometry: Geometry, step: Any) -> None:
    """Refuse kept examples, as a file may hold them, that are not rows and targets of a geometry."""
    if kept is None:
        return
    if not isinstance(kept, KeptExamples):
        raise ValueError(f"kept examples are a {type(kept).__name__}")
    n, k = len(kept.target), geometry.n_columns
    shapes = {"target": (n,), "weight": (n,), "alpha": (n, k), "scores": (n, k), "keys": (n,)}
    for name, shape in shapes.items():
        values = getattr(kept, name)
        if values.shape != shape or values.dtype != (np.intp if name == "keys" else np.float64):
            raise ValueError(f"{name} of kept examples must have shape {shape}; got {values.dtype} of {values.shape}")
    rows = kept.X
    width = geometry.n_features or np.iinfo(np.int32).max  # sparse weights do not have these features
    if rows.shape[0] != n or rows.shape[1] > width or rows.dtype != geometry.dtype:
        raise ValueError(f"kept examples must be {n} rows of at most {width} features; got {rows.shape}")
    numbers = isinstance(step, TubeAscent)
    known = np.isfinite(kept.target) if numbers else np.isin(kept.target, [-1, 1] if k == 1 else np.arange(k))
    if not known.all() or not (np.isfinite(kept.weight) & (kept.weight >= 0)).all():
        raise ValueError("targets and weights of kept examples must be those of examples that were learned")


@dataclass(frozen=True)
class Sight:
    """The rows of a call with the kept ones before them, and room for their variables and scores."""

    examples: KeptExamples  # their alpha and scores lie by place modulo `held`
    rows: Rows
    now: int  # the first new row
    window: int
    held: int

    @classmethod
    def over(cls, kept: KeptExamples | None, new: KeptExamples, window: int | None) -> Sight:
        """Append new examples, which have no variables yet, to the kept ones."""
        old = KeptExamples(*(part[:0] for part in new)) if kept is None else kept.last(window)
        now, n_columns = len(old.target), old.alpha.shape[1]
        X = _join_packed(old.X, new.X)
        rows = as_rows(X)
        size = rows.n_rows if window is None else window
        held = min(size, rows.n_rows)
        alpha, scores = np.zeros((2, held, n_columns))
        alpha[:now], scores[:now] = old.alpha, old.scores
        target = np.concatenate([old.target, new.target])
        weight = np.concatenate([old.weight, new.weight])
        keys = np.concatenate([old.keys, new.keys])
        return cls(KeptExamples(X, target, weight, alpha, scores, keys), rows, now, size, held)

    def kept(self, window: int | None) -> KeptExamples:
        """Return the examples that the next call begins with."""
        X, target, weight, alpha, scores, keys = self.examples
        n = len(target)
        first = n - (self.held if window is None else min(self.held, window - 1))
        places = np.arange(first, n) % max(self.held, 1)
        return KeptExamples(
            X[first:].copy(), target[first:], weight[first:], alpha[places], scores[places], keys[first:]
        )


def select_examples(X: Rows, y: Vector, weight: Vector | None, order: Offsets | None, n_columns: int) -> KeptExamples:
    """Return the examples to learn, without variables; their keys are their places in X."""
    matrix, weight = matrix_of(X), np.ones(len(y)) if weight is None else weight
    chosen = np.flatnonzero(weight > 0) if order is None else order[weight[order] > 0]
    nothing = np.zeros((0, n_columns))
    if order is not None or len(chosen) < len(y):
        matrix, y, weight = matrix[chosen], y[chosen], weight[chosen]
    return KeptExamples(matrix, y, weight, nothing, nothing, chosen)


def _join_packed(old: Any, new: Any) -> Any:
    """Return rows one after the other, in the form of the new; a row of fewer features has zeros for the others."""
    if old.shape[0] == 0:
        return new
    if not hasattr(new, "indptr"):
        return np.concatenate([old.toarray() if hasattr(old, "indptr") else old, new])
    from scipy import sparse

    old = old if hasattr(old, "indptr") else sparse.csr_matrix(old)
    if old.shape[1] < new.shape[1]:
        old = sparse.csr_matrix((old.data, old.indices, old.indptr), shape=(old.shape[0], new.shape[1]))
    return sparse.vstack([old, new], format="csr")


class WindowLearner(Learner[Any]):
    """A learner whose rounds maximize the dual over the last examples; its step is an `Ascent`.

    Parameters
    ----------
    task : Task
        Turns scores and targets into half-spaces, and scores into predictions.
    step : Step
        The settings of the window.
    geometry : Geometry
        Holds the weights and moves them.
    kept : KeptExamples or None, default=None
        The examples that the next round may change. If None, there are none yet.
    """

    def __init__(self, task: Any, step: Any, geometry: Any, kept: KeptExamples | None = None) -> None:
        super().__init__(task, step, geometry)
        self._kept = kept
        self._sight: tuple[Sight, int | None, int] | None = None

    @property
    def kept(self) -> KeptExamples | None:
        """The examples that the next round may change."""
        if self._sight is not None:
            sight, window, rounds = self._sight
            if self._totals.rounds == rounds:  # otherwise an interrupt came before they were learned
                self._kept = sight.kept(window)
            self._sight = None
        return self._kept

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.task, self.step, self.geometry, self.kept), self._totals

    def check(self) -> None:
        super().check()
        check_kept(self.kept, self.geometry, self.step)

    def recombine(self, column_map: ColumnMap) -> None:
        kept = self.kept
        super().recombine(column_map)
        if kept is not None:
            self._kept = kept.recombine(column_map)

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
        if of_one_class(self):
            super().learn(X, y, weight, order, interruptible=interruptible)
            return
        step: Any = self.step
        new = select_examples(X, y, weight, order, self.geometry.n_columns)
        new = replace(new, keys=np.zeros_like(new.keys))  # depends on how calls were cut; only kernels use it
        sight = Sight.over(self.kept, new, step.window)
        _, target, weight, alpha, scores, _ = sight.examples
        before, settings = (sight.rows, target, weight, sight.now, alpha), step.settings(sight.window)
        plain = isinstance(self.geometry, Euclidean)
        windowed = step.plain_window(*before, scores, **settings) if plain else Window(*before, **settings)
        places = np.arange(sight.now, sight.rows.n_rows)
        # Rounds update these variables in place, so they stay consistent with the weights after an interrupt.
        self._sight = sight, step.window, self._totals.rounds + len(places)
        self.learn_by(windowed, sight.rows, target, weight, places, interruptible=interruptible)

    def _effort(self) -> int:
        return sweep_window(self._kept, self.step)


def sweep_window(kept: KeptExamples | None, step: Any) -> int:
    """Return how often a round goes through as many numbers as its row has: a few sweeps through the window."""
    return 2 * max(0 if kept is None else len(kept.target), min(step.window or 64, 64))


def of_one_class(learner: Learner[Any]) -> bool:
    """Return whether there is only one class: its examples have no rival, and so no variables."""
    return learner.geometry.n_columns == 1 and not isinstance(learner.task, Binary | Regression)


def dual_variables(learner: Any) -> NDArray[np.float64]:
    """Return the variables that the next round may change: one per example of two classes, or one per rival."""
    n_columns = learner.geometry.n_columns
    alpha: NDArray[np.float64] = np.zeros((0, n_columns)) if learner.kept is None else learner.kept.alpha
    return alpha if n_columns > 1 else alpha[:, 0]


def _window_learner(X: Any, step: Step, geometry: Geometry) -> WindowLearner:
    return WindowLearner(Task(), step, geometry)


# Kernels are imported on first use because they need SciPy.


def _expansion(options: DualAscentOptions) -> Callable[[Shape, Kind | None, int], Geometry]:
    from onmargin.models.expansion import expansion

    return expansion(options, 0)


def _kernel_window_learner(options: DualAscentOptions) -> Callable[[Any, Step, Geometry], Learner[Any]]:
    from onmargin.models.expansion import kernel_learner
    from onmargin.models.kernel_learner import KernelWindowLearner

    return kernel_learner(options, KernelWindowLearner)
