"""Several labels an example, one example at a time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.stream import check_weight
from onmargin.models.columns import check_known
from onmargin.models.described import described
from onmargin.models.label_ranking import LabelRankerOptions
from onmargin.stream._labels import Label, check_label, code_of
from onmargin.stream._learner import StreamLearner


@described
@dataclass(kw_only=True, eq=False, repr=False)
class LabelRanker(StreamLearner, LabelRankerOptions):
    r"""Passive-aggressive label ranker of examples that come one at a time, with labels that may come later.

    An example has any number of relevant labels. If they all score at least 1 more than all others the weights stay;
    otherwise they move just far enough, as for :class:`onmargin.LabelRanker`. With `calibrate` one more label is
    learned, which says how many labels of the ranking to take.

    Use it for tags and topics of records that arrive one by one. For a matrix that is at hand
    :class:`onmargin.LabelRanker` is faster, and has `fit`.

    Attributes
    ----------
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the current weights, not of
        the averaged ones.

    See Also
    --------
    onmargin.LabelRanker : The same for matrices.
    PassiveAggressiveClassifier : One label an example.

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

    task = "rank"

    def __post_init__(self) -> None:
        self.classes_: list[Label] = []
        super().__post_init__()

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
            The updated model.
        """
        weight = check_weight(weight)
        if weight > 0:
            labels = self._check_target(y)
            with self._opening(x) as player:
                player.read(x)
                if not labels <= player.targets.keys():
                    self._meet(labels)
                    player.targets = self._targets()
                    player.take()
                player.play(np.array(sorted(player.targets[label] for label in labels), dtype=np.float64), weight)
        return self

    def _check_target(self, y: Any) -> set[Any]:
        if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
            hint = f": write {{{y!r}}} for one label" if isinstance(y, str) else ""
            raise TypeError(f"y must be a set, list or tuple of labels; got {y!r:.100}{hint}")
        labels: list[Any] = []
        for label in y:
            labels.append(check_label(label, self.classes_ or labels))
        if len(set(labels)) < len(labels):
            raise ValueError(f"y names a label twice: {y!r:.100}")
        return set(labels)

    def _known(self) -> list[Any]:
        return check_known(self.classes_)

    def _meet(self, labels: set[Any]) -> None:
        """Make room for labels; margins between the others stay as they are."""
        known: list[Any] = self.classes_
        classes = sorted(labels.union(known))
        self._model.adopt(self.plan())
        self._model.meet([classes.index(label) for label in known], len(classes))
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
        return direction, float(direction @ self._model.mean()[1])
