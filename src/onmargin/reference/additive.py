"""Quasi-additive learners: updates are added to theta, and the weights are link(theta) ([PD] sec. 4; [NIPS])."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.rounds import Matrix, Run
from onmargin.reference.task import HalfSpace, Task

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    """A geometry: the potential G, its gradient, which maps theta to weights, and a bound on its curvature along z."""

    potential: Callable[[Vector], float]
    weights: Callable[[Vector], Vector]
    curvature: Callable[[Vector], float]


def entropic() -> Link:
    """Entropic geometry, weights on the simplex: ``G = ln(mean(exp(theta)))``."""

    def potential(theta: Vector) -> float:
        return float(theta.max() + np.log(np.exp(theta - theta.max()).mean()))

    def weights(theta: Vector) -> Vector:
        raised = np.exp(theta - theta.max())
        return np.asarray(raised / raised.sum())

    return Link(potential, weights, lambda z: float((z.max() - z.min()) ** 2 / 4))


def balanced() -> Link:
    """Entropic geometry over (x, -x), for signed weights ``w = w+ - w-``."""
    plain = entropic()

    def weights(theta: Vector) -> Vector:
        both = plain.weights(np.concatenate([theta, -theta]))
        return np.asarray(both[: len(theta)] - both[len(theta) :])

    return Link(
        lambda theta: plain.potential(np.concatenate([theta, -theta])), weights, lambda z: float(np.abs(z).max() ** 2)
    )


def pnorm(p: float) -> Link:
    """p-norm geometry: ``G = |theta|_p^2 / 2``, p >= 2; p = 2 is Euclidean."""

    def norm(theta: Vector) -> float:
        largest = np.abs(theta).max()
        return float(largest * (np.abs(theta / largest) ** p).sum() ** (1 / p)) if largest > 0 else 0.0

    def weights(theta: Vector) -> Vector:
        length = norm(theta)
        if length == 0:
            return np.zeros_like(theta)
        return np.asarray(np.sign(theta) * (np.abs(theta) / length) ** (p - 1) * length)

    return Link(lambda theta: norm(theta) ** 2 / 2, weights, lambda z: (p - 1) * norm(z) ** 2)


# link, theta, direction, half-space, C -> step size
AdditiveStep = Callable[[Link, Vector, Vector, HalfSpace, float], float]


def fixed(link: Link, theta: Vector, z: Vector, half_space: HalfSpace, C: float) -> float:
    """Return C for a mistake, otherwise 0: Perceptron, Winnow, p-norm Perceptron."""
    return C * half_space.mistaken


def aggressive(link: Link, theta: Vector, z: Vector, half_space: HalfSpace, C: float) -> float:
    """Return min(C, loss), for curvatures up to 1."""
    return min(C, half_space.loss)


def bounded(link: Link, theta: Vector, z: Vector, half_space: HalfSpace, C: float) -> float:
    """Return min(C, loss / curvature): multiplicative PA on the simplex, with corrected constants (E6)."""
    return min(C, half_space.loss / link.curvature(z))


def proportional(link: Link, theta: Vector, z: Vector, half_space: HalfSpace, C: float) -> float:
    """Return C times the loss: gradient descent and exponentiated gradient on squared losses."""
    return C * half_space.loss


def optimal(link: Link, theta: Vector, z: Vector, half_space: HalfSpace, C: float) -> float:
    """Return the step that maximizes the dual along the direction, by bisection."""
    start = z @ link.weights(theta)

    def left(a: float) -> float:
        return half_space.loss - float(z @ link.weights(theta + a * z) - start)

    low, high = 0.0, C
    if left(high) >= 0:
        return high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (middle, high) if left(middle) > 0 else (low, middle)
    return low


def play_additive(
    X: Matrix,
    y: Matrix,
    task: Task,
    step: AdditiveStep,
    link: Link,
    *,
    C: float = 1.0,
    columns: int = 1,
    threshold: float = 0.0,
    weight: Vector | None = None,
) -> Run:
    """Learn the rows of X in order; `weight` scales C per row, and `threshold` is subtracted from every score."""
    theta = np.zeros((X.shape[1], columns))
    run = Run(weights=theta, mean=theta)
    for x, target, scale in zip(X, y, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        w = link.weights(theta.ravel()).reshape(theta.shape)
        (asked,), mistake = task((w.T * x).sum(axis=1) - threshold, target)
        z = np.outer(x, asked.direction)
        loss, tau = max(float(asked.loss), 0.0), 0.0
        if loss > 0 and link.curvature(z.ravel()) > 0:
            tau = step(link, theta.ravel(), z.ravel(), asked._replace(mistaken=mistake), C * scale)
            before = link.potential(theta.ravel())
            theta += tau * z
            run.dual_value += tau * loss - (link.potential(theta.ravel()) - before - tau * float((w * z).sum()))
        run.rounds += 1
        run.mistakes += mistake
        run.updates += tau > 0
        run.loss += loss
        run.squared_loss += loss**2
        run.taus.append([tau])
    run.weights = link.weights(theta.ravel()).reshape(theta.shape)
    return run


def dual_ascent(
    X: Matrix,
    y: Vector,
    link: Link,
    *,
    C: float,
    margin: float,
    columns: int = 1,
    window: int | None = None,
    sweeps: int | None = None,
) -> Run:
    """Maximize the dual in each round over the last `window` examples, or all if None, in at most `sweeps` sweeps.

    If `sweeps` is None, sweeps are repeated until convergence. A sweep updates one example at a time, from the newest
    to the oldest. Each example distributes C among its rivals: one rival with a single column and y in {-1, +1},
    otherwise all columns but y.
    """
    theta, run = np.zeros(X.shape[1] * columns), Run(weights=X[:0], mean=X[:0])
    asked = [_directions_of(x, target, columns) for x, target in zip(X, y, strict=True)]
    share = [np.eye(len(Z))[0] * C for Z in asked]  # no rival has a share yet
    for t in range(len(X)):
        met = _margin_of((link.weights(theta).reshape(-1, columns).T * X[t]).sum(axis=1), y[t])
        run.rounds += 1
        run.mistakes += bool(met <= 0)
        run.loss += max(margin - met, 0.0)
        for _ in range(1000 if sweeps is None else sweeps):
            before = np.concatenate(share)
            for i in range(t, -1 if window is None else max(t - window, -1), -1):
                theta = _share_out(link, theta, asked[i], share[i], margin)
            if np.abs(np.concatenate(share) - before).max() <= 1e-14 * C:
                break
        run.dual_value = margin * sum(part[1:].sum() for part in share) - link.potential(theta)
    run.weights = link.weights(theta).reshape(-1, columns)
    return run


def dual_ascent_regression(
    X: Matrix, y: Vector, *, C: float, epsilon: float, window: int | None = None, sweeps: int | None = None
) -> Run:
    """``max sum y beta - epsilon |beta| - |sum beta x|^2 / 2``, ``|beta| <= C``, each round over the last `window`.

    Examples are updated one at a time, each to its maximum: ``min([|r| - epsilon]_+ / |x|^2, C)`` with the sign of r,
    the residual of y given all other examples.
    """
    w, beta = np.zeros(X.shape[1]), np.zeros(len(X))
    run = Run(weights=w, mean=w)
    for t in range(len(X)):
        loss = abs(y[t] - w @ X[t]) - epsilon
        run.rounds += 1
        run.mistakes += bool(loss > 0)
        run.loss += max(float(loss), 0.0)
        for _ in range(20_000 if sweeps is None else sweeps):
            before = beta.copy()
            for i in range(t, -1 if window is None else max(t - window, -1), -1):
                q = X[i] @ X[i]
                rest = y[i] - w @ X[i] + beta[i] * q
                new = np.sign(rest) * min(max(abs(rest) - epsilon, 0) / q, C) if q > 0 else 0.0
                w, beta[i] = w + (new - beta[i]) * X[i], new
            if np.abs(beta - before).max() <= 1e-15 * C:
                break
        run.dual_value = float(y @ beta - epsilon * np.abs(beta).sum() - w @ w / 2)
    run.weights = w
    return run


def dual_ascent_kernel(
    K: Matrix,
    y: Vector,
    *,
    C: float,
    margin: float,
    columns: int = 1,
    window: int | None = None,
    sweeps: int | None = None,
) -> Run:
    """Run `dual_ascent` with K[i, j] as the inner product of rows i and j; the weights are coefficients of the rows."""
    coef = np.zeros((len(K), columns))
    run = Run(weights=coef, mean=coef)
    asked = [_directions_of(np.ones(1), target, columns) for target in y]
    share = [np.eye(len(Z))[0] * C for Z in asked]
    for t in range(len(K)):
        met = _margin_of((K[t, :, None] * coef).sum(axis=0), y[t])
        run.rounds += 1
        run.mistakes += bool(met <= 0)
        run.loss += max(margin - met, 0.0)
        for _ in range(1000 if sweeps is None else sweeps):
            before = np.concatenate(share)
            for i in range(t, -1 if window is None else max(t - window, -1), -1):
                coef[i] += _moved(K[i] @ coef, K[i, i], asked[i], share[i], margin)
            if np.abs(np.concatenate(share) - before).max() <= 1e-14 * C:
                break
        run.dual_value = margin * sum(part[1:].sum() for part in share) - float((coef * (K @ coef)).sum()) / 2
    return run


def _margin_of(scores: Vector, y: float) -> float:
    """Return the margin of a prediction."""
    return float(y * scores[0] if len(scores) == 1 else scores[int(y)] - np.delete(scores, int(y)).max())


def _directions_of(x: Vector, y: float, columns: int) -> Matrix:
    """Return what each share of an example's C adds to theta: zero, then the direction of each rival."""
    if columns == 1:
        return np.array([0 * x, y * x])
    eye = np.eye(columns)
    rows = [0 * eye[0]] + [eye[int(y)] - eye[r] for r in range(columns) if r != y]
    return np.array([np.outer(x, row).ravel() for row in rows])


