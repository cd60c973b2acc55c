"""Prediction intervals with a coverage guarantee."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.confidence._wrapper import JudgingWrapper, require
from onmargin.confidence.tracking import Coverage, QuantileTracker, check_options

__all__ = ["Intervals"]


class Intervals(JudgingWrapper):
    r"""Prediction intervals that contain the target in a given fraction of the examples, on any stream.

    The interval is the prediction plus and minus a radius, which grows with each target that was missed and shrinks
    with each that was covered. After T examples the fraction covered is within ``(1 + rate) / (rate * T)`` of
    `coverage`, for any sequence of examples and any model. A better model has narrower intervals.

    Parameters
    ----------
    model : object
        A regressor with ``learn_one`` and ``predict_one``, or with ``predict`` and (to learn) ``partial_fit``: any of
        this package, of scikit-learn or of river.
    coverage : float, default=0.9
        The fraction of the examples whose target must be in its interval.
    rate : float, default=0.03
        Step size of the radius. Smaller values give steadier intervals, larger values follow changes faster.
    asymmetric : bool, default=False
        Whether each side has its own radius, which misses half of ``1 - coverage``. Use it for skewed errors. The bound
        is then twice as large.

    Attributes
    ----------
    model : object
        The wrapped model.

    Notes
    -----
    Coverage is over the stream, not for each example. An interval may be infinite after a run of misses, for example at
    the start of a stream. Rows before the first ``partial_fit`` of the model are not evaluated. `onmargin.save` stores
    the intervals with their model.

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
    >>> intervals = Intervals(AutoRegressor(experts="linear"), coverage=0.8).partial_fit(X[:440], y[:440])
    >>> low, high = intervals.predict_interval(X[440:441])[0]
    >>> print(f"{low:.0f} to {high:.0f}; {intervals.coverage_.covered:.2f} covered")
    143 to 262; 0.80 covered
    """

    def __init__(self, model: Any, coverage: float = 0.9, *, rate: float = 0.03, asymmetric: bool = False) -> None:
        check_options(coverage, rate)
        require(model, "predict", "predict_one")
        self.model = model
        self.coverage = coverage
        self.rate = rate
        self.asymmetric = asymmetric
        # One tracker for the target minus the prediction and one for the reverse, or one for the absolute error.
        self._trackers = {side: self._tracker() for side in (("above", "below") if asymmetric else ("both",))}
        self._misses = self._finite = 0
        self._widths = 0.0

    def _tracker(self) -> QuantileTracker:
        if self.asymmetric:
            return QuantileTracker((1 + self.coverage) / 2, self.rate, scores="signed")
        return QuantileTracker(self.coverage, self.rate, scores="positive")

    def _radii(self) -> tuple[float, float]:
        """Return how far the interval extends below and above the prediction."""
        trackers = [*self._trackers.values()]
        return trackers[-1].threshold, trackers[0].threshold

    def _target(self, y: Any) -> float:
        target = float(y)
        if not np.isfinite(target):
            raise ValueError(f"a target must be a finite number; got {y!r}")
        return target

    def _ask_one(self, x: Any) -> float:
        return float(self.model.predict_one(x))

    def _ask(self, X: Any) -> list[float]:
        predictions: list[float] = np.asarray(self.model.predict(X), dtype=np.float64).tolist()
        return predictions

    def _judge(self, found: float, y: float) -> None:
        error = y - found
        below, above = self._radii()
        if np.isfinite(below + above):
            self._finite += 1
            self._widths += max(below + above, 0.0)
        sides = {"above": error, "below": -error, "both": abs(error)}
        covered = [tracker.update(sides[side]) for side, tracker in self._trackers.items()]
        self._misses += not all(covered)

    def predict_interval_one(self, x: Any) -> tuple[float, float]:
        """Return the prediction interval of a record.

        Parameters
        ----------
        x : object
            The record.

        Returns
        -------
        low, high : float
            The ends of the interval; -inf and inf if everything is covered. For an empty interval, both are the
            prediction.
        """
        low, high = self._around(np.array([self.model.predict_one(x)], dtype=np.float64))[0]
        return float(low), float(high)

    def predict_interval(self, X: Any) -> NDArray[np.float64]:
        """Return the prediction interval of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            The ends of each interval.
        """
        return self._around(np.asarray(self.model.predict(X), dtype=np.float64))

    def _around(self, center: NDArray[np.float64]) -> NDArray[np.float64]:
        below, above = self._radii()
        low, high = center - below, center + above
        empty = low > high
        return np.column_stack([np.where(empty, center, low), np.where(empty, center, high)])

    @property
    def coverage_(self) -> Coverage:
        """Fraction of targets in their intervals, and the mean width of the finite intervals."""
        trackers = [*self._trackers.values()]
        rounds = trackers[0].rounds
        return Coverage(
            rounds,
            1 - self._misses / rounds if rounds else np.nan,
            self.coverage,
            sum(one.bound for one in trackers),
            self._widths / self._finite if self._finite else np.nan,
        )
