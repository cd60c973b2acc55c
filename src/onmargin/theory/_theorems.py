"""The theorems: the bound that each one gives, what it counts, and its conditions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from onmargin.learner import Totals
from onmargin.theory import gradients, primal_dual, ridge, second_order
from onmargin.theory import passive_aggressive as pa
from onmargin.theory._competitor import AnyProblem
from onmargin.theory._sizes import Size
from onmargin.theory.certificate import Condition

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """The quantities of a run that enter the theorems: the constraints of the stream, and the curvature.

    `C` is the aggressiveness of the step, or its rate. `curvature` is R², the largest squared norm of a direction or
    its counterpart in other geometries. `has_unit_directions` says whether all directions have norm 1, `has_sets`
    whether trials are divided into sets. For least squares, `alpha` is the penalty of the squared norm, `eigenvalues`
    are those of the sum of x x', and `largest` is M of the bound. For weights with variances, `drift` returns the sum
    of (u - w)² over all rounds, each times the increase of the precision.
    """

    problem: AnyProblem
    size: Size
    C: float
    curvature: float
    margin: float = 1.0
    largest_cost: float = 0.0
    has_unit_directions: bool = False
    has_sets: bool = False
    alpha: float = 0.0
    eigenvalues: tuple[float, ...] = ()
    largest: float = 0.0
    drift: Callable[[Vector], float] = lambda u: 0.0
    tolerance: float = 1e-9


@dataclass(frozen=True)
class Measured:
    """The quantities of a competitor that enter a theorem, and the number of rounds."""

    size: float
    loss: float
    squared_loss: float
    rounds: int
    drift: float = 0.0


Bound = Callable[[Case, Measured], float]
Conditions = Callable[[Case, Measured], list[Condition]]


def _no_condition(case: Case, u: Measured) -> list[Condition]:
    return []


@dataclass(frozen=True)
class Theorem:
    """A theorem: `bound` is an upper bound on the total named `counts`.

    The best competitor minimizes F + C times its losses, which are squared if `squared`. If the bound does not depend
    on C, the best competitor is the best over each C of the `grid`, in units of margin / R².
    """

    name: str
    statement: str
    counts: str
    bound: Bound
    conditions: Conditions = _no_condition
    squared: bool = False
    grid: tuple[float, ...] = ()
    has_dual: bool = True

    def bound_run(self, case: Case, u: Measured) -> float:
        """Return the bound, or inf if the conditions are not met."""
        return self.bound(case, u) if all(condition.met for condition in self.conditions(case, u)) else inf

    def count(self, totals: Totals) -> float:
        return float(totals[self.counts])


def _no_loss(case: Case, u: Measured) -> list[Condition]:
    met = u.loss <= case.tolerance * (1 + u.rounds)
    return [Condition("a competitor without any loss", f"its loss is {u.loss:.4g}", met)]


def _small_c(case: Case, u: Measured) -> list[Condition]:
    most = 2 * case.margin / case.curvature if case.curvature > 0 else inf
    return [Condition("C < 2 margin / R²", f"C = {case.C:.4g}, 2 margin / R² = {most:.4g}", most > case.C)]


def _flat(case: Case, u: Measured) -> list[Condition]:
    met = case.curvature <= 1 + case.tolerance
    return [Condition("directions of curvature 1 at most", f"R² = {case.curvature:.4g}", met)]


def _slow(case: Case, u: Measured) -> list[Condition]:
    """Return the condition on the rate, which is C. On the simplex R² is a quarter of the squared spread."""
    most = 1 / (2 * case.curvature) if case.curvature > 0 else inf
    met = most * (1 + 1e-9) >= case.C
    return [Condition("rate <= 1 / (2 R²)", f"rate = {case.C:.4g}, 1 / (2 R²) = {most:.4g}", met)]


def _bound_climbing(case: Case, u: Measured) -> float:
    return primal_dual.climbing_mistakes(case.C, case.curvature, u.size, u.loss, case.margin)


def _gradient(case: Case, u: Measured) -> float:
    return gradients.gradient_descent_loss(case.C, case.curvature, 2 * u.size, u.squared_loss)


PA = Theorem(
    "[JMLR] Thm. 2",
    "sum of squared losses <= R² · 2F(u), for u without loss",
    "squared_loss",
    lambda case, u: pa.pa_squared_loss(case.curvature, 2 * u.size),
    _no_loss,
)
SIMPLEX_PA = Theorem(
    "[NIPS] Thm. 4, corrected",
    "sum of squared losses <= r²/2 · F(u), r the largest spread of a direction, for u on the simplex without loss",
    "squared_loss",
    lambda case, u: pa.simplex_pa_squared_loss(2 * sqrt(case.curvature), u.size),
    _no_loss,
)
PA_UNIT = Theorem(
    "[JMLR] Thm. 3",
    "sum of squared losses <= (|u - w1| + 2 sqrt(sum of squared losses of u))², for directions of length 1",
    "squared_loss",
    lambda case, u: pa.pa_unit_squared_loss(2 * u.size, u.squared_loss),
    squared=True,
    grid=(0.01, 0.1, 1.0, 10.0, 100.0),
)
PA_MISTAKES = Theorem(
    "[SIMPROJ] Cor. 4 for C = inf",
    "mistakes <= R² · 2F(u) / margin², for u without loss",
    "mistakes",
    lambda case, u: pa.pa_squared_loss(case.curvature, 2 * u.size) / case.margin**2,
    _no_loss,
)
CAPPED = Theorem(
    "[PD] Thm. 1",
    "mistakes <= (F(u) + C · loss of u) / (margin · c - c²R²/2), c = min(C, margin / R²)",
    "mistakes",
    _bound_climbing,
)
CAPPED_LOSS = Theorem(
    "[PD] Thm. 3",
    "loss <= T g⁻¹((F(u) + C · loss of u) / T), g(l) = max of τl - τ²R²/2 over 0 <= τ <= C",
    "loss",
    lambda case, u: pa.pa1_loss(case.C, case.curvature, u.rounds, 2 * u.size, u.loss),
)
DAMPED = Theorem(
    "[JMLR] Thm. 5",
    "sum of squared losses <= (R² + 1/(2C)) (2F(u) + 2C · sum of squared losses of u)",
    "squared_loss",
    lambda case, u: pa.pa2_squared_loss(case.C, case.curvature, 2 * u.size, u.squared_loss),
    squared=True,
)
PA_COST = Theorem(
    "[JMLR] sec. 8",
    "cost <= R² · |u|², for u without loss",
    "cost",
    lambda case, u: pa.pa_cost(case.curvature, 2 * u.size),
    _no_loss,
)
CAPPED_COST = Theorem(
    "[JMLR] Thm. 10, for any R and C",
    "cost <= c / g(sqrt c) · (|u|²/2 + C · loss of u), c the largest cost, g(l) = max of τl - τ²R²/2 over 0 <= τ <= C",
    "cost",
    lambda case, u: pa.pa1_cost(case.C, case.curvature, 2 * u.size, u.loss, case.largest_cost),
)
DAMPED_COST = Theorem(
    "[JMLR] sec. 8",
    "cost <= (R² + 1/(2C)) (|u|² + 2C · sum of squared losses of u)",
    "cost",
    lambda case, u: pa.pa2_cost(case.C, case.curvature, 2 * u.size, u.squared_loss),
    squared=True,
)
PERCEPTRON = Theorem(
    "[PD] Thm. 2",
    "mistakes <= L + N/2 + sqrt(N² + 4LN)/2, L the loss of u and N = R² · 2F(u)",
    "mistakes",
    lambda case, u: primal_dual.perceptron_mistakes(case.curvature, 2 * u.size / case.margin**2, u.loss / case.margin),
    grid=(0.03, 0.1, 0.3, 0.6, 1.0),
)
FIXED = Theorem(
    "[PD] Cor. 1",
    "mistakes <= (F(u) + C · loss of u) / (margin · C - C²R²/2)",
    "mistakes",
    lambda case, u: primal_dual.fixed_mistakes(case.C, case.curvature, u.size, u.loss, case.margin),
    _small_c,
)
SETS = Theorem(
    "[SIMPROJ] Cor. 5",
    "fractions of imperfect sets <= (|u|²/2 + C · loss of u) / (margin · C - C²R²/2)",
    "cost",
    FIXED.bound,
    _small_c,
)
AGGRESSIVE = Theorem(
    "[PD] eq. 31",
    "mistakes <= (F(u) + C · loss of u) / (margin · c - c²/2), c = min(C, margin)",
    "mistakes",
    lambda case, u: primal_dual.climbing_mistakes(case.C, 1.0, u.size, u.loss, case.margin),
    _flat,
)
DESCENT = Theorem(
    "[SLIDES], corrected",
    "sum of squared losses <= 2 · that of u + |u|² / rate",
    "squared_loss",
    _gradient,
    _slow,
    squared=True,
    has_dual=False,
)
EXPONENTIATED = Theorem(
    "[SLIDES], corrected",
    "sum of squared losses <= 2 · that of u + 2 (ln n - H(u)) / rate",
    "squared_loss",
    lambda case, u: gradients.exponentiated_gradient_loss(case.C, 2 * sqrt(case.curvature), u.size, u.squared_loss),
    _slow,
    squared=True,
    has_dual=False,
)
RIDGE = Theorem(
    "[PLG] Thm. 11.7",
    "sum of squared losses <= alpha |u|² + that of u + M² · sum of ln(1 + λ / alpha), M the largest error",
    "squared_loss",
    lambda case, u: ridge.ridge_squared_loss(case.alpha, case.eigenvalues, case.largest, 2 * u.size, u.squared_loss),
    squared=True,
    has_dual=False,
)
FORECAST = replace(
    RIDGE,
    name="[AW]",
    statement="sum of squared losses <= alpha |u|² + that of u + Y² · sum of ln(1 + λ / alpha), Y the largest target",
)

VARIANCES = Theorem(
    "[AROW], for a variance per weight",
    "sum of squared losses <= (R² + r) (sqrt G + sqrt(G + B))², G = squared losses of u / r, B = |u|² + sum over "
    "rounds of (u - w)², each times what its precision gained; a mistake has a loss of at least 1",
    "squared_loss",
    lambda case, u: second_order.arow_squared_loss(
        1 / (2 * case.C), case.curvature, 2 * u.size, u.squared_loss, u.drift
    ),
    squared=True,
    grid=(0.01, 0.1, 1.0),
    has_dual=False,
)
VARIANCES_MISTAKES = replace(VARIANCES, counts="mistakes")
