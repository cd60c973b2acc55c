"""Classification with joint features of example and class: one weight vector over phi(x, r)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from onmargin._core.rows import Rows
from onmargin._core.tasks.trial import Ranking
from onmargin.estimators._checks import check_weight
from onmargin.estimators._label_ranking import ranking_precision, ranks_of
from onmargin.estimators._linear_estimator import LinearEstimator
from onmargin.estimators._phi import as_phi
from onmargin.learner import as_rows
from onmargin.models.described import described
from onmargin.models.label_sets import LabelSets, are_label_sets, one_each, read_label_sets
from onmargin.models.labels import Labels
from onmargin.models.phi import Call, Changing, Phi, Portion
from onmargin.models.plan import Plan
from onmargin.models.trials import ClassFeatureOptions, for_label_sets, transform_ahead


@described
@dataclass(kw_only=True, eq=False, repr=False)
class ClassFeatureClassifier(ClassifierMixin, LinearEstimator, ClassFeatureOptions):  # type: ignore[misc]
    r"""Classifier with one weight vector over joint features :math:`\phi(x, r)` of example x and class r.

    The predicted class has the highest :math:`w \cdot \phi(x, r)`. An example whose right class beats every rival by a
    margin of 1 (or of `margin`) does not change the weights. Any other example moves them just far enough, to the exact
    or approximate solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad
        w \cdot (\phi(x, y) - \phi(x, r)) \ge 1 - \xi\ \ \forall r \ne y,\ \xi \ge 0.

    An example may have any number of relevant labels, each of which should beat every other label; with `cost`, some
    mistakes can cost more than others.

    Use it where features describe how well an example and a class match (a query and a document, a message and a
    folder, a mention and an entity), and where classes come and go: the weights belong to features, not to classes, so
    a new class can be predicted from its features. If a class is known only by its examples, use
    :class:`PassiveAggressiveClassifier`, which learns one prototype per class.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of the learned weights, unless they are averaged or on the simplex.
    classes_ : ndarray of shape (n_classes,)
        The labels known so far.
    n_features_in_ : int
        Number of features of an example and class.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm of a feature vector so far, of the
        current weights, not of the averaged ones.

    See Also
    --------
    onmargin.features.ClassTermFeatures : Features from how frequent the words of a message are in a class so far.
    PassiveAggressiveClassifier : One prototype per class, over features of the example alone.
    BlockClassifier : Groups of instances that must all be right.

    Notes
    -----
    [JMLR] sec. 7 and 8 and [SIMPROJ] sec. 3. A round costs O(non-zeros of all its rows), and "exact" the inner products
    of all rivals' differences. Rivals with the same features as the right class cannot be separated from it by any
    weights; they count as mistakes. The mistake bounds are those of :class:`BlockClassifier`, with :math:`R^2` the
    largest :math:`\|\phi(x, y) - \phi(x, r)\|^2`, or, on the simplex, R the largest value of such a difference.

    There is no intercept: it would be the same for all classes.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.
    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    >>> from onmargin import ClassFeatureClassifier
    >>> def shared(text, label):
    ...     words, name = set(text.split()), set(label.split())
    ...     return [len(words & name), len(words), len(name - words)]
    >>> mail = ["red apple pie", "blue sky today", "apple tree", "a sky of stars"]
    >>> model = ClassFeatureClassifier(phi=shared).partial_fit(mail, ["apple", "sky", "apple", "sky"])
    >>> model.predict(["the sky", "an apple"]).tolist()
    ['sky', 'apple']
    """

    _flat = True

    if TYPE_CHECKING:
        _phi: Phi = field(init=False)

    def fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the model to all examples, in several passes.

        A transformer goes through the data once: each example keeps the features that it had before it was learned.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes, n_features), or what `phi` takes
            Features of each example and class, or examples.
        y : array-like of shape (n_samples,), indicator matrix or list of label sets
            Labels, one per example. For any number of labels per example, an indicator matrix of 0 and 1 with one
            column per class, or one set, list or tuple of labels per example.
        classes : array-like of shape (n_classes,), default=None
            Labels that are classes from the start. For an array of features, the labels of its classes in their order;
            by default 0, 1, 2 and so on.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._start_fitting() as plan:
            warm = self._go_on()
            self._phi = deepcopy(self._phi) if warm else as_phi(self.phi)
            sets = _read_targets(X, y)
            parts, weight = self._read(X, sets, classes, sample_weight)
            rows, ends, codes = _join_packed(list(parts))
            if warm:
                self._model.use_plan(self._plan_for(sets, plan))
            else:
                self._begin_with(self._plan_for(sets, plan), rows)
            self._set_task()
            targets = None if sets.single else sets.offsets
            self._run_passes(self._rows(rows), codes.astype(np.float64), weight, trials=ends, targets=targets)
        return self

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn examples in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes, n_features), or what `phi` takes
            Features of each example and class, or examples.
        y : array-like of shape (n_samples,), indicator matrix or list of label sets
            Labels, as for `fit`; with `phi`, new labels may appear at any time.
        classes : array-like of shape (n_classes,), default=None
            Labels that are classes from the start. For an array of features, the labels of its classes in their order;
            by default 0, 1, 2 and so on.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with self._start_learning() as (plan, transaction):
            first = not self._has_begun
            sets = _read_targets(X, y)
            chosen = self._plan_for(sets, plan)
            if not first:
                self.densify()
                self._model.use_plan(chosen)
            self._phi = as_phi(self.phi) if first else copy(self._phi)  # its classes are set before all checks pass
            counted = False

            def begin_change(undo: Callable[[], None]) -> None:
                nonlocal counted
                transaction.commit()
                transaction.undo_by(undo)
                counted = True

            parts, weight = self._read(X, sets, classes, sample_weight, begin_change)
            self.n_iter_ = 1
            learned = 0
            for matrix, ends, codes in parts:
                if learned == 0 and first:
                    self._begin_with(chosen, matrix)
                self._set_task()
                rows, target, n = self._rows(matrix), codes.astype(np.float64), len(ends) - 1
                weighted = None if weight is None else weight[learned : learned + n]
                offsets = sets.offsets[learned : learned + n + 1] - sets.offsets[learned]
                # Examples that change the classes or counts, a few at a time, are learned in one stretch.
                stretches = [(0, n)] if counted else self._learner.stretches(rows, 0, n, ends)
                for start, stop in stretches:
                    if not counted:
                        transaction.commit()
                    self._learner.learn(
                        rows.part(ends[start], ends[stop]),
                        target[offsets[start] : offsets[stop]],
                        None if weighted is None else weighted[start:stop],
                        trials=ends[start : stop + 1] - ends[start],
                        targets=None if sets.single else offsets[start : stop + 1] - offsets[start],
                    )
                learned += n
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes, n_features), or what `phi` takes
            Features of each example and class, or examples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = self._phi.read(X)
        scores = self._scores_of(X, self._rows(X))
        return scores.reshape(-1, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of highest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes, n_features), or what `phi` takes
            Features of each example and class, or examples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One label per example. Ties go to the first class.
        """
        scores = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def rank(self, X: Any) -> NDArray[np.intp]:
        """Return the rank of each class for each example.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes, n_features), or what `phi` takes
            Features of each example and class, or examples.

        Returns
        -------
        ranks : ndarray of shape (n_samples, n_classes)
            Ranks from 1, the class of highest score. Ties are ranked in the order of the classes.
        """
        return ranks_of(self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or for label sets the label ranking average precision.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes, n_features), or what `phi` takes
            Features of each example and class, or examples.
        y : array-like of shape (n_samples,), indicator matrix or list of label sets
            The right or relevant labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples in the average.

        Returns
        -------
        score : float
            Between 0 and 1; :func:`sklearn.metrics.label_ranking_average_precision_score` of label sets.
        """
        if are_label_sets(y):
            scores = self.decision_function(X)
            sets = read_label_sets(y, len(scores))
            if sets.width is not None and sets.width == len(self.classes_):
                sets = replace(sets, labels=self.classes_[sets.labels])
            return ranking_precision(sets, self.classes_, scores, sample_weight)
        return float(super().score(X, y, sample_weight))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels known so far."""
        self._check_fitted()
        return self._phi.classes

    def _check_model(self, plan: Plan) -> None:
        self._phi.check(self.phi)
        plan = for_label_sets(plan, self) if isinstance(self._learner.task, Ranking) else plan
        self._model.check(plan, add_labels=lambda twin, labels: None)  # all classes share one vector

    def _read(
        self, X: Any, sets: LabelSets, classes: Any, sample_weight: Any, changing: Changing | None = None
    ) -> tuple[Any, Any]:
        """Return the parts of the data as rows, and the weights of the examples.

        With `changing`, costs by name begin where a class does: a part ends there.
        """
        weight = check_weight(sample_weight, len(sets))
        live = np.ones(len(sets), bool) if weight is None else weight > 0
        foresee, cuts = transform_ahead(self), []
        if changing is not None and isinstance(self.cost, str | Mapping):
            foresee, cuts = None, sets.changes(live) if sets.single else []
        return self._phi.learn(X, Call(sets, classes, live, foresee, cuts, changing)), weight

    def _plan_for(self, sets: LabelSets, plan: Plan) -> Plan:
        return plan if sets.single else for_label_sets(plan, self)

    def _set_task(self) -> None:
        self._model.labels = Labels(self.classes_)
        self._model.set_task()

    def _begin_with(self, plan: Plan, rows: Any) -> None:
        self.n_features_in_ = rows.shape[1]
        self._begin(plan, rows)
        plan.rows.check(rows, None, self._learner.geometry, first=True)

    def _rows(self, rows: Any) -> Rows:
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"features must be {self.n_features_in_}, as before; got {rows.shape[1]}")
        return as_rows(rows.astype(self._learner.geometry.dtype, copy=False))


def _read_targets(X: Any, y: Any) -> LabelSets:
    """Return the labels of the examples, one or any number per example."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    sets = read_label_sets(y, n) if are_label_sets(y) else one_each(column_or_1d(y, warn=True))
    if n != len(sets):
        raise ValueError(f"X and y must have the same number of examples; got {n} and {len(sets)}")
    if n == 0:
        raise ValueError("X has no examples: at least one is needed")
    return sets


def _join_packed(parts: list[Portion]) -> Portion:
    """Join parts of the data."""
    if len(parts) == 1:
        return parts[0]
    rows, ends, codes = zip(*parts, strict=True)
    starts = np.cumsum([0, *(part[-1] for part in ends)])
    joined = [end[1:] + start for end, start in zip(ends, starts, strict=False)]
    return sparse.vstack(rows, format="csr"), np.concatenate([ends[0][:1], *joined]), np.concatenate(codes)
