"""Base class of linear classifiers: labels are columns of weights, and may appear at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from onmargin._checks import check_classes, check_labels, plain
from onmargin.estimators._checks import check_named, check_weight, live
from onmargin.estimators._early_stopping import hold_out
from onmargin.estimators._estimator import MatrixLike, early_stopping, validation_fraction
from onmargin.estimators._fitted_attributes import Classes
from onmargin.estimators._linear_estimator import LinearEstimator, as_matrix
from onmargin.learner import UnsoundRowError, Vector
from onmargin.models.explanation import Explanation
from onmargin.models.labels import Balance, weigh_by_counts, weigh_by_counts_so_far
from onmargin.models.model import FIRST_ROWS
from onmargin.models.reliability import Reliability


class TagsByIntercept:
    """A classifier that, without an intercept, fails on data that need one."""

    def __sklearn_tags__(self) -> Any:
        parent: Any = super()
        tags = parent.__sklearn_tags__()
        tags.classifier_tags.poor_score = not getattr(self, "fit_intercept", False)
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(Classes, LinearEstimator):
    """A scikit-learn classifier over a linear model.

    Parameters
    ----------
    early_stopping : bool, default=False
        Whether `fit` holds out a stratified part of the data, drawn with `random_state`, and stops by the accuracy on
        it instead of by the mean loss. Weights of examples and classes count in the accuracy.
    validation_fraction : float, default=0.1
        Fraction of the data to hold out, between 0 and 1.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; a view of the learned weights, unless they are averaged.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts, in score units.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,)
        Number of examples of each class learned so far; `partial_fit` computes "balanced" weights from it.
    reliability_ : Reliability
        How good the probabilities were, each computed before its example was learned: log loss, Brier score and
        calibration error.
    """

    early_stopping: bool = early_stopping()
    validation_fraction: float = validation_fraction()

    @property
    def class_counts_(self) -> Vector:
        """Number of examples of each class learned so far."""
        self._check_fitted()
        return self._model.labels.counts

    def _weigh(self, codes: NDArray[np.intp], weight: Vector | None, balance: Balance) -> Vector | None:
        """Return example weights times class weights, "balanced" ones by the given rule; also count the classes."""
        labels = self._model.labels
        self._model.labels = labels.with_examples(codes if weight is None else codes[weight > 0])
        if self.class_weight is None:
            return weight
        counted = np.ones(len(codes), bool) if weight is None else weight > 0
        factors = labels.weights(self.class_weight, codes, counted, balance)
        return factors if weight is None else weight * factors

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to all examples, in several passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Labels, of at least two classes.
        coef_init : array-like of shape (1, n_features) or (n_classes, n_features), default=None
            Weights to start from.
        intercept_init : array-like of shape (1,) or (n_classes,), default=None
            Intercepts to start from, in score units.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, which multiply C; an example of weight 0 is skipped. In
            `PassiveAggressiveClassifier` they also multiply the margin to which a mistake is moved.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._start_fitting() as plan:
            warm = self._go_on()
            X, y, rows = self._validate(X, y, keep=warm, dtypes=plan.rows.dtypes)
            check_labels(y, *([self.classes_] if warm else []))
            weight = check_weight(sample_weight, len(y))
            classes = np.unique(live(y, weight) if plan.classes.at_once else y)
            if len(classes) < 2:
                raise ValueError(
                    f"fit needs at least two classes, and y has one class only: {plain(classes[0])!r}. To learn from a "
                    "stream in which the others come later, call partial_fit, with classes= if they are known."
                )
            check_named(self.class_weight, "class_weight", classes)
            check_named(getattr(self, "class_margin", None), "class_margin", classes)
            if warm:
                self._model.use_plan(plan)
            else:
                self._begin(plan, X, weight=weight, known=classes[:0])
            self._model.add_labels(classes)
            plan.rows.check(X, weight, self._learner.geometry, first=not warm)
            self._model.set_task()
            self._start_from(coef_init, intercept_init)
            codes = self._model.labels.codes(y)
            weight = self._weigh(codes, weight, weigh_by_counts)
            if weight is not None and not weight.any():
                raise ValueError("class_weight and sample_weight leave nothing to learn: every example weighs 0")
            self._fit(
                rows,
                self._model.labels.targets(codes),
                weight,
                *hold_out(self, StratifiedShuffleSplit, X, y, weight),
            )
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn examples in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Labels. A new label becomes a class where it first occurs; a matrix of costs is for all classes, which must
            be in the first call. A single label is learned as the first of two classes.
        classes : array-like of shape (n_classes,), default=None
            Labels that are classes from the start.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, which multiply C; an example of weight 0 is skipped. In
            `PassiveAggressiveClassifier` they also multiply the margin to which a mistake is moved.

        Returns
        -------
        self : object
            The updated estimator.
        """
        try:
            return self._learn(X, y, classes, sample_weight, unchecked=True)
        except UnsoundRowError:
            return self._learn(X, y, classes, sample_weight, unchecked=False)

    def _learn(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
        *,
        unchecked: bool,
    ) -> Self:
        """Implement `partial_fit`; with `unchecked`, the rounds check a large X."""
        with self._start_learning() as (plan, transaction):
            first = not self._has_begun
            guarded = unchecked and self._is_guarded(plan, X, sample_weight, self.class_weight)
            X, y, rows = self._validate(X, y, keep=not first, dtypes=plan.rows.dtypes, guarded=guarded)
            known = y[:0] if classes is None else check_classes(classes)
            check_labels(y, known, *([] if first else [self.classes_]))
            weight = check_weight(sample_weight, len(y))
            if first:
                self._begin(plan, X, weight=weight, known=known[:0])
                self._model.first_rows = None if plan.ensemble is None else X[:FIRST_ROWS].copy()
            elif self._sparse_coef is not None:
                self.densify()
            if plan.classes.at_once:
                known = np.union1d(known, live(y, weight))
            if not first:
                self._model.use_plan(plan)
            if len(known):
                self._model.add_labels(known)
            geometry = self._model.learner.geometry
            if not geometry.symmetric:
                self._model.check_room(live(y, weight))
            plan.rows.check(X, weight, geometry, first=first)
            self.n_iter_ = 1
            if guarded:
                self._guard(transaction)
            for start, stop, newcomer in self._model.labels.segments(y, None if weight is None else weight > 0):
                if start > 0:
                    transaction.commit()
                if len(newcomer):
                    self._model.add_labels(newcomer)
                self._model.set_task()
                few = stop - start <= 16 or self._model.learner.forks
                pace = stop - start if few else self._model.learner.pace(rows)
                for first_row in range(start, stop, pace):
                    if first_row > start:
                        transaction.commit()
                    part, learner = slice(first_row, min(first_row + pace, stop)), self._model.learner
                    labels = self._model.labels
                    codes = labels.codes(y[part])
                    weighted = self._weigh(codes, None if weight is None else weight[part], weigh_by_counts_so_far)
                    piece, target = rows.part(part.start, part.stop), labels.targets(codes)
                    if guarded:
                        learner.learn_unchecked(piece, target)
                    else:
                        learner.learn(piece, target, weighted, interruptible=learner.forks)
        return self

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the scores of each class (the signed margin for two classes).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, one score per example, positive for ``classes_[1]``; otherwise one per class.
        """
        scores = self._scores(X)
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the class of highest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One label per example. Ties go to the first class; with two classes, a score of zero predicts
            ``classes_[1]``.
        """
        return self._scores(X, self._labels)

    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the probability of each class, calibrated on the examples learned so far.

        Calibration uses the score of each example before it is learned; `fit` calibrates in its first pass. The class
        of highest score, which `predict` returns, need not be the most probable one: calibration corrects scores that
        favor a class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``; rows sum to 1.
        """
        return self._raw_scores(X, self._probabilities)

    def predict_log_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            The logarithms of the probabilities of `predict_proba`.
        """
        return np.log(self.predict_proba(X))

    @property
    def reliability_(self) -> Reliability:
        """Reliability of the probabilities, each computed before its example was learned."""
        self._check_fitted()
        return Reliability.of(self._model.calibration)

    def _labels(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        classes = self.classes_
        labels: NDArray[Any] = classes[self._model.judge.decode(scores) if len(classes) > 1 else [0] * len(scores)]
        return labels

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._model.probabilities(scores)

    def _quality(self, scores: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None) -> float:
        return float(np.average(self._labels(scores) == y, weights=weight))

    def explain(self, x: Any, label: Any = None, top: int | None = None) -> Explanation:
        """Return the contribution of each feature to the score of an example; with the intercept they sum to the score.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), or sparse matrix of one row
            The example.
        label : str or int or None, default=None
            The label whose score to explain. If None, the predicted label. The score of the first of two classes is
            the negative decision function.
        top : int or None, default=None
            Maximum number of features. If None, all with a non-zero contribution.

        Returns
        -------
        contributions : Explanation
            A dict of contributions by the name of the feature, or by its index if the data have no names. The largest
            absolute values come first. Its attributes are the explained `label`, the `intercept` and the `score`.

        Notes
        -----
        The contribution of a feature to the score of a linear model is its weight times its value. If several models
        vote, or the leading one is not linear, the contributions are estimated Shapley values of the score, whose sum
        is exact.
        """
        self._check_fitted()
        x, n = as_matrix(x), self._model.labels.n_classes
        label = plain(self.predict(x)[0]) if label is None else label
        code = self._model.labels.code_of(label)
        return self._explain(x, label, np.array([2.0 * code - 1]) if n == 2 else np.eye(n)[code], top)
