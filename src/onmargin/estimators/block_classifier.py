"""Classification of blocks: trials of several instances that must all be right at once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from onmargin._checks import check_classes, check_labels, plain
from onmargin._core.tasks.task import Task
from onmargin._core.tasks.trial import Block
from onmargin.estimators._blocks import BlockLearner
from onmargin.estimators._checks import check_weight, live
from onmargin.estimators._online import MatrixLike
from onmargin.estimators._trials import read_trials, trial_weights, two_classes
from onmargin.learner import Vector
from onmargin.models.updates import check_combination


class BlockClassifier(ClassifierMixin, BlockLearner):  # type: ignore[misc]
    r"""Classifier of blocks: trials of several instances, predicted by one vector of weights and all to be right.

    A trial is the rows of X of one group, :math:`x_1, \dots, x_k` with labels :math:`y_j = \pm 1`. If all of them have
    the margin, it leaves the weights alone; otherwise they move towards the solution of

    .. math::
        \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad
        y_j\, w \cdot x_j \ge \text{margin} - \xi\ \ \forall j,\ \xi \ge 0.

    Its loss is the largest of the instances' hinge losses. The schemes of `update` are ways to solve it, from the one
    constraint that is violated most to all of them jointly.

    Use it where one decision is a list of binary ones: preferences within a query, the right candidate against each of
    the others (rows that are differences of feature vectors, labels that are all +1), or an example that comes in
    several views. Where rows stand alone, use :class:`PassiveAggressiveClassifier`: the rows of a trial share one C,
    and are learned from the same weights.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the most that the step sizes of a trial may sum to. Smaller is more cautious and better
        under noise. "simperc", "exact" and the entropic geometry need a finite C.
    margin : float or None, default=None
        The margin asked for, above 0. None: 1, and 0.1 for the entropic geometry, whose scores are at most the largest
        number of a row. For plain weights it sets the scale of C: margin m with C is margin 1 with C / m.
    update : str, default="max"
        How a trial moves the weights. "max": onto the instance of largest loss alone. "exact": to the solution of the
        problem above. "simproj" takes the mean of the projections onto all instances that lack the margin, "simopt"
        weighs them; neither has a mistake bound. The like on wrong instances only, with one: "conproj", for small C
        "conopt" and, with steps of a fixed size, "simperc".
    fit_intercept : bool, default=False
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm. Off by default,
        since rows that are differences of feature vectors have none, and the papers' blocks neither.
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
        Whether `fit` shuffles the trials before each pass; never the rows of a trial. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    average : bool or int, default=False
        Whether to predict with the mean of the weights after each trial; an integer above 1 is the trial it starts at.
    geometry : {"euclidean", "entropic"}, default="euclidean"
        "entropic": weights are on the simplex, at least 0 and of sum 1, and multiplied instead of added to. Where few
        of very many features matter. It has the updates "max", "simperc", "conproj" and "simproj", needs a finite C,
        and has no intercept and no averaging.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights; a view of those that are learned, unless they are averaged or on the simplex.
    intercept_ : ndarray of shape (1,)
        Intercept, in score units.
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is +1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of trials.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds (trials), mistakes (imperfect trials: at least one row was wrong), updates, losses, dual value, largest
        squared norm of a row (on the simplex, the square of its largest number), and cost: the sum over the trials of
        the part of their sets that were imperfect. Without `sets` the cost is the number of mistakes. All of the
        weights that learn, not of their mean.

    See Also
    --------
    PassiveAggressiveClassifier : For rows that stand alone, and for several classes.

    Notes
    -----
    [SIMPROJ] sec. 2 to 5. A trial costs O(non-zeros), and "exact" O(k non-zeros + k²) and more for k rows: it solves a
    quadratic programme of k variables.

    For any weights u and margin 1, with :math:`R^2` the largest squared norm of a row and :math:`\ell^*_t` the losses
    of u, the imperfect trials of "max", "conproj" and "exact" are at most

    .. math:: \frac{\tfrac12 \|u\|^2 + C \sum_t \ell^*_t}{C' - \tfrac12 C'^2 R^2}, \qquad C' = \min(C, 1/R^2),

    and those of "conopt" and "simperc" if :math:`C' = C < 2/R^2`; the predictions of "simperc" do not depend on C.
    "simproj" and "simopt" have no such bound, and can make more mistakes than it says; they often make far fewer. With
    `sets` and :math:`C < 2/R^2` the bound is one on ``totals_.cost``, and "max" has none either.

    On the simplex a half-space :math:`z \cdot w \ge \gamma` is projected onto by the :math:`\alpha \le C` for which
    :math:`w_i e^{\alpha z_i} / Z` meets it, in closed form for rows of -1, 0 and 1 and by root finding otherwise. For u
    on the simplex, H its entropy and R the largest number of a row, the imperfect trials of "max" and "conproj" are at
    most

    .. math:: \frac{\ln n - H(u) + C \sum_t \ell^*_t}{\gamma C' - \tfrac12 C'^2 R^2}, \qquad C' = \min(C, \gamma/R^2),

    and those of "simperc" if :math:`C' = C < 2\gamma/R^2`. If no weights on the simplex give any row of the first call
    the margin, a warning says so.

    Deviations from the paper: SimOpt has no guarantee, though Cor. 4 claims one; "conopt" is SimOpt on wrong instances,
    which has it for small C. Corollary 5 holds for the part of imperfect sets and not for the hinge loss. Thm. 6 and
    Cor. 8 are printed without the :math:`\gamma` of the denominator, and do not hold so. Rows that are zero, and on the
    simplex rows whose numbers are all the same, make a trial imperfect and move nothing. The intercept is a constant
    feature; weights of trials multiply C.

    References
    ----------
    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    Blocks of ten rows, labelled by the sign of a sum:

    >>> import numpy as np
    >>> from onmargin import BlockClassifier
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (5000, 40))
    >>> y = X[:, :5].sum(axis=1) > 0
    >>> trial = np.arange(5000) // 10
    >>> model = BlockClassifier(update="exact").partial_fit(X, y, trial)
    >>> model.totals_.mistakes, model.totals_.rounds
    (23, 500)
    """

    classes_: NDArray[Any]
    _last_group: Any  # of the call before; None: it had no groups

    def __init__(
        self,
        *,
        C: float = 1.0,
        margin: float | None = None,
        update: str = "max",
        fit_intercept: bool = False,
        intercept_scaling: float | str = "auto",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int = False,
        geometry: str = "euclidean",
    ) -> None:
        self.C = C
        self.margin = margin
        self.update = update
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.geometry = geometry

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sets: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from all the trials in as many passes as it takes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances; dense C-contiguous or CSR, float32 or float64 are learned in place.
        y : array-like of shape (n_samples,)
            Labels, of two classes.
        groups : array-like of shape (n_samples,), default=None
            The trial of each row: integers, strings or other ids. The rows of a trial must be neighbours. None: every
            row is a trial of its own.
        sets : array-like of shape (n_samples,), default=None
            Ids that divide each trial into sets. Its loss is then the mean over the sets of the largest loss in each,
            and every set has an equal share of C. None: a trial is one set.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C, the same for all rows of a trial; a trial of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            self._check_combination()
            warm = self._go_on()
            X, y, rows = self._validate(X, y, keep=warm)
            check_labels(y, *([self.classes_] if warm else []))
            ends, numbers, ids = read_trials(groups, sets, len(y))
            weight = check_weight(sample_weight, len(y))
            labels = live(y, weight)
            if not warm:
                self.classes_ = two_classes(np.unique(labels), "fit")
                self._begin(live(X, weight))
            self._check_known(labels)
            target, weight = self._target(y, numbers), trial_weights(weight, ends)
            self._prepare()
            self._last_group = None if ids is None else plain(ids[-1])
            self._run_passes(rows, target, weight, trials=ends, targets=ends)
        return self

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sets: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn these trials in the given order, one round each. How a stream is cut between trials does not matter.

        All rows of a trial must come in one call. A first group with the id of the last one of the call before is taken
        for the rest of that trial, and refused.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances; dense C-contiguous or CSR, float32 or float64 are learned in place.
        y : array-like of shape (n_samples,)
            Labels.
        groups : array-like of shape (n_samples,), default=None
            The trial of each row, as in `fit`.
        sets : array-like of shape (n_samples,), default=None
            Ids that divide each trial into sets, as in `fit`.
        classes : array-like of shape (2,), default=None
            Both labels; needed in the first call if its y has one only.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C, the same for all rows of a trial; a trial of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            self._check_combination()
            first = not hasattr(self, "_learner")
            X, y, rows = self._validate(X, y, keep=not first)
            known = None if classes is None else check_classes(classes)
            check_labels(y, *([] if known is None else [known]), *([] if first else [self.classes_]))
            ends, numbers, ids = read_trials(groups, sets, len(y))
            weight = check_weight(sample_weight, len(y))
            labels = live(y, weight)
            if first:
                self.classes_ = two_classes(np.unique(labels) if known is None else known, "the first partial_fit")
                self._begin(live(X, weight))
                self._last_group = None
            elif known is not None and not np.array_equal(known, self.classes_):
                raise ValueError(f"classes must stay the same: they are {self.classes_.tolist()}; got {classes!r}")
            self._check_known(labels)
            self._meet_group(ids)
            target, weight = self._target(y, numbers), trial_weights(weight, ends)
            self._prepare()
            self._learner.learn(rows, target, weight, trials=ends, targets=ends)
            self.n_iter_ = 1
        return self

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Scores of the rows, whatever their trial.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        return self._scores(X)[:, 0]

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The labels of the rows, whatever their trial.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            A label for each row; a score of zero is ``classes_[1]``.
        """
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[self._learner.task.decode(scores)]
        return labels

    def trial_score(self, X: MatrixLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """The part of the trials that are perfect: every row on its side, and none with a score of zero.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Labels.
        groups : array-like of shape (n_samples,), default=None
            The trial of each row, as in `fit`.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        check_is_fitted(self)
        X, y, _ = self._validate(X, y, keep=True)
        check_labels(y, self.classes_)
        self._check_known(y)
        ends, _, _ = read_trials(groups, None, len(y))
        right = self._target(y, None) * self.decision_function(X) > 0
        return float(np.logical_and.reduceat(right, ends[:-1]).mean())

    def _check_known(self, labels: NDArray[Any]) -> None:
        other = ~((labels == self.classes_[0]) | (labels == self.classes_[1]))
        if other.any():
            raise ValueError(
                f"y must hold the two labels {self.classes_.tolist()} only; got {plain(labels[other][0])!r}. "
                "For more than two classes use PassiveAggressiveClassifier."
            )

    def _target(self, y: NDArray[Any], numbers: Vector | None) -> Vector:
        """Labels as the task wants them: -1 and +1, times the number of the row's set."""
        signs = np.where(y == self.classes_[1], 1.0, -1.0)
        return signs if numbers is None else signs * numbers

    def _meet_group(self, ids: NDArray[Any] | None) -> None:
        """Refuse the rest of a trial that was learned in the call before; remember the last one of this call."""
        if ids is not None and self._last_group is not None and plain(ids[0]) == self._last_group:
            raise ValueError(
                f"trial {self._last_group!r} was already learned: give all rows of a trial in one call, and another "
                "trial another id in groups"
            )
        self._last_group = None if ids is None else plain(ids[-1])

    def _task(self) -> Task:
        return Block(self._asked())

    def _check_combination(self) -> None:
        super()._check_combination()
        plain_weights = self.geometry == "euclidean"
        check_combination("fit_intercept", {"geometry='euclidean'": plain_weights or not self.fit_intercept})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
