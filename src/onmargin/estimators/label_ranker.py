"""Passive-aggressive label ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin._core.rows import Rows
from onmargin.estimators._checks import check_weight
from onmargin.estimators._estimator import MatrixLike
from onmargin.estimators._fitted_attributes import Classes, KernelSupports
from onmargin.estimators._label_ranking import ranking_precision, ranks_of
from onmargin.estimators._linear_estimator import LinearEstimator
from onmargin.learner import as_rows
from onmargin.models.described import described
from onmargin.models.label_ranking import LabelRankerOptions
from onmargin.models.label_sets import LabelSets, quote, read_label_sets, read_labels
from onmargin.models.plan import Plan


@described
@dataclass(kw_only=True, eq=False, repr=False)
class LabelRanker(KernelSupports, Classes, LinearEstimator, LabelRankerOptions):
    r"""Label ranking for multi-label data: every relevant label should score above every other label by a margin.

    An example has any number of relevant labels :math:`Y_t`. There is one prototype :math:`W_r` per label, with the
    score :math:`s_r = W_r \cdot x_t`. An example whose relevant labels all score at least 1 more than all others does
    not change the weights. Any other example moves them just far enough, to the solution of

    .. math::
        \min_W \tfrac12 \|W - W_t\|^2 + C\,\xi \quad\text{s.t.}\quad s_r - s_q \ge 1 - \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`) for the pair of a relevant label r and another label q that is violated most,
    which has the closed form :math:`\tau = \min(C, \ell / (2 \|x_t\|^2))`. Other updates move all pairs at once,
    without listing them. With `calibrate` one more label is learned, which must score below the relevant labels and
    above the others: it decides how many labels of the ranking to predict.

    Use it when an example has several labels and their order matters, such as suggested tags or topics of a text,
    especially on streams. It learns to rank labels, not the probability of each. If labels are predicted independently
    and the data set is fixed, compare it first with one batch classifier per label, such as
    :class:`sklearn.multiclass.OneVsRestClassifier` of :class:`sklearn.svm.LinearSVC`. For one label per example, use
    :class:`PassiveAggressiveClassifier`. If labels are noisy, or examples have several, ``update="simproj"`` predicts
    better sets.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Labels, sorted; for indicator matrices ``0, ..., n_labels - 1``.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of each label, with `calibrate` minus those of the calibration label, so that ``X @ coef_.T +
        intercept_`` is the decision function.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts of each label, with `calibrate` minus that of the calibration label.
    support_ : ndarray of shape (n_support,)
        With a kernel: indices of the supports among the rows of all calls.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        With a kernel: the rows that are supports.
    dual_coef_ : ndarray of shape (n_labels, n_support)
        With a kernel: the coefficients of the supports.
    n_support_ : int
        With a kernel: the number of supports.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes (examples with a pair of labels in the wrong order, or equal), updates, losses, dual value and
        largest squared norm so far, of the current weights, not of the averaged ones.

    See Also
    --------
    PassiveAggressiveClassifier : One label per example.
    sklearn.multiclass.OneVsRestClassifier : One independent classifier per label.

    Notes
    -----
    [JMLR] sec. 7 and [SIMPROJ] sec. 3 and 5. A round costs O(non-zeros times labels), plus O(labels log labels) for the
    updates of all pairs. For any weights u, with :math:`R^2` twice the largest squared norm of a row and
    :math:`\ell^*_t` the losses of u, the mistakes of "max", "conproj" and "exact" are at most :math:`(\|u\|^2/2 + C
    \sum_t \ell^*_t) / (C' - C'^2 R^2 / 2)` with :math:`C' = \min(C, 1/R^2)`. The same with :math:`C' = C` holds for
    "simperc" and "conopt" if :math:`C < 2/R^2`; with a large C "conopt" may diverge, as "simopt" may. The losses of
    PA-II obey :math:`\sum_t \ell_t^2 \le (R^2 + 1/(2C)) (\|u\|^2 + 2C \sum_t \ell^{*2}_t)`.

    An example with all or no labels relevant has no pairs. With ``calibrate=False`` it does not change the weights;
    with ``calibrate=True`` it still has pairs with the calibration label.

    Deviations from the papers: the calibration label, an additional label that no example has. "exact" has a closed
    form only for pairs of relevant and other labels, so it cannot be calibrated. The intercept is a constant feature,
    and example weights multiply C. Ties are ranked in the order of the labels.

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

    def fit(self, X: MatrixLike, Y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to all examples, in several passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels), or list of label sets
            Relevant labels: an indicator matrix of 0 and 1, or one set, list or tuple of labels per example, all
            strings or all integers. A list is always read as label sets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._start_fitting() as plan:
            warm = self._go_on()
            X, rows = self._examples(plan, X, keep=warm)
            sets = read_label_sets(Y, rows.n_rows)
            weight = check_weight(sample_weight, rows.n_rows)
            self._admit(plan, X, sets, new=not warm)
            self._model.add_labels(sets.labels.tolist())
            if len(self.classes_) < 2 - self._has_calibration_label:
                needed = "one label" if self._has_calibration_label else "two labels"
                raise ValueError(
                    f"fit needs at least {needed} with calibrate={self.calibrate}, and Y has {len(self.classes_)}. "
                    "To learn from a stream in which others come later, call partial_fit."
                )
            self._model.set_task()
            self._run_passes(rows, sets.codes(self.classes_), weight, targets=sets.offsets)
        return self

    def partial_fit(
        self, X: MatrixLike, Y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn examples in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels), or list of label sets
            Relevant labels, as for `fit`. New labels in label sets are added where they first occur. The width of an
            indicator matrix is fixed by the first call.
        classes : array-like of shape (n_labels,), default=None
            Labels that are known from the start, for label sets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with self._start_learning() as (plan, transaction):
            first = not self._has_begun
            X, rows = self._examples(plan, X, keep=not first)
            sets = read_label_sets(Y, rows.n_rows)
            weight = check_weight(sample_weight, rows.n_rows)
            live = np.ones(len(sets), bool) if weight is None else weight > 0
            self._admit(plan, X, sets, new=first, classes=classes)
            self._model.set_task()
            self.n_iter_ = 1
            for start, stop, newcomers in sets.segments(self.classes_, live):
                transaction.commit()
                self._model.add_labels(newcomers.tolist())
                for first_row, end in self._learner.stretches(rows, start, stop):
                    transaction.commit()
                    part = sets.part(first_row, end)
                    self._learner.learn(
                        rows.part(first_row, end),
                        part.codes(self.classes_),
                        None if weight is None else weight[first_row:end],
                        targets=part.offsets,
                        interruptible=self._learner.forks,
                    )
        return self

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the scores of the labels; higher scores are more relevant.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            With `calibrate`, minus the score of the calibration label, so that relevant labels are those above 0.
            Otherwise only the differences of scores are meaningful.
        """
        return self._scores(X)

    def rank(self, X: MatrixLike) -> NDArray[np.intp]:
        """Return the rank of each label for each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ranks : ndarray of shape (n_samples, n_labels)
            Ranks from 1, the label of highest score, to n_labels. Ties are ranked in the order of the labels. The
            labels in order are ``classes_[ranks.argsort(axis=1)]``.
        """
        return ranks_of(self._scores(X))

    def predict(self, X: MatrixLike) -> Any:
        """Predict the relevant labels, which score above the calibration label; requires ``calibrate=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_labels) or list of sets
            An indicator matrix of 0 and 1 if the first labels were given as one, otherwise a list of label sets.
        """
        check_is_fitted(self)
        if not self._has_calibration_label:
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

    def score(self, X: MatrixLike, Y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the label ranking average precision: the fraction of relevant labels among those above a relevant one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels), or list of label sets
            Relevant labels. Labels that were never learned come last in the ranking.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples in the average.

        Returns
        -------
        precision : float
            Mean over the examples, between 0 and 1, of
            :func:`sklearn.metrics.label_ranking_average_precision_score`.
        """
        scores = self._scores(X)
        sets = read_label_sets(Y, len(scores))
        self._check_labels(sets.labels, sets.width)
        return ranking_precision(sets, self.classes_, scores, sample_weight)

    def _check_model(self, plan: Plan) -> None:
        super()._check_model(plan)
        if not isinstance(self._indicator, bool):
            raise ValueError(f"_indicator must be a bool; got {self._indicator!r:.60}")

    def _examples(self, plan: Plan, X: Any, *, keep: bool) -> tuple[Any, Rows]:
        if not (keep and self._is_plain(X)):
            X = self._check_input(X, keep=keep, dtypes=plan.rows.dtypes)
        return X, as_rows(X)

    def _admit(self, plan: Plan, X: Any, sets: LabelSets, classes: Any = None, *, new: bool) -> None:
        """Begin a model if `new`; refuse labels that do not match the known ones, and add those given as classes."""
        if new:
            self._indicator = sets.width is not None
            self._begin(plan, X, known=np.zeros(0, dtype=np.int64))
            self._model.add_labels(range(sets.width or 0))
        else:
            self.densify()
            self._model.use_plan(plan)
        if classes is not None:
            if isinstance(classes, str) or not isinstance(classes, Iterable):
                raise ValueError(f"classes must be a list or one-dimensional array of labels; got {quote(classes)}")
            given = read_labels(list(classes), lambda k: "classes")
            self._check_labels(given, None)
            self._model.add_labels(given.tolist())
        self._check_labels(sets.labels, sets.width)

    def _check_labels(self, labels: NDArray[Any], width: int | None) -> None:
        """Refuse an indicator matrix of a different width than before, and labels of a different type."""
        n = len(self.classes_)
        numbered = np.array_equal(self.classes_, np.arange(n))
        if width is not None and not (numbered and width == n):
            fix = f"give a matrix of {n} columns" if numbered and n else "give a list of label sets"
            raise ValueError(
                f"Y is an indicator matrix of {width} columns, but the {n} labels learned so far are "
                f"{quote(self.classes_.tolist())}: {fix}, or start over with fit"
            )
        if len(labels) and n and (labels.dtype.kind == "U") != (self.classes_.dtype.kind == "U"):
            raise ValueError(
                f"labels must be all strings or all integers: {quote(labels[0])} is new, and "
                f"{quote(self.classes_[0])} was learned already. Convert them with str or int."
            )
        new = LabelSets(labels, np.array([0, len(labels)])).unknown(self.classes_)
        if self._indicator and new.any():
            raise ValueError(
                f"the label {quote(labels[new][0])} is not one of 0 to {n - 1}, the columns of the indicator matrix "
                "that this model started with. To allow new labels, start with label sets."
            )

    @property
    def _has_calibration_label(self) -> bool:
        """Whether there is a calibration label, as set when training began."""
        return bool((self._model.fixed or {}).get("calibrate", self.calibrate))

    def _show_columns(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the columns of the labels minus that of the calibration label; margins depend only on these."""
        n = len(self.classes_)
        if not self._has_calibration_label:
            return np.asarray(columns[:n])
        most = np.finfo(columns.dtype).max
        with np.errstate(over="ignore"):  # differences that overflow are clipped, as scores are
            return np.asarray(np.clip(columns[:n] - columns[n:], -most, most))
