"""Passive-aggressive novelty detection: a ball that moves to contain each example ([JMLR] sec. 6; [NIPS])."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from sys import float_info
from typing import Any

import numpy as np

from onmargin._core.geometries.center import Center
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.geometries.kernel_ball import Ball, BudgetedBall, OldestBall, ProjectedBall, SmallestBall
from onmargin._core.geometries.linked_center import PNormCenter, SimplexCenter
from onmargin._core.steps.step import Optimal
from onmargin._core.tasks.task import Uniclass
from onmargin.learner import Learner
from onmargin.models.ensemble import Kind
from onmargin.models.links import default_p, norm, why_sized
from onmargin.models.options import option, optional
from onmargin.models.plan import Plan, RowRules, Shape
from onmargin.models.rules import FLAG, Number, Word
from onmargin.models.updates import projection
from onmargin.models.weights import (
    budget,
    by_size,
    coef0,
    degree,
    gamma,
    kernel,
    kernel_learner,
    kernel_options,
)

# Policies that remove a support when a new one exceeds the budget. The Forgetron shrinks towards the origin of
# the feature space, which is not a good place for the center of a ball.
POLICIES: dict[str, type[BudgetedBall]] = {"projection": ProjectedBall, "smallest": SmallestBall, "oldest": OldestBall}

# Standard deviations of the losses by which the threshold exceeds their mean, if the ball is too small.
_SPREADS = 2.0


@dataclass(kw_only=True, eq=False, repr=False)
class UniclassOptions:
    """Options of the uniclass learner (novelty detection), shared by all interfaces.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the largest distance that the center moves for one example (PA-I) or the price of
        squared slack (PA-II). Smaller values are more cautious and better under noise; ``inf`` gives plain PA, which
        always reaches the example.
    epsilon : float, default=0.1
        The radius if ``radius="fixed"``; at least 0. Examples farther away than this move the center. If most examples
        are, the threshold between inliers and outliers is derived from their distances instead.
    radius : {"fixed", "learn"}, default="fixed"
        Whether the radius is fixed at `epsilon` or learned. If "learn", the radius starts at 0 and grows with the
        examples, up to `max_radius`.
    max_radius : float or None, default=None
        Upper bound B on a learned radius, above 0; choose it of the order of the data's diameter. With larger values
        the radius changes more and the center less. Required if ``radius="learn"``.
    init : {"first", "zero"}, default="first"
        Where the center starts: at the first example ([NIPS]), which then does not count as a round, or at the origin
        ([JMLR]).
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        "epsilon_insensitive" gives PA-I, "squared_epsilon_insensitive" gives PA-II.
    geometry : {"euclidean", "entropic", "pnorm"}, default="euclidean"
        If "entropic", the center is on the simplex (coordinates at least 0, summing to 1) and updates are
        multiplicative; useful for proportions and histograms. The center then starts uniform, whatever `init` is.
        "pnorm" lies between the two: the center minus its start is a p-norm link of the sum of the update directions.
        Both require ``radius="fixed"``.
    p : float or None, default=None
        The norm p of ``geometry="pnorm"``, from 2 to 500: 2 gives a plain center, larger values are closer to the
        entropic geometry. If None, p is 2 ln(n_features) in the first call.
    line_search : bool, default=False
        With "entropic" and "pnorm", whether to find the exact Bregman projection onto the half-space that holds the
        ball, at most C, by a line search. If False, the step size comes from a bound on the curvature, which gives
        shorter steps. Requires ``loss="epsilon_insensitive"``.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, callable or None, default=None
        Kernel of the feature space in which to learn. The center is then an expansion over the examples that moved it
        (the supports), and the cost of a round grows with their number. A callable returns the kernel values of the
        rows of two matrices.
    budget_policy : {"projection", "smallest", "oldest"}, default="projection"
        Which support to remove when a new one would exceed the budget: the one whose projection onto the new support
        loses least, the one of smallest contribution, or the oldest. With "smallest" and "oldest" its share goes to all
        other supports.
    """

    C: float = option(1.0, Number(0, above=True))
    epsilon: float = option(0.1, Number(0, below=True))
    radius: str = option("fixed", Word("fixed", "learn"))
    max_radius: float | None = optional(None, Number(0, above=True, below=True))
    init: str = option("first", Word("first", "zero"))
    loss: str = option("epsilon_insensitive", Word("epsilon_insensitive", "squared_epsilon_insensitive"))
    geometry: str = option("euclidean", Word("euclidean", "entropic", "pnorm"))
    p: float | None = norm()
    line_search: bool = option(False, FLAG)
    # The distance of a new example needs K(x, x) too, which is not among its kernel values with those learned.
    kernel: str | Callable[[Any, Any], Any] | None = kernel("linear", "poly", "rbf", "sigmoid")
    gamma: float | str = gamma()
    degree: int = degree()
    coef0: float = coef0()
    budget: int | None = budget()
    budget_policy: str = option("projection", Word(*POLICIES))

    def plan(self) -> Plan:
        """Return the learning plan. Rows are float64, because a distance is a small difference of large numbers."""
        height = 0.0 if self.max_radius is None else float(self.max_radius)
        limit = float(self.epsilon) if self.max_radius is None else height
        of_link = {"p": self.p} if self.geometry == "pnorm" else {}

        def center(shape: Shape, kind: Kind | None, n_columns: int) -> Geometry:
            if self.kernel is not None:
                return _in_feature_space(self, shape, height)
            if self.geometry == "entropic":
                return SimplexCenter(shape.n_features)
            if self.geometry == "pnorm":
                return PNormCenter(shape.n_features, default_p(shape.n_features) if self.p is None else float(self.p))
            return Center(shape.n_features, height=height)

        return Plan(
            task=lambda labels: Uniclass(limit),
            step=Optimal(self.C) if self.line_search else projection(self.C, self.loss),
            weights=center,
            learner=None if self.kernel is None else kernel_learner(self),
            fixed=kernel_options(self) | {"geometry": self.geometry} | of_link,
            rows=RowRules((np.dtype(np.float64),), why_sized(self.geometry, self.p) or by_size(self)),
        )


# A distance whose square is finite; no row is farther away.
FARTHEST = 1e154


def starts_at_first(options: Any) -> bool:
    """Whether the center starts at the first example."""
    return bool(options.geometry != "entropic" and options.init == "first")


def radius_of(learner: Learner[Any]) -> float:
    """Return the radius of the ball: what its limit leaves next to the height of the center."""
    limit, height = learner.task.radius, learner.geometry.height
    return sqrt((limit - height) * (limit + height))


def threshold_of(learner: Learner[Any]) -> float:
    """Return the largest distance from the center that an inlier may have.

    It is the radius if the ball held at least half of the examples before it learned each of them. Otherwise the radius
    does not suit the data, and the limit B of the ball grows by the mean m of their losses and twice the standard
    deviation s: by Cantelli's inequality at most a fifth of the examples were farther away before they were learned.
    In the plane of the examples, at height b below the center, this is sqrt((B + m + 2 s)^2 - b^2).
    """
    totals = learner.totals
    if 2 * totals.mistakes <= totals.rounds:
        return radius_of(learner)
    mean, squared = totals.loss / totals.rounds, totals.squared_loss / totals.rounds
    rounding = 2 * totals.rounds * float_info.epsilon * squared  # of the two sums, which may hide a small variance
    spread = sqrt(max(squared - mean * mean, 0.0) + rounding)
    limit, height = learner.task.radius + mean + _SPREADS * spread, learner.geometry.height
    return sqrt(limit - height) * sqrt(limit + height)


def _in_feature_space(options: Any, shape: Shape, height: float) -> Geometry:
    sizes = shape.n_features, 2, shape.dtype
    if options.budget is None:
        return Ball(*sizes, height=height)
    return POLICIES[options.budget_policy](*sizes, height=height, budget=int(options.budget))
