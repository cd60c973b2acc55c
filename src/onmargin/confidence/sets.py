"""Prediction sets with a coverage guarantee."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._checks import plain
from onmargin.confidence._wrapper import JudgingWrapper, require, takes_records
from onmargin.confidence.tracking import Coverage, QuantileTracker, check_options

__all__ = ["PredictionSets"]


class PredictionSets(JudgingWrapper):
    r"""Prediction sets that contain the true label in a given fraction of the examples, on any stream.

    This is online conformal prediction. A label is in the set of an example if ``1 - p(label)`` is at most a threshold,
    which rises with each true label that was missed and falls with each that was covered. After T examples the fraction
    covered is within ``(1 + rate) / (rate * T)`` of `coverage`, for any sequence of examples and any model. A better
    model has smaller sets.

    Use it if a prediction may be a short list of candidates and the right label must be among them in a given fraction
    of the cases, also if the stream drifts. It needs labels that keep arriving. For independent examples and a model
    that does not change, split conformal prediction has steadier sets.

    Parameters
    ----------
    model : object
        A classifier with ``learn_one`` and ``predict_proba_one``, or with ``predict_proba`` and (to learn)
        ``partial_fit``: any of this package, of scikit-learn or of river. Or a ``LabelRanker``, or a multilabel
        classifier of scikit-learn or river, whose examples have several labels: see Notes.
    coverage : float, default=0.9
        The fraction of the examples whose label must be in its set.
    rate : float, default=0.03
        Step size of the threshold. Smaller values give steadier sets, larger values follow changes faster.
    by_class : bool, default=False
        Whether each class has its own threshold, so that `coverage` holds for the examples of every class.
    nonempty : bool, default=False
        Whether a set contains at least the most likely label. A model that is right more often than `coverage` then
        covers more than `coverage`, and the bound applies only to misses.

    Attributes
    ----------
    model : object
        The wrapped model.

    Notes
    -----
    Coverage is over the stream, not for each example: labels of hard examples may be missed more often. With
    ``by_class=True`` it is over the examples of each class. A model that is right more often than `coverage` has some
    empty sets, since there is no other way to miss. A label that the model has not seen is covered only while the
    threshold covers everything. Examples before the model has learned anything are not evaluated.

    An example with several labels is covered if its set contains all of them; one without labels is not counted. The
    labels are a set or list, or a row of an indicator matrix. The sets of a ``LabelRanker`` contain the labels whose
    score is high enough. With ``by_class=True`` each label of an example counts as one round of that label.

    `onmargin.save` stores the sets with their model.

    References
    ----------
    .. [1] I. Gibbs and E. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021.
    .. [2] A. Angelopoulos, E. Candès and R. Tibshirani, "Conformal PID control for time series prediction", NeurIPS
           2023.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import AROWClassifier
    >>> from onmargin.confidence import PredictionSets
    >>> X, y = load_digits(return_X_y=True)
    >>> sets = PredictionSets(AROWClassifier(), coverage=0.95).partial_fit(X[:1700], y[:1700])
    >>> report = sets.coverage_
    >>> print(f"{report.covered:.3f} of {report.rounds}, {report.size:.2f} labels each")
    0.950 of 1668, 1.32 labels each
    """

    def __init__(
        self, model: Any, coverage: float = 0.9, *, rate: float = 0.03, by_class: bool = False, nonempty: bool = False
    ) -> None:
        check_options(coverage, rate)
        self._ranks = hasattr(model, "rank_one" if takes_records(model) else "rank")
        if not self._ranks:
            require(model, "predict_proba", "predict_proba_one")
        self.model = model
        self.coverage = coverage
        self.rate = rate
        self.by_class = by_class
        self.nonempty = nonempty
        # One tracker per label with `by_class`, otherwise a single one.
        self._trackers: dict[Any, QuantileTracker] = {} if by_class else {"all": self._tracker()}
        self._sizes = self._covered = self._rounds = 0

    def _tracker(self) -> QuantileTracker:
        return QuantileTracker(self.coverage, self.rate, scores="signed" if self._ranks else "bounded")

    def _threshold(self, label: Any) -> float:
        """Return the largest nonconformity that a label in the set may have."""
        tracker = self._trackers.get(label) if self.by_class else self._trackers["all"]
        return (tracker or self._tracker()).threshold

    def _set(self, strange: Mapping[Any, float]) -> list[Any]:
        """Return the labels of a set, the most likely first, from the nonconformity of each label."""
        ranked = sorted(strange, key=lambda label: strange[label])
        chosen = [label for label in ranked if strange[label] <= self._threshold(label)]
        return chosen or ranked[: int(self.nonempty)]

    def _target(self, y: Any) -> list[Any]:
        """Return the labels of an example: one, or those of a label set."""
        if isinstance(y, Mapping):
            return [label for label, relevant in y.items() if relevant]
        return [plain(label) for label in y] if isinstance(y, set | frozenset | list | tuple) else [plain(y)]

    def _targets(self, y: Any) -> list[Any]:
        if hasattr(y, "toarray"):
            y = y.toarray()
        if getattr(y, "ndim", 1) == 2:
            classes = [plain(label) for label in self.model.classes_]
            return [[label for label, relevant in zip(classes, row, strict=True) if relevant] for row in y.tolist()]
        return [self._target(one) for one in y]

    def _ask_one(self, x: Any) -> dict[Any, float]:
        """Return the nonconformity of each label: ``1 - p``, or the negative of its score."""
        if self._ranks:
            return {label: -score for label, score in self.model.scores_one(x).items()}
        shares = self.model.predict_proba_one(x)
        # A multilabel model of river returns the probabilities of True and False for each label.
        return {label: 1 - (p.get(True, 0.0) if isinstance(p, dict) else p) for label, p in shares.items()}

    def _strange(self, X: Any) -> tuple[list[Any], NDArray[np.float64]]:
        """Return the labels, and the nonconformity of each of them for each row."""
        found = -self.model.decision_function(X) if self._ranks else 1 - np.asarray(self.model.predict_proba(X))
        return [plain(label) for label in self.model.classes_], found.astype(np.float64)

    def _ask(self, X: Any) -> list[dict[Any, float]]:
        labels, strange = self._strange(X)
        return [dict(zip(labels, row, strict=True)) for row in strange.tolist()]

    def _judge(self, found: Mapping[Any, float], y: list[Any]) -> None:
        if not found or not y:
            return
        chosen = self._set(found)
        events = [[label] for label in y] if self.by_class else [y]
        for labels in events:
            tracker = self._trackers.setdefault(labels[0] if self.by_class else "all", self._tracker())
            worst = max(found.get(label, np.inf) for label in labels)
            self._rounds += 1
            self._sizes += len(chosen)
            self._covered += tracker.update(worst, True if {*labels} <= {*chosen} else None)
            if self.nonempty:
                tracker.level = max(tracker.level, 0.0)  # below 0 there is nothing left to remove from a set

    def predict_set_one(self, x: Any) -> list[Any]:
        """Return the prediction set of a record, the most likely label first.

        Parameters
        ----------
        x : object
            The record.

        Returns
        -------
        labels : list
            The set. It is empty before the model has learned anything, and if no label is likely enough.
        """
        return self._set(self._ask_one(x))

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Return which labels are in the prediction set of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        members : ndarray of shape (n_samples, n_classes)
            Whether each label of ``model.classes_`` is in the set.
        """
        labels, strange = self._strange(X)
        members: NDArray[np.bool_] = strange <= [self._threshold(label) for label in labels]
        if self.nonempty:
            empty = ~members.any(axis=1)
            members[empty, strange[empty].argmin(axis=1)] = True
        return members

    @property
    def coverage_(self) -> Coverage:
        """Fraction of labels in their sets, and the mean size of a set."""
        n = self._rounds
        bound = sum((1 + one.rate) / one.rate for one in self._trackers.values()) / n if n else np.inf
        covered, size = (self._covered / n, self._sizes / n) if n else (np.nan, np.nan)
        return Coverage(n, covered, self.coverage, bound, size)

    @property
    def class_coverage_(self) -> dict[Any, Coverage]:
        """Coverage of each class; only with ``by_class=True``."""
        trackers = self._trackers if self.by_class else {}
        return {
            label: Coverage(one.rounds, 1 - one.misses / one.rounds, self.coverage, one.bound, np.nan)
            for label, one in trackers.items()
        }
