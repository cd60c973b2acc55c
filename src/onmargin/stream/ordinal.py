"""Ordinal regression of streams."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.stream import check_weight
from onmargin.errors import ParameterError
from onmargin.models.described import described
from onmargin.models.labels import Label, Labels, code_of
from onmargin.models.model import Model
from onmargin.models.ordinal import OrdinalRegressorOptions, check_ranks
from onmargin.models.plan import Plan, Shape
from onmargin.stream._learner import StreamLearner


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalRegressor(StreamLearner, OrdinalRegressorOptions):
    r"""Ordinal regression for streams: one linear score, and thresholds that divide it into ranks.

    With k ranks there are weights w and thresholds :math:`b_1, \dots, b_{k-1}`; the rank predicted is the first i with
    :math:`w \cdot x < b_i`. The score of an example should be on the right side of every threshold by a margin of 1.

    Use it for targets that have an order but no distances, such as ratings, where records arrive one by one. For
    matrices, :class:`onmargin.OrdinalRegressor` is faster and has `fit`.

    Parameters
    ----------
    ranks : sequence of str or int
        The ranks from low to high, at least two.

    Attributes
    ----------
    classes_ : list
        The ranks, from low to high.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far; `cost` is the sum of the
        distances between predicted and right ranks, in ranks.

    See Also
    --------
    onmargin.OrdinalRegressor : The estimator for matrices.
    PassiveAggressiveRegressor : For numeric targets whose distances matter.

    Notes
    -----
    [SIMPROJ] sec. 3. The weights are bit for bit those of :class:`onmargin.OrdinalRegressor`, which documents the
    bounds, trained on the same examples as a CSR matrix or, for vectors, as a dense matrix. Features that were never
    learned have weight 0.

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

    task = "ordinal"
    _labelled = True

    @property
    def classes_(self) -> list[Any]:
        """The ranks, from low to high."""
        return check_ranks(self.ranks or ())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.ranks is None:
            raise ParameterError("ranks are needed, from low to high, such as ranks=[1, 2, 3]", ["ranks"])
        check_ranks(self.ranks)

    def _check_target(self, y: Any) -> Any:
        return self.classes_[code_of(y, self.classes_)]

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: a dict of features with numbers or categories, a list of feature names, a text, or an array or
            sparse row of numbers. The first example learned determines whether features are identified by name or by
            position.
        y : str or int
            The rank, one of `ranks`.
        weight : float, default=1.0
            Factor on C, at least 0; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model.
        """
        loop = self._loop
        if loop is None or not loop.learn_label(x, y, weight):
            self._learn_first(x, y, weight)
        return self

    def _learn_first(self, x: Any, y: Any, weight: float) -> None:
        if check_weight(weight) > 0:
            rank = self._check_target(y)
            with self._open_loop(x) as loop:
                loop.learn_label(x, rank, weight)

    def predict_one(self, x: Any) -> Any:
        """Predict the rank of an example: that of the first threshold above its score.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        rank : str or int or None
            One of the ranks, or None if nothing was learned yet.
        """
        loop = self._loop or self._get_loop()
        if loop is None:
            return None
        return self.classes_[int(self._learner.task.decode(np.array([loop.scores(x)]))[0])]

    def scores_one(self, x: Any) -> float:
        """Return the score that the thresholds divide into ranks.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        score : float
            Higher scores mean higher ranks; 0 if nothing was learned yet.
        """
        loop = self._get_loop()
        return 0.0 if loop is None else loop.scores(x)[0] - float(self._model.mean()[1][0])

    @property
    def thresholds_(self) -> dict[Label, float]:
        """The learned threshold above each rank except the last."""
        n = len(self.classes_) - 1
        values = -self._model.mean()[1] if self._has_begun else np.zeros(n)
        return dict(zip(self.classes_, values.tolist(), strict=False))

    def _check_model(self, model: Model) -> None:
        if model.labels.known != self.classes_:
            raise ValueError(f"classes_ must be the ranks; got {model.labels.known!r:.200}")
        model.check(self.plan(), self._columns(), add_labels=lambda twin, labels: None)

    def _start(self, x: Any, shape: Shape, plan: Plan) -> None:
        super()._start(x, shape, plan)
        self._model.labels = Labels(self.classes_)

    def _columns(self) -> int:
        return len(self.classes_) - 1

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        return np.ones(1), 0.0
