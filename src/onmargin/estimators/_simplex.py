"""Weights on the simplex instead of plain ones: multiplicative passive-aggressive learning."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from onmargin._core.geometry import Columns
from onmargin._core.geometry_links import Entropic
from onmargin._parameters import Rule, Word
from onmargin._updates import check_combination
from onmargin.estimators._linear import LinearLearner
from onmargin.estimators._online import warn_caller
from onmargin.learner import Learner


def warn_of_margin(margin: float, most: float) -> None:
    """Warn if no weights on the simplex give any of the rows that a learner begins with the margin asked for.

    Rows that are all zero say nothing about the others to come.
    """
    if margin > most > 0:
        warn_caller(
            f"margin {margin:g} is out of reach: weights on the simplex give these rows {most:g} at most, so that each "
            "has a loss whatever is learned. Scale the rows up, or ask for less with margin= if it is a parameter.",
            UserWarning,
        )


class SimplexOption(LinearLearner):
    """A linear estimator whose `geometry` may be entropic; then it has no intercept, and its rows are float64."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearLearner._rules | {
        "geometry": (Word("euclidean", "entropic"),)
    }

    geometry: str
    kernel: Any = None  # where there is none to choose
    _learner: Learner[Any]

    def _row_types(self) -> tuple[Any, ...]:
        return super()._row_types() if self.geometry == "euclidean" else (np.dtype(np.float64),)

    def _new_geometry(self, X: Any, n_columns: int) -> Any:
        if self.geometry == "euclidean":
            return super()._new_geometry(X, n_columns)
        return self._new_simplex(n_columns)

    def _new_simplex(self, n_columns: int) -> Any:
        """Weights on the simplex that have learned nothing."""
        return Entropic(self.n_features_in_, n_columns)

    def _check_geometry(self, needs: dict[str, bool]) -> None:
        """Refuse what goes with plain weights alone: averaging and, as for check_combination, what a subclass adds."""
        plain = self.geometry == "euclidean"
        needed = {"average=False": not self.average, "kernel=None": self.kernel is None, **needs}
        check_combination("geometry='entropic'", {need: plain or met for need, met in needed.items()})
        if hasattr(self, "_learner") and plain != isinstance(self._learner.geometry, Columns):
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
            warn_of_margin(self._asked(), self._most(X))

    def _asked(self) -> float:
        """The margin: far below 1 on the simplex, where scores are at most the largest number of a row."""
        return 1.0 if self.geometry == "euclidean" else 0.1

    def _most(self, X: Any) -> float:
        """The largest margin that weights on the simplex can give a row of X."""
        return float(max(X.max(), -X.min()))
