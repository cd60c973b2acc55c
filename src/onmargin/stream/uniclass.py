"""A ball around what a stream brings, one example at a time."""

from collections.abc import Iterable
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.ball import Center
from onmargin._core.steps.step import Step
from onmargin._core.stream import Player, check_weight
from onmargin._core.tasks.task import Task
from onmargin._core.tasks.task import Uniclass as UniclassTask
from onmargin.models.rules import NOTHING, Number, Rule, Word
from onmargin.models.updates import check_combination, projection
from onmargin.stream._model import Name, StreamModel


class Uniclass(StreamModel):
    r"""Passive-aggressive uniclass learner of examples that come one at a time: a ball that moves to hold each of them.

    An example within `epsilon` of the centre leaves it alone. Any other draws it nearer, just far enough or by C at
    most. With ``radius="learn"`` the ball also grows, up to `max_radius`.

    Use it to follow the centre of a stream of records and to flag what is far from it. For a matrix that is at hand
    :class:`onmargin.PassiveAggressiveUniclass` is faster, and has `fit`. Scale the features first: distance counts
    them alike.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the farthest the centre moves for one example (PA-I) or the price of squared slack
        (PA-II). Smaller is more cautious and better under noise; ``inf`` gives plain PA.
    epsilon : float, default=0.1
        The radius with ``radius="fixed"``; at least 0.
    radius : {"fixed", "learn"}, default="fixed"
        "learn": the radius starts at 0 and grows with what is seen, and never beyond `max_radius`.
    max_radius : float or None, default=None
        The bound on a learned radius, above 0. Needed with ``radius="learn"``.
    init : {"first", "zero"}, default="first"
        Where the centre starts: at the first example, which is then no round, or at the origin.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    n_features : int or None, default=None
        None: names of features are kept, and weights grow with them. A power of two, such as ``2**18``: names are
        hashed to so many places, and memory stays what it is; names that share a place share a weight.
    separator : str or None, default=None
        The character between name and value in a list of names, such as ":" for ``["length:3"]``. None: names stand for
        themselves.
    lowercase : bool, default=True
        Whether texts are taken in lower case.
    ngrams : tuple of int, default=(1, 1)
        The shortest and the longest run of words of a text that is a feature.
    weighting : {"tf", "binary", "log"}, default="tf"
        What a feature of a text counts: how often it occurs, 1, or one plus the logarithm of how often.
    normalize : bool, default=True
        Whether texts have length 1.
    idf : bool, default=False
        Whether a feature of a text counts by one plus the logarithm of n / d, of the d among the n texts learned so far
        that have it, each plus one.

    Attributes
    ----------
    radius_ : float
        The radius of the ball.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes (examples outside the ball), updates, losses, dual value and largest squared norm so far;
        `cost` is the distance from the ball.

    See Also
    --------
    onmargin.PassiveAggressiveUniclass : The same for matrices.

    Notes
    -----
    [JMLR] sec. 6. The same ball as that of :class:`onmargin.PassiveAggressiveUniclass`, to rounding, whose page has the
    problem and the bounds. Weights are float64, because a distance is a small difference of large numbers. Unlike for
    other models, a feature never learned counts when predicting: the centre is at 0 there.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.Uniclass(epsilon=1.0, C=0.1)
    >>> for i in range(100):
    ...     model = model.learn_one({"load": 0.5 + i % 3 / 10, "host": "a"})
    >>> model.predict_one({"load": 0.7, "host": "a"}), model.predict_one({"load": 0.7, "host": "b"})
    (1, -1)
    """

    dtype = "float64"
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = StreamModel._rules | {
        "epsilon": (Number(0, below=True),),
        "radius": (Word("fixed", "learn"),),
        "max_radius": (Number(0, above=True, below=True), NOTHING),
        "init": (Word("first", "zero"),),
        "loss": (Word("epsilon_insensitive", "squared_epsilon_insensitive"),),
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        radius: str = "fixed",
        max_radius: float | None = None,
        init: str = "first",
        loss: str = "epsilon_insensitive",
        n_features: int | None = None,
        separator: str | None = None,
        lowercase: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        weighting: str = "tf",
        normalize: bool = True,
        idf: bool = False,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.radius = radius
        self.max_radius = max_radius
        self.init = init
        self.loss = loss
        self.n_features = n_features
        self.separator = separator
        self.lowercase = lowercase
        self.ngrams = ngrams
        self.weighting = weighting
        self.normalize = normalize
        self.idf = idf
        self._ready()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        learned = self.radius == "learn"
        check_combination(
            f"radius={self.radius!r}",
            {
                "a number for max_radius": not learned or self.max_radius is not None,
                "max_radius=None": learned or self.max_radius is None,
            },
        )

    def learn_one(self, x: Any, y: Any = None, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: features by name with numbers or categories, names alone, a text, or an array or sparse row of
            numbers. The first example learned says whether features go by name or by position.
        y : ignored
            Not used, present for API consistency.
        weight : float, default=1.0
            Factor on C, at least 0; with weight 0 nothing happens.

        Returns
        -------
        self : object
            The model, having learned.
        """
        player = self._player
        if player is not None:
            player.learn(x, 0.0, weight)
        elif check_weight(weight) > 0:
            with self._turns:
                begun = hasattr(self, "_learner")
                with self._opening(x) as player:
                    if begun or self.init == "zero":
                        player.learn(x, 0.0, weight)
                    else:
                        self._settle_at(x, player)
        return self

    def _settle_at(self, x: Any, player: Player) -> None:
        """Put the centre at an example."""
        player.read(x)
        centre = np.zeros(self._learner.geometry.n_features)
        places, values = player.entries()
        centre[places] = values
        self._learner.geometry.assign(centre)

    def learn_many(self, X: Iterable[Any], y: Any = None, weights: Iterable[float] | None = None) -> Self:
        """Learn examples one after the other: the same as so many calls of `learn_one`.

        Parameters
        ----------
        X : iterable, or matrix of shape (n_samples, n_features)
            Examples as `learn_one` takes them. Of an array or a sparse matrix the rows are vectors.
        y : ignored
            Not used, present for API consistency.
        weights : iterable of float or None, default=None
            Their factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The model, having learned. If an example is refused, those before it are learned, and the error says which
            one it was.
        """
        return super().learn_many(X, None, weights)

    def predict_one(self, x: Any) -> int:
        """Whether an example is within the ball.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.

        Returns
        -------
        inlier : int
            1 for an example within the ball, -1 for one outside; 1 if nothing was learned yet.
        """
        return 1 if self.scores_one(x) >= 0 else -1

    def scores_one(self, x: Any) -> float:
        """How far inside the ball an example is.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.

        Returns
        -------
        score : float
            The radius less the distance from the centre: negative for outliers. 0 if nothing was learned yet.
        """
        player = self._opened()
        if player is None:
            return 0.0
        distance, height = player.scores(x)
        return self.radius_ - sqrt(max(distance**2 - height**2, 0.0))

    def weights(self, label: Any = None, top: int | None = None) -> dict[Name, float]:
        """The centre by feature, its largest numbers first.

        Parameters
        ----------
        label : ignored
            Not used, present for API consistency.
        top : int or None, default=None
            How many, at most. None: all that are not zero.

        Returns
        -------
        centre : dict
            Coordinates by the name of the feature; with hashing and for vectors by its place.
        """
        n = self.n_features_
        return self._named(range(n), self._learner.geometry.centre()[:n], top) if hasattr(self, "_learner") else {}

    def explain(self, x: Any, label: Any = None, top: int | None = None) -> dict[Name, float]:
        """What each feature known adds to the squared distance from the centre, the largest first.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.
        label : ignored
            Not used, present for API consistency.
        top : int or None, default=None
            How many features, at most. None: all that add anything.

        Returns
        -------
        contributions : dict
            Squared differences by the name of the feature; with hashing and for vectors by its place.
        """
        player = self._opened()
        if player is None:
            return {}
        apart = -self._learner.geometry.centre()
        places, values = player.features(x)
        apart[places] += values
        return self._named(range(len(apart)), apart**2, top)

    @property
    def radius_(self) -> float:
        """The radius of the ball."""
        limit = float(self.epsilon if self.max_radius is None else self.max_radius)
        height = self._learner.geometry.height if hasattr(self, "_learner") else self.max_radius or 0.0
        return sqrt((limit - height) * (limit + height))

    def _task(self) -> Task:
        return UniclassTask(float(self.epsilon if self.max_radius is None else self.max_radius))

    def _step(self) -> Step:
        return projection(self.C, self.loss)

    def _geometry(self, n_features: int, *, sparse: bool) -> Any:
        return Center(n_features, height=0.0 if self.max_radius is None else float(self.max_radius))

    def _opened(self) -> Player | None:
        player = super()._opened()
        if player is not None:
            player.outward = True
        return player

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        raise TypeError("a ball has no intercept: use weights and radius_")
