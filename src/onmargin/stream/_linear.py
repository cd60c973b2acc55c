"""Learners of streams with plain weights and intercepts."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin.models.columns import intercept_value
from onmargin.models.rules import FLAG, Number, Rule, Word
from onmargin.models.several import averaging
from onmargin.stream._model import StreamModel


class LinearModel(StreamModel):
    """A model with Euclidean weights, one vector a column of scores."""

    _geometry_type: ClassVar[type[Euclidean]] = Euclidean
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = StreamModel._rules | {
        "fit_intercept": (FLAG,),
        "intercept_scaling": (Number(0, above=True, below=True), Word("auto")),
        "average": (FLAG, Number(0, 2**63 - 1, whole=True)),
    }

    fit_intercept: bool
    intercept_scaling: float | str
    average: bool | int | str

    def _columns(self) -> int:
        """As many columns as a model begins with."""
        return 1

    def _bias(self) -> float:
        return intercept_value(fit=self.fit_intercept, scaling=self.intercept_scaling)

    def _geometry(self, n_features: int, *, sparse: bool) -> Any:
        return self._made(self._geometry_type, n_features, self._columns(), sparse=sparse)

    def _made(self, kind: Callable[..., Geometry], n_features: int, n_columns: int, *, sparse: bool) -> Any:
        return kind(
            n_features, n_columns, self.dtype, sparse=sparse, bias=self._bias(), average=averaging(self.average)
        )

    def _recombine(self, mixing: NDArray[np.float64]) -> None:
        """Have columns that are combinations of those there are."""
        self._learner.geometry = self._learner.geometry.recombined(mixing)

    def _arrange(self) -> None:
        """Give the learner the task of the classes known now."""
        self._learner.task = self._task()

    def _mean(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The weights that predict, columns by features, and the intercepts."""
        mean: tuple[NDArray[Any], NDArray[np.float64]] = self._learner.geometry.mean()
        return mean

    def _vectors_of_weights(self) -> Any:
        return self._mean()[0]
