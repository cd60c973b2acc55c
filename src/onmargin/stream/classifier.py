"""Classes, one example at a time."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core.steps.step import Step
from onmargin._core.stream import check_weight
from onmargin._core.tasks.task import Task
from onmargin.models.columns import mix_classes
from onmargin.models.rules import CLASS_MARGINS, NOTHING, Rule, Word
from onmargin.models.several import grid
from onmargin.models.updates import RIVALS, check_class_margin, check_combination, class_margins, class_task
from onmargin.stream._labels import Label, check_label, code_of
from onmargin.stream._sweep import SweepModel


class Classifier(SweepModel):
    r"""Passive-aggressive classifier of examples that come one at a time; features and classes may come later.

    An example whose class wins by a margin of 1 leaves the weights alone. Any other moves them just far enough: to the
    solution of

    .. math::
        \min_W \tfrac12 \|W - W_t\|^2 + C\,\xi \quad\text{s.t.}\quad s_y - \max_{r \ne y} s_r \ge 1 - \xi,\ \xi \ge 0

    with :math:`s_r` the score of class r (PA-I; PA-II has :math:`C\,\xi^2`).

    Use it where records arrive one by one, as dicts or text, and their features are not known beforehand. For a matrix
    that is at hand :class:`onmargin.PassiveAggressiveClassifier` is faster, and has `fit`.

    Parameters
    ----------
    C : float, array-like of float or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more
        cautious and better under noise; ``inf`` gives plain PA, which always reaches the margin. Several values: a
        model for each, all learned in one pass. "auto": nine values from 0.001 to 10.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II.
    update : str, default="max"
        Which rivals of the right class a round moves, as for :class:`onmargin.PassiveAggressiveClassifier`: "max",
        "simperc", "conproj", "simproj", "simopt", "conopt", "exact", "perceptron" or "mira".
    strategy : {"joint", "ovr"}, default="joint"
        With more than two classes, "joint" learns the right class against its best rival, "ovr" each class against
        all others.
    class_margin : dict or None, default=None
        Margins by class, above 0: examples of a class ask for its margin instead of 1, as for
        :class:`onmargin.PassiveAggressiveClassifier`; for rare classes. Classes may come later.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each example, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
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
    combine : {"leader", "hedge"}, default="leader"
        With several values of C, or ``average="best"``, predict with the model of the fewest mistakes so far, or by the
        vote of all, each with the weight of AdaHedge.

    Attributes
    ----------
    sweep_ : Standing
        With several values of C: mistakes, losses, votes and weights of each model, and which one leads.
    averages_ : Standing
        With ``average="best"``: mistakes, losses and coefficients of the current weights and of the averaged ones.
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the weights that learn, not of
        their mean.

    See Also
    --------
    onmargin.PassiveAggressiveClassifier : The same for matrices.
    Regressor : Numbers instead of classes.
    LabelRanker : Several labels an example.

    Notes
    -----
    [JMLR] sec. 3 and 7. The weights are those of :class:`onmargin.PassiveAggressiveClassifier`, which has the
    bounds, from the same examples as a CSR matrix, bit for bit; from vectors, as a dense one. A feature never learned
    has weight 0.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.Classifier()
    >>> for text, label in [("cheap pills now", "spam"), ("lunch at noon", "ham"), ("cheap watches", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    >>> {word: round(weight, 2) for word, weight in model.explain("cheap lunch pills").items()}
    {'cheap': 0.41, 'lunch': -0.31}
    """

    _labelled = True
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = SweepModel._rules | {
        "loss": (Word("hinge", "squared_hinge"),),
        "update": (Word("max", *RIVALS),),
        "strategy": (Word("joint", "ovr"),),
        "class_margin": (NOTHING, CLASS_MARGINS),
    }

    classes_: list[Label]

    def __init__(
        self,
        *,
        C: float | ArrayLike | str = 1.0,
        loss: str = "hinge",
        update: str = "max",
        strategy: str = "joint",
        class_margin: Mapping[Any, float] | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        average: bool | int | str = False,
        n_features: int | None = None,
        separator: str | None = None,
        dtype: str = "float64",
        lowercase: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        weighting: str = "tf",
        normalize: bool = True,
        idf: bool = False,
        combine: str = "leader",
    ) -> None:
        self.C = C
        self.loss = loss
        self.update = update
        self.strategy = strategy
        self.class_margin = class_margin
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
        self.combine = combine
        self.classes_ = []
        self._ready()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        plain = self.update == "max"
        if grid(self.C):
            check_combination("a sequence of C", {"update='max'": plain})
        check_combination(
            f"update={self.update!r}",
            {
                "loss='hinge'": plain or self.loss == "hinge",
                "strategy='joint'": plain or self.strategy == "joint",
                "a finite C": self.update not in {"simperc", "mira"} or inf > self.C,
            },
        )
        check_class_margin(self.class_margin, self.update, {})

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: features by name with numbers or categories, names alone, a text, or an array or sparse row of
            numbers. The first example learned says whether features go by name or by position.
        y : str or int
            Its label; one not met before becomes a class. All are strings, or all are whole numbers.
        weight : float, default=1.0
            Factor on C, at least 0; with weight 0 nothing happens.

        Returns
        -------
        self : object
            The model, having learned.
        """
        player = self._player
        if player is None or not player.learn_label(x, y, weight):
            self._learn_new(x, y, weight)
        return self

    def _learn_new(self, x: Any, y: Any, weight: float) -> None:
        """Learn an example when a label is new, or when the player is."""
        if check_weight(weight) == 0:
            return
        label = check_label(y, self.classes_)
        with self._opening(x) as player:
            if not player.learn_label(x, label, weight):
                player.read(x)
                self._meet(label)
                player.targets = self._targets()
                player.take()
                player.play(np.array([player.targets[label]]), weight)

    def _meet(self, label: Label) -> None:
        """Make room for a label; margins between the others stay as they are."""
        known: list[Any] = self.classes_
        classes = sorted([*known, label])
        if len(classes) > 2:
            half = 0.5 if self.strategy == "joint" else 1.0
            mixing = mix_classes([classes.index(one) for one in known], len(classes), half)
            self._recombine(mixing)
        self.classes_ = classes
        self._arrange()

    def predict_one(self, x: Any) -> Any:
        """The class of highest score.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        label : str or int or None
            A label; of equal scores the first class wins, and with two classes a score of zero is ``classes_[1]``.
            None: nothing was learned yet.
        """
        player = self._player or self._opened()
        if player is None:
            return None
        best = player.best(x)
        return self.classes_[best if len(self.classes_) > 1 else 0]

    def scores_one(self, x: Any) -> dict[Label, float]:
        """The score of each class.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        scores : dict
            Scores by label; with two classes they are the margin and its opposite.
        """
        player = self._opened()
        if player is None:
            return {}
        scores = player.scores(x)
        if len(self.classes_) == 2:
            scores = [-scores[0], scores[0]]
        return dict(zip(self.classes_, scores, strict=True))

    def _width(self) -> int:
        return len(self.classes_) if len(self.classes_) > 2 else 1

    def _task(self) -> Task:
        margin = 1 / self.C if self.update == "mira" else 1.0
        margins = class_margins(self.class_margin, self.classes_, margin)
        return class_task(len(self.classes_), update=self.update, strategy=self.strategy, margin=margins)

    def _step(self) -> Step:
        return super()._step() if self.update == "max" else RIVALS[self.update](self.C)

    def _targets(self) -> dict[Any, float]:
        if len(self.classes_) == 2:
            return dict(zip(self.classes_, (-1.0, 1.0), strict=True))
        return {label: float(code) for code, label in enumerate(self.classes_)}

    def _leading(self, x: Any) -> Any:
        return self.predict_one(x)

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        n = len(self.classes_)
        if label is None and n > 2:
            raise ValueError(f"each class has weights of its own: give label=, one of {self.classes_!r:.200}")
        code = n - 1 if label is None else code_of(label, self.classes_)
        direction = np.array([2.0 * code - 1]) if n == 2 else np.eye(n)[code]
        return direction, float(direction @ self._mean()[1])
