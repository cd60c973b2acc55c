"""Dual ascent: the last examples of a stream, learned again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from onmargin._core.geometries.kernel import Expansion
from onmargin._core.steps.step import Step
from onmargin._core.steps.window import GramWindow, KernelWindow, Window
from onmargin._parts import Part
from onmargin.estimators._kernel import KernelLearning
from onmargin.estimators._online import MatrixLike
from onmargin.estimators.quasi_additive import QuasiAdditiveClassifier
from onmargin.learner import Learner, Offsets, Vector, as_rows
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.rules import NOTHING, Number, Rule
from onmargin.models.updates import check_combination


@dataclass(frozen=True)
class KeptExamples(Part):
    """The examples that may change once more, oldest first."""

    X: Any
    target: Vector
    weight: Vector
    alpha: NDArray[np.float64]
    scores: NDArray[np.float64]
    keys: Offsets  # their places in the stream of all rows

    def __iter__(self) -> Iterator[Any]:
        return iter(vars(self).values())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self)

    def _last(self, window: int | None) -> KeptExamples:
        """Those that are in the window with one more."""
        first = 0 if window is None else max(len(self.target) - window + 1, 0)
        return KeptExamples(*(part[first:] for part in self))


class DualAscentClassifier(KernelLearning, QuasiAdditiveClassifier):
    r"""Dual ascent: each round maximises the dual again over the last examples, not over the newest alone.

    The dual of :math:`F(w) + C \sum_i [\gamma - y_i\, w \cdot x_i]_+` has one variable :math:`\alpha_i \in [0, C]` an
    example,

    .. math:: D(\alpha) = \gamma \sum_i \alpha_i - G\big(\sum_i \alpha_i y_i x_i\big).

    With more than two classes there is one column of weights a class, the loss is that of the best rival, and an
    example has a variable :math:`\alpha_{ir} \ge 0` for each rival r of its class, :math:`\sum_r \alpha_{ir} \le C`.

    A round that maximises the dual over the newest example alone is the passive-aggressive step. Here it does so over
    the last `window` of them, jointly or in a few `sweeps`, and over all with ``window=None``: then the weights are
    those that minimise the sum so far, "follow the regularised leader", which for plain weights is a support vector
    machine (of Crammer and Singer, with several classes).

    Use it where examples are dear and computing is cheap: it makes fewer mistakes on short streams, at several times
    the price a round. Where examples are plenty, :class:`PassiveAggressiveClassifier` learns more of them in the same
    time; and a joint window in another geometry than the Euclidean is dear. With a kernel it also keeps fewer supports.

    Parameters
    ----------
    geometry : {"euclidean", "entropic", "pnorm"}, default="euclidean"
        What the weights are.
    p : float or None, default=None
        Of "pnorm", from 2 to 500. None: 2 ln(n_features).
    C : float, default=1.0
        The largest dual variable, above 0.
    margin : float or None, default=None
        The margin asked for, above 0. None: 1, and 0.1 for the entropic geometry.
    window : int or None, default=8
        How many of the last examples are learned again each round, the newest among them; their rows are kept. None:
        all, at a price that grows with every round.
    sweeps : int or None, default=None
        How often a round goes through the window, one example after the other, from the newest to the oldest. None:
        until nothing is gained any more.
    balanced : bool, default=True
        Whether the entropic weights have either sign.
    fit_intercept : bool, default=False
        Whether to learn an intercept; for the Euclidean geometry.
    intercept_scaling : "auto" or float, default="auto"
        Value of its coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or None, default=None
        Learn in the feature space of a kernel, with the Euclidean geometry: the weights are an expansion over the
        examples whose dual variables are not zero, and a round costs as much as there are of those. A callable gives
        the kernel values of the rows of two matrices; "precomputed": X holds them, n x n in `fit` and n_test x n in
        prediction.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "poly", "rbf" and "sigmoid", above 0. "scale" is ``1 / (n_features * X.var())`` of the X of `fit` or of the
        first `partial_fit`, "auto" is ``1 / n_features``.
    degree : int, default=3
        Of "poly", at least 0.
    coef0 : float, default=0.0
        Constant in "poly" and "sigmoid".

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; with two classes one row. A copy, but for the Euclidean geometry. With a kernel only if it is linear.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    dual_coef_ : ndarray of shape (n_kept,) or (n_kept, n_classes)
        The dual variables of the examples that the next round may still change, oldest first; with more than two
        classes one for each rival, and 0 for the example's own class. With a kernel the coefficients of the supports
        instead, of shape (1, n_support) or (n_classes, n_support).
    support_ : ndarray of shape (n_support,)
        With a kernel: which rows, counted over all calls, the supports are.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Those rows.
    n_support_ : int
        Their number.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Always 1: `fit` makes one pass.
    t_ : float
        One plus the number of rounds.
    totals_ : Totals
        Rounds, mistakes, updates, losses and the dual value so far, which never falls.

    See Also
    --------
    QuasiAdditiveClassifier : ``step="optimal"`` is a window of 1 for two classes.
    PassiveAggressiveClassifier : ``update="exact"`` is a window of 1 for more classes and plain weights.

    Notes
    -----
    [PD] sec. 7. All classes must be known at the first call. With plain weights and a window of up to 512 examples a
    round works on the inner products of the window's rows, and moves the weights once for each example that changed;
    otherwise it moves them with every variable. With a kernel these are kernel values, and the bound below holds where
    :math:`K(x, x) \le 1`.

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

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        **KernelLearning._rules,
        **QuasiAdditiveClassifier._rules,
        "window": (Number(1, 2**62, whole=True), NOTHING),
        "sweeps": (Number(1, 2**62, whole=True), NOTHING),
    }

    _kept: KeptExamples
    _n_received: int  # rows of all calls

    def __init__(
        self,
        *,
        geometry: str = "euclidean",
        p: float | None = None,
        C: float = 1.0,
        margin: float | None = None,
        window: int | None = 8,
        sweeps: int | None = None,
        balanced: bool = True,
        fit_intercept: bool = False,
        intercept_scaling: float | str = "auto",
        kernel: str | Callable[[Any, Any], Any] | None = None,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ) -> None:
        self.geometry = geometry
        self.p = p
        self.C = C
        self.margin = margin
        self.window = window
        self.sweeps = sweeps
        self.balanced = balanced
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these examples anew, in one pass in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            if hasattr(self, "_learner"):
                del self._learner
            self.partial_fit(X, y, sample_weight=sample_weight)
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn these examples in the given order, one round each. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels; needed in the first call if its `y` does not have them all.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            X, _, target, weight = self._receive(X, y, classes, sample_weight)
            self._prepare()
            self._learn(X, target, np.ones(len(target)) if weight is None else weight)
            self.n_iter_ = 1
        return self

    def _learn(self, X: Any, target: Vector, weight: Vector) -> None:
        """Play a round for each of these examples, with the kept ones before them in the window."""
        learner, received, live = self._learner, len(weight), weight > 0
        keys = self._n_received + np.flatnonzero(live)
        self._n_received += received
        if not live.all():
            X, target, weight = X[live], target[live], weight[live]
        old = self._kept._last(self.window)
        now = len(old.target)
        X, target, weight = _joined(old.X, X), _joined(old.target, target), _joined(old.weight, weight)
        keys = _joined(old.keys, keys)
        rows = as_rows(X)
        window = rows.n_rows if self.window is None else self.window
        held = min(window, rows.n_rows)
        alpha, scores = np.zeros((2, held, learner.geometry.n_columns))
        alpha[:now], scores[:now] = old.alpha, old.scores
        settings: dict[str, Any] = {"C": self.C, "margin": self._asked(), "window": window, "sweeps": self.sweeps or 0}
        if isinstance(learner, KernelLearner):
            learner.step = KernelWindow(rows, target, weight, now, alpha, scores, **settings)
            learner.learn_window(rows, target, weight, keys, now=now, window=window, received=received)
        else:
            learner.step = (
                GramWindow(rows, target, weight, now, alpha, scores, **settings)
                if self.geometry == "euclidean"
                else Window(rows, target, weight, now, alpha, **settings)
            )
            learner.learn(rows, target, weight, np.arange(now, rows.n_rows))
        learner.step = self._step()
        last = np.arange(rows.n_rows - held, rows.n_rows)
        places = last % max(held, 1)
        kept = KeptExamples(X[last], target[last], weight[last], alpha[places], scores[places], keys[last])
        self._kept = kept._last(self.window)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, one row a column of scores."""
        learner = self._fitted()
        return self._written_out(learner, "coef_") if isinstance(learner, KernelLearner) else super().coef_

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """With a kernel the coefficients of the supports, one row a column of scores; otherwise the dual variables of
        the examples that the next round may still change, oldest first."""
        if isinstance(self._fitted(), KernelLearner):
            return super().dual_coef_
        return self._kept.alpha if len(self.classes_) > 2 else self._kept.alpha[:, 0]

    def _check_combination(self) -> None:
        super()._check_combination()
        check_combination("a kernel", {"geometry='euclidean'": self.kernel is None or self.geometry == "euclidean"})

    def _begin(self, X: Any, weight: Vector | None, classes: NDArray[Any]) -> None:
        super()._begin(X, weight, classes)
        self._remember_kernel()
        nothing = np.zeros((0, self._learner.geometry.n_columns))
        self._kept = KeptExamples(X[:0], np.zeros(0), np.zeros(0), nothing, nothing, np.zeros(0, np.intp))
        self._n_received = 0

    def _new_learner(self, X: Any, n_columns: int) -> Learner[Any]:
        if self.kernel is None:
            return super()._new_learner(X, n_columns)
        return self._kernel_learner(X, Expansion(self.n_features_in_, n_columns, X.dtype, bias=self._bias()))

    def _step(self) -> Step:
        """None of its own: a window is made for the rows of each call."""
        return Step()


def _joined(old: Any, new: Any) -> Any:
    """One after the other, in the form of the new."""
    if old.shape[0] == 0:
        return new
    if sparse.issparse(new):
        return sparse.vstack([sparse.csr_matrix(old), new], format="csr")
    return np.concatenate([old.toarray() if sparse.issparse(old) else old, new])
