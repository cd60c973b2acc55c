"""Quasi-additive classification in any geometry, with a fixed, an aggressive or an optimal step."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._fit_from_zero import FitFromZero
from onmargin.estimators._linear_classifier import LinearClassifier, TagsByIntercept
from onmargin.models.described import described
from onmargin.models.quasi_additive import QuasiAdditiveOptions


@described
@dataclass(kw_only=True, eq=False, repr=False)
class QuasiAdditiveClassifier(TagsByIntercept, ClassifierMixin, FitFromZero, LinearClassifier, QuasiAdditiveOptions):  # type: ignore[misc]
    r"""Quasi-additive classifier: the weights are a link function of a weighted sum of the examples.

    With :math:`z_t` the update direction of example t (:math:`y_t x_t` for two classes), the learner keeps
    :math:`\theta_{t+1} = \theta_t + \alpha_t z_t` and predicts with :math:`w_t = \nabla G(\theta_t)`. G is the
    geometry: :math:`\tfrac12\|\theta\|^2` (plain weights), :math:`\ln(\tfrac1n \sum_i e^{\theta_i})` (weights on the
    simplex) or :math:`\tfrac12\|\theta\|_p^2`. Every step climbs the dual of :math:`F(w) + C \sum_t [\gamma - z_t \cdot
    w]_+`, where F is the conjugate of G and :math:`\gamma` the margin.

    Use the entropic or a p-norm geometry where few of very many features matter: their mistakes grow with the logarithm
    of the number of features, those of plain weights with the squared norms of the rows. Where most features matter a
    little, plain weights are better, and :class:`PassiveAggressiveClassifier` has more options for them.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; with two classes one row. A copy, except for the Euclidean geometry.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; minus the threshold, where there is one.
    intercept_scaling_ : float
        Value of the intercept coordinate in use; 0 if there is none.
    totals_ : Totals
        Rounds, mistakes, updates, losses and the dual value so far. Except for the Euclidean geometry,
        `max_squared_norm` is the square of the largest value of a row, or its curvature if the step used it.

    See Also
    --------
    Perceptron : The fixed step with plain weights.
    PNormPerceptron : The fixed step with a p-norm.
    Winnow : The fixed step on the simplex.

    Notes
    -----
    [PD]. A round costs O(non-zeros), whatever the number of features: the slopes and their sum are stored with
    :math:`\theta`, in units that follow its largest value. Rows are float64. With more than two classes there is one
    column per class and the weights of all of them are one vector. A label becomes a class where it first occurs, and
    gets a column of zeros: margins between the other classes stay the same, or on the simplex their order does.
    Unbalanced weights on the simplex learn nothing before the second label, and cannot go from two classes to three:
    name all with ``classes=`` in the first call of `partial_fit`.

    With curvatures at most 1 and :math:`C < 2\gamma` the mistakes of "fixed" are at most :math:`P^* / (\gamma C -
    \tfrac12 C^2)`, and those of the other steps at most :math:`P^* / \lambda` with :math:`\lambda = \gamma C -
    \tfrac12 C^2` if :math:`C \le \gamma` and :math:`\tfrac12 \gamma^2` otherwise, where :math:`P^*` is the smallest
    :math:`F(u) + C \sum_t \ell^*_t` of any weights u.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    Examples
    --------
    Three of 500 features decide:

    >>> import numpy as np
    >>> from onmargin import QuasiAdditiveClassifier
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (2000, 500))
    >>> y = np.sign(X[:, 3] + X[:, 70] - X[:, 400])
    >>> for geometry, C in ("euclidean", 1.0), ("pnorm", 1.0), ("entropic", 0.1):
    ...     model = QuasiAdditiveClassifier(geometry=geometry, C=C).partial_fit(X, y)
    ...     print(f"{geometry:9} {model.totals_.mistakes} mistakes")
    euclidean 323 mistakes
    pnorm     25 mistakes
    entropic  40 mistakes
    """
