"""Automatic model selection: experts of several families learn side by side and vote."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin, RegressorMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.estimators._shown import experts_, retire
from onmargin.models.auto import AutoClassifierOptions, AutoRegressorOptions
from onmargin.models.described import described


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(ClassifierMixin, LinearClassifier, AutoClassifierOptions):  # type: ignore[misc]
    r"""Classifier with nothing to tune: experts learn side by side, and predict together.

    They are of different families: passive-aggressive steps, plain and in two adaptive metrics, descent on the hinge
    and on the logistic loss, AROW, SCW, and AROW that forgets, for targets that move. There are nine for sparse rows.
    For dense ones there are up to nineteen, most of which learn from rows standardized by the rows before; two of them
    are curved: ridge regression on random Fourier features. What the first rows are decides. A vote counts for
    :math:`p_m \propto \exp(-\eta M_m)`, where :math:`M_m` are the mistakes of an expert so far and :math:`\eta \le 0.1`
    falls as slowly as the stream allows (AdaHedge): where one expert is clearly best its vote is all that counts.

    Use it first, and as the measure of what you tune yourself; tables need no scaling before it. The curved experts
    take most of the time: leave them out with ``experts="linear"`` where speed counts more than curved boundaries, or
    take the expert that leads, which ``experts_`` names, once you know your stream.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` goes on from what it finds.

    Attributes
    ----------
    experts_ : Standing
        Names, mistakes, losses, votes and coefficients of the experts, and which one leads.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the expert that leads, of those that are linear, for rows as they come.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its intercepts, in score units.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,)
        Examples of each class learned so far; the "balanced" weights of `partial_fit` rest on them.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, and mistakes and losses of the prediction so far. Updates are rounds in which some expert moved; the
        dual value is that of no one problem.

    See Also
    --------
    PassiveAggressiveClassifier : One model, or with ``C="auto"`` one for each of nine values of C.
    AROWClassifier : The expert that settles, alone.

    Notes
    -----
    Whatever the stream, the mistakes of the experts weighted by what each vote counted for are at most
    ``regret_bound`` more than those of the best expert ([ADAHEDGE] theorem 8, and what the bound on :math:`\eta`
    costs); the vote itself errs at most twice as often, and in practice less often. Of an expert that sleeps now and
    then this holds for the rounds in which it was awake ([SLEEPING]). There is no such bound for ``combine="leader"``.
    Standardized numbers of the row after t others are held to :math:`\pm\sqrt t`. Example and class weights multiply
    the steps, not the mistakes that votes are weighed by.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    [SLEEPING] Y. Freund, R. E. Schapire, Y. Singer, M. K. Warmuth, *Using and Combining Predictors That Specialize*,
    STOC 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import AutoClassifier, PassiveAggressiveClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AutoClassifier().partial_fit(X, y)
    >>> model.experts_.names[model.experts_.leader]
    'AROW that forgets little, standardized'
    >>> model.totals_.mistakes, PassiveAggressiveClassifier().partial_fit(X, y).totals_.mistakes
    (95, 205)
    """

    experts_ = experts_
    retire = retire


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(RegressorMixin, LinearRegressor, AutoRegressorOptions):  # type: ignore[misc]
    r"""Regressor with nothing to tune: experts learn side by side, and predict together.

    They are the last target and the running mean, passive-aggressive steps, plain and in two adaptive metrics, AROW
    with several degrees of caution, one of which forgets, and ridge regression: eight for sparse rows, and up to
    fifteen for dense ones, most of which learn from rows standardized by the rows before; two of them are curved:
    ridge regression on random Fourier features. What the first rows are decides. All learn how far targets are from
    the first one. None depends on the units of the target. The prediction is the mean of theirs, each with the
    weight :math:`p_m \propto \exp(-\eta L_m)`, where :math:`L_m` are the absolute errors of an expert so far and
    :math:`\eta` falls as slowly as the stream allows (AdaHedge).

    Use it first, and as the measure of what you tune yourself; tables need no scaling before it. The curved experts
    take most of the time: leave them out with ``experts="linear"`` where speed counts more, or take the expert that
    leads, which ``experts_`` names, once you know your stream.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` goes on from what it finds.

    Attributes
    ----------
    experts_ : Standing
        Names, losses, weights and coefficients of the experts, and which one leads.
    coef_ : ndarray of shape (n_features,)
        Weights of the expert that leads, of those that weigh features, for rows as they come.
    intercept_ : ndarray of shape (1,)
        Its intercept.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds and absolute errors of the prediction so far. Updates are rounds in which some expert moved; the dual
        value is that of no one problem.

    See Also
    --------
    PassiveAggressiveRegressor : One model, or with ``C="auto"`` one for each of nine values of C.
    AROWRegressor : The expert that settles, alone.

    Notes
    -----
    The sum of absolute errors is at most ``regret_bound`` more than that of the best expert ([ADAHEDGE] theorem 8), the
    absolute error of a mean being at most the mean of absolute errors. Of an expert that sleeps now and then this holds
    for the rounds in which it was awake ([SLEEPING]). There is no such bound for ``combine="leader"``.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

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

    experts_ = experts_
    retire = retire
