"""Learners with a learning rate per weight: AdaGrad, normalized adaptive gradients, AROW, NHERD and SCW."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.rounds import Matrix, Run
from onmargin.reference.step import Step
from onmargin.reference.task import Task

Vector = NDArray[np.float64]
# loss (of any sign), q, example weight -> tau, beta, gain (before subtracting tau^2 q / 2)
MetricStep = Callable[[float, float, float], tuple[float, float, float]]


class Metric(Protocol):
    """Per-weight state, features x columns."""

    def receive(self, x: Vector, slopes: Vector) -> None:
        """Update the state with a row, before any move; slopes are those of the loss, one per column."""

    def rates(self, x: Vector) -> Matrix:
        """Return the diagonals A of the metric for a row, one per column: a move is tau A x."""

    def learn(self, x: Vector, moved: NDArray[np.bool_], beta: Vector) -> None:
        """Update the state after a round that moved some columns along x, each with its beta."""


def inverse(numbers: Matrix) -> Matrix:
    """Return 1 / numbers, with 0 for 0."""
    return np.divide(1.0, numbers, out=np.zeros_like(numbers), where=numbers > 0)


class Adaptive:
    """AdaGrad: A = 1 / sqrt(sum x^2) over the moves of a column, including the next one ([ADAGRAD])."""

    def __init__(self, n_features: int, columns: int) -> None:
        self.squares = np.zeros((n_features, columns))

    def receive(self, x: Vector, slopes: Vector) -> None:
        pass

    def rates(self, x: Vector) -> Matrix:
        return inverse(np.sqrt(self.squares + x[:, None] ** 2))

    def learn(self, x: Vector, moved: NDArray[np.bool_], beta: Vector) -> None:
        self.squares[:, moved] += x[:, None] ** 2


class GradientAdaptive(Adaptive):
    """AdaGrad for smooth losses: A = 1 / sqrt(sum (g x)^2), with g the slope of the loss ([ADAGRAD])."""

    def receive(self, x: Vector, slopes: Vector) -> None:
        self.slopes = slopes

    def rates(self, x: Vector) -> Matrix:
        return inverse(np.sqrt(self.squares + np.outer(x, self.slopes) ** 2))

    def learn(self, x: Vector, moved: NDArray[np.bool_], beta: Vector) -> None:
        self.squares[:, moved] += np.outer(x, self.slopes[moved]) ** 2


class Normalized(Adaptive):
    """Scale-free AdaGrad: ``A = sqrt(t / N) / (s sqrt(sum x^2))``, ``s = max |x|``, ``N = sum (x / s)^2`` ([NAG])."""

    def __init__(self, n_features: int, columns: int) -> None:
        super().__init__(n_features, columns)
        self.scales, self.t, self.N = np.zeros(n_features), 0, 0.0

    def receive(self, x: Vector, slopes: Vector) -> None:
        self.scales = np.maximum(self.scales, np.abs(x))
        self.t, self.N = self.t + 1, self.N + float(((x * inverse(self.scales)) ** 2).sum())

    def rates(self, x: Vector) -> Matrix:
        k = sqrt(self.t / self.N) if self.N > 0 else 0.0
        return k * super().rates(x) * inverse(self.scales)[:, None]


class Confidence:
    """A = V, variances that shrink with each move ([AROW]) and, with `forgetting`, grow by that factor, up to 1."""

    def __init__(self, n_features: int, columns: int, forgetting: float = 0.0) -> None:
        self.variances = np.ones((n_features, columns))
        self.forgetting = forgetting

    def receive(self, x: Vector, slopes: Vector) -> None:
        pass

    def rates(self, x: Vector) -> Matrix:
        return self.variances.copy()

    def learn(self, x: Vector, moved: NDArray[np.bool_], beta: Vector) -> None:
        V = self.variances[:, moved]
        grown = (1 + self.forgetting) * (V - beta[moved] * (V * x[:, None]) ** 2)
        self.variances[:, moved] = np.where(x[:, None] == 0, V, np.minimum(1, grown))


def projected(C: float = inf, *, squared: bool = False) -> MetricStep:
    """Return the step of PA-I, or of PA-II if `squared`, in a metric ([JMLR] sec. 3)."""

    def step(loss: float, q: float, weight: float) -> tuple[float, float, float]:
        damping = 1 / (2 * C * weight) if squared else 0.0
        tau = min(inf if squared else C * weight, max(loss, 0) / (q + damping))
        return tau, 0.0, tau * (loss - tau * damping / 2)

    return step


def in_metric(step: Step) -> MetricStep:
    """Use a step that depends on the loss alone, such as `descent` or `constant`, along one half-space in a metric."""

    def metric_step(loss: float, q: float, weight: float) -> tuple[float, float, float]:
        if loss <= 0:
            return 0.0, 0.0, 0.0
        (tau,), gain = step(np.array([loss]), np.array([q]), np.ones(1, bool), weight)
        return float(tau), 0.0, gain

    return metric_step


def arow(r: float) -> MetricStep:
    """Return the AROW step: ``beta = 1 / (q + r)``, ``tau = beta loss`` ([AROW])."""

    def step(loss: float, q: float, weight: float) -> tuple[float, float, float]:
        beta = 1 / (q + r / weight)
        tau = beta * max(loss, 0)
        return tau, beta, tau * (loss - tau * r / weight / 2)

    return step


def nherd(C: float) -> MetricStep:
    """Return the NHERD step: tau of `arow` with r = 1 / C, and ``beta = (C^2 q + 2 C) / (1 + C q)^2`` ([NHERD])."""

    def step(loss: float, q: float, weight: float) -> tuple[float, float, float]:
        price = C * weight
        tau, _, gain = arow(1 / C)(loss, q, weight)
        return tau, (price**2 * q + 2 * price) / (1 + price * q) ** 2, gain

    return step


def scw(C: float, phi: float, *, squared: bool = False) -> MetricStep:
    """Return the step of SCW-I, or of SCW-II if `squared`; the margin is ``phi sqrt(q)`` ([SCW] prop. 1 and 2)."""

    def step(loss: float, q: float, weight: float) -> tuple[float, float, float]:
        m, v, price = 1 - loss, q, C * weight
        short = phi * sqrt(v) - m
        psi, zeta, n = 1 + phi**2 / 2, 1 + phi**2, v + 1 / (2 * price)
        if squared:
            root = phi * sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
            alpha = max(0, (-(2 * m * n + phi**2 * m * v) + root) / (2 * (n**2 + n * v * phi**2)))
        else:
            alpha = min(price, max(0, (-m * psi + sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)))
        if short <= 0:
            return 0.0, 0.0, 0.0
        u = (-alpha * v * phi + sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
        return alpha, alpha * phi / (sqrt(u) + v * alpha * phi), alpha * short

    return step


@dataclass
class MetricRun(Run):
    """A run, and the final per-weight state."""

    metric: Any = field(default=None)


def play_metric(
    X: Matrix,
    y: Vector,
    task: Task,
    step: MetricStep,
    metric: Metric,
    *,
    columns: int = 1,
    weight: Vector | None = None,
    charge: Callable[[Vector, Any], float] | None = None,
) -> MetricRun:
    """Learn the rows of X in order; `weight` scales C per row, and a weight of 0 skips the row.

    The loss of a round is `charge` of the scores and the target if given, otherwise the sum over its half-spaces.
    """
    W = np.zeros((X.shape[1], columns))
    run = MetricRun(weights=W, mean=np.zeros_like(W), metric=metric)
    for x, target, scale in zip(X, y, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        scores = W.T @ x
        halfspaces, mistake = task(scores, target)
        slopes = sum((h.loss * scale * np.abs(h.direction) for h in halfspaces), np.zeros(columns))
        metric.receive(x, slopes)
        A, taus = metric.rates(x), []
        lengths, moved, betas = x**2 @ A, np.zeros(columns, bool), np.zeros(columns)
        for h in halfspaces:
            q = float(lengths @ h.direction**2)
            tau, beta, gain = step(h.loss, q, float(scale)) if q > 0 else (0.0, 0.0, 0.0)
            taus.append(tau)
            if tau > 0:
                W += tau * A * np.outer(x, h.direction)
                run.dual_value += gain - tau**2 * q / 2
                moved |= h.direction != 0
                betas[h.direction != 0] = beta
        if moved.any():
            metric.learn(x, moved, betas)
        losses = [max(h.loss, 0.0) for h in halfspaces] if charge is None else [charge(scores, target)]
        run.rounds += 1
        run.mistakes += mistake
        run.loss += sum(losses)
        run.squared_loss += sum(loss**2 for loss in losses)
        run.updates += any(taus)
        run.max_squared_norm = max(run.max_squared_norm, x @ x)
        run.mean += (W - run.mean) / run.rounds
        run.taus.append(taus)
        run.scores.append(scores)
    return run
