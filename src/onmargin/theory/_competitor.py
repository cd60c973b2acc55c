"""Solver for the best competitor in hindsight, with a duality gap that bounds its error."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from threadpoolctl import threadpool_limits

from onmargin.theory._halfspaces import Balls, HalfSpaces, Problem
from onmargin.theory._sequences import Sequences, stack_planes
from onmargin.theory._sizes import Size
from onmargin.theory._structures import Structures

Vector = NDArray[np.float64]


class AnyProblem(Protocol):
    """The losses of any weights on a stream."""

    @property
    def n_weights(self) -> int: ...

    @property
    def n_rounds(self) -> int: ...

    def losses(self, u: Vector) -> Vector: ...


class Searched(AnyProblem, Protocol):
    """A problem in which a search finds the rivals."""

    def rivals(self, u: Vector) -> tuple[Any, Vector]: ...

    def planes(self, rivals: Any) -> tuple[Any, Vector]: ...


@dataclass(frozen=True)
class Solution:
    """Weights, their objective F(u) + C sum of losses, and a dual value: no weights have a smaller objective."""

    weights: Vector
    objective: float
    dual_value: float

    @property
    def gap(self) -> float:
        """The duality gap, relative to the objective."""
        if self.objective == inf:
            return nan
        return max(self.objective - self.dual_value, 0.0) / self.objective if self.objective > 0 else 0.0


def best_weights(
    problem: AnyProblem, size: Size, C: float, *, squared: bool, accuracy: float, most_steps: int = 5000
) -> Solution:
    r"""Return weights that minimize :math:`P(u) = F(u) + C \sum_t \ell_t(u)`; with `squared`, losses are squared.

    With C = inf, return the weights of smallest size without loss. If there are none, or none are found, the objective
    is infinite.
    """
    # For thousands of small products, one BLAS thread is faster than several that wait for each other.
    with threadpool_limits(1, "blas"):
        if isinstance(problem, Sequences | Structures):
            return _by_planes(problem, size, C, squared=squared, accuracy=accuracy, most_steps=most_steps)
        if not isinstance(problem, HalfSpaces | Balls):
            raise TypeError(f"no solver for {type(problem).__name__}")
        if inf == C:
            return _without_loss(problem, size, accuracy, most_steps)
        return _with_losses(problem, size, C, squared=squared, accuracy=accuracy, most_steps=most_steps)


def _with_losses(
    problem: Problem, size: Size, C: float, *, squared: bool, accuracy: float, most_steps: int
) -> Solution:
    best = Solution(*_primal(problem, size, np.zeros(problem.n_weights), C, squared), 0.0)
    for A, theta in _ascent(problem, size, C, squared, most_steps):
        dual = max(_dual_value(problem, size, A, theta, C if squared else inf), best.dual_value)
        weights, objective = _primal(problem, size, theta, C, squared)
        best = Solution(weights, objective, dual) if objective < best.objective else replace(best, dual_value=dual)
        if best.gap <= accuracy:
            break
    return best


def _ascent(problem: Problem, size: Size, C: float, squared: bool, most_steps: int) -> Iterator[tuple[Vector, Vector]]:
    """Maximize D(A) = gain(A) - penalty(A) - G(lift(A)); yield every tenth A and its theta = lift(A).

    This is accelerated proximal ascent. Steps are halved until the dual is above its quadratic bound, and momentum is
    restarted when it opposes the ascent (Beck and Teboulle 2009, O'Donoghue and Candes 2015). Every A is feasible, so
    its dual value is a valid bound at any time.
    """
    cap = inf if squared else C

    def smooth(A: Vector, theta: Vector) -> float:
        value = problem.gain(A) - size.potential(theta)
        return value - problem.slack(A, C)[0] if squared else value

    A = problem.start()
    theta = problem.lift(A)
    ahead, theta_ahead, momentum, step = A, theta, 1.0, 1.0
    for k in range(most_steps):
        here, slope = smooth(ahead, theta_ahead), problem.measure_violations(size.weights(theta_ahead))
        if squared:
            slope = slope - problem.slack(ahead, C)[1]
        while True:
            new = problem.feasible(ahead + step * slope, step, cap)
            theta_new, change = problem.lift(new), new - ahead
            squares = float((change**2).sum())
            promised = here + float((slope * change).sum()) - squares / (2 * step)
            rounding = 1e-12 * (abs(here) + abs(promised))
            if smooth(new, theta_new) >= promised - rounding or step < 1e-30:
                break
            step /= 2
        still = squares <= 1e-28 * float((new**2).sum())
        if float((change * (new - A)).sum()) < 0:
            momentum = 1.0
        following = (1 + sqrt(1 + 4 * momentum**2)) / 2
        push = (momentum - 1) / following
        ahead, theta_ahead = new + push * (new - A), theta_new + push * (theta_new - theta)
        A, theta, momentum, step = new, theta_new, following, 1.1 * step
        if k % 10 == 9 or still:
            yield A, theta
        if still:
            return


def _dual_value(problem: Problem, size: Size, A: Vector, theta: Vector, C: float) -> float:
    """Return D(A); if C is finite, for squared losses."""
    value = problem.gain(A) - problem.penalty(A) - size.potential(theta)
    return value - problem.slack(A, C)[0] if inf > C else value


def _primal(problem: Problem, size: Size, theta: Vector, C: float, squared: bool) -> tuple[Vector, float]:
    """Return the weights of theta and their objective; if F is homogeneous, the best multiple of these weights.

    During the ascent, the direction of the weights converges long before their length.
    """
    u = size.weights(theta)
    F = max(float(u @ theta) - size.potential(theta), 0.0)  # Fenchel's equality
    losses = problem.losses_along(u)

    def objective(s: float) -> float:
        suffered = losses(s)
        return s**2 * F + C * float((suffered**2 if squared else suffered).sum())

    if not size.scales or F == 0:
        return u, objective(1.0)
    found = minimize_scalar(objective, bounds=(0.5, 4.0), method="bounded", options={"xatol": 1e-4})
    return (u, objective(1.0)) if objective(1.0) <= found.fun else (found.x * u, float(found.fun))


def _without_loss(problem: Problem, size: Size, accuracy: float, most_steps: int) -> Solution:
    """Solve for C = inf. The ascent uses slightly tightened constraints, so that the original ones are met exactly."""
    best = Solution(size.weights(np.zeros(problem.n_weights)), inf, 0.0)
    for seen, (A, theta) in enumerate(_ascent(problem.tighten(accuracy / 4), size, inf, False, most_steps)):
        u = size.weights(theta)
        if not problem.losses(u).any():
            objective = max(float(u @ theta) - size.potential(theta), 0.0)
            best = Solution(u, objective, best.dual_value) if objective < best.objective else best
        best = replace(best, dual_value=max(best.dual_value, _dual_value(problem, size, A, theta, inf)))
        if best.gap <= accuracy or (seen > 100 and best.objective == inf):
            break
    return best


def _by_planes(problem: Searched, size: Size, C: float, *, squared: bool, accuracy: float, most_steps: int) -> Solution:
    """Solve by cutting planes, for labelings and structures, which are too many to enumerate.

    Each iteration solves for the rivals found so far, then finds the rivals of the solution. A problem with fewer
    rivals has a smaller objective, so its dual value is a lower bound for the full problem.
    """
    u = np.zeros(problem.n_weights)
    planes = []
    best = Solution(u, inf, 0.0)
    for _ in range(50):
        rivals, losses = problem.rivals(u)
        total = float((losses**2 if squared else losses).sum())
        objective = size.size(u) + (C * total if total > 0 else 0.0)
        if objective < best.objective:
            best = replace(best, weights=u, objective=objective)
        if best.gap <= accuracy:
            break
        planes.append(problem.planes(rivals))
        solved = best_weights(
            stack_planes(planes), size, C, squared=squared, accuracy=accuracy / 4, most_steps=most_steps
        )
        u = solved.weights
        best = replace(best, dual_value=max(best.dual_value, solved.dual_value))
    return best
