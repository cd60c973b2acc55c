"""The ball under a uniclass learner: in plain weights, on the simplex, or in the feature space of a kernel."""

from typing import Any

import numpy as np
from scipy import sparse

from onmargin._checks import check_sparse
from onmargin._core.geometries.ball import (
    Ball,
    BudgetedBall,
    Center,
    OldestBall,
    ProjectedBall,
    SimplexCenter,
    SmallestBall,
)
from onmargin._core.tasks.task import Task, Uniclass
from onmargin.estimators._batch import BatchConversion
from onmargin.estimators._kernel import BudgetOption
from onmargin.learner import Learner, Vector, as_rows
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.updates import check_combination

# What goes when a new support would exceed the budget.
BALLS: dict[str, type[BudgetedBall]] = {"oldest": OldestBall, "smallest": SmallestBall, "projection": ProjectedBall}


class BallLearner(BudgetOption, BatchConversion):
    """An estimator whose weights are the centre of a ball."""

    epsilon: float
    radius: str
    max_radius: float | None
    init: str
    geometry: str

    _learner: Learner[Any]
    _offset: float | None

    @property
    def center_(self) -> Vector:
        """The centre of the ball."""
        learner = self._fitted()
        if not isinstance(learner, KernelLearner):
            centre: Vector = learner.geometry.centre()
            return centre
        return np.asarray(self._written_out(learner, "center_")[0])

    @property
    def radius_(self) -> float:
        """The radius of the ball."""
        learner = self._fitted()
        limit, height = learner.task.radius, learner.geometry.height  # type: ignore[attr-defined]
        return float(np.sqrt((limit - height) * (limit + height)))

    @property
    def offset_(self) -> float:
        """What a score must be at least for an inlier."""
        radius = self.radius_
        return -radius if self._offset is None else self._offset

    def _task(self) -> Task:
        return Uniclass(float(self.epsilon if self.max_radius is None else self.max_radius))

    def _check_combination(self) -> None:
        learned = self.radius == "learn"
        check_combination(
            f"radius={self.radius!r}",
            {
                "a number for max_radius": not learned or self.max_radius is not None,
                "max_radius=None": learned or self.max_radius is None,
            },
        )
        plain = self.geometry == "euclidean"
        needs = {
            "radius='fixed'": not learned,
            "target_loss=None": self.target_loss is None,
            "kernel=None": self.kernel is None,
        }
        check_combination("geometry='entropic'", {need: plain or met for need, met in needs.items()})
        if hasattr(self, "_learner") and plain == isinstance(self._learner.geometry, SimplexCenter):
            raise ValueError("geometry cannot change once something was learned: begin with a clone of the estimator")
        if self.budget_policy not in BALLS:
            raise ValueError(
                f"budget_policy={self.budget_policy!r} shrinks what is learned towards the origin of the feature "
                f"space, which is no better place for the centre of a ball: take one of {', '.join(map(repr, BALLS))}"
            )
        # The distance of a new example needs K(x, x) too, which is not in its kernel values with those learned.
        check_combination("uniclass", {"a kernel that is not 'precomputed'": self.kernel != "precomputed"})

    def _begin(self, X: Any, weight: Vector | None) -> int:
        """A ball that has seen nothing, or the first example of any weight; how many rows that took."""
        check_sparse(X)  # whose first row is taken before `as_rows` looks at all of them
        height = 0.0 if self.max_radius is None else float(self.max_radius)
        simplex = self.geometry == "entropic"
        if self.kernel is not None:
            size: dict[str, Any] = {} if self.budget is None else {"budget": int(self.budget)}
            kind = Ball if self.budget is None else BALLS[self.budget_policy]
            self._learner = self._kernel_learner(X, kind(self.n_features_in_, 2, X.dtype, height=height, **size))
        else:
            centre = SimplexCenter(self.n_features_in_) if simplex else Center(self.n_features_in_, height=height)
            self._learner = Learner(Task(), self._step(), centre)
        self._remember_kernel()
        if simplex or self.init == "zero":
            return 0
        first = 0 if weight is None else int(np.flatnonzero(weight)[0])
        row = X[[first]]
        if isinstance(self._learner, KernelLearner):
            self._learner.plant(row, first)
        else:
            self._learner.geometry.assign((row.toarray() if sparse.issparse(row) else row).ravel())
        return first + 1

    def _distances(self, X: Any) -> Vector:
        lifted = self._learner.scores(as_rows(X))
        distances: Vector = np.sqrt(np.maximum(lifted[:, 0] ** 2 - lifted[:, 1] ** 2, 0))
        return distances
