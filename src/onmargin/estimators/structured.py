"""Passive-aggressive learning of any structure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin.estimators._joint_features import Named
from onmargin.estimators._structure_checks import StructureModel, check_model, cost_of
from onmargin.estimators._structures import StructureLearner, noted
from onmargin.models.rules import FLAG, Number, Rule, Word


class StructuredPredictor(StructureLearner):
    r"""Passive-aggressive learner of structures: matchings, orders, trees, segmentations, whatever can be searched for.

    You say what structures are, in a `model` of three methods: features :math:`\phi(x, y)` of an input and a structure,
    the search for the structure of highest score :math:`w \cdot \phi(x, z)`, and the cost :math:`\rho(y, z)` of
    predicting z where y is right. An example whose right structure beats its rival z by :math:`\sqrt{\rho(y, z)}`
    leaves the weights alone. Any other moves them just far enough: to the solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad
        w \cdot (\phi(x, y) - \phi(x, z)) \ge \sqrt{\rho(y, z)} - \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`w_t + \tau v` with :math:`v = \phi(x, y) -
    \phi(x, z)` and :math:`\tau = \min(C, \ell / \|v\|^2)`.

    Use it when an answer has parts that depend on each other and you can find the best answer: by a sort, a shortest
    path, an assignment, a dynamic programme. The search is called once or twice a round and takes nearly all the time.
    Where an answer is one of a few classes, :class:`PassiveAggressiveClassifier` is compiled, and has costs as well.

    Parameters
    ----------
    model : object
        What structures are. It has

        - ``joint_features(x, y)``: the features of a structure. A dict of name: value, whose names may be new at any
          time; or a vector, a sparse row or a pair ``(indices, values)``, of which the model then says in
          ``n_features`` how many there are;
        - ``argmax(weights, x)``: a structure of highest score. `weights` is a mapping for features that are named
          (``weights[name]`` is 0 for an unknown name, ``weights.score(features)`` the score of some), otherwise an
          array. They are there to be read, and go on learning;
        - ``cost(y, z)``: a number at least 0, and 0 if z is right;
        - for ``update="max_loss"``, ``cost_augmented_argmax(weights, x, y)``: the structure z of highest score plus
          :math:`\sqrt{\rho(y, z)}`, the square root of its cost.
    C : float, default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more cautious
        and better under noise; ``inf`` gives plain PA.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II.
    update : {"prediction", "max_loss"}, default="prediction"
        The rival of the right structure. "prediction": the one predicted, so that a right prediction changes nothing.
        "max_loss": the one of largest loss, which asks for a margin too; it takes a second search.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss was not better by `tol` than the best
        before. None: all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    average : bool or int, default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at.
    check_rounds : int, default=20
        In so many first rounds the model's answers are compared with each other, and an error says what does not fit:
        a search that misses the right structure though it scores higher, features that change, a right structure that
        costs something. 0 for a search that is approximate.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of those that are learned, unless they are averaged.
    feature_names_ : list
        Names of the features in the order of ``coef_``, if they have names.
    weights_ : mapping or ndarray
        The weights as `argmax` takes them.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    totals_ : Totals
        Rounds, mistakes, cost, updates, losses and dual value so far, of the weights that learn, not of their mean, and
        the largest :math:`\|v\|^2`. A mistake is a prediction that costs something: structures are never compared, so
        they may be of any type.

    See Also
    --------
    PassiveAggressiveClassifier : A few classes, with a matrix of costs.
    ClassFeatureClassifier : Candidates that are few enough to be listed.
    LabelRanker : Orders of labels that are the same for all examples.

    Notes
    -----
    [JMLR] sec. 8 and 9. For any weights u, with :math:`R^2` the largest :math:`\|v\|^2` and :math:`\ell_t(u)` the
    largest loss of u over all structures, the cost of the predictions of PA-II is at most

    .. math:: \sum_t \rho(y_t, \hat y_t) \le \big(R^2 + \tfrac1{2C}\big)\Big(\|u\|^2 + 2C \sum_t \ell_t(u)^2\Big)

    with either update, that of plain PA at most :math:`R^2 \|u\|^2` if u has no loss, and that of PA-I at most
    :math:`\|u\|^2 + 2C \sum_t \ell_t(u)` if :math:`R \le 1` and :math:`C^2` is at least the cost of every prediction.
    They need a search that is exact.

    There is no intercept: add a feature for whatever should have one. Example weights multiply C. A call that raises,
    in the model's methods too, leaves the learner as it was.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    Putting words in order, by a score for each word that the pairs of an order teach:

    >>> from itertools import combinations
    >>> from onmargin import StructuredPredictor
    >>> class Order:
    ...     def joint_features(self, words, order):
    ...         return {word: len(order) - 1 - 2 * place for place, word in enumerate(order)}
    ...
    ...     def argmax(self, weights, words):
    ...         return sorted(words, key=lambda word: -weights[word])
    ...
    ...     def cost(self, order, guess):
    ...         return sum(guess.index(a) > guess.index(b) for a, b in combinations(order, 2))
    >>> orders = [["mon", "wed"], ["tue", "thu"], ["wed", "thu"], ["mon", "tue", "wed"]] * 3
    >>> lists = [order[::-1] for order in orders]
    >>> model = StructuredPredictor(model=Order()).partial_fit(lists, orders)
    >>> model.totals_.mistakes, model.predict_one(["thu", "tue", "wed", "mon"])
    (5, ['mon', 'tue', 'wed', 'thu'])
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = StructureLearner._rules | {
        "loss": (Word("hinge", "squared_hinge"),),
        "update": (Word("prediction", "max_loss"),),
        "average": (FLAG, Number(0, 2**63 - 1, whole=True)),
        "check_rounds": (Number(0, whole=True),),
    }

    def __init__(
        self,
        *,
        model: StructureModel,
        C: float = 1.0,
        loss: str = "hinge",
        update: str = "prediction",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int = False,
        check_rounds: int = 20,
    ) -> None:
        self.model = model
        self.C = C
        self.loss = loss
        self.update = update
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.check_rounds = check_rounds

    def fit(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all the data in as many passes as it takes.

        Parameters
        ----------
        X : sequence
            Inputs, of any type that the model takes.
        Y : sequence
            The right structure of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            examples, weight = self._read(X, Y, sample_weight)
            if not self._go_on():
                self._begin(examples, weight)
            self._prepare()
            self._make_passes(lambda order: self._play(examples, weight, order), len(examples))
        return self

    def partial_fit(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: ArrayLike | None = None) -> Self:
        """Learn these examples in the given order, one round each. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : sequence
            Inputs, of any type that the model takes.
        Y : sequence
            The right structure of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            examples, weight = self._read(X, Y, sample_weight)
            if not hasattr(self, "_learner"):
                self._begin(examples, weight)
            elif len(examples) > 1:
                self._learner = deepcopy(self._learner)  # the model may raise when some rounds have been played
            self._prepare()
            self._play(examples, weight)
            self.n_iter_ = 1
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one example.

        Parameters
        ----------
        x : object
            An input.
        y : object
            Its right structure.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            check_model(self.model, self.update)
            if not hasattr(self, "_learner"):
                self._begin([(x, y)], None)
            self._prepare()
            self._round(x, y)
            self.n_iter_ = 1
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The structure of highest score for each input.

        Parameters
        ----------
        X : sequence
            Inputs.

        Returns
        -------
        structures : list
            What the model's `argmax` answers.
        """
        weights = self._predicting()
        structures = []
        for i, x in enumerate(X):
            with noted(i):
                structures.append(self.model.argmax(weights, x))
        return structures

    def predict_one(self, x: Any) -> Any:
        """The structure of highest score for one input.

        Parameters
        ----------
        x : object
            An input.

        Returns
        -------
        structure : object
            What the model's `argmax` answers.
        """
        return self.model.argmax(self._predicting(), x)

    def score_of(self, x: Any, y: Any) -> float:
        """The score of a structure.

        Parameters
        ----------
        x : object
            An input.
        y : object
            A structure, right or wrong.

        Returns
        -------
        score : float
            The inner product of the weights and the features of both.
        """
        weights = self._predicting()
        features = self._features.read(self.model.joint_features(x, y))
        return float(self._features.products(weights, features).sum())

    def score(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """One less the mean cost of the predictions: the part that is right, if a wrong structure costs 1.

        Parameters
        ----------
        X : sequence
            Inputs.
        Y : sequence
            The right structure of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the mean.

        Returns
        -------
        score : float
            1 if all predictions are right; below 0 if they cost more than 1 on average.
        """
        self._predicting()
        examples, weight = self._read(X, Y, sample_weight)
        predicted = self.predict([x for x, _ in examples])
        costs = [cost_of(self.model, y, z) for (_, y), z in zip(examples, predicted, strict=True)]
        return float(1 - np.average(costs, weights=weight))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights; averaged ones if `average` is on."""
        coef: NDArray[np.float64] = self._fitted().geometry.mean()[0][0, : self._features.size]
        return coef

    @property
    def feature_names_(self) -> list[Hashable]:
        """Names of the features in the order of ``coef_``."""
        self._fitted()
        if not isinstance(self._features, Named):
            raise AttributeError("the features of this model have no names: joint_features gives vectors")
        return list(self._features.places)

    @property
    def weights_(self) -> Any:
        """The weights as the model's `argmax` takes them; averaged ones if `average` is on."""
        return self._features.predicting(self._fitted().geometry)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags

    def _predicting(self) -> Any:
        check_is_fitted(self)
        return self.weights_
