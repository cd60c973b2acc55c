"""Prediction sets: labels that together cover the right one as often as asked."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._checks import plain
from onmargin.confidence._models import ask_for, knows_something, learn_rows, probabilities
from onmargin.confidence.tracking import Coverage, QuantileTracker

__all__ = ["PredictionSets"]


class PredictionSets:
    r"""Sets of labels that contain the right one in a given fraction of the examples, on any stream.

    A label is in the set of an example if ``1 - p(label)`` is at most a threshold, which rises with each label that was
    missed and falls with each that was covered: online conformal prediction. After T examples the part covered is
    within ``(1 + rate) / (rate * T)`` of `coverage`, whatever the examples are and however good the model is. A better
    model has smaller sets.

    Parameters
    ----------
    model : object
        A classifier with ``learn_one`` and ``predict_proba_one``, or with ``predict_proba`` and (to learn)
        ``partial_fit``: any of this package, of scikit-learn or of river.
    coverage : float, default=0.9
        The part of the examples whose label must be in its set.
    rate : float, default=0.03
        Size of the steps of the threshold. Smaller values give steadier sets, larger ones follow changes faster.
    by_class : bool, default=False
        Whether each class has a threshold of its own, so that the examples of every class are covered as often as
        asked.
    nonempty : bool, default=False
        Whether a set has at least the most likely label. A model that is right more often than `coverage` then covers
        more than was asked, and the bound is one of misses only.

    Attributes
    ----------
    model : object
        The model, which learns.

    Notes
    -----
    Coverage is over the stream, not for each example: where examples are hard, labels may be missed more often. With
    ``by_class=True`` it is over the examples of each class. A model that is right more often than `coverage` has sets
    that are empty now and then, since no other way to miss is left. A label that the model has not met is covered only
    while the threshold covers everything. Examples that come before the model has learned anything are not judged.

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
    >>> sets = PredictionSets(AROWClassifier(), coverage=0.95)
    >>> for start in range(0, 1700, 20):
    ...     sets = sets.partial_fit(X[start : start + 20], y[start : start + 20])
    >>> report = sets.coverage_
    >>> print(f"{report.covered:.3f} of {report.rounds}, {report.size:.2f} labels each")
    0.953 of 1680, 1.38 labels each
    """

    def __init__(
        self, model: Any, coverage: float = 0.9, *, rate: float = 0.03, by_class: bool = False, nonempty: bool = False
    ) -> None:
        ask_for(model, "predict_proba", "predict_proba_one")
        self.model = model
        self.coverage = coverage
        self.rate = rate
        self.by_class = by_class
        self.nonempty = nonempty
        self._all = QuantileTracker(coverage, rate)
        self._by_label: dict[Any, QuantileTracker] = {}
        self._sizes = 0
        self._covered = 0

    def _tracker(self, label: Any) -> QuantileTracker:
        if not self.by_class:
            return self._all
        return self._by_label.get(label) or QuantileTracker(self.coverage, self.rate)

    def _set(self, shares: Mapping[Any, float]) -> list[Any]:
        """The labels of a set, the most likely first."""
        ranked = sorted(shares, key=lambda label: -shares[label])
        chosen = [label for label in ranked if 1 - shares[label] <= self._tracker(label).threshold]
        return chosen or ranked[: int(self.nonempty)]

    def _judge(self, shares: Mapping[Any, float], y: Any) -> None:
        """Count an example, and move the threshold."""
        if not shares:
            return
        chosen = self._set(shares)
        tracker = self._tracker(y)
        if self.by_class:
            self._by_label[y] = tracker
        covered = tracker.update(1 - shares[y] if y in shares else np.inf, True if y in chosen else None)
        if self.nonempty:
            tracker.level = max(tracker.level, 0.0)  # below there is nothing left to take out of a set
        self._sizes += len(chosen)
        self._covered += covered
        if self.by_class:
            self._all.rounds += 1

    def observe_one(self, x: Any, y: Any) -> Self:
        """Calibrate on an example that the model does not learn.

        Parameters
        ----------
        x : object
            The example, which the model has not learned.
        y : object
            Its label.

        Returns
        -------
        self : object
            The calibrated sets.
        """
        self._judge(self.model.predict_proba_one(x), plain(y))
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Calibrate on an example, and then have the model learn it.

        Parameters
        ----------
        x : object
            The example, as the model takes it.
        y : object
            Its label.

        Returns
        -------
        self : object
            The sets, with a model that has learned.
        """
        shares = self.model.predict_proba_one(x)
        self.model.learn_one(x, y)
        self._judge(shares, plain(y))
        return self

    def predict_set_one(self, x: Any) -> list[Any]:
        """Return the labels that cover the one of an example, the most likely first.

        Parameters
        ----------
        x : object
            The example.

        Returns
        -------
        labels : list
            The set; it is empty before the model has learned anything, and where nothing is likely enough.
        """
        return self._set(self.model.predict_proba_one(x))

    def predict_one(self, x: Any) -> Any:
        """Return the label that the model predicts.

        Parameters
        ----------
        x : object
            The example.

        Returns
        -------
        label : object
            What the model predicts.
        """
        return self.model.predict_one(x)

    def observe(self, X: Any, y: ArrayLike) -> Self:
        """Calibrate on rows that the model has not learned, and does not learn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : object
            The calibrated sets.
        """
        classes, shares = probabilities(self.model, X)
        for row, label in zip(shares.tolist(), np.asarray(y), strict=True):
            self._judge(dict(zip(classes, row, strict=True)), plain(label))
        return self

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Calibrate on rows, and then have the model learn them.

        All rows of a call are judged by the model as it was before the call.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels, for models that must know them in their first call.

        Returns
        -------
        self : object
            The sets, with a model that has learned.
        """
        judged = probabilities(self.model, X) if knows_something(self.model) else None
        learn_rows(self.model, X, y, **({} if classes is None else {"classes": classes}))
        if judged is not None:
            for row, label in zip(judged[1].tolist(), np.asarray(y), strict=True):
                self._judge(dict(zip(judged[0], row, strict=True)), plain(label))
        return self

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Return which labels are in the set of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        members : ndarray of shape (n_samples, n_classes)
            Whether each label of ``model.classes_`` is in the set.
        """
        classes, shares = probabilities(self.model, X)
        members: NDArray[np.bool_] = 1 - shares <= [self._tracker(label).threshold for label in classes]
        if self.nonempty:
            empty = ~members.any(axis=1)
            members[empty, shares[empty].argmax(axis=1)] = True
        return members

    def predict(self, X: Any) -> Any:
        """Return the labels that the model predicts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            What the model predicts.
        """
        return self.model.predict(X)

    @property
    def coverage_(self) -> Coverage:
        """How often labels were in their sets, and the mean size of a set."""
        rounds = self._all.rounds
        trackers = [*self._by_label.values()] if self.by_class else [self._all]
        bound = sum((1 + one.rate) / one.rate for one in trackers) / rounds if rounds else np.inf
        return Coverage(
            rounds,
            self._covered / rounds if rounds else np.nan,
            self.coverage,
            bound,
            self._sizes / rounds if rounds else np.nan,
        )

    @property
    def class_coverage_(self) -> dict[Any, Coverage]:
        """How often the labels of each class were in their sets; with ``by_class=True`` only."""
        return {
            label: Coverage(one.rounds, 1 - one.misses / one.rounds, self.coverage, one.bound, np.nan)
            for label, one in self._by_label.items()
        }
