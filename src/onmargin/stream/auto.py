"""Learners of streams for people who do not want to choose."""

from typing import Any, ClassVar, Self

from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin.models.experts import (
    CLASSIFIERS,
    REGRESSORS,
    Experts,
    assemble,
    class_tasks,
    kinds_of,
    members,
    retire,
    steps_of,
)
from onmargin.models.several import Kind, Standing
from onmargin.stream._several import SeveralModels
from onmargin.stream.classifier import Classifier
from onmargin.stream.regressor import Regressor


class ExpertsModel(SeveralModels):
    """A model over a fixed set of experts."""

    _experts: ClassVar[Experts]

    _members: list[str]  # those that are in play, by name

    # What is a parameter of a single model.
    C = 1.0
    average = False

    def _geometry(self, n_features: int, *, sparse: bool) -> Any:
        assemble(self, sparse=sparse)
        return super()._geometry(n_features, sparse=sparse)

    def _called(self) -> list[str]:
        return [expert.name for expert in members(self)]

    def _kinds(self) -> list[Kind]:
        return kinds_of(self)

    def _step(self) -> Step:
        return steps_of(self)

    def retire(self, keep: int) -> Self:
        """Go on with the experts that have lost least so far; the others are forgotten, and their time is saved.

        Parameters
        ----------
        keep : int
            How many stay, at least 1; one more if averages and what they are of would be parted. An expert that was
            behind may have been the best of what is yet to come, where a stream drifts.

        Returns
        -------
        self : object
            The model, with fewer experts. The regret bound is then against those that stayed.
        """
        if not hasattr(self, "_learner"):
            raise ValueError("nothing was learned yet: there is no telling which experts to keep")
        retire(self, keep)
        self._player = None
        return self

    @property
    def experts_(self) -> Standing:
        """How the experts stand."""
        return self._standing()


class AutoClassifier(ExpertsModel, Classifier):
    r"""Classifier of a stream with nothing to tune: experts learn side by side, and predict together.

    They are those of :class:`onmargin.AutoClassifier`: of arrays those for dense rows, of which some learn from
    standardized ones, of all else those for sparse rows. A vote counts for :math:`p_m \propto \exp(-\eta M_m)`, where
    :math:`M_m` are the mistakes of an expert so far (AdaHedge).

    Use it first where records arrive one by one and nothing is known of them; records of a few numbers, all of them
    always there, as arrays. Take the expert that leads, which ``experts_`` names, or :class:`Classifier`, where a tenth
    of the time matters more. With ``dtype="float32"`` the weights and metrics of a feature, of all experts, are on one
    cache line.

    Parameters
    ----------
    combine : {"hedge", "leader"}, default="hedge"
        Predict by the vote, or with the expert of the fewest mistakes so far, whose margins `scores_one` then gives.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each example, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
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
    experts_ : Standing
        Names, mistakes, losses, votes and weights of the experts, and which one leads.
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, and mistakes and losses of the prediction so far. Updates are rounds in which some expert moved; the
        dual value is that of no one problem.

    See Also
    --------
    onmargin.AutoClassifier : The same for matrices.
    Classifier : One model, or with ``C="auto"`` one for each of nine values of C.

    Notes
    -----
    `weights`, `explain` and `intercept` are those of the expert that leads. The models are those of
    :class:`onmargin.AutoClassifier`, which has the bound, from the same examples as a CSR matrix, bit for bit.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.AutoClassifier()
    >>> for text, label in [("cheap pills now", "spam"), ("lunch at noon", "ham"), ("cheap watches", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    >>> model.experts_.names[model.experts_.leader]
    'adaptive'
    """

    _experts = CLASSIFIERS

    loss = "hinge"
    update = "max"
    strategy = "joint"
    class_margin = None

    def __init__(
        self,
        *,
        combine: str = "hedge",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        n_features: int | None = None,
        separator: str | None = None,
        dtype: str = "float64",
        lowercase: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        weighting: str = "tf",
        normalize: bool = True,
        idf: bool = False,
    ) -> None:
        self.combine = combine
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
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

    def _tasks(self, judge: Task) -> list[Task]:
        return class_tasks(len(self.classes_), judge, members(self))


class AutoRegressor(ExpertsModel, Regressor):
    r"""Regressor of a stream with nothing to tune: experts learn side by side, and predict together.

    They are those of :class:`onmargin.AutoRegressor`: of arrays those for dense rows, of which some learn from
    standardized ones, of all else those for sparse rows. None depends on the units of the target. The prediction is the
    mean of theirs, each with the weight :math:`p_m \propto \exp(-\eta L_m)`, where :math:`L_m` are the absolute errors
    of an expert so far (AdaHedge).

    Use it first where records arrive one by one and nothing is known of them; records of a few numbers, all of them
    always there, as arrays. Use :class:`Regressor` where a tenth of the time matters more.

    Parameters
    ----------
    combine : {"hedge", "leader"}, default="hedge"
        Predict the weighted mean, or with the expert of the least error so far.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each example, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
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
    experts_ : Standing
        Names, losses, weights in the mean and weights of the experts, and which one leads.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds and absolute errors of the prediction so far. Updates are rounds in which some expert moved; the dual
        value is that of no one problem.

    See Also
    --------
    onmargin.AutoRegressor : The same for matrices.
    Regressor : One model, or with ``C="auto"`` one for each of nine values of C.

    Notes
    -----
    `weights`, `explain` and `intercept` are those of the expert that leads. The models are those of
    :class:`onmargin.AutoRegressor`, which has the bound, from the same examples as a CSR matrix, bit for bit.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.AutoRegressor()
    >>> for i in range(300):
    ...     x = {"size": i % 7 / 7, "town": "Ulm" if i % 2 else "Bonn"}
    ...     model = model.learn_one(x, 200 * x["size"] + 100 * (x["town"] == "Ulm"))
    >>> round(model.predict_one({"size": 0.5, "town": "Ulm"}))
    200
    """

    _experts = REGRESSORS

    epsilon = 0.0
    loss = "epsilon_insensitive"

    def __init__(
        self,
        *,
        combine: str = "hedge",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        n_features: int | None = None,
        separator: str | None = None,
        dtype: str = "float64",
        lowercase: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        weighting: str = "tf",
        normalize: bool = True,
        idf: bool = False,
    ) -> None:
        self.combine = combine
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_features = n_features
        self.separator = separator
        self.dtype = dtype
        self.lowercase = lowercase
        self.ngrams = ngrams
        self.weighting = weighting
        self.normalize = normalize
        self.idf = idf
        self._ready()

    def _tasks(self, judge: Task) -> list[Task]:
        return [judge] * len(members(self))
