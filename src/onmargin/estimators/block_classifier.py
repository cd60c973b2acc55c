"""Classification of blocks: several instances, predicted together, that must all be right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from onmargin._checks import check_classes, check_labels, plain
from onmargin._core.geometries.geometry import ColumnMap
from onmargin.estimators._checks import check_weight, live
from onmargin.estimators._estimator import MatrixLike
from onmargin.estimators._fitted_attributes import Classes
from onmargin.estimators._linear_estimator import LinearEstimator
from onmargin.estimators._trials import read_trials, trial_weights, two_classes, with_prices
from onmargin.learner import Offsets, Vector
from onmargin.models.described import described
from onmargin.models.labels import Labels
from onmargin.models.plan import Plan
from onmargin.models.trials import BlockOptions


@described
@dataclass(kw_only=True, eq=False, repr=False)
class BlockClassifier(ClassifierMixin, Classes, LinearEstimator, BlockOptions):  # type: ignore[misc]
    r"""Block classifier: binary classification of groups of instances (trials) that must all be right.

    A trial is the rows of X of one group, :math:`x_1, \dots, x_k` with labels :math:`y_j = \pm 1`. If all instances
    have the margin, the weights do not change; otherwise they move towards the solution of

    .. math::
        \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad
        y_j\, w \cdot x_j \ge \text{margin} - \xi\ \ \forall j,\ \xi \ge 0.

    The loss of a trial is the largest hinge loss of its instances. The `update` schemes solve the problem for only the
    most violated constraint, for all constraints jointly, or in between.

    Use it where one decision is a list of binary ones: preferences within a query, the right candidate against each of
    the others (rows that are differences of feature vectors, labels that are all +1), or an example with several views.
    For independent rows, use :class:`PassiveAggressiveClassifier`: the rows of a trial share one C and are learned from
    the same weights.

    Parameters
    ----------
    shuffle : bool, default=True
        Whether `fit` shuffles the trials before each pass; the rows of a trial keep their order. `partial_fit` never
        shuffles.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights; a view of the learned weights, unless they are averaged or on the simplex.
    intercept_ : ndarray of shape (1,)
        Intercept, in score units.
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is +1.
    t_ : float
        One plus the number of trials.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds (trials), mistakes (imperfect trials: at least one row was wrong), updates, losses, dual value, largest
        squared norm of a row (on the simplex, the square of its largest value), and cost: the sum over the trials of
        the fraction of imperfect sets. Without `sets` the cost is the number of mistakes. All are of the current
        weights, not of the averaged ones.

    See Also
    --------
    PassiveAggressiveClassifier : For independent rows, and for several classes.

    Notes
    -----
    [SIMPROJ] sec. 2 to 5. A trial costs O(non-zeros), and "exact" O(k non-zeros + k²) and more for k rows: it solves a
    quadratic program of k variables.

    For any weights u and margin 1, with :math:`R^2` the largest squared norm of a row and :math:`\ell^*_t` the losses
    of u, the imperfect trials of "max", "conproj" and "exact" are at most

    .. math:: \frac{\tfrac12 \|u\|^2 + C \sum_t \ell^*_t}{C' - \tfrac12 C'^2 R^2}, \qquad C' = \min(C, 1/R^2),

    and those of "conopt" and "simperc" if :math:`C' = C < 2/R^2`; the predictions of "simperc" do not depend on C.
    "simproj" and "simopt" have no such bound, and can make more mistakes than it allows; they often make far fewer.
    With `sets` and :math:`C < 2/R^2` the bound is on ``totals_.cost``, and "max" has no bound either.

    On the simplex, the projection onto a half-space :math:`z \cdot w \ge \gamma` uses the :math:`\alpha \le C` for
    which :math:`w_i e^{\alpha z_i} / Z` satisfies it, in closed form for rows of -1, 0 and 1 and by root finding
    otherwise. For u on the simplex, H its entropy and R the largest value of a row, the imperfect trials of "max" and
    "conproj" are at most

    .. math:: \frac{\ln n - H(u) + C \sum_t \ell^*_t}{\gamma C' - \tfrac12 C'^2 R^2}, \qquad C' = \min(C, \gamma/R^2),

    and those of "simperc" if :math:`C' = C < 2\gamma/R^2`. A warning is issued if no weights on the simplex give any
    row of the first call the margin.

    With prices :math:`\nu_j` the steps of a trial obey :math:`\sum_j \nu_j \tau_j \le C`: the dual of the problem above
    with :math:`1 - \nu_j \xi` instead of :math:`1 - \xi` ([SIMPROJ] sec. 10). The step of a single row is at most
    :math:`C/\nu_j`, and "simopt", "conopt" and "exact" share C under that constraint. ``totals_.loss`` does not include
    prices; the dual value is that of losses divided by their prices.

    Deviations from the paper: SimOpt has no guarantee, although Cor. 4 claims one; "conopt" is SimOpt on wrong
    instances, which has a guarantee for small C. Corollary 5 holds for the fraction of imperfect sets, not for the
    hinge loss. Thm. 6 and Cor. 8 are printed without the :math:`\gamma` in the denominator, and do not hold in that
    form. Zero rows, and on the simplex rows whose values are all equal, make a trial imperfect and do not change the
    weights. The intercept is a constant feature; weights of trials multiply C.

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

    if TYPE_CHECKING:
        _last_group: Any = field(init=False)  # of the previous call; None if it had no groups

    def _check_model(self, plan: Plan) -> None:
        self._both(np.array(self._model.labels.check()), "a file")
        self._model.check(plan, add_labels=lambda twin, labels: None)  # both classes share one vector

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sets: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        prices: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to all trials, in several passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Labels, of two classes.
        groups : array-like of shape (n_samples,), default=None
            The trial of each row: integers, strings or other ids. The rows of a trial must be adjacent. If None, every
            row is its own trial.
        sets : array-like of shape (n_samples,), default=None
            Ids that divide each trial into sets. Its loss is then the mean over the sets of the largest loss in each,
            and every set has an equal share of C. If None, a trial is one set.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C, the same for all rows of a trial; a trial of weight 0 is skipped.
        prices : array-like of shape (n_samples,), default=None
            Share of its trial's C that a step of size 1 along each row uses, at least 0: rows with a higher price move
            the weights less, and a row of price 0 is limited only by its loss. If None, all prices are 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._start_fitting() as plan:
            warm = self._go_on()
            if warm:
                self._model.use_plan(plan)
            X, y, rows = self._validate(X, y, keep=warm, dtypes=plan.rows.dtypes)
            check_labels(y, *([self.classes_] if warm else []))
            ends, numbers, ids = read_trials(groups, sets, len(y))
            weight = check_weight(sample_weight, len(y))
            labels = live(y, weight)
            if not warm:
                self._begin(plan, live(X, weight), known=two_classes(np.unique(labels), "fit"))
                plan.rows.check(X, weight, self._learner.geometry, first=True)
            elif len(self.classes_) == 1:
                self._add_label(two_classes(np.union1d(self.classes_, labels), "fit"))
            self._check_known(labels)
            target, weight = self._target(y, numbers), trial_weights(weight, ends)
            self._model.set_task()
            self._last_group = None if ids is None else plain(ids[-1])
            target, targets = self._price(target, ends, prices)
            self._run_passes(rows, target, weight, trials=ends, targets=targets)
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
        prices: ArrayLike | None = None,
    ) -> Self:
        """Learn trials in the given order, one round each; splitting a stream between trials changes nothing.

        All rows of a trial must be passed in one call. If the first group has the id of the last group of the previous
        call, it is taken for the rest of that trial, and an error is raised.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Labels.
        groups : array-like of shape (n_samples,), default=None
            The trial of each row, as in `fit`.
        sets : array-like of shape (n_samples,), default=None
            Ids that divide each trial into sets, as in `fit`.
        classes : array-like of shape (2,), default=None
            Both labels. If None, a single label is learned as the first of two. The entropic geometry, whose weights
            have no opposite, needs both labels in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C, the same for all rows of a trial; a trial of weight 0 is skipped.
        prices : array-like of shape (n_samples,), default=None
            Share of its trial's C that a step of size 1 along each row uses, at least 0: rows with a higher price move
            the weights less, and a row of price 0 is limited only by its loss. If None, all prices are 1.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with self._start_learning() as (plan, transaction):
            first = not self._has_begun
            if not first:
                self.densify()
                self._model.use_plan(plan)
            X, y, rows = self._validate(X, y, keep=not first, dtypes=plan.rows.dtypes)
            known = None if classes is None else check_classes(classes)
            check_labels(y, *([] if known is None else [known]), *([] if first else [self.classes_]))
            ends, numbers, ids = read_trials(groups, sets, len(y))
            weight = check_weight(sample_weight, len(y))
            labels = live(y, weight)
            if first:
                some = self._both(np.unique(labels) if known is None else known, "the first partial_fit")
                self._begin(plan, live(X, weight), known=some)
                plan.rows.check(X, weight, self._learner.geometry, first=True)
                self._last_group = None
            elif len(self.classes_) == 1:
                self._add_label(labels if known is None else known)
            elif known is not None and not np.array_equal(known, self.classes_):
                raise ValueError(f"classes must stay the same: they are {self.classes_.tolist()}; got {classes!r}")
            self._check_known(labels)
            self._check_group(ids)
            target, weight = self._target(y, numbers), trial_weights(weight, ends)
            target, targets = self._price(target, ends, prices)
            self._model.set_task()
            self.n_iter_ = 1
            for start, stop in self._learner.stretches(rows, 0, len(ends) - 1, ends):
                transaction.commit()
                part, offsets = slice(ends[start], ends[stop]), ends[start : stop + 1] - ends[start]
                self._last_group = None if ids is None else plain(ids[part.stop - 1])
                self._learner.learn(
                    rows.part(part.start, part.stop),
                    target[targets[start] : targets[stop]],
                    None if weight is None else weight[start:stop],
                    trials=offsets,
                    targets=targets[start : stop + 1] - targets[start],
                )
        return self

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the score of each row, independently of its trial.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``. If there is one class so far, negative for it.
        """
        return self._scores(X)[:, 0]

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Predict the label of each row, independently of its trial.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One label per row. A score of zero predicts ``classes_[1]``.
        """
        scores = self._scores(X)
        codes = np.minimum(self._learner.task.decode(scores), len(self.classes_) - 1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def trial_score(self, X: MatrixLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Return the fraction of perfect trials, in which every row is classified correctly with a non-zero score.

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

    def _both(self, labels: NDArray[Any], call: str) -> NDArray[Any]:
        """Return the classes; refuse more than two, and a single one that cannot be learned."""
        return labels if len(labels) == 1 and self.geometry == "euclidean" else two_classes(labels, call)

    def _add_label(self, labels: NDArray[Any]) -> None:
        """Add the second class, if there is one; if it is the first in order, the signs of the weights change."""
        known = self._both(np.union1d(self.classes_, labels), "partial_fit")
        if known[0] != self.classes_[0]:
            self._model.learner.recombine(ColumnMap(np.zeros(1, np.intp), np.array([-1.0])))
        self._model.labels = Labels(known)

    def _check_known(self, labels: NDArray[Any]) -> None:
        other = ~np.isin(labels, self.classes_)
        if other.any():
            raise ValueError(
                f"y must hold the two labels {self.classes_.tolist()} only; got {plain(labels[other][0])!r}. "
                "For more than two classes use PassiveAggressiveClassifier."
            )

    def _target(self, y: NDArray[Any], numbers: Vector | None) -> Vector:
        """Return the labels as -1 and +1, times the number of the row's set."""
        signs = np.where(y == self.classes_[0], -1.0, 1.0)
        return signs if numbers is None else signs * numbers

    def _price(self, target: Vector, ends: Offsets, prices: ArrayLike | None) -> tuple[Vector, Offsets]:
        joined, targets = with_prices(target, ends, prices)
        if prices is not None and (self.update == "simperc" or self.geometry == "entropic") and not np.all(prices):
            raise ValueError(
                'prices must be above 0 with update="simperc" and with geometry="entropic", whose steps only C limits; '
                "got 0"
            )
        return joined, targets

    def _check_group(self, ids: NDArray[Any] | None) -> None:
        """Refuse the rest of a trial that the previous call has learned."""
        if ids is not None and self._last_group is not None and plain(ids[0]) == self._last_group:
            raise ValueError(
                f"trial {self._last_group!r} was already learned: give all rows of a trial in one call, and another "
                "trial another id in groups"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self.geometry == "entropic"  # on data that need negative weights
        return tags
