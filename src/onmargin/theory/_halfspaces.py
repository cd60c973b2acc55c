"""A stream as a set of half-space constraints on the weights."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Vector = NDArray[np.float64]
Array = NDArray[Any]


def with_bias(X: Any, bias: float, *, auto: bool) -> Any:
    """Append the intercept coordinate to the rows.

    With `auto`, the first nonzero row sets the coordinate; zero rows before it get 0.
    """
    if bias == 0 or np.isnan(bias):
        return X
    begun = np.cumsum(squared_norms(X)) > 0 if auto else np.ones(X.shape[0], bool)
    column = np.where(begun, bias, 0.0)[:, None]
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])


def squared_norms(X: Any) -> Vector:
    """Return the squared norm of each row."""
    return np.asarray(X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X**2).sum(axis=1)).ravel()


@dataclass(frozen=True)
class Columns:
    """Scores of rows by columns of weights, concatenated in a vector u."""

    X: Any  # rows, dense or CSR
    n_columns: int

    def scores(self, u: Vector) -> Vector:
        return np.asarray(self.X @ u.reshape(self.n_columns, -1).T)

    def lift(self, G: Vector) -> Vector:
        """Return the sum of the rows, each times its coefficients in G, per column."""
        return np.asarray((self.X.T @ G).T).ravel()

    @property
    def n_weights(self) -> int:
        return int(self.n_columns * self.X.shape[1])


@dataclass(frozen=True)
class Thresholds:
    """Scores of rows minus thresholds; u is one weight vector followed by the thresholds."""

    X: Any
    n_columns: int

    def scores(self, u: Vector) -> Vector:
        n = self.X.shape[1]
        return np.asarray((self.X @ u[:n])[:, None] - u[n:])

    def lift(self, G: Vector) -> Vector:
        return np.concatenate([np.asarray(self.X.T @ G.sum(axis=1)).ravel(), -G.sum(axis=0)])

    @property
    def n_weights(self) -> int:
        return int(self.X.shape[1] + self.n_columns)


@dataclass(frozen=True)
class HalfSpaces:
    """Sets of half-spaces: the loss of a set is max_j [required_j - (score up_j - score down_j)]_+.

    `up` and `down` are flat indices into the matrix of scores, -1 for none; an absent half-space requires -inf. The
    loss of a round is the sum of the losses of its sets, each times its share.
    """

    linear: Columns | Thresholds
    up: NDArray[np.intp]  # sets by half-spaces
    down: NDArray[np.intp]
    required: Vector
    share: Vector  # of each set
    round: NDArray[np.intp]  # of each set
    n_rounds: int
    unit: float = 1.0  # the scale of `tighten`: the margin, or half the width of a tube
    _real: NDArray[np.bool_] = field(init=False)
    _asked: Vector = field(init=False)

    def __post_init__(self) -> None:
        real = self.required > -np.inf
        object.__setattr__(self, "_real", real)
        object.__setattr__(self, "_asked", np.where(real, self.required, 0.0))

    @property
    def n_weights(self) -> int:
        return self.linear.n_weights

    def measure_violations(self, u: Vector) -> Vector:
        """Return the violation of each half-space; -1 for absent ones."""
        scores = np.append(self.linear.scores(u).ravel(), 0.0)
        return np.where(self._real, self._asked - scores[self.up] + scores[self.down], -1.0)

    def losses(self, u: Vector) -> Vector:
        return self._measure_losses(self.measure_violations(u))

    def losses_along(self, u: Vector) -> Callable[[float], Vector]:
        """Return a function of s that gives the losses of s u without computing scores again."""
        scores = self._asked - self.measure_violations(u)
        return lambda s: self._measure_losses(np.where(self._real, self._asked - s * scores, -1.0))

    def _measure_losses(self, violations: Vector) -> Vector:
        of_sets = np.maximum(violations.max(axis=1, initial=0.0), 0.0)
        return _sums(self.round, self.share * of_sets, self.n_rounds)

    def tighten(self, part: float) -> "HalfSpaces":
        """Return half-spaces whose required scores are larger by a fraction of the unit."""
        return replace(self, required=self.required + part * self.unit)

    # The dual has one variable per half-space.

    def start(self) -> Vector:
        return np.zeros(self.required.shape)

    def lift(self, A: Vector) -> Vector:
        """Return theta, the combination of the directions with the dual variables."""
        size = self.linear.X.shape[0] * self.linear.n_columns
        # The index -1 wraps around to the extra place at the end.
        G = _sums(self.up.ravel() % (size + 1), A.ravel(), size + 1) - _sums(
            self.down.ravel() % (size + 1), A.ravel(), size + 1
        )
        return self.linear.lift(G[:-1].reshape(-1, self.linear.n_columns))

    def gain(self, A: Vector) -> float:
        return float((A * self._asked).sum())

    def penalty(self, A: Vector) -> float:
        """Return the nonsmooth part of the dual."""
        return 0.0

    def slack(self, A: Vector, C: float) -> tuple[float, Vector]:
        """Return the term of squared losses in the dual, and its gradient."""
        total = A.sum(axis=1)
        caps = 2 * C * self.share
        return float((total**2 / caps).sum()) / 2, (total / caps)[:, None]

    def feasible(self, A: Vector, step: float, cap: float) -> Vector:
        """Project onto nonnegative variables whose sum in every set is at most its share of the cap."""
        A = np.maximum(A, 0.0)
        caps = cap * self.share
        over = A.sum(axis=1) > caps
        if over.any():
            A[over] = _onto_simplex(A[over], caps[over])
        return A


def _sums(places: NDArray[np.intp], numbers: Vector, n: int) -> Vector:
    """Return the sum of the numbers at each of n places."""
    return np.bincount(places, weights=numbers, minlength=n).astype(np.float64, copy=False)


def _onto_simplex(A: Vector, totals: Vector) -> Vector:
    """Project rows onto nonnegative rows with the given totals, for rows whose sum is larger."""
    ordered = -np.sort(-A, axis=1)
    levels = (np.cumsum(ordered, axis=1) - totals[:, None]) / np.arange(1, A.shape[1] + 1)
    last = (ordered > levels).sum(axis=1) - 1
    level = np.take_along_axis(levels, np.maximum(last, 0)[:, None], axis=1)
    return np.maximum(A - level, 0.0)


@dataclass(frozen=True)
class Balls:
    """Points that a ball should enclose: the loss is [|x - u| - radius]_+, for centers relative to w_1."""

    points: Vector  # relative to w_1
    radius: float
    start_at: Vector  # the initial center w_1

    @property
    def n_weights(self) -> int:
        return int(self.points.shape[1])

    @property
    def n_rounds(self) -> int:
        return len(self.points)

    def losses(self, u: Vector) -> Vector:
        return np.asarray(np.maximum(np.linalg.norm(self.points - u, axis=1) - self.radius, 0.0))

    def losses_along(self, u: Vector) -> Callable[[float], Vector]:
        return lambda s: self.losses(s * u)

    def measure_violations(self, u: Vector) -> Vector:
        return self.points - u

    def tighten(self, part: float) -> "Balls":
        """Return a ball whose radius is smaller by a fraction."""
        return replace(self, radius=self.radius * (1 - part))

    # The dual has one vector per point, whose length is its variable.

    def start(self) -> Vector:
        return np.zeros_like(self.points)

    def lift(self, A: Vector) -> Vector:
        return np.asarray(A.sum(axis=0))

    def gain(self, A: Vector) -> float:
        return float((A * self.points).sum())

    def penalty(self, A: Vector) -> float:
        return self.radius * float(np.linalg.norm(A, axis=1).sum())

    def slack(self, A: Vector, C: float) -> tuple[float, Vector]:
        return float((A**2).sum()) / (4 * C), A / (2 * C)

    def feasible(self, A: Vector, step: float, cap: float) -> Vector:
        """Shorten vectors by the step times the radius, and to at most the cap."""
        length = np.linalg.norm(A, axis=1)
        short = np.minimum(np.maximum(length - step * self.radius, 0.0), cap)
        return np.asarray(A * (short / np.where(length > 0, length, 1.0))[:, None])


Problem = HalfSpaces | Balls


def alone(linear: Columns | Thresholds, up: Array, down: Array, required: Array, unit: float = 1.0) -> HalfSpaces:
    """Return half-spaces with one set per round."""
    n = len(up)
    return HalfSpaces(linear, up, down, required.astype(float), np.ones(n), np.arange(n), n, unit)
