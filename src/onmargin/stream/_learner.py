"""Base class of all stream learners: learning, predicting and explaining."""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows
from onmargin._core.stream import check_weight
from onmargin._core.text.names import Names
from onmargin._frames import column_names, is_frame, list_names, records_of, targets_of
from onmargin._warnings import warn_caller
from onmargin.errors import ExampleError
from onmargin.learner import Totals
from onmargin.models.ensemble import find_leader
from onmargin.models.expert_results import ExpertResults, ModelOutcome
from onmargin.models.explanation import Explanation, contributions, intercepts, largest
from onmargin.models.model import Model
from onmargin.models.plan import Shape
from onmargin.models.rules import Number
from onmargin.stream._blocks import learn_known, learn_readily, widen
from onmargin.stream._examples import check_lengths, each, is_vector
from onmargin.stream._state import StreamState

# What separates the name of a column from a category, and from the names within the column.
_INNER = re.compile("[=:]")
# The name of a feature; with hashing and for vectors, its index.
Name = str | int


class Classes:
    """A stream learner with labels."""

    __slots__ = ()

    if TYPE_CHECKING:
        _has_begun: bool
        _model: Model

    @property
    def classes_(self) -> list[Any]:
        """The labels seen so far, in the order of their columns."""
        return self._model.labels.known if self._has_begun else []


