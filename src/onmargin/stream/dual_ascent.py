"""Dual ascent for streams: each round optimizes the most recent examples again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onmargin.models.described import described
from onmargin.models.dual_ascent import DualAscentOptions, DualAscentRegressorOptions, dual_variables
from onmargin.stream._linear_classifier import LinearClassifier
from onmargin.stream._linear_regressor import LinearRegressor
from onmargin.stream._loops import WindowLoop


@described
@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentClassifier(LinearClassifier, DualAscentOptions):
    """Dual ascent for classification of streams: each round maximizes the dual over the most recent examples.

    Use it where examples are expensive and computing is cheap: it makes fewer mistakes on short streams. It keeps the
    last `window` examples, and a round costs several hundred times as much as one of
    :class:`onmargin.stream.AROWClassifier`. The entropic geometry requires hashed names or vectors, and
    ``geometry="pnorm"`` requires one of these or `p`. A `kernel` requires the rows of a matrix: use
    :class:`onmargin.DualAscentClassifier`, which is also faster.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_kept,) or (n_kept, n_classes)
        The dual variables of the examples that the next round may still change, oldest first.

    See Also
    --------
    onmargin.DualAscentClassifier : The estimator for matrices.

    Notes
    -----
    [PD] sec. 5.2. The weights are bit for bit those of :class:`onmargin.DualAscentClassifier` trained on the same
    examples as a CSR matrix, row by row; for a p-norm with new names they are the same up to rounding.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.DualAscentClassifier(window=3)
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """

    _loop_type = WindowLoop

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The dual variables of the examples that the next round may still change, oldest first."""
        return dual_variables(self._learner) if hasattr(self, "_learner") else np.zeros(0)


@described
@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentRegressor(LinearRegressor, DualAscentRegressorOptions):
    """Dual ascent for regression on streams: each round maximizes the dual over the most recent examples.

    Use it where examples are expensive and computing is cheap. It keeps the last `window` examples, and a round costs
    several hundred times as much as one of :class:`onmargin.stream.PassiveAggressiveRegressor`. For matrices,
    :class:`onmargin.DualAscentRegressor` is faster and has `fit`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_kept,)
        The dual variables of the examples that the next round may still change, oldest first.

    See Also
    --------
    onmargin.DualAscentRegressor : The estimator for matrices.

    Notes
    -----
    [PD] sec. 5.2 and 7. The weights are bit for bit those of :class:`onmargin.DualAscentRegressor` trained on the same
    examples as a CSR matrix, row by row.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.DualAscentRegressor(window=4)
    >>> for size in range(12):
    ...     model = model.learn_one({"size": size % 4, "base": 1.0}, 2.0 * (size % 4) + 1.0)
    >>> round(model.predict_one({"size": 3, "base": 1.0}), 1)
    6.9
    """

    _loop_type = WindowLoop

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The dual variables of the examples that the next round may still change, oldest first."""
        return dual_variables(self._learner) if hasattr(self, "_learner") else np.zeros(0)
