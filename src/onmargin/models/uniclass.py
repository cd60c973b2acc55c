"""Passive-aggressive uniclass prediction: a ball that moves to hold each example ([JMLR] sec. 6; [NIPS])."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from onmargin._core.geometries.ball import (
    Ball,
    BudgetedBall,
    Center,
    OldestBall,
    PNormCenter,
    ProjectedBall,
    SimplexCenter,
    SmallestBall,
)
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.steps.step import Optimal
from onmargin._core.tasks.task import Uniclass
from onmargin.learner import Learner
from onmargin.models.links import default_p, norm, sized_by
from onmargin.models.options import option, optional
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import FLAG, Number, Word
from onmargin.models.several import Kind
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

# What goes when a new support would exceed the budget. The Forgetron shrinks what is learned towards the origin of the
# feature space, which is no better place for the center of a ball.
POLICIES: dict[str, type[BudgetedBall]] = {"projection": ProjectedBall, "smallest": SmallestBall, "oldest": OldestBall}

# Standard deviations of the losses by which the threshold exceeds their mean, if the ball is too small.
_SPREADS = 2.0


@dataclass(kw_only=True, eq=False, repr=False)
class UniclassOptions:
    """The options of the uniclass learner, in every face.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the farthest the center moves for one example (PA-I) or the price of squared slack
        (PA-II). Smaller is more cautious and better under noise; ``inf`` gives plain PA, which always reaches the
        example.
    epsilon : float, default=0.1
        The radius with ``radius="fixed"``; at least 0. Examples beyond it move the center. If most of them are beyond
        it, the threshold between inliers and outliers is set by their distances instead.
    radius : {"fixed", "learn"}, default="fixed"
        "learn": the radius starts at 0 and grows with what is seen, and never beyond `max_radius`.
    max_radius : float or None, default=None
        The bound B on a learned radius, above 0: take it of the order of the data's diameter. A larger one lets the
        radius do more of the work and the center less. Needed with ``radius="learn"``.
    init : {"first", "zero"}, default="first"
        Where the center starts: at the first example ([NIPS]), which is then no round, or at the origin ([JMLR]).
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    geometry : {"euclidean", "entropic", "pnorm"}, default="euclidean"
        "entropic": the center is on the simplex, its numbers at least 0 and of sum 1, and they are multiplied instead
        of added to: for proportions and histograms. It starts uniform, whatever `init` says, and needs
        ``radius="fixed"``. "pnorm": what was added to the start is a link of the sum of the directions, which is
        between the two; it needs ``radius="fixed"`` as well.
    p : float or None, default=None
        Of "pnorm", from 2 to 500: 2 is a plain center, larger ones are nearer to the entropic. If None, 2
        ln(n_features) of the first call.
    line_search : bool, default=False
        With "entropic" and "pnorm", whether a step goes exactly as far as the Bregman projection onto the half-space
        that holds the ball, at most C, which a search finds. If False, it goes as far as a bound on the curvature
        allows, which is shorter. The search is for the first `loss`.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, callable or None, default=None
        Learn in the feature space of a kernel: the center is an expansion over the examples that moved it, and a round
        costs as much as there are of those. A callable gives the kernel values of the rows of two matrices.
    budget_policy : {"projection", "smallest", "oldest"}, default="projection"
        What goes when a new support would be one too many: the support of which least is lost when the new one takes
        over its projection, the one of the smallest contribution, or the oldest; these two leave their share to all
        others.
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
        """Return how these options learn. A distance is a small difference of large numbers: rows are float64."""
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
            dtypes=(np.dtype(np.float64),),
            learner=None if self.kernel is None else kernel_learner(self),
            fixed=kernel_options(self) | {"geometry": self.geometry} | of_link,
            sized=sized_by(self.geometry, self.p) or by_size(self),
        )


def starts_at_first(options: Any) -> bool:
    """Whether the center starts at the first example."""
    return bool(options.geometry != "entropic" and options.init == "first")


def radius_of(learner: Learner[Any]) -> float:
    """Return the radius of the ball: what its limit leaves next to the height of the center."""
    limit, height = learner.task.radius, learner.geometry.height  # type: ignore[attr-defined]
    return sqrt((limit - height) * (limit + height))


def threshold_of(learner: Learner[Any]) -> float:
    """Return the largest distance from the center that an inlier may have.

    It is the radius if the ball held at least half of the examples before it learned each of them. Otherwise the radius
    does not suit the data, and the limit B of the ball grows by the mean m of their losses and twice the standard
    deviation s: by Cantelli's inequality at most a fifth of the examples were farther away than that when they came.
    In the plane of the examples, at height b below the center, this is sqrt((B + m + 2 s)^2 - b^2).
    """
    totals = learner.totals
    if 2 * totals.mistakes <= totals.rounds:
        return radius_of(learner)
    mean = totals.loss / totals.rounds
    spread = sqrt(max(totals.squared_loss / totals.rounds - mean * mean, 0.0))
    limit, height = learner.task.radius + mean + _SPREADS * spread, learner.geometry.height  # type: ignore[attr-defined]
    return sqrt(limit - height) * sqrt(limit + height)


def _in_feature_space(options: Any, shape: Shape, height: float) -> Geometry:
    sizes = shape.n_features, 2, shape.dtype
    if options.budget is None:
        return Ball(*sizes, height=height)
    return POLICIES[options.budget_policy](*sizes, height=height, budget=int(options.budget))
