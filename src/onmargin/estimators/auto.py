"""Learners for people who do not want to choose."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from onmargin._core.tasks.task import Task
from onmargin.estimators._auto import AutoLearner
from onmargin.estimators.classifier import PassiveAggressiveClassifier
from onmargin.estimators.regressor import PassiveAggressiveRegressor
from onmargin.models.experts import CLASSIFIERS, REGRESSORS, class_tasks, members
from onmargin.models.rules import Rule


class AutoClassifier(AutoLearner, PassiveAggressiveClassifier):
    r"""Classifier with nothing to tune: experts learn side by side, and predict together.

    They are of different families: passive-aggressive steps in AdaGrad's metric and in one free of units, descent of
    the hinge and of the logistic loss, AROW, SCW, and an AROW that forgets, for targets that move. There are seven for
    sparse rows. For dense ones there are eleven: five of these, and six that learn from rows standardized by the rows
    before, of which two predict with averaged weights. What the first rows are decides. A vote counts for
    :math:`p_m \propto \exp(-\eta M_m)`, where :math:`M_m` are the mistakes of an expert so far and :math:`\eta \le 0.1`
    falls as slowly as the stream allows (AdaHedge): where one expert is clearly best its vote is all that counts.

    Use it first, and as the measure of what you tune yourself; tables need no scaling before it. It costs seven to
    twenty times as much as one model of two classes, and more where there are many; take the expert that leads, which
    ``experts_`` names, once you know your stream.

    Parameters
    ----------
    combine : {"hedge", "leader"}, default="hedge"
        Predict by the vote, or with the expert of the fewest mistakes so far, whose margins `decision_function` then
        gives.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed; for
        experts on standardized rows, of the first of those.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`: validation score)
        was not better by `tol` than the best before. None: all `max_iter` passes are made.
    early_stopping : bool, default=False
        Whether `fit` holds out a stratified part of the data and judges a pass by the accuracy there.
    validation_fraction : float, default=0.1
        The part held out, between 0 and 1.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling and of the validation split.
    warm_start : bool, default=False
        Whether `fit` goes on from what it finds.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weight of examples by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit`
        from the counts so far.

    Attributes
    ----------
    experts_ : Standing
        Names, mistakes, losses, votes and coefficients of the experts, and which one leads.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the expert that leads, for rows as they come.
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
    costs); the vote itself errs at most twice as often, and in practice less often. There is no such bound for
    ``combine="leader"``. Standardized numbers of the row after t others are held to :math:`\pm\sqrt t`. Example and
    class weights multiply the steps, not the mistakes that votes are weighed by.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import AutoClassifier, PassiveAggressiveClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AutoClassifier().partial_fit(X, y)
    >>> model.experts_.names[model.experts_.leader]
    'AROW that forgets, standardized'
    >>> model.totals_.mistakes, PassiveAggressiveClassifier().partial_fit(X, y).totals_.mistakes
    (107, 205)
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = PassiveAggressiveClassifier._rules | AutoLearner._rules
    _experts = CLASSIFIERS

    C = 1.0
    loss = "hinge"

    def __init__(
        self,
        *,
        combine: str = "hedge",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.combine = combine
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight

    def _tasks(self) -> list[Task]:
        return class_tasks(len(self.classes_), self._judge(), members(self))


class AutoRegressor(AutoLearner, PassiveAggressiveRegressor):
    r"""Regressor with nothing to tune: experts learn side by side, and predict together.

    They are passive-aggressive steps in AdaGrad's metric and in one free of units, and AROW with several degrees of
    caution, one of which forgets: six for sparse rows, and eight for dense ones, where five learn from rows
    standardized by the rows before. What the first rows are decides. None depends on the units of the target. The
    prediction is the mean of theirs, each with the weight :math:`p_m \propto \exp(-\eta L_m)`, where :math:`L_m` are
    the absolute errors of an expert so far and :math:`\eta` falls as slowly as the stream allows (AdaHedge).

    Use it first, and as the measure of what you tune yourself; tables need no scaling before it. It costs seven to
    twenty times as much as one model; take the expert that leads, which ``experts_`` names, once you know your stream.

    Parameters
    ----------
    combine : {"hedge", "leader"}, default="hedge"
        Predict the weighted mean, or with the expert of the least error so far.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed; for
        experts on standardized rows, of the first of those.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`: validation score)
        was not better by `tol` than the best before. None: all `max_iter` passes are made.
    early_stopping : bool, default=False
        Whether `fit` holds out a part of the data and judges a pass by the R² there.
    validation_fraction : float, default=0.1
        The part held out, between 0 and 1.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling and of the validation split.
    warm_start : bool, default=False
        Whether `fit` goes on from what it finds.

    Attributes
    ----------
    experts_ : Standing
        Names, losses, weights and coefficients of the experts, and which one leads.
    coef_ : ndarray of shape (n_features,)
        Weights of the expert that leads, for rows as they come.
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
    absolute error of a mean being at most the mean of absolute errors. There is no such bound for
    ``combine="leader"``.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from onmargin import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoRegressor().partial_fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = PassiveAggressiveRegressor._rules | AutoLearner._rules
    _experts = REGRESSORS

    C = 1.0
    epsilon = 0.0
    loss = "epsilon_insensitive"

    def __init__(
        self,
        *,
        combine: str = "hedge",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        self.combine = combine
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start

    def _tasks(self) -> list[Task]:
        return [self._judge()] * len(members(self))
