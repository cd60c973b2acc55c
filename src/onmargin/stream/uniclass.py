"""Novelty detection in streams: an enclosing ball, updated online."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.stream import StreamLoop, check_weight
from onmargin.models.described import described
from onmargin.models.explanation import Explanation
from onmargin.models.uniclass import FARTHEST, UniclassOptions, radius_of, starts_at_first, threshold_of
from onmargin.stream._learner import Name, StreamLearner
from onmargin.stream._loops import KernelLoop


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveUniclass(StreamLearner, UniclassOptions):
    r"""Novelty detection in streams with a passive-aggressive uniclass learner: an enclosing ball, updated online.

    An example within `epsilon` of the center does not change it. Any other example moves it just far enough, by C at
    most. With ``radius="learn"`` the ball also grows, up to `max_radius`.

    Use it to follow the center of a stream of records and to detect examples far from it. For matrices,
    :class:`onmargin.PassiveAggressiveUniclass` is faster and has `fit`. Scale the features first: all features count
    equally in the distance.

    Attributes
    ----------
    radius_ : float
        The radius of the ball.
    offset_ : float
        Minus the largest distance from the center that an inlier may have. This distance is the radius or, if more than
        half of the examples were outside the ball, the radius plus the mean and twice the standard deviation of their
        losses, which at most a fifth of the examples exceeded when they were learned.
    totals_ : Totals
        Rounds, mistakes (examples outside the ball), updates, losses, dual value and largest squared norm so far;
        `cost` is the distance from the ball.

    See Also
    --------
    onmargin.PassiveAggressiveUniclass : The estimator for matrices.

    Notes
    -----
    [JMLR] sec. 6. The ball is the same, up to rounding, as that of :class:`onmargin.PassiveAggressiveUniclass`, which
    documents the problem and the bounds. Weights are float64, because a distance is a small difference of large
    numbers. Unlike in other models, a feature that was never learned counts in predictions: the center is 0 there.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.PassiveAggressiveUniclass(epsilon=1.0, C=0.1)
    >>> for i in range(100):
    ...     model = model.learn_one({"load": 0.5 + i % 3 / 10, "host": "a"})
    >>> model.predict_one({"load": 0.7, "host": "a"}), model.predict_one({"load": 0.7, "host": "b"})
    (1, -1)
    """

    task = "novelty"

    def _check_target(self, y: Any) -> None:
        """Accept anything: there is no target."""

    def learn_one(self, x: Any, y: Any = None, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: a dict of features with numbers or categories, a list of feature names, a text, or an array or
            sparse row of numbers. The first example learned determines whether features are identified by name or by
            position.
        y : ignored
            Not used, present for API consistency.
        weight : float, default=1.0
            Factor on C, at least 0; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model.
        """
        loop = self._loop
        if loop is not None:
            loop.learn(x, 0.0, weight)
        elif check_weight(weight) > 0:
            with self._turns:
                begun = self._has_begun
                with self._open_loop(x) as loop:
                    if begun or not starts_at_first(self):
                        loop.learn(x, 0.0, weight)
                    else:
                        self._settle_at(x, loop)
        return self

    def _settle_at(self, x: Any, loop: StreamLoop) -> None:
        """Move the center to an example."""
        if isinstance(loop, KernelLoop):
            loop.set_center(x)
            return
        loop.read(x)
        center = np.zeros(self._learner.geometry.n_features)
        places, values = loop.entries()
        center[places] = values
        self._learner.geometry.assign(center)

    def learn_many(self, X: Iterable[Any], y: Any = None, weights: Iterable[float] | None = None) -> Self:
        """Learn several examples in order; the same as calling `learn_one` for each.

        Parameters
        ----------
        X : iterable, or matrix of shape (n_samples, n_features)
            Examples, as for `learn_one`. The rows of an array or sparse matrix are vectors.
        y : ignored
            Not used, present for API consistency.
        weights : iterable of float or None, default=None
            Factors on C, one per example; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model. If an example is invalid, the examples before it stay learned, and the error says which
            one it was.
        """
        return super().learn_many(X, None, weights)

    def predict_one(self, x: Any) -> int:
        """Predict whether an example is an inlier.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.

        Returns
        -------
        inlier : int
            1 for an inlier, -1 for an outlier: an example whose score is negative; 1 if nothing was learned yet.
        """
        return 1 if self.scores_one(x) >= 0 else -1

    def scores_one(self, x: Any) -> float:
        """Return how far an example is inside the threshold.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.

        Returns
        -------
        score : float
            ``-offset_`` minus the distance from the center: negative for outliers. 0 if nothing was learned yet.
        """
        loop = self._get_loop()
        if loop is None:
            return 0.0
        distance, height = loop.scores(x)
        distance = distance if distance < FARTHEST else FARTHEST  # also where the square of x overflows
        return threshold_of(self._learner) - sqrt(max(distance**2 - height**2, 0.0))

    def weights(self, label: Any = None, top: int | None = None) -> dict[Name, float]:
        """Return the center by feature, largest absolute values first.

        Parameters
        ----------
        label : ignored
            Not used, present for API consistency.
        top : int or None, default=None
            Maximum number of features. If None, all that are not zero.

        Returns
        -------
        center : dict
            Coordinates by the name of the feature; with hashing and for vectors, by its index.
        """
        self._ask_for_weights()
        n = self.n_features_
        return self._name_values(range(n), self._learner.geometry.center()[:n], top) if self._has_begun else {}

    def explain(self, x: Any, label: Any = None, top: int | None = None) -> Explanation:
        """Return the contribution of each known feature to the squared distance from the center, largest first.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.
        label : ignored
            Not used, present for API consistency.
        top : int or None, default=None
            Maximum number of features. If None, all with a non-zero contribution.

        Returns
        -------
        contributions : Explanation
            A dict of squared differences by the name of the feature; with hashing and for vectors, by its index. Its
            `score` is the sum of all.
        """
        loop = self._get_loop()
        if loop is None:
            return Explanation({}, None, 0.0, 0.0)
        self._ask_for_weights()
        apart = -self._learner.geometry.center()
        places, values = loop.features(x)
        apart[places] += values
        with np.errstate(over="ignore"):
            found = np.nan_to_num(apart**2)
        return Explanation(self._name_values(range(len(apart)), found, top), None, 0.0, float(found.sum()))

    @property
    def radius_(self) -> float:
        """The radius of the ball."""
        if self._has_begun:
            return radius_of(self._learner)
        return 0.0 if self.radius == "learn" else float(self.epsilon)

    @property
    def offset_(self) -> float:
        """Minus the largest distance from the center that an inlier may have."""
        return -threshold_of(self._learner) if self._has_begun else -self.radius_

    def _get_loop(self) -> StreamLoop | None:
        loop = super()._get_loop()
        if loop is not None:
            loop.outward = True
        return loop

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        raise TypeError("a ball has no intercept: use weights and radius_")