def _share_out(link: Link, theta: Vector, Z: Matrix, share: Vector, margin: float) -> Vector:
    """Maximize the dual over one example: the share with the largest gain takes from the one with the smallest gain,
    until the gains are equal. Updates the shares in place and returns theta."""
    for _ in range(500):
        gain = np.where(np.arange(len(Z)) > 0, margin, 0.0) - Z @ link.weights(theta)
        to, giver = int(gain.argmax()), int(np.where(share > 0, gain, np.inf).argmin())
        z, loss = Z[to] - Z[giver], float(gain[to] - gain[giver])
        if loss <= 1e-13 or link.curvature(z) == 0:
            break
        step = optimal(link, theta, z, HalfSpace(z, loss), float(share[giver]))
        share[to] += step
        share[giver] -= step
        theta = theta + step * z
    return theta


def _moved(scores: Vector, k: float, Z: Matrix, share: Vector, margin: float) -> Vector:
    """Do the same from the scores of an example in a kernel expansion. Updates the shares in place and returns the
    change of its coefficients; k is K(x, x)."""
    change = np.zeros_like(scores)
    for _ in range(500):
        gain = np.where(np.arange(len(Z)) > 0, margin, 0.0) - Z @ (scores + k * change)
        to, giver = int(gain.argmax()), int(np.where(share > 0, gain, np.inf).argmin())
        z, loss = Z[to] - Z[giver], float(gain[to] - gain[giver])
        if loss <= 1e-13 or not z.any() or k <= 0:
            break
        step = min(float(share[giver]), loss / (k * float(z @ z)))
        share[to] += step
        share[giver] -= step
        change += step * z
    return change
