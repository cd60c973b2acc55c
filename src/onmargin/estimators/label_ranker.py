"""Passive-aggressive label ranking."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._core.tasks.trial import Ranking
from onmargin.estimators._checks import check_weight
from onmargin.estimators._label_columns import LabelColumns
from onmargin.estimators._label_sets import read_label_sets
from onmargin.estimators._online import MatrixLike
from onmargin.models.rules import FLAG, Rule, Word
from onmargin.models.updates import PAIRS, check_combination


class LabelRanker(LabelColumns):
    r"""Passive-aggressive label ranker: every relevant label above every other one, by a margin.

    An example has any number of relevant labels :math:`Y_t`. There is one prototype :math:`W_r` a label, with the score
    :math:`s_r = W_r \cdot x_t`. An example whose relevant labels all score at least 1 more than all others leaves the
    weights alone. Any other moves them just far enough: to the solution of

    .. math::
        \min_W \tfrac12 \|W - W_t\|^2 + C\,\xi \quad\text{s.t.}\quad s_r - s_q \ge 1 - \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`) for the pair of a relevant label r and another label q that is violated most,
    which has the closed form :math:`\tau = \min(C, \ell / (2 \|x_t\|^2))`. Other updates move all pairs at once, and
    never list them. With `calibrate` one more label is learned, which the relevant labels must beat and which must beat
    the others: it says how many labels of the ranking to take.

    Use it when an example has several labels and their order matters: tags to suggest, topics of a text, on streams
    above all. It learns labels against each other, not the probability of each; where labels are to be judged each by
    itself and the data stay, one batch classifier a label, such as :class:`sklearn.multiclass.OneVsRestClassifier` of
    :class:`sklearn.svm.LinearSVC`, is the first thing to compare it with. For one label an example take
    :class:`PassiveAggressiveClassifier`. Under noise take a small C, or average.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the largest step (PA-I), the sum of all steps of a round (other updates) or the price
        of squared slack (PA-II). Smaller is more cautious and better under noise; ``inf`` gives plain PA.
    fit_intercept : bool, default=True
        Whether to learn an intercept a label: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss was not better by `tol` than the best
        before. None: all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II, which needs ``update="max"``.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    average : bool or int, default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at.
    update : str, default="max"
        Which pairs of labels a round moves. "max": the one violated most. All that are violated at once: "simproj"
        takes the mean of their projections, "simopt" weighs them, "exact" solves the joint problem (Sopopo). The like
        on pairs in the wrong order only: "simperc", "conproj", "conopt". **"simproj" and "simopt" have no mistake
        bound**, "conopt" has one for small C only; "simperc" needs a finite C, and "exact" ``calibrate=False``.
    calibrate : bool, default=True
        Whether to learn the calibration label too, and so which labels are relevant. False is the paper's algorithm,
        which ranks labels and cannot `predict` sets. It cannot change once something has been learned.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or None, default=None
        Learn in the feature space of a kernel: the weights are an expansion over the examples that moved them, and a
        round costs as much as there are of those. A callable gives the kernel values of the rows of two matrices;
        "precomputed": X holds them, n x n in `fit` and n_test x n in prediction.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "poly", "rbf" and "sigmoid", above 0. "scale" is ``1 / (n_features * X.var())`` of the X of `fit` or of the
        first `partial_fit`, "auto" is ``1 / n_features``.
    degree : int, default=3
        Of "poly", at least 0.
    coef0 : float, default=0.0
        Constant in "poly" and "sigmoid".
    budget : int or None, default=None
        With a kernel, the most supports to keep, at least 1; the bounds below then hold no more. None: all.
    budget_policy : {"projection", "forgetron", "oldest", "smallest"}, default="projection"
        What goes for a new support: that whose projection the new one can best take over, the oldest after all were
        shrunk, the oldest as it is, or that of the smallest contribution.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Labels, sorted; for indicator matrices ``0, ..., n_labels - 1``.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of each label, with `calibrate` less those of the calibration label, so that ``X @ coef_.T +
        intercept_`` is the decision function.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts, likewise.
    support_ : ndarray of shape (n_support,)
        With a kernel: which rows, counted over all calls, the supports are.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Those rows.
    dual_coef_ : ndarray of shape (n_labels, n_support)
        Their coefficients.
    n_support_ : int
        Their number.
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
        Rounds, mistakes (examples with a pair of labels in the wrong order, or equal), updates, losses, dual value and
        largest squared norm so far, of the weights that learn, not of their mean.

    See Also
    --------
    PassiveAggressiveClassifier : One label an example.
    sklearn.multiclass.OneVsRestClassifier : A classifier a label, each by itself.

    Notes
    -----
    [JMLR] sec. 7 and [SIMPROJ] sec. 3 and 5. A round costs O(non-zeros times labels), and O(labels log labels) to share
    out the updates of all pairs. For any weights u, with :math:`R^2` twice the largest squared norm of a row and
    :math:`\ell^*_t` the losses of u, the mistakes of "max", "conproj" and "exact" are at most :math:`(\|u\|^2/2 + C
    \sum_t \ell^*_t) / (C' - C'^2 R^2 / 2)` with :math:`C' = \min(C, 1/R^2)`. The same with :math:`C' = C` holds for
    "simperc" and "conopt" if :math:`C < 2/R^2`; with a large C "conopt" may diverge, as "simopt" may. The losses of
    PA-II obey :math:`\sum_t \ell_t^2 \le (R^2 + 1/(2C)) (\|u\|^2 + 2C \sum_t \ell^{*2}_t)`.

    An example all or none of whose labels are relevant has no pair. It teaches nothing with ``calibrate=False``; with
    ``calibrate=True`` it still has pairs with the calibration label.

    Deviations from the papers: the calibration label, which is one label more that no example has; "exact" has a closed
    form for pairs of relevant and other labels only, and so is not for calibrated ones. The intercept is a constant
    feature, and example weights multiply C. Of equal scores the first label comes first.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from onmargin import LabelRanker
    >>> X, Y = make_multilabel_classification(600, n_classes=8, random_state=0)
    >>> model = LabelRanker(average=True).partial_fit(X[:400], Y[:400])
    >>> round(model.score(X[400:], Y[400:]), 2)
    0.85
    >>> model = LabelRanker().partial_fit([[1, 0], [0, 1]] * 5, [{"sea", "sun"}, {"snow"}] * 5)
    >>> [sorted(labels) for labels in model.predict([[1, 0], [0, 1]])]
    [['sea', 'sun'], ['snow']]
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LabelColumns._rules | {
        "loss": (Word("hinge", "squared_hinge"),),
        "update": (Word("max", *PAIRS),),
        "calibrate": (FLAG,),
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int = False,
        update: str = "max",
        calibrate: bool = True,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: int | None = None,
        budget_policy: str = "projection",
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.update = update
        self.calibrate = calibrate
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.budget_policy = budget_policy

    def fit(self, X: MatrixLike, Y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all the data in as many passes as it takes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR, float32 or float64 are learned in place.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels), or list of label sets
            What is relevant: an indicator matrix of 0 and 1, or for each example a set, list or tuple of labels, all
            strings or all integers. A list is always read as label sets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            self._check_combination()
            warm = self._go_on()
            X, rows = self._examples(X, keep=warm)
            sets = read_label_sets(Y, rows.n_rows)
            weight = check_weight(sample_weight, rows.n_rows)
            self._admit(X, sets, new=not warm)
            self._meet(sets.labels)
            if len(self.classes_) < 2 - self._calibrated:
                needed = "one label" if self._calibrated else "two labels"
                raise ValueError(
                    f"fit needs at least {needed} with calibrate={self.calibrate}, and Y has {len(self.classes_)}. "
                    "To learn from a stream in which others come later, call partial_fit."
                )
            self._prepare()
            self._run_passes(rows, sets.codes(self.classes_), weight, targets=sets.offsets)
        return self

    def partial_fit(
        self, X: MatrixLike, Y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn these examples in the given order, one round each. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR, float32 or float64 are learned in place.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels), or list of label sets
            What is relevant, as for `fit`. Labels in sets that were not seen before are learned from where they first
            occur. The width of an indicator matrix is fixed by the first call.
        classes : array-like of shape (n_labels,), default=None
            Labels to count with from the start, for label sets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            self._check_combination()
            first = not hasattr(self, "_learner")
            X, rows = self._examples(X, keep=not first)
            sets = read_label_sets(Y, rows.n_rows)
            weight = check_weight(sample_weight, rows.n_rows)
            live = np.ones(len(sets), bool) if weight is None else weight > 0
            self._admit(X, sets, new=first, classes=classes)
            self._prepare()
            for start, stop, newcomers in sets.segments(self.classes_, live):
                self._meet(newcomers)
                part = sets.part(start, stop)
                self._learner.learn(
                    rows.part(start, stop),
                    part.codes(self.classes_),
                    None if weight is None else weight[start:stop],
                    targets=part.offsets,
                )
            self.n_iter_ = 1
        return self

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Scores of the labels: the higher, the more relevant.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            With `calibrate` less the score of the calibration label, so that relevant labels are those above 0.
            Otherwise only their differences mean something.
        """
        return self._scores(X)

    def rank(self, X: MatrixLike) -> NDArray[np.intp]:
        """The place of each label in the ranking of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ranks : ndarray of shape (n_samples, n_labels)
            Ranks from 1, the label of highest score, to n_labels; of equal scores the first label comes first. The
            labels in order are ``classes_[ranks.argsort(axis=1)]``.
        """
        scores = self._scores(X)
        order = np.argsort(-scores, axis=1, kind="stable")
        ranks = np.empty(scores.shape, dtype=np.intp)
        np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None], axis=1)
        return ranks

    def predict(self, X: MatrixLike) -> Any:
        """The labels that score above the calibration label, for ``calibrate=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_labels) or list of sets
            An indicator matrix of 0 and 1 if the first labels learned came as one, otherwise a list of label sets.
        """
        check_is_fitted(self)
        if not self._calibrated:
            raise ValueError(
                "calibrate=False learns to rank labels, not how many to take: use rank or decision_function, or learn "
                "with LabelRanker(calibrate=True)"
            )
        relevant = self._scores(X) > 0
        if self._indicator:
            return relevant.astype(np.intp)
        return [set(self.classes_[row].tolist()) for row in relevant]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    def _task(self) -> Task:
        return Ranking(every=self.update != "max", calibrated=self._calibrated)

    def _step(self) -> Step:
        return super()._step() if self.update == "max" else PAIRS[self.update](self.C)

    def _check_combination(self) -> None:
        check_combination(
            f"update={self.update!r}",
            {
                "loss='hinge'": self.update == "max" or self.loss == "hinge",
                "calibrate=False": self.update != "exact" or not self.calibrate,
                "a finite C": self.update != "simperc" or inf > self.C,
            },
        )