@dataclass(kw_only=True, eq=False, repr=False)
class StreamLearner(StreamState):
    """Base class of stream learners: learns a `Model` one example at a time.

    A subclass inherits the options of a family, whose `plan` defines how they learn, and defines how targets are read
    and how scores are combined from columns (`_direction`).

    Attributes
    ----------
    n_features_ : int
        Number of features: names seen so far, size of the hash table, or length of the vectors.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far.
    """

    # The task: "classify", "regress", "rank", "ordinal" or "novelty".
    task: ClassVar[str]
    # Whether the target of an example is a label (True), a number (False), or neither (None).
    _labelled: ClassVar[bool | None] = None

    def _check_target(self, y: Any) -> Any:
        """Return the target of an example as `learn_one` uses it, or refuse it."""
        raise NotImplementedError

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        """Return the coefficients that combine the columns of weights into the score of a label, and its intercept."""
        raise NotImplementedError

    def _find_best_label(self, x: Any) -> Any:
        """Return the label to explain by default; None if there is only one score."""
        return None

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        raise NotImplementedError

    def predict_one(self, x: Any) -> Any:
        raise NotImplementedError

    def check_one(self, x: Any, y: Any = None, weight: float = 1.0) -> None:
        """Raise the error that `learn_one` would raise for an example, without learning it.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.
        y : object, default=None
            The target, as for `learn_one`.
        weight : float, default=1.0
            Its weight.

        Raises
        ------
        TypeError, ValueError
            If `learn_one` would raise it.
        """
        check_weight(weight)
        if self._has_begun:
            self._learner.check_learns()
        self._check_target(y)
        loop = self._get_loop()
        if loop is None:
            deepcopy(self).learn_one(x, y)
        else:
            loop.check(x)
            if self.features_.separator is not None:  # also read the numbers after unknown names
                self.names_one(x)

    def names_one(self, x: Any) -> list[str]:
        """Return the names of the features of an example, known or not.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`.

        Returns
        -------
        names : list of str
            The names, each once, before hashing; empty for a vector.
        """
        table = self._model.is_table if self._has_begun else self._entries(x, self.plan()) > 0
        return [] if is_vector(x) else list(self.features_.read(x, zeros=table, known=vars(self).get("_names")))

    def knows(self, name: str) -> bool:
        """Return whether a feature with this name was learned; with hashing, every name is known.

        Parameters
        ----------
        name : str
            The name, as returned by `names_one`.

        Returns
        -------
        known : bool
            Always False if features are identified by position.
        """
        names = vars(self).get("_names")
        return names is not None and names.get(name) >= 0

    def learn_many(self, X: Iterable[Any], y: Any, weights: Iterable[float] | None = None) -> Self:
        """Learn several examples in order; the same as calling `learn_one` for each.

        Parameters
        ----------
        X : iterable, data frame, or matrix of shape (n_samples, n_features)
            Examples, as for `learn_one`. The rows of a data frame (pandas, Polars, PyArrow) are dicts by column name.
            The rows of an array or sparse matrix are vectors; a sparse matrix may be wider than earlier ones.
        y : iterable
            Their targets; a data frame must have one column.
        weights : iterable of float or None, default=None
            Factors on C, one per example; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model. If an example is invalid, the examples before it stay learned, and the error says which
            one it was. After an interrupt (Ctrl-C), the examples whose rounds ``totals_`` counts are learned.
        """
        for i, x, target, weight in self._one_by_one(X, y, weights):
            try:
                self.learn_one(x, target, weight)
            except (TypeError, ValueError) as error:
                raise ExampleError.wrap(error, i) from error
        return self

    def _one_by_one(self, X: Any, y: Any, weights: Any) -> Iterator[tuple[int, Any, Any, float]]:
        """Yield the examples to learn one by one, with their indices; learn the others in compiled loops."""
        if is_vector(X):
            X = widen(self, self._vectors().rows(X, "X"))
        elif is_frame(X):
            X = records_of(X)
        y, weights = targets_of(y), targets_of(weights, "weights")
        examples = self._each(X)
        check_lengths(X=X, y=y, weights=weights)
        compiled = self._labelled is not None and getattr(self, "class_weight", None) is None
        if isinstance(X, Rows) and compiled:
            y = y if isinstance(y, np.ndarray) else list(y)
            weights = None if weights is None else list(weights)
            for i in learn_known(self, X, y, weights):
                yield i, X.part(i, i + 1), y[i], 1.0 if weights is None else weights[i]
            return
        if isinstance(X, list | tuple) and y is not None and compiled:
            y, weights = list(y), None if weights is None else list(weights)
            check_lengths(X=X, y=y, weights=weights)
            for i in learn_readily(self, tuple(X), y, weights):
                yield i, X[i], y[i], 1.0 if weights is None else weights[i]
            return
        pairs = ((x, None) for x in examples) if y is None else zip(examples, y, strict=True)
        weighted = ((pair, 1.0) for pair in pairs) if weights is None else zip(pairs, weights, strict=True)
        for i, ((x, target), weight) in enumerate(weighted):
            yield i, x, target, weight

    def predict_many(self, X: Iterable[Any]) -> list[Any]:
        """Predict several examples; the same as calling `predict_one` for each.

        Parameters
        ----------
        X : iterable, data frame, or matrix of shape (n_samples, n_features)
            Examples, as for `learn_many`. A data frame without columns that the model has learned causes a warning.

        Returns
        -------
        predictions : list
            One prediction per example.
        """
        return [self.predict_one(x) for x in self._each(X)]

    def _each(self, X: Any) -> Iterable[Any]:
        if is_frame(X) and (lacking := self.missing_columns(column_names(X))):
            warn_caller(
                f"X has no columns {list_names(lacking)}, which the model has learned from: was a column renamed?",
                UserWarning,
            )
        return each(X, self._vectors())

    def missing_columns(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that the model has learned from and that are not among those of a table.

        Parameters
        ----------
        columns : iterable of str
            The names of the columns of the table.

        Returns
        -------
        missing : list of str
            The columns in the order in which they were learned. Empty if names of features are hashed.
        """
        features, here = self.features_, set(columns)
        if isinstance(features.text, str):
            return [features.text] if self._has_begun and features.text not in here else []
        known = here.union("*".join(pair) for pair in features.cross)
        # The feature of a category is "column=category", and one within a column "column:inner".
        missing = dict.fromkeys(
            _INNER.split(name, maxsplit=1)[0]
            for name in self.feature_names_ or ()
            if name not in known and known.isdisjoint(name[: sign.start()] for sign in _INNER.finditer(name))
        )
        return list(missing)

    def weights(self, label: Any = None, top: int | None = None) -> dict[Name, float]:
        """Return the weights by feature, largest absolute value first; averaged if `average` is on.

        Parameters
        ----------
        label : str or int or None, default=None
            The label whose weights to return, if each label has its own. If None, with two classes, those of the second
            class.
        top : int or None, default=None
            Maximum number of features. If None, all that are not zero.

        Returns
        -------
        weights : dict
            Weights by the name of the feature; with hashing and for vectors, by its index.

        Notes
        -----
        Of several models, the weights are those of the model with the smallest loss so far. If that model has none by
        feature, as a forest, a `ValueError` is raised; use `explain` for the prediction of an example.
        """
        if not self._has_begun:
            return {}
        self._ask_for_weights()
        direction, _ = self._direction(label)
        return self._name_values(
            range(self.n_features_), direction @ self._find_leading_weights()[:, : self.n_features_], top
        )

    def _find_leading_weights(self) -> NDArray[Any]:
        """Return the weights of the model with the smallest loss, columns by features."""
        vote = self._model.combined
        leader = None if vote is None else find_leader(vote, self._learner.geometry)
        if leader is None or vote is None:
            return self._model.mean()[0]
        if leader.nonlinear:
            raise ValueError(
                f"the leading expert, {self.models_[vote.leader]}, has no weights by feature: use explain for the "
                "contributions to a score; experts_.coef has the weights of the other experts"
            )
        return leader.plain(*leader.leaf.mean())[0]

    def explain(self, x: Any, label: Any = None, top: int | None = None) -> Explanation:
        """Return the contribution of each feature to the score of an example; with the intercept they sum to the score.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example.
        label : str or int or None, default=None
            The label whose score to explain, if each label has its own. If None, the predicted label.
        top : int or None, default=None
            Maximum number of features. If None, all with a non-zero contribution.

        Returns
        -------
        contributions : Explanation
            A dict of contributions by the name of the feature; with hashing and for vectors, by its index. The largest
            absolute values come first. Its attributes are the explained `label`, the `intercept` and the `score`, which
            is the sum of the intercept and all contributions.

        Notes
        -----
        The contribution of a feature to the score of a linear model is its weight times its value; a number missing
        from the record of a table counts as its mean. If several models vote, or the leading one is not linear, the
        contributions are Shapley values of the score: the change of the score when the feature is added to an example
        without features (for vectors, when its mean is replaced by its value), averaged over random orders of the
        features. Their sum is exact; each by itself is an estimate where more than two features interact.
        """
        loop = self._get_loop()
        if loop is None:
            return Explanation({}, label, 0.0, 0.0)
        self._ask_for_weights()
        label = self._find_best_label(x) if label is None else label
        direction, intercept = self._direction(label)
        places, found = contributions(self._model, loop.features(x), direction)
        return Explanation(self._name_values(places, found, top), label, intercept, intercept + float(found.sum()))

    def intercept(self, label: Any = None) -> float:
        """Return the intercept of a score.

        Parameters
        ----------
        label : str or int or None, default=None
            The label, as for `weights`.

        Returns
        -------
        intercept : float
            The constant added to the sum of weights times values. If several models vote, or the leading one is not
            linear, the score of an example without features, or of the mean of vectors: what `explain` begins with.
        """
        return float(self._direction(label)[1]) if self._has_begun else 0.0

    def _intercepts(self) -> NDArray[np.float64]:
        """Return what contributions are added to, for each column of scores."""
        return intercepts(self._model)

    def _ask_for_weights(self) -> None:
        if self._kernel is not None:
            raise ValueError(
                "a kernel has no weights by feature: what is learned is in the feature space of the kernel. Use "
                "scores_one, or learn with kernel=None"
            )

    def _name_values(self, places: Any, values: NDArray[np.float64], top: int | None) -> dict[Name, float]:
        """Return the non-zero values by feature, largest absolute value first; they are clipped, as scores are."""
        if top is not None and not Number(0, whole=True).accepts(top):
            raise ValueError(f"top must be None or an integer at least 0; got {top!r}")
        values = np.nan_to_num(values)
        order = largest(values, top)
        names = self._names.names if isinstance(self._names, Names) else None
        return {int(places[k]) if names is None else names[places[k]]: float(values[k]) for k in order}

    @property
    def support_size_(self) -> tuple[int, int]:
        """Number of supports of a kernel and number of values that they hold, with which memory and time grow."""
        supports = getattr(self._learner, "supports", None) if self._has_begun else None
        return (0, 0) if supports is None else (len(supports), supports.n_values)

    def matrix_size(self, n_features: int) -> int:
        """Return how many numbers are stored besides the weights of `n_features` features, such as one per pair.

        Parameters
        ----------
        n_features : int
            The number of features.

        Returns
        -------
        size : int
            The total over all models trained side by side.
        """
        plan = self._model.plan if self._has_begun else self.plan()
        if plan.ensemble is None:
            one = plan.weights(Shape(1, self.features_.dtype, sparse=True), None, 1)
            return one.size_beside_weights(n_features)
        experts = self._model.experts(plan) if self._has_begun else plan.ensemble.sparse
        return sum(expert.weights.size(n_features) for expert in experts if n_features <= expert.max_names)

    @property
    def models_(self) -> list[str]:
        """Names of the models trained side by side; before the first example, of those for named features."""
        plan = self.plan()
        if self._has_begun:
            return [expert.name for expert in self._model.experts(plan)]
        return [] if plan.ensemble is None else [expert.name for expert in plan.ensemble.sparse]

    @property
    def model_outcomes_(self) -> list[ModelOutcome]:
        """Name, loss and vote of each model trained side by side, and whether it leads."""
        return self._model.outcomes(self.plan()) if self._has_begun else []

    def _expert_results(self) -> ExpertResults:
        if not self._has_begun:
            several = self.plan().ensemble is not None
            raise AttributeError("nothing was learned yet" if several else "there is only one model")
        return self._model.expert_results(self.plan()).with_coef(lambda weights: weights[:, : self.n_features_])

    def _model_to_change(self) -> Model:
        if not self._has_begun:
            raise ValueError("nothing was learned yet, so no expert can be chosen: call learn_one or learn_many first")
        self._loop = None
        return self._model

    @property
    def feature_names_(self) -> list[str] | None:
        """Names of the features, by index; None for vectors and for hashed names."""
        names = vars(self).get("_names")
        if names is None and not self._has_begun and self.features_.n_features is None:
            return []
        return names.names if isinstance(names, Names) else None

    @property
    def totals_(self) -> Totals:
        """Totals of the rounds so far."""
        return self._learner.totals if self._has_begun else Totals(0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
