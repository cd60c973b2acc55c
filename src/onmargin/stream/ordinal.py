"""Ranks, one example at a time."""

from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.trials import Thresholds
from onmargin._core.steps.step import Step
from onmargin._core.stream import check_weight
from onmargin._core.tasks.task import Task
from onmargin._core.tasks.trial import Ordinal
from onmargin.models.rules import Rule, Word
from onmargin.models.updates import TRIALS, check_combination
from onmargin.stream._labels import Label, check_label, code_of
from onmargin.stream._linear import LinearModel


class OrdinalRegressor(LinearModel):
    r"""Ordinal regression of examples that come one at a time: one score, and thresholds that cut it into ranks.

    With k ranks there are weights w and thresholds :math:`b_1, \dots, b_{k-1}`; the rank predicted is the first i with
    :math:`w \cdot x < b_i`. An example asks its score to be on the right side of every threshold by a margin of 1.

    Use it for targets that have an order but no distances, such as ratings, where records arrive one by one. For a
    matrix that is at hand :class:`onmargin.OrdinalRegressor` is faster, and has `fit`.

    Parameters
    ----------
    ranks : sequence of str or int
        The ranks from low to high, at least two.
    C : float, default=1.0
        Aggressiveness, above 0: the sum of a round's steps is at most C. Smaller is more cautious and better under
        noise.
    update : {"max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact"}, default="max"
        Which thresholds a round moves, and how far, as for :class:`onmargin.OrdinalRegressor`.
    average : bool or int, default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at.
    n_features : int or None, default=None
        None: names of features are kept, and weights grow with them. A power of two, such as ``2**18``: names are
        hashed to so many places, and memory stays what it is; names that share a place share a weight.
    separator : str or None, default=None
        The character between name and value in a list of names, such as ":" for ``["length:3"]``. None: names stand for
        themselves.
    dtype : {"float64", "float32"}, default="float64"
        Type of the weights.
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
    classes_ : list
        The ranks, from low to high.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far; `cost` is the sum of the
        distances between predicted and right ranks, in ranks.

    See Also
    --------
    onmargin.OrdinalRegressor : The same for matrices.
    Regressor : For numbers whose distances count.

    Notes
    -----
    [SIMPROJ] sec. 3. The weights are those of :class:`onmargin.OrdinalRegressor`, which has the
    bounds, from the same examples as a CSR matrix, bit for bit; from vectors, as a dense one. A feature never learned
    has weight 0.

    References
    ----------
    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.OrdinalRegressor(ranks=["bad", "fair", "good"])
    >>> for text, rank in [("awful food", "bad"), ("decent food", "fair"), ("great food", "good")] * 5:
    ...     model = model.learn_one(text, rank)
    >>> model.predict_many(["awful service", "great service"])
    ['bad', 'good']
    """

    _geometry_type = Thresholds
    _labelled = True
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearModel._rules | {"update": (Word(*TRIALS),)}

    classes_: list[Label]

    def __init__(
        self,
        *,
        ranks: Sequence[Label],
        C: float = 1.0,
        update: str = "max",
        average: bool | int = False,
        n_features: int | None = None,
        separator: str | None = None,
        dtype: str = "float64",
        lowercase: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        weighting: str = "tf",
        normalize: bool = True,
        idf: bool = False,
    ) -> None:
        self.ranks = ranks
        self.C = C
        self.update = update
        self.average = average
        self.n_features = n_features
        self.separator = separator
        self.dtype = dtype
        self.lowercase = lowercase
        self.ngrams = ngrams
        self.weighting = weighting
        self.normalize = normalize
        self.idf = idf
        self._ready()
        self.classes_ = [check_label(rank, []) for rank in ranks]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ranks = [] if isinstance(self.ranks, str) or not hasattr(self.ranks, "__len__") else list(self.ranks)
        labels: list[Any] = []
        for rank in ranks:
            labels.append(check_label(rank, labels))
        if len(set(labels)) < max(len(ranks), 2):
            raise ValueError(f"ranks must be at least two, from low to high, each named once; got {self.ranks!r:.100}")
        if not isinstance(labels[0], str) and labels != sorted(labels):
            raise ValueError(f"ranks that are numbers must go from low to high; got {self.ranks!r:.100}")
        check_combination(
            f"update={self.update!r}", {"a finite C": self.update not in {"simperc", "exact"} or inf > self.C}
        )

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: features by name with numbers or categories, names alone, a text, or an array or sparse row of
            numbers. The first example learned says whether features go by name or by position.
        y : str or int
            Its rank, one of `ranks`.
        weight : float, default=1.0
            Factor on C, at least 0; with weight 0 nothing happens.

        Returns
        -------
        self : object
            The model, having learned.
        """
        player = self._player
        if player is None or not player.learn_label(x, y, weight):
            self._learn_first(x, y, weight)
        return self

    def _learn_first(self, x: Any, y: Any, weight: float) -> None:
        if check_weight(weight) > 0:
            rank = self.classes_[code_of(y, self.classes_)]
            with self._opening(x) as player:
                player.learn_label(x, rank, weight)

    def predict_one(self, x: Any) -> Any:
        """The rank of an example: that of the first threshold above its score.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        rank : str or int or None
            One of the ranks. None: nothing was learned yet.
        """
        player = self._player or self._opened()
        if player is None:
            return None
        return self.classes_[int(self._learner.task.decode(np.array([player.scores(x)]))[0])]

    def scores_one(self, x: Any) -> float:
        """The score that the thresholds cut into ranks.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        score : float
            The higher, the higher the rank; 0 if nothing was learned yet.
        """
        player = self._opened()
        return 0.0 if player is None else player.scores(x)[0] - float(self._learner.geometry.mean()[1][0])

    @property
    def thresholds_(self) -> dict[Label, float]:
        """The threshold above each rank but the last, as learned."""
        n = len(self.classes_) - 1
        values = -self._learner.geometry.mean()[1] if hasattr(self, "_learner") else np.zeros(n)
        return dict(zip(self.classes_, values.tolist(), strict=False))

    def _columns(self) -> int:
        return len(self.classes_) - 1

    def _bias(self) -> float:
        """A threshold is a coordinate of value -1."""
        return 1.0

    def _task(self) -> Task:
        return Ordinal()

    def _step(self) -> Step:
        return TRIALS[self.update](self.C)

    def _targets(self) -> dict[Any, float]:
        return {label: float(code) for code, label in enumerate(self.classes_)}

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        return np.ones(1), 0.0
