"""Mistake-driven classifiers: the Perceptron, the p-norm Perceptron and Winnow."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._fit_from_zero import FitFromZero
from onmargin.estimators._linear_classifier import LinearClassifier, TagsByIntercept
from onmargin.models.described import described
from onmargin.models.quasi_additive import PerceptronOptions, PNormPerceptronOptions, WinnowOptions


@described
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(TagsByIntercept, ClassifierMixin, FitFromZero, LinearClassifier, PerceptronOptions):  # type: ignore[misc]
    r"""Perceptron, binary and multiclass: updates the weights by a fixed step on each mistake.

    With more than two classes there is one prototype per class: the example is added to the right one and subtracted
    from its rival.

    Use it as a baseline. :class:`PassiveAggressiveClassifier` also learns from examples that are classified correctly
    with too small a margin, and adapts its step size to each: it almost always makes fewer mistakes.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; with two classes one row.
    totals_ : Totals
        Rounds, mistakes, updates, losses of margin 1 and the dual value so far.

    See Also
    --------
    PassiveAggressiveClassifier : Step sizes that adapt to the loss; ``update="perceptron"`` moves all rivals at once.
    PNormPerceptron : The Perceptron in the p-norm geometry.
    Winnow : The Perceptron update on the simplex.

    Notes
    -----
    [PD]. With :math:`R` the largest norm of a row (times :math:`\sqrt 2` for more than two classes) and
    :math:`L` the sum of the hinge losses of any weights u, there are at most :math:`L + \tfrac12 R^2\|u\|^2 +
    \tfrac12 \sqrt{R^4\|u\|^4 + 4 L R^2 \|u\|^2}` mistakes.

    Deviations from the papers: none; example weights multiply C. A score of exactly zero is a mistake.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import Perceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> Perceptron().partial_fit(X, y).totals_.mistakes
    332
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PNormPerceptron(TagsByIntercept, ClassifierMixin, FitFromZero, LinearClassifier, PNormPerceptronOptions):  # type: ignore[misc]
    r"""The p-norm Perceptron: between the Perceptron (p = 2) and Winnow (large p).

    Misclassified examples are added to :math:`\theta`, and the weights are :math:`w_i = \mathrm{sign}(\theta_i)
    |\theta_i|^{p-1} / \|\theta\|_p^{p-2}`.

    Use it where few of very many features matter and their weights may have either sign; the default p needs no tuning.
    Where most features matter a little, p = 2 is better.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; with two classes one row.
    totals_ : Totals
        Rounds, mistakes, updates, losses of margin 1 and the dual value so far.

    See Also
    --------
    Perceptron : The p-norm Perceptron with p = 2.
    Winnow : Weights on the simplex.

    Notes
    -----
    [PD] Thm. 2. There is no intercept: append a constant feature instead. If :math:`(p - 1)\|x\|_p^2 \le 1` for all
    rows, and L is the sum of the hinge losses of any weights u, there are at most :math:`L + \tfrac12 \|u\|_q^2 +
    \tfrac12 \sqrt{\|u\|_q^4 + 4 L \|u\|_q^2}` mistakes, with :math:`1/p + 1/q = 1`.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    Examples
    --------
    Three of 500 features decide:

    >>> import numpy as np
    >>> from onmargin import Perceptron, PNormPerceptron
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (2000, 500))
    >>> y = np.sign(X[:, 3] + X[:, 70] - X[:, 400])
    >>> Perceptron().partial_fit(X, y).totals_.mistakes, PNormPerceptron().partial_fit(X, y).totals_.mistakes
    (465, 52)
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class Winnow(TagsByIntercept, ClassifierMixin, FitFromZero, LinearClassifier, WinnowOptions):  # type: ignore[misc]
    r"""Winnow: multiplicative updates on mistakes, with weights on the simplex.

    A misclassified row multiplies the weights, :math:`w_i \leftarrow w_i e^{\eta y x_i} / Z`, and the sign of :math:`w
    \cdot x - \text{threshold}` is the prediction. With `balanced`, the negative of each feature also has a weight, so
    weights can have either sign. Without it, examples before the second label change nothing, and more than two classes
    must be named with ``classes=`` in the first call of `partial_fit`.

    Use it where few of very many features matter: its mistakes grow with the logarithm of their number. Where most
    features matter a little, :class:`Perceptron` is better.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; with two classes one row.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Minus the threshold.
    totals_ : Totals
        Rounds, mistakes, updates, losses of the given margin and the dual value so far.

    See Also
    --------
    PNormPerceptron : Signed weights, without a threshold.

    Notes
    -----
    [SLIDES] and [PD], with E4. For rows in [0, 1], weights u on the simplex and :math:`\eta = 4\gamma` there are at
    most :math:`\tfrac2\gamma \sum_{\text{mistakes}} [\gamma - y(u \cdot x - \tfrac12)]_+ + \tfrac{1}{2\gamma^2} (\ln
    n - H(u))` mistakes. Balanced, with :math:`\eta = \gamma`, at most :math:`2(\ln(2n)/\gamma^2 + L/\gamma)`, L being
    the sum of the losses of margin :math:`\gamma` of u.

    Deviations from the slides: the weights start at 1/n and not at 1, and :math:`\eta` is half of the value in the
    slides, with which there is no progress in the worst case.

    References
    ----------
    [SLIDES] F. Koriche, *Online Learning*, lecture slides, 2011.
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    Examples
    --------
    The majority of three of 500 features:

    >>> import numpy as np
    >>> from onmargin import Perceptron, Winnow
    >>> X = (np.random.default_rng(0).random((2000, 500)) < 0.5).astype(float)
    >>> y = X[:, [3, 70, 400]].sum(axis=1) >= 2
    >>> Perceptron().partial_fit(X, y).totals_.mistakes, Winnow().partial_fit(X, y).totals_.mistakes
    (633, 63)
    """
