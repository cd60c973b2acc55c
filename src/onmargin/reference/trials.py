"""Trials of several half-spaces over one weight vector ([SIMPROJ] sec. 2, 3 and 6).

A trial is a matrix of rows with one score each. In ordinal regression, the thresholds of a round are its trial. With
class features, each class is one row of the trial.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.additive import AdditiveStep, Link, optimal
from onmargin.reference.rounds import Matrix, Run
from onmargin.reference.simultaneous import onto_simplex
from onmargin.reference.step import Step, Vector
from onmargin.reference.task import HalfSpace

# losses, inner products of the directions, mistaken half-spaces, part of each, trial weight -> tau, gain
TrialStep = Callable[[Vector, Matrix, NDArray[np.bool_], NDArray[np.intp], float], tuple[Vector, float]]


def play_trials(
    trials: Sequence[Matrix],
    targets: Sequence[Any],
    task: Callable[[Vector, Any], tuple[list[HalfSpace], bool]],
    step: TrialStep,
    *,
    weight: Vector | None = None,
    start: Vector | None = None,
) -> Run:
    """Learn the trials in order; the loss of a trial is the mean over its parts of their largest loss.

    The first weights are `start`, or zero.
    """
    w = np.zeros(trials[0].shape[1]) if start is None else start.copy()
    run = Run(weights=w, mean=np.zeros_like(w))
    for X, target, scale in zip(trials, targets, np.ones(len(trials)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        halfspaces, mistake = task(X @ w, target)
        V = np.array([h.direction for h in halfspaces]) @ X
        loss = np.array([h.loss for h in halfspaces])
        mistaken = np.array([h.mistaken for h in halfspaces])
        parts = np.array([h.part for h in halfspaces])
        tau, live = np.zeros(len(loss)), (V**2).sum(axis=1) > 0
        if loss.max() > 0 and live.any():
            V_live = V[live]
            tau[live], gain = step(loss[live], V_live @ V_live.T, mistaken[live], parts[live], scale)
            w += tau @ V
            run.dual_value += gain - ((tau @ V) ** 2).sum() / 2
        worst = [max(loss[parts == part].max(), 0.0) for part in np.unique(parts)]
        run.rounds += 1
        run.mistakes += mistake
        run.updates += bool(tau.any())
        run.loss += np.mean(worst)
        run.squared_loss += np.mean(worst) ** 2
        run.cost += np.mean([mistaken[parts == part].any() for part in np.unique(parts)])
        run.max_squared_norm = max(run.max_squared_norm, (X**2).sum(axis=1).max())
        run.mean += (w - run.mean) / run.rounds
        run.taus.append(tau.tolist())
    return run


# losses (all positive), mistaken half-spaces -> weights of the half-spaces, with a sum of at most 1
Mixture = Callable[[Vector, NDArray[np.bool_]], Vector]
# The step of each half-space by itself and their mixture, or all steps: link, theta, directions, half-spaces, C -> tau
Scheme = tuple[AdditiveStep, Mixture] | Callable[[Link, Vector, Matrix, list[HalfSpace], float], Vector]


def separable(link: Link, theta: Vector, Z: Matrix, halfspaces: list[HalfSpace], C: float) -> Vector:
    """SimOpt on the simplex: maximize the sum of the duals along each half-space, for steps with a sum of at most C.

    With the multiplier of that constraint, each step is that for a smaller loss.
    """

    def steps(level: float) -> Vector:
        eased = [h._replace(loss=h.loss - level) for h in halfspaces]
        own = [optimal(link, theta, z, h, C) if h.loss > 0 else 0.0 for z, h in zip(Z, eased, strict=True)]
        return np.array(own)

    low, high = 0.0, max(h.loss for h in halfspaces)
    if steps(0.0).sum() <= C:
        return steps(0.0)
    for _ in range(100):
        level = (low + high) / 2
        low, high = (level, high) if steps(level).sum() > C else (low, level)
    return steps(high)


def largest(loss: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """MaxPA: use only the largest loss; ties go to the first."""
    return np.asarray(np.arange(len(loss)) == loss.argmax(), dtype=np.float64)


def even(loss: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """SimProj: equal weights for all half-spaces."""
    return np.full(len(loss), 1 / len(loss))


def even_mistakes(loss: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """ConProj, and with a fixed step SimPerc: equal weights for the mistaken half-spaces."""
    return np.asarray(mistaken / max(mistaken.sum(), 1))


def play_additive_trials(
    trials: Sequence[Matrix],
    targets: Sequence[Any],
    task: Callable[[Vector, Any], tuple[list[HalfSpace], bool]],
    scheme: Scheme,
    link: Link,
    *,
    C: float = 1.0,
    weight: Vector | None = None,
) -> Run:
    """Learn trials with weights link(theta): the step of each half-space is multiplied by its weight in the mixture."""

    theta = np.zeros(trials[0].shape[1])
    run = Run(weights=theta, mean=theta)
    for X, target, scale in zip(trials, targets, np.ones(len(trials)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        w = link.weights(theta)
        halfspaces, mistake = task(X @ w, target)
        Z = np.array([h.direction for h in halfspaces]) @ X
        loss = np.array([max(h.loss, 0.0) for h in halfspaces])
        mistaken = np.array([h.mistaken for h in halfspaces])
        parts = np.array([h.part for h in halfspaces])
        n_parts, tau = parts.max() + 1, np.zeros(len(loss))
        live = (loss > 0) & np.array([link.curvature(z) > 0 for z in Z])
        for part in range(n_parts):
            mine = np.flatnonzero(live & (parts == part))
            if not len(mine):
                continue
            its, most = [halfspaces[j] for j in mine], C * scale / n_parts
            if isinstance(scheme, tuple):
                step, mixture = scheme
                own = [step(link, theta, z, h, most) for z, h in zip(Z[mine], its, strict=True)]
                tau[mine] = mixture(loss[mine], mistaken[mine]) * own
            else:
                tau[mine] = scheme(link, theta, Z[mine], its, most)
        before = link.potential(theta)
        theta = theta + tau @ Z
        run.dual_value += tau @ loss - (link.potential(theta) - before - w @ (tau @ Z))
        run.rounds += 1
        run.mistakes += mistake
        run.updates += bool(tau.any())
        worst = np.mean([loss[parts == part].max() for part in range(n_parts)])
        run.loss += worst
        run.squared_loss += worst**2
        run.cost += np.mean([mistaken[parts == part].any() for part in range(n_parts)])
        run.taus.append(tau.tolist())
    run.weights = link.weights(theta)
    return run


def each_part(step: Step) -> TrialStep:
    """Apply the step to the violated half-spaces of each part separately, with an equal share of C per part."""

    def solve(
        loss: Vector, G: Matrix, mistaken: NDArray[np.bool_], parts: NDArray[np.intp], weight: float
    ) -> tuple[Vector, float]:
        tau, gain = np.zeros_like(loss), 0.0
        n_parts = parts.max() + 1
        for part in range(n_parts):
            mine = (parts == part) & (loss > 0)
            if mine.any():
                tau[mine], gained = step(loss[mine], np.diag(G)[mine], mistaken[mine], weight / n_parts)
                gain += gained
        return tau, gain

    return solve


def priced(step: TrialStep, prices: Vector, *, largest: bool = False) -> TrialStep:
    """Return the step with ``sum(prices * tau) <= C`` ([SIMPROJ] sec. 10), for prices above 0.

    The step is solved for ``prices * tau``. With `largest`, only the half-space of largest loss is used, where losses
    are not divided by prices.
    """

    def solve(
        loss: Vector, G: Matrix, mistaken: NDArray[np.bool_], parts: NDArray[np.intp], weight: float
    ) -> tuple[Vector, float]:
        takes_part = np.arange(len(loss)) == loss.argmax() if largest else np.ones(len(loss), bool)
        tau, gain = step(
            np.where(takes_part, loss / prices, 0.0), G / np.outer(prices, prices), mistaken, parts, weight
        )
        return np.asarray(tau / prices), gain

    return solve


def joint(C: float, *, accuracy: float = 1e-13, most: int = 100_000) -> TrialStep:
    """Return the exact dual solution, ``max tau loss - tau G tau / 2`` with each part's sum at most its share of C.

    It is found by projected gradient ascent with Nesterov momentum, restarted when momentum opposes the gradient.
    """

    def solve(
        loss: Vector, G: Matrix, mistaken: NDArray[np.bool_], parts: NDArray[np.intp], weight: float
    ) -> tuple[Vector, float]:
        n_parts = parts.max() + 1
        rate = 1 / np.linalg.norm(G, 2)
        tau = ahead = np.zeros_like(loss)
        momentum = 1.0
        for _ in range(most):
            new = ahead + rate * (loss - G @ ahead)
            for part in range(n_parts):
                mine, most_of_part = np.maximum(new[parts == part], 0), C * weight / n_parts
                new[parts == part] = onto_simplex(mine, most_of_part) if mine.sum() > most_of_part else mine
            if np.abs(new - ahead).max() <= accuracy * new.max(initial=1e-300):
                return new, float(new @ loss)
            momentum = 1.0 if (ahead - new) @ (new - tau) > 0 else momentum
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead, tau, momentum = new + (momentum - 1) / following * (new - tau), new, following
        return tau, float(tau @ loss)

    return solve


def block(margin: float = 1.0) -> Callable[[Vector, Vector], tuple[list[HalfSpace], bool]]:
    """Return the task of a block: a label of -1 or +1 per row, times the number of its set, from 1, if it has sets."""

    def task(scores: Vector, y: Vector) -> tuple[list[HalfSpace], bool]:
        margins = np.sign(y) * scores
        directions = np.diag(np.sign(y))
        halfspaces = [
            HalfSpace(directions[j], margin - margins[j], bool(margins[j] <= 0), int(abs(y[j])) - 1)
            for j in range(len(y))
        ]
        return halfspaces, bool((margins <= 0).any())

    return task


def ordinal_trial(x: Vector, rank: int, ranks: int) -> tuple[Matrix, Vector]:
    """Return the trial of a row, (x, -e_j) for each threshold j, and labels: +1 for j below the rank, both from 0."""
    thresholds = ranks - 1
    trial = np.column_stack([np.tile(x, (thresholds, 1)), -np.eye(thresholds)])
    return trial, np.where(np.arange(thresholds) < rank, 1.0, -1.0)
