"""Several labels an example, one example at a time."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.steps.step import Step
from onmargin._core.stream import check_weight
from onmargin._core.tasks.task import Task
from onmargin._core.tasks.trial import Ranking
from onmargin.models.columns import mix_labels
from onmargin.models.rules import FLAG, Rule, Word
from onmargin.models.updates import PAIRS, check_combination, projection
from onmargin.stream._labels import Label, check_label, code_of
from onmargin.stream._linear import LinearModel


class LabelRanker(LinearModel):
    r"""Passive-aggressive label ranker of examples that come one at a time, with labels that may come later.

    An example has any number of relevant labels. If they all score at least 1 more than all others the weights stay;
    otherwise they move just far enough, as for :class:`onmargin.LabelRanker`. With `calibrate` one more label is
    learned, which says how many labels of the ranking to take.

    Use it for tags and topics of records that arrive one by one. For a matrix that is at hand
    :class:`onmargin.LabelRanker` is faster, and has `fit`.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the largest step (PA-I), the sum of all steps of a round (other updates) or the price
        of squared slack (PA-II). Smaller is more cautious and better under noise; ``inf`` gives plain PA.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II, which needs ``update="max"``.
    update : str, default="max"
        Which pairs of labels a round moves, as for :class:`onmargin.LabelRanker`: "max", "simperc", "conproj",
        "simproj", "simopt", "conopt" or "exact".
    calibrate : bool, default=True
        Whether to learn the calibration label too, and so which labels are relevant. False is the paper's algorithm,
        which ranks labels and cannot predict sets.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each example, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
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
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the weights that learn, not of
        their mean.

    See Also
    --------
    onmargin.LabelRanker : The same for matrices.
    Classifier : One label an example.

    Notes
    -----
    [JMLR] sec. 7 and [SIMPROJ] sec. 3. The weights are those of :class:`onmargin.LabelRanker`, which has the
    bounds, from the same examples as a CSR matrix, bit for bit; from vectors, as a dense one. A feature never learned
    has weight 0.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.
    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.LabelRanker()
    >>> for text, labels in [("sun and waves", {"beach", "summer"}), ("snow on the peaks", {"winter"})] * 5:
    ...     model = model.learn_one(text, labels)
    >>> sorted(model.predict_one("waves in the sun"))
    ['beach', 'summer']
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearModel._rules | {
        "loss": (Word("hinge", "squared_hinge"),),
        "update": (Word("max", *PAIRS),),
        "calibrate": (FLAG,),
    }

    classes_: list[Label]

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "hinge",
        update: str = "max",
        calibrate: bool = True,
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
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
        self.C = C
        self.loss = loss
        self.update = update
        self.calibrate = calibrate
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.average = average
        self.n_features = n_features
        self.separator = separator
        self.dtype = dtype
        self.lowercase = lowercase
        self.ngrams = ngrams
        self.weighting = weighting
        self.normalize = normalize
        self.idf = idf
        self.classes_ = []
        self._ready()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_combination(
            f"update={self.update!r}",
            {
                "loss='hinge'": self.update == "max" or self.loss == "hinge",
                "calibrate=False": self.update != "exact" or not self.calibrate,
                "a finite C": self.update != "simperc" or inf > self.C,
            },
        )

    def learn_one(self, x: Any, y: Iterable[Label], weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: features by name with numbers or categories, names alone, a text, or an array or sparse row of
            numbers. The first example learned says whether features go by name or by position.
        y : set, list or tuple of str or int
            Its relevant labels, possibly none; ones not met before become labels of the ranking. All are strings, or
            all are whole numbers.
        weight : float, default=1.0
            Factor on C, at least 0; with weight 0 nothing happens.

        Returns
        -------
        self : object
            The model, having learned.
        """
        weight = check_weight(weight)
        if weight > 0:
            labels = self._check_labels(y)
            with self._opening(x) as player:
                player.read(x)
                if not labels <= player.targets.keys():
                    self._meet(labels)
                    player.targets = self._targets()
                    player.take()
                player.play(np.array(sorted(player.targets[label] for label in labels), dtype=np.float64), weight)
        return self

    def _check_labels(self, y: Any) -> set[Any]:
        if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
            hint = f": write {{{y!r}}} for one label" if isinstance(y, str) else ""
            raise TypeError(f"y must be a set, list or tuple of labels; got {y!r:.100}{hint}")
        labels: list[Any] = []
        for label in y:
            labels.append(check_label(label, self.classes_ or labels))
        if len(set(labels)) < len(labels):
            raise ValueError(f"y names a label twice: {y!r:.100}")
        return set(labels)

    def _meet(self, labels: set[Any]) -> None:
        """Make room for labels; the calibration label stays last."""
        known: list[Any] = self.classes_
        classes = sorted(labels.union(known))
        geometry = self._learner.geometry
        places = [classes.index(label) for label in known]
        mixing = mix_labels(places, len(classes), geometry.n_columns, calibrated=bool(self.calibrate))
        self._learner.geometry = geometry.recombined(mixing)
        self.classes_ = classes

    def predict_one(self, x: Any) -> set[Label]:
        """The labels that score above the calibration label, for ``calibrate=True``.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        labels : set
            Labels; none if nothing was learned yet.
        """
        if not self.calibrate:
            raise ValueError(
                "calibrate=False learns to rank labels, not how many to take: use rank_one or scores_one, or learn "
                "with LabelRanker(calibrate=True)"
            )
        return {label for label, score in self.scores_one(x).items() if score > 0}

    def rank_one(self, x: Any) -> list[Label]:
        """The labels, from the most relevant to the least.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        labels : list
            All labels; of equal scores the first in ``classes_`` comes first.
        """
        scores = self.scores_one(x)
        return sorted(scores, key=lambda label: -scores[label])

    def scores_one(self, x: Any) -> dict[Label, float]:
        """The score of each label.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        scores : dict
            Scores by label; with `calibrate` less that of the calibration label, so that relevant labels are those
            above 0.
        """
        player = self._opened()
        if player is None:
            return {}
        scores = player.scores(x)
        middle = scores[-1] if self.calibrate else 0.0
        return {label: score - middle for label, score in zip(self.classes_, scores, strict=False)}

    def _task(self) -> Task:
        return Ranking(every=self.update != "max", calibrated=bool(self.calibrate))

    def _step(self) -> Step:
        return projection(self.C, self.loss) if self.update == "max" else PAIRS[self.update](self.C)

    def _targets(self) -> dict[Any, float]:
        return {label: float(code) for code, label in enumerate(self.classes_)}

    def _leading(self, x: Any) -> Any:
        return next(iter(self.rank_one(x)), None)

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        if label is None:
            raise ValueError(f"each label has weights of its own: give label=, one of {self.classes_!r:.200}")
        direction = np.eye(self._learner.geometry.n_columns)[code_of(label, self.classes_)]
        if self.calibrate:
            direction[-1] -= 1
        return direction, float(direction @ self._learner.geometry.mean()[1])
