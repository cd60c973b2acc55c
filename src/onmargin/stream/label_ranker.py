"""Label ranking of streams, with several labels per example."""

from collections.abc import Iterable
from dataclasses import dataclass
from sys import float_info
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.stream import check_weight
from onmargin.models.described import described
from onmargin.models.label_ranking import LabelRankerOptions
from onmargin.models.labels import Label, check_label_set
from onmargin.stream._learner import Classes, StreamLearner


@described
@dataclass(kw_only=True, eq=False, repr=False)
class LabelRanker(Classes, StreamLearner, LabelRankerOptions):
    r"""Label ranking of multi-label streams; new features and labels may appear at any time.

    An example has any number of relevant labels. If they all score at least 1 more than all others, the weights do not
    change; otherwise they move just far enough, as for :class:`onmargin.LabelRanker`. With `calibrate` one more label
    is learned, which decides how many labels of the ranking to predict.

    Use it for tags and topics of records that arrive one by one. For matrices, :class:`onmargin.LabelRanker` is faster
    and has `fit`.

    Attributes
    ----------
    classes_ : list
        The labels seen so far, sorted.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the current weights, not of
        the averaged ones.

    See Also
    --------
    onmargin.LabelRanker : The estimator for matrices.
    PassiveAggressiveClassifier : One label per example.

    Notes
    -----
    [JMLR] sec. 7 and [SIMPROJ] sec. 3. The weights are bit for bit those of :class:`onmargin.LabelRanker`, which
    documents the bounds, trained on the same examples as a CSR matrix or, for vectors, as a dense matrix. Features that
    were never learned have weight 0.

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

    def learn_one(self, x: Any, y: Iterable[Label], weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: a dict of features with numbers or categories, a list of feature names, a text, or an array or
            sparse row of numbers. The first example learned determines whether features are identified by name or by
            position.
        y : set, list or tuple of str or int
            The relevant labels, possibly none; new labels are added to the ranking. All labels must be strings, or all
            integers.
        weight : float, default=1.0
            Factor on C, at least 0; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model.
        """
        weight = check_weight(weight)
        if weight > 0:
            labels = self._check_target(y)
            with self._open_loop(x) as loop:
                loop.read(x)
                if not labels <= loop.targets.keys():
                    self._model.use_plan(self.plan())
                    self._model.add_labels(labels)
                    loop.targets = self._model.labels.target_by_label()
                    loop.use_model()
                loop.run_round(np.array(sorted(loop.targets[label] for label in labels), dtype=np.float64), weight)
        return self

    def _check_target(self, y: Any) -> set[Any]:
        return check_label_set(y, self.classes_)

    def predict_one(self, x: Any) -> set[Label]:
        """Predict the relevant labels, which score above the calibration label; requires ``calibrate=True``.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        labels : set
            The labels; empty if nothing was learned yet.
        """
        if not self.calibrate:
            raise ValueError(
                "calibrate=False learns to rank labels, not how many to take: use rank_one or scores_one, or learn "
                "with LabelRanker(calibrate=True)"
            )
        return {label for label, score in self.scores_one(x).items() if score > 0}

    def rank_one(self, x: Any) -> list[Label]:
        """Return the labels, from the most to the least relevant.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        labels : list
            All labels. Ties are in the order of ``classes_``.
        """
        scores = self.scores_one(x)
        return sorted(scores, key=lambda label: -scores[label])

    def scores_one(self, x: Any) -> dict[Label, float]:
        """Return the score of each label.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        scores : dict
            Scores by label; with `calibrate`, minus that of the calibration label, so that relevant labels are those
            above 0.
        """
        loop = self._get_loop()
        if loop is None:
            return {}
        scores = loop.scores(x)
        middle = scores[-1] if self.calibrate else 0.0
        most = float_info.max  # differences that overflow are clipped, as scores are
        return {
            label: min(max(score - middle, -most), most) for label, score in zip(self.classes_, scores, strict=False)
        }

    def _find_best_label(self, x: Any) -> Any:
        return next(iter(self.rank_one(x)), None)

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        if label is None:
            raise ValueError(f"each label has weights of its own: give label=, one of {self.classes_!r:.200}")
        direction = np.eye(self._learner.geometry.n_columns)[self._model.labels.code_of(label)]
        if self.calibrate:
            direction[-1] -= 1
        return direction, float(direction @ self._model.mean()[1])
