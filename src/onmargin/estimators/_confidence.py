"""Weights with variances beside them: what the second-order estimators share."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core.geometries.diagonal import Confidence
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.several.geometries import WithAverage
from onmargin.estimators._simplex import SimplexOption
from onmargin.models.rules import Number, Rule, Word


class ConfidenceLearner(SimplexOption):
    """A linear estimator that knows how well it knows each weight."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        "geometry": (Word("confidence"),),
        "forgetting": (Number(0, below=True),),
    }

    # What the first-order estimators have as parameters.
    geometry: str = "confidence"
    loss: str
    update: str = "max"
    cost: ArrayLike | str | None = None
    target_loss: float | None = None
    kernel: Any = None
    budget: int | None = None
    _kernel_parameters: ClassVar[tuple[str, ...]] = ()

    forgetting: float

    def _grid(self) -> tuple[float, ...]:
        return ()

    def _kind(self) -> Callable[..., Euclidean]:
        return partial(Confidence, forgetting=float(self.forgetting))

    def _check_geometry(self, needs: dict[str, bool]) -> None:
        """There is no other geometry."""

    def _prepare(self) -> None:
        super()._prepare()
        self._gaussians().forgetting = float(self.forgetting)

    def _gaussians(self) -> Confidence:
        """The weights that learn, whether their averages are a model beside them or not."""
        geometry = self._fitted().geometry
        return cast("Confidence", geometry.inner if isinstance(geometry, WithAverage) else geometry)

    @property
    def confidence_(self) -> NDArray[Any]:
        """Variance of each weight."""
        geometry = self._gaussians()
        variances: NDArray[Any] = geometry.metric
        if self._sparse_coef is not None:
            variances = np.ones((geometry.n_columns, self.n_features_in_), geometry.dtype)
            places, values = self._sparse_metric["metric"]
            variances.flat[places] = values
        return variances.ravel() if self._flat else variances
