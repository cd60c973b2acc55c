"""Dual ascent: the last examples of a stream, learned again with each new one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from onmargin.estimators._fit_from_zero import FitFromZero
from onmargin.estimators._fitted_attributes import KernelSupports, coefficients_of_supports
from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.models.described import described
from onmargin.models.dual_ascent import DualAscentOptions, DualAscentRegressorOptions, dual_variables
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.options import option
from onmargin.models.rules import FLAG, NONE, Number


@described
@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentClassifier(ClassifierMixin, FitFromZero, KernelSupports, LinearClassifier, DualAscentOptions):  # type: ignore[misc]
    r"""Dual ascent for classification: each round maximizes the dual over the most recent examples.

    The dual of :math:`F(w) + C \sum_i [\gamma - y_i\, w \cdot x_i]_+` has one variable :math:`\alpha_i \in [0, C]` per
    example,

    .. math:: D(\alpha) = \gamma \sum_i \alpha_i - G\big(\sum_i \alpha_i y_i x_i\big).

    With more than two classes there is one column of weights per class, the loss is that of the best rival, and an
    example has a variable :math:`\alpha_{ir} \ge 0` for each rival r of its class, :math:`\sum_r \alpha_{ir} \le C`.

    A round that maximizes the dual over the newest example alone is the passive-aggressive step. Here it does so over
    the last `window` examples, jointly or in a few `sweeps`, or over all examples with ``window=None``: the weights
    then minimize the sum so far, "follow the regularized leader", which for plain weights is a support vector machine
    (of Crammer and Singer, with several classes).

    Use it where examples are expensive and computing is cheap: it makes fewer mistakes on short streams, at several
    times the cost per round. Where examples are plentiful, :class:`PassiveAggressiveClassifier` learns more of them in
    the same time. A joint window in a geometry other than the Euclidean is slow. With a kernel it also keeps fewer
    supports.

    Parameters
    ----------
    max_iter : int, default=1
        Maximum number of passes that `fit` makes. An example that occurs again has new variables.
    tol : float or None, default=None
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`, validation score)
        did not improve on the best so far by at least `tol`. If None, all `max_iter` passes are made.
    shuffle : bool, default=False
        Whether `fit` shuffles the examples before each pass. `partial_fit` never shuffles.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; with two classes one row. A copy, except for the Euclidean geometry. With a kernel, only available if
        it is linear.
    dual_coef_ : ndarray of shape (n_kept,) or (n_kept, n_classes)
        The dual variables of the examples that the next round may still change, oldest first; with more than two
        classes, one per rival, and 0 for the example's own class. With a kernel, the coefficients of the supports
        instead, of shape (1, n_support) or (n_classes, n_support).
    support_ : ndarray of shape (n_support,)
        With a kernel: indices of the supports among the rows of all calls.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        With a kernel: the rows that are supports.
    n_support_ : int
        With a kernel: the number of supports.
    totals_ : Totals
        Rounds, mistakes, updates, losses and the dual value so far, which never decreases.

    See Also
    --------
    QuasiAdditiveClassifier : ``step="optimal"`` is a window of 1 for two classes.
    PassiveAggressiveClassifier : ``update="exact"`` is a window of 1 for more classes and plain weights.

    Notes
    -----
    [PD] sec. 5.2. A label becomes a class where it first occurs, and gets a column of zeros. With plain weights and a
    window of up to 512 examples a round works on the inner products of the window's rows, and moves the weights once
    for each example that changed; otherwise it moves them with every variable. With a kernel, the inner products are
    kernel values, and the bound below holds if :math:`K(x, x) \le 1`.

    With curvatures at most 1 the mean loss of T rounds is at most :math:`\mu^{-1}(\tfrac1T \sum_t \ell^*_t +
    F(u)/(CT))` for any weights u, where :math:`\mu^{-1}(y) \le y + C/2`; and with :math:`C = \sqrt{2F(u)/T}` at most
    :math:`\sqrt{2F(u)/T}` above that of u.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import DualAscentClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for window in 1, 8, None:
    ...     model = DualAscentClassifier(C=0.1, window=window).partial_fit(scale(X), y)
    ...     print(model.totals_.mistakes)
    27
    26
    23
    """

    max_iter: int = option(1, Number(1, whole=True))
    tol: float | None = option(None, Number(0), NONE)
    shuffle: bool = option(False, FLAG)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """With a kernel, the coefficients of the supports, one row per column of scores; otherwise the dual variables
        of the examples that the next round may still change, oldest first."""
        learner: Any = self._check_fitted()
        if isinstance(learner, KernelLearner):
            return coefficients_of_supports(self)
        return dual_variables(learner)


@described
@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentRegressor(RegressorMixin, FitFromZero, LinearRegressor, DualAscentRegressorOptions):  # type: ignore[misc]
    r"""Dual ascent for regression: each round maximizes the dual over the most recent examples.

    The dual of :math:`\tfrac12\|w\|^2 + C \sum_i [|y_i - w \cdot x_i| - \epsilon]_+` has one variable
    :math:`\beta_i \in [-C, C]` per example,

    .. math:: D(\beta) = \sum_i \big(y_i \beta_i - \epsilon |\beta_i|\big) - \tfrac12 \big\|\sum_i \beta_i x_i\big\|^2.

    A round that maximizes it over the newest example alone is the step of :class:`PassiveAggressiveRegressor`. Here it
    does so over the last `window` examples, jointly or in a few `sweeps`. With ``window=None`` it does so over all
    examples, and the weights are those of a support vector regression on the examples so far ("follow the regularized
    leader").

    Use it where examples are expensive and computing is cheap: its losses on short streams are smaller, at several
    times the cost per round. Where examples are plentiful, :class:`PassiveAggressiveRegressor` and
    :class:`AROWRegressor` learn more of them in the same time.

    Parameters
    ----------
    max_iter : int, default=1
        Maximum number of passes that `fit` makes. An example that occurs again has a new variable.
    tol : float or None, default=None
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`, validation score)
        did not improve on the best so far by at least `tol`. If None, all `max_iter` passes are made.
    shuffle : bool, default=False
        Whether `fit` shuffles the examples before each pass. `partial_fit` never shuffles.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of the learned weights.
    dual_coef_ : ndarray of shape (n_kept,)
        The dual variables of the examples that the next round may still change, oldest first.
    totals_ : Totals
        Rounds, mistakes (targets outside the tube), updates, losses and the dual value so far, which never decreases.

    See Also
    --------
    PassiveAggressiveRegressor : A window of 1.
    DualAscentClassifier : Dual ascent for classification.

    Notes
    -----
    [PD] sec. 5.2 for windows, and sec. 7 for losses of numbers. With a window of up to 512 examples a round works on
    their inner products, and moves the weights once for each example that changed. The sum of the losses obeys the
    bound of PA-I (:func:`onmargin.theory.pa1_loss`), since a round raises the dual value by at least as much. Example
    weights multiply C.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import DualAscentRegressor
    >>> X, y = map(scale, load_diabetes(return_X_y=True))
    >>> for window in 1, 8, None:
    ...     model = DualAscentRegressor(C=0.03, window=window).partial_fit(X, y)
    ...     print(f"{model.totals_.loss:.0f}")
    238
    236
    221
    """

    max_iter: int = option(1, Number(1, whole=True))
    tol: float | None = option(None, Number(0), NONE)
    shuffle: bool = option(False, FLAG)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The dual variables of the examples that the next round may still change, oldest first."""
        return dual_variables(self._check_fitted())
