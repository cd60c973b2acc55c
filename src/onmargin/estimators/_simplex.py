"""Weights on the simplex instead of plain ones."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from onmargin._core.geometries.additive import Entropic
from onmargin._core.geometries.geometry import Columns
from onmargin.estimators._linear import LinearLearner
from onmargin.estimators._online import warn_of_margin
from onmargin.learner import Learner
from onmargin.models.rules import Rule, Word
from onmargin.models.updates import check_combination


class SimplexOption(LinearLearner):
    """A linear estimator with a `geometry`; if it is entropic there is no intercept, and the rows are float64."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearLearner._rules | {
        "geometry": (Word("euclidean", "entropic"),)
    }

    geometry: str
    kernel: Any = None  # where there is none to choose
    _learner: Learner[Any]

    def _row_types(self) -> tuple[Any, ...]:
        return (np.dtype(np.float64),) if self.geometry == "entropic" else super()._row_types()

    def _new_geometry(self, X: Any, n_columns: int) -> Any:
        if self.geometry == "entropic":
            return self._new_simplex(n_columns)
        return super()._new_geometry(X, n_columns)

    def _new_simplex(self, n_columns: int) -> Any:
        """Weights on the simplex that have learned nothing."""
        return Entropic(self.n_features_in_, n_columns)

    def _check_geometry(self, needs: dict[str, bool]) -> None:
        """Refuse what the geometry cannot do of averaging and, as for check_combination, of what a subclass adds."""
        needed = {"average=False": not self.average, "kernel=None": self.kernel is None, **needs}
        if self.geometry == "entropic":
            check_combination("geometry='entropic'", needed)
        if hasattr(self, "_learner") and (self.geometry == "euclidean") != isinstance(self._learner.geometry, Columns):
            raise ValueError("geometry cannot change once something was learned: begin with a clone of the estimator")

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        if not (coef is None and intercept is None):
            self._ask_for_plain_weights("setting weights")
        super()._start_from(coef, intercept)

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix: less memory where most are zero; learning on makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        if hasattr(self, "_learner"):
            self._ask_for_plain_weights("sparsify")
        return super().sparsify()

    def _ask_for_plain_weights(self, what: str) -> None:
        check_combination(what, {"geometry='euclidean'": isinstance(self._learner.geometry, Columns)})


class MarginOption(SimplexOption):
    """One that asks for a margin."""

    def _begin(self, X: Any, n_columns: int = 1) -> None:
        super()._begin(X, n_columns)
        if self.geometry == "entropic" and X.shape[0] > 0:
            warn_of_margin(self._largest_asked(), self._most(X))

    def _asked(self) -> float:
        """The margin: far below 1 on the simplex, where scores are at most the largest number of a row."""
        return 0.1 if self.geometry == "entropic" else 1.0

    def _largest_asked(self) -> float:
        """The largest margin of any example."""
        return self._asked()

    def _most(self, X: Any) -> float:
        """The largest margin that weights on the simplex can give a row of X."""
        return float(max(X.max(), -X.min()))
