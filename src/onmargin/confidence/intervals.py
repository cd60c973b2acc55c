"""Prediction intervals: numbers between which the target is as often as asked."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin.confidence._models import ask_for, knows_something, learn_rows
from onmargin.confidence.tracking import Coverage, QuantileTracker

__all__ = ["Intervals"]


class Intervals:
    r"""Intervals that contain the target in a given fraction of the examples, on any stream.

    The interval is the prediction plus and minus a radius, which grows with each target that was missed and shrinks
    with each that was covered. After T examples the part covered is within ``(1 + rate) / (rate * T)`` of `coverage`,
    whatever the examples are and however good the model is. A better model has narrower intervals.

    Parameters
    ----------
    model : object
        A regressor with ``learn_one`` and ``predict_one``, or with ``predict`` and (to learn) ``partial_fit``: any of
        this package, of scikit-learn or of river.
    coverage : float, default=0.9
        The part of the examples whose target must be in its interval.
    rate : float, default=0.03
        Size of the steps. Smaller values give steadier intervals, larger ones follow changes faster.
    asymmetric : bool, default=False
        Whether each side has a radius of its own, which misses half of ``1 - coverage``: for errors that are skewed.
        The bound is twice as large.

    Attributes
    ----------
    model : object
        The model, which learns.

    Notes
    -----
    Coverage is over the stream, not for each example. An interval may be infinite after a run of misses, as the first
    examples of a stream can be. Examples that come before a model of matrices has learned anything are not judged.

    References
    ----------
    .. [1] I. Gibbs and E. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021.
    .. [2] A. Angelopoulos, E. Candès and R. Tibshirani, "Conformal PID control for time series prediction", NeurIPS
           2023.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from onmargin import AutoRegressor
    >>> from onmargin.confidence import Intervals
    >>> X, y = load_diabetes(return_X_y=True)
    >>> intervals = Intervals(AutoRegressor(experts="linear"), coverage=0.8)
    >>> for start in range(0, 440, 10):
    ...     intervals = intervals.partial_fit(X[start : start + 10], y[start : start + 10])
    >>> low, high = intervals.predict_interval(X[440:441])[0]
    >>> print(f"{low:.0f} to {high:.0f}; {intervals.coverage_.covered:.2f} covered")
    146 to 259; 0.80 covered
    """

    def __init__(self, model: Any, coverage: float = 0.9, *, rate: float = 0.03, asymmetric: bool = False) -> None:
        ask_for(model, "predict", "predict_one")
        self.model = model
        self.coverage = coverage
        self.rate = rate
        self.asymmetric = asymmetric
        each = (1 + coverage) / 2 if asymmetric else coverage
        # Of the target above the prediction, and of the prediction above the target; or of their distance.
        self._trackers = [
            QuantileTracker(each, rate, scores="signed" if asymmetric else "positive") for _ in range(1 + asymmetric)
        ]
        self._misses = self._finite = 0
        self._widths = 0.0

    def _radii(self) -> tuple[float, float]:
        """How far the interval reaches below the prediction, and above it."""
        return self._trackers[-1].threshold, self._trackers[0].threshold

    def _judge(self, prediction: Any, y: float) -> None:
        error = float(y) - float(prediction)
        below, above = self._radii()
        if np.isfinite(below + above):
            self._finite += 1
            self._widths += max(below + above, 0.0)
        if self.asymmetric:
            high, low = self._trackers
            covered = [high.update(error), low.update(-error)]
            self._misses += not all(covered)
        else:
            self._misses += not self._trackers[0].update(abs(error))

    def observe_one(self, x: Any, y: float) -> Self:
        """Calibrate on an example that the model does not learn.

        Parameters
        ----------
        x : object
            The example, which the model has not learned.
        y : float
            Its target.

        Returns
        -------
        self : object
            The calibrated intervals.
        """
        self._judge(self.model.predict_one(x), y)
        return self

    def learn_one(self, x: Any, y: float) -> Self:
        """Calibrate on an example, and then have the model learn it.

        Parameters
        ----------
        x : object
            The example, as the model takes it.
        y : float
            Its target.

        Returns
        -------
        self : object
            The intervals, with a model that has learned.
        """
        prediction = self.model.predict_one(x)
        self.model.learn_one(x, y)
        self._judge(prediction, y)
        return self

    def predict_one(self, x: Any) -> Any:
        """Return the number that the model predicts.

        Parameters
        ----------
        x : object
            The example.

        Returns
        -------
        y : float
            What the model predicts.
        """
        return self.model.predict_one(x)

    def predict_interval_one(self, x: Any) -> tuple[float, float]:
        """Return the interval of an example.

        Parameters
        ----------
        x : object
            The example.

        Returns
        -------
        low, high : float
            Where it begins and ends; -inf and inf if everything is covered. An empty one is its prediction twice.
        """
        low, high = self._around(np.array([self.model.predict_one(x)], dtype=np.float64))[0]
        return float(low), float(high)

    def observe(self, X: Any, y: ArrayLike) -> Self:
        """Calibrate on rows that the model has not learned, and does not learn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        self : object
            The calibrated intervals.
        """
        for prediction, target in zip(self.model.predict(X), np.asarray(y, dtype=np.float64), strict=True):
            self._judge(prediction, target)
        return self

    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Calibrate on rows, and then have the model learn them.

        All rows of a call are judged by the model as it was before the call.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        self : object
            The intervals, with a model that has learned.
        """
        predictions = self.model.predict(X) if knows_something(self.model) else None
        learn_rows(self.model, X, y)
        if predictions is not None:
            for prediction, target in zip(predictions, np.asarray(y, dtype=np.float64), strict=True):
                self._judge(prediction, target)
        return self

    def predict(self, X: Any) -> Any:
        """Return the numbers that the model predicts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            What the model predicts.
        """
        return self.model.predict(X)

    def predict_interval(self, X: Any) -> NDArray[np.float64]:
        """Return the interval of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Where each begins and ends.
        """
        return self._around(np.asarray(self.model.predict(X), dtype=np.float64))

    def _around(self, center: NDArray[np.float64]) -> NDArray[np.float64]:
        below, above = self._radii()
        low, high = center - below, center + above
        empty = low > high
        return np.column_stack([np.where(empty, center, low), np.where(empty, center, high)])

    @property
    def coverage_(self) -> Coverage:
        """How often targets were in their intervals, and the mean width of those that were finite."""
        rounds = self._trackers[0].rounds
        return Coverage(
            rounds,
            1 - self._misses / rounds if rounds else np.nan,
            self.coverage,
            sum(one.bound for one in self._trackers),
            self._widths / self._finite if self._finite else np.nan,
        )
