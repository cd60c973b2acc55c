"""Automatic model selection: several kinds of learners are trained in one pass and combined."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin, RegressorMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.models.auto import AutoClassifierOptions, AutoRegressorOptions
from onmargin.models.described import described
from onmargin.models.expert_results import Experts


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(ClassifierMixin, Experts, LinearClassifier, AutoClassifierOptions):  # type: ignore[misc]
    r"""Automatic model selection for classification: several kinds of learners, trained in one pass, that vote.

    The experts are of different kinds: passive-aggressive learners, plain and in two adaptive metrics, gradient descent
    on the hinge and on the logistic loss, AROW, SCW, AROW with forgetting, for drifting targets, and the majority
    class. There are 11 experts for sparse rows. For dense rows there are up to 32, most of which learn from
    standardized features, with the statistics of the rows before; eleven of them are nonlinear: ridge regression on
    random Fourier features, for smooth boundaries, logistic regression on random ferns, a random forest and boosted
    trees of the last rows, for boundaries that are parallel to the axes, nearest neighbors among the last rows, and
    experts on the ranks of features, for two classes and heavy tails. For ordered streams there are chains of labels.
    The first rows decide which experts are used. The vote of an expert has the weight :math:`p_m \propto \exp(-\eta
    M_m)`, where :math:`M_m` is its number of mistakes so far and :math:`\eta \le 0.2` decreases as slowly as the stream
    allows (AdaHedge): if one expert is clearly best, it decides alone. The class with the highest mean of the experts'
    scaled scores, with the same weights, predicts instead if it was wrong less often so far.

    Use it first, and as the baseline for models that you tune yourself; tables need not be scaled. The nonlinear
    experts take most of the time: leave them out with ``experts="linear"`` if speed matters more than nonlinear
    boundaries, or switch to the leading expert, which ``experts_`` names, once you know your stream.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` continues from the current state.

    Attributes
    ----------
    experts_ : ExpertResults
        Names, mistakes, losses, votes and coefficients of the experts, and which one leads.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the best linear expert, for features in their original units. With ``combine="leader"`` they are
        zero while the majority class leads.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts of that expert, in score units.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, and mistakes and losses of the prediction so far. Updates are rounds in which some expert was updated;
        the dual value has no meaning here.

    See Also
    --------
    PassiveAggressiveClassifier : One model, or with ``C="auto"`` one for each of nine values of C.
    AROWClassifier : A single second-order learner.

    Notes
    -----
    On any stream, the mistakes of the experts, weighted by their votes, exceed those of the best expert by at most
    ``regret_bound`` ([ADAHEDGE] theorem 8, plus the cost of the bound on :math:`\eta` and of fixed share), and those of
    any sequence of experts by at most ``switch_cost`` more for each change of the expert ([FIXED-SHARE]); the
    prediction makes at most twice as many mistakes and ten more, and in practice fewer. For an expert that is suspended
    at times, this holds for the rounds in which it was active ([SLEEPING]). There is no such bound for
    ``combine="leader"``. Standardized values of the row after t others are clipped to :math:`\pm\sqrt t`. Example and
    class weights multiply the steps and the mistakes that determine the votes, so the bound is one on weighted
    mistakes; :math:`\eta` is then at most 0.2 divided by the largest weight. `fit` compares the experts in its first
    pass only, because an expert that memorizes examples would win the later ones; ``partial_fit`` takes all examples
    for new ones.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    [FIXED-SHARE] M. Herbster, M. K. Warmuth, *Tracking the Best Expert*, Machine Learning 32:151-178, 1998.

    [SLEEPING] Y. Freund, R. E. Schapire, Y. Singer, M. K. Warmuth, *Using and Combining Predictors That Specialize*,
    STOC 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import AutoClassifier, PassiveAggressiveClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AutoClassifier().partial_fit(X, y)
    >>> model.experts_.names[model.experts_.leader]
    'nearest neighbors'
    >>> model.totals_.mistakes, PassiveAggressiveClassifier().partial_fit(X, y).totals_.mistakes
    (76, 214)
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(RegressorMixin, Experts, LinearRegressor, AutoRegressorOptions):  # type: ignore[misc]
    r"""Automatic model selection for regression: several kinds of learners, trained in one pass and averaged.

    The experts are the last target, the running mean, passive-aggressive learners, plain and in two adaptive metrics,
    AROW with several values of r, one of them with forgetting, and ridge regression: eight for sparse rows, and up to
    22 for dense rows, most of which learn from standardized features, with the statistics of the rows before; some are
    nonlinear: ridge regression on random Fourier features, a random forest and boosted trees of the last rows, and
    nearest neighbors among them. Three more learn the change since the last target. The first rows decide which experts
    are used. All experts learn the difference between a target and the first target, and none depends on the units of
    the target. The prediction is the weighted mean of theirs, with the weights :math:`p_m \propto \exp(-\eta L_m)`,
    where :math:`L_m` is the sum of the absolute errors of an expert so far and :math:`\eta` decreases as slowly as the
    stream allows (AdaHedge).

    Use it first, and as the baseline for models that you tune yourself; tables need not be scaled. The nonlinear
    experts take most of the time: leave them out with ``experts="linear"`` if speed matters more, or switch to the
    leading expert, which ``experts_`` names, once you know your stream.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` continues from the current state.

    Attributes
    ----------
    experts_ : ExpertResults
        Names, losses, weights and coefficients of the experts, and which one leads.
    coef_ : ndarray of shape (n_features,)
        Weights of the best expert that has feature weights, for features in their original units. With
        ``combine="leader"`` they are zero while the last value or the running mean leads.
    intercept_ : ndarray of shape (1,)
        Intercept of that expert.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds and absolute errors of the prediction so far. Updates are rounds in which some expert was updated; the
        dual value has no meaning here.

    See Also
    --------
    PassiveAggressiveRegressor : One model, or with ``C="auto"`` one for each of nine values of C.
    AROWRegressor : A single second-order learner.

    Notes
    -----
    The sum of absolute errors exceeds that of the best expert by at most ``regret_bound`` ([ADAHEDGE] theorem 8, plus
    the cost of fixed share), and that of any sequence of experts by at most ``switch_cost`` more for each change of the
    expert ([FIXED-SHARE]), because the absolute error of a mean is at most the mean of the absolute errors. For an
    expert that is suspended at times, this holds for the rounds in which it was active ([SLEEPING]). There is no such
    bound for ``combine="leader"``. `fit` compares the experts in its first pass only, because an expert that memorizes
    examples would win the later ones; ``partial_fit`` takes all examples for new ones.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    [FIXED-SHARE] M. Herbster, M. K. Warmuth, *Tracking the Best Expert*, Machine Learning 32:151-178, 1998.

    [SLEEPING] Y. Freund, R. E. Schapire, Y. Singer, M. K. Warmuth, *Using and Combining Predictors That Specialize*,
    STOC 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from onmargin import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoRegressor().partial_fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """
