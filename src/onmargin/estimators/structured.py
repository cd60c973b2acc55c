"""Structured prediction with a passive-aggressive learner."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin.estimators._checks import check_weight
from onmargin.estimators._estimator import Estimator
from onmargin.learner import Offsets, Vector
from onmargin.models.described import described
from onmargin.models.joint_features import Features, Indexed, Named, features_like
from onmargin.models.model import Model
from onmargin.models.plan import Plan, Shape
from onmargin.models.structure_checks import check_model, cost_of
from onmargin.models.structures import Example, StructureOptions, name_example, note, run_round
from onmargin.transaction import Transaction


@described
@dataclass(kw_only=True, eq=False, repr=False)
class StructuredPredictor(Estimator, StructureOptions):
    r"""Passive-aggressive structured prediction: matchings, orders, trees, segmentations, or anything you can search.

    You define the structures by a `model` with three methods: the features :math:`\phi(x, y)` of an input and a
    structure, the search for the structure of highest score :math:`w \cdot \phi(x, z)`, and the cost :math:`\rho(y, z)`
    of predicting z when y is right. An example whose right structure beats its rival z by :math:`\sqrt{\rho(y, z)}`
    does not change the weights. Any other example moves them just far enough, to the solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad
        w \cdot (\phi(x, y) - \phi(x, z)) \ge \sqrt{\rho(y, z)} - \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`w_t + \tau v` with :math:`v = \phi(x, y) -
    \phi(x, z)` and :math:`\tau = \min(C, \ell / \|v\|^2)`.

    Use it when an output has parts that depend on each other and you can find the best output: by a sort, a shortest
    path, an assignment, a dynamic program. The search is called once or twice per round and takes nearly all the time.
    If the output is one of a few classes, :class:`PassiveAggressiveClassifier` is compiled, and supports costs as well.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of the learned weights, unless they are averaged.
    feature_names_ : list
        Names of the features in the order of ``coef_``, if they have names.
    weights_ : mapping or ndarray
        The weights in the form that `argmax` receives.
    totals_ : Totals
        Rounds, mistakes, cost, updates, losses and dual value so far, of the current weights, not of the averaged ones,
        and the largest :math:`\|v\|^2`. A mistake is a prediction with a cost above 0: structures are never compared,
        so they may be of any type.

    See Also
    --------
    PassiveAggressiveClassifier : A few classes, with a matrix of costs.
    ClassFeatureClassifier : Candidates that are few enough to list.
    LabelRanker : Rankings of one set of labels for all examples.

    Notes
    -----
    [JMLR] sec. 8 and 9. For any weights u, with :math:`R^2` the largest :math:`\|v\|^2` and :math:`\ell_t(u)` the
    largest loss of u over all structures, the cost of the predictions of PA-II is at most

    .. math:: \sum_t \rho(y_t, \hat y_t) \le \big(R^2 + \tfrac1{2C}\big)\Big(\|u\|^2 + 2C \sum_t \ell_t(u)^2\Big)

    with either update, that of plain PA at most :math:`R^2 \|u\|^2` if u has no loss, and that of PA-I at most
    :math:`\|u\|^2 + 2C \sum_t \ell_t(u)` if :math:`R \le 1` and :math:`C^2` is at least the cost of every prediction.
    These bounds require an exact search.

    There is no intercept: add constant features if you need one. Example weights multiply C. A call that raises, even
    in the model's methods, does not change the learner.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    Sort words by a learned score per word:

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

    if TYPE_CHECKING:
        _features: Features = field(init=False)

    def fit(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to all examples, in several passes.

        Parameters
        ----------
        X : sequence
            Inputs, of any type that the model accepts.
        Y : sequence
            The right structure of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._start_fitting() as plan:
            examples, weight = self._read(X, Y, sample_weight)
            self._set_out(plan, examples, weight, go_on=self._go_on())
            self._make_passes(lambda order: self._play(examples, weight, order), len(examples))
        return self

    def partial_fit(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: ArrayLike | None = None) -> Self:
        """Learn examples in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : sequence
            Inputs, of any type that the model accepts.
        Y : sequence
            The right structure of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with self._start_learning() as (plan, transaction):
            examples, weight = self._read(X, Y, sample_weight)
            begun = self._has_begun
            if len(examples) > 1:
                transaction.drops_rounds = True  # the model may raise after some rounds ran
                if begun:
                    self._model = deepcopy(self._model)
            self._set_out(plan, examples, weight, go_on=begun)
            self.n_iter_ = 1
            self._play(examples, weight)
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
            The updated estimator.
        """
        with self._start_learning() as (plan, _):
            check_model(self.model, self.update)
            self._set_out(plan, [(x, y)], None, go_on=self._has_begun)
            self.n_iter_ = 1
            run_round(self, self._features, self._learner, (x, y))
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Return the structure of highest score for each input.

        Parameters
        ----------
        X : sequence
            Inputs.

        Returns
        -------
        structures : list
            The results of the model's `argmax`.
        """
        weights = self._find_weights()
        structures = []
        for i, x in enumerate(X):
            with name_example(i):
                structures.append(self.model.argmax(weights, x))
        return structures

    def predict_one(self, x: Any) -> Any:
        """Return the structure of highest score for one input.

        Parameters
        ----------
        x : object
            An input.

        Returns
        -------
        structure : object
            The results of the model's `argmax`.
        """
        return self.model.argmax(self._find_weights(), x)

    def score_of(self, x: Any, y: Any) -> float:
        """Return the score of a structure.

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
        weights = self._find_weights()
        features = self._features.read(self.model.joint_features(x, y))
        return float(self._features.products(weights, features).sum())

    def score(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean cost of the predictions, which is the accuracy if a wrong structure costs 1.

        Parameters
        ----------
        X : sequence
            Inputs.
        Y : sequence
            The right structure of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples in the average.

        Returns
        -------
        score : float
            1 if all predictions are right; below 0 if they cost more than 1 on average.
        """
        self._find_weights()
        examples, weight = self._read(X, Y, sample_weight)
        predicted = self.predict([x for x, _ in examples])
        costs = [cost_of(self.model, y, z) for (_, y), z in zip(examples, predicted, strict=True)]
        return float(1 - np.average(costs, weights=weight))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights; averaged if `average` is on."""
        coef: NDArray[np.float64] = self._check_fitted().geometry.mean()[0][0, : self._features.size]
        return coef

    @property
    def feature_names_(self) -> list[Hashable]:
        """Names of the features in the order of ``coef_``."""
        self._check_fitted()
        if not isinstance(self._features, Named):
            raise AttributeError("the features of this model have no names: joint_features gives vectors")
        return list(self._features.places)

    @property
    def weights_(self) -> Any:
        """The weights in the form that the model's `argmax` receives; averaged if `average` is on."""
        return self._features.weights_that_predict(self._check_fitted().geometry)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags

    def _find_weights(self) -> Any:
        check_is_fitted(self)
        return self.weights_

    def _mark_growth(self, transaction: Transaction) -> None:
        """Also remove new names if anything raises: the model may, after rounds ran on copied weights."""
        if self._has_begun:
            transaction.undo_by(partial(self._features.restore, self._features.size, self._learner.geometry))

    def _for_prediction(self) -> Self:
        raise TypeError("predict_only=True is not for StructuredPredictor: save the whole model")

    def _check_width(self, n_features: int) -> None:
        if not isinstance(self._features, Named | Indexed) or not self._features.fits(n_features):
            raise ValueError(f"features of structures do not fit weights for {n_features}")

    @contextmanager
    def _start_learning(self) -> Iterator[Any]:
        """If anything raises, keep only the names and weights of the rounds that stay learned."""
        with self._turns:
            begun = self._has_begun
            size, rounds = (self._features.size, self.totals_.rounds) if begun else (0, 0)
            try:
                with super()._start_learning() as both:
                    yield both
            except BaseException:
                if self._has_begun:
                    learned = self.totals_.rounds > rounds
                    self._features.restore(self._features.size if learned else size, self._learner.geometry)
                raise

    def _read(
        self, X: Iterable[Any], Y: Iterable[Any], sample_weight: ArrayLike | None
    ) -> tuple[list[Example], Vector | None]:
        check_model(self.model, self.update)
        inputs, structures = list(X), list(Y)
        if len(inputs) != len(structures):
            raise ValueError(f"X and Y must have the same number of examples; got {len(inputs)} and {len(structures)}")
        if not inputs:
            raise ValueError("X has no examples: at least one is needed")
        return list(zip(inputs, structures, strict=True)), check_weight(sample_weight, len(inputs))

    def _set_out(self, plan: Plan, examples: list[Example], weight: Vector | None, *, go_on: bool) -> None:
        """Continue or begin with the plan; a new model has features like those of the first example that counts."""
        if go_on:
            self._model.use_plan(plan)
        else:
            first = 0 if weight is None else int(np.flatnonzero(weight)[0])
            with name_example(first):
                given = self.model.joint_features(*examples[first])
                self._features = features_like(given, getattr(self.model, "n_features", None))
            self._model = Model.begin(plan, Shape(self._features.size, np.float64, sparse=True))
        self._model.set_task()

    def _play(self, examples: list[Example], weight: Vector | None, order: Offsets | None = None) -> None:
        """Run one round for each example, in the given order; those of weight 0 are skipped."""
        i = 0
        try:
            for i in range(len(examples)) if order is None else order.tolist():
                if weight is None:
                    run_round(self, self._features, self._learner, examples[i])
                elif weight[i] > 0:
                    run_round(self, self._features, self._learner, examples[i], weight[i : i + 1])
        except Exception as error:
            note(error, i)
            raise
