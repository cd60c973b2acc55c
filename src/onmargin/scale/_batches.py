"""Adapters that prepare a model for the shards and train it on their batches."""

from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from onmargin._core.text.names import Names
from onmargin._core.text.reader import Reader
from onmargin.estimators._estimator import Estimator
from onmargin.estimators.block_classifier import BlockClassifier
from onmargin.estimators.class_feature_classifier import ClassFeatureClassifier
from onmargin.estimators.sequence_tagger import SequenceTagger
from onmargin.estimators.structured import StructuredPredictor
from onmargin.io.sharding import Batch
from onmargin.models.model import Model
from onmargin.models.plan import Shape
from onmargin.scale._findings import Findings
from onmargin.scale._mixing import why_not_mixed
from onmargin.stream._learner import StreamLearner


class BatchLearner:
    """Adapter that trains one kind of model on batches."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def labels(self, y: Any) -> Any:
        """Return the labels of each example as an array, or a list of lists; None if targets are not labels."""
        raise NotImplementedError

    def read_names(self, X: Any, names: Names) -> None:
        """Add the feature names of examples to `names`."""
        raise NotImplementedError

    def learn(self, batch: Batch) -> None:
        """Learn the examples of a batch in order."""
        raise NotImplementedError

    def begin(self, found: Findings) -> None:
        """Register all features and labels of the shards; the state this learns is discarded."""
        raise NotImplementedError

    def extend(self, found: Findings) -> None:
        """Register new features of the shards, and keep the learned state."""
        raise NotImplementedError

    def finish(self) -> None:
        """Restore the attributes that users expect on the trained model."""


class RowLearner(BatchLearner):
    """Adapter for estimators of rows: numeric rows are used directly, dicts and lists of names by feature name."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        # The rows are matrices without names, and scikit-learn would complain about the missing names.
        known = vars(model).pop("feature_names_in_", None)
        self._names = None if known is None else Names(known.tolist())

    def labels(self, y: Any) -> Any:
        return None if isinstance(self.model, RegressorMixin) else y

    def read_names(self, X: Any, names: Names) -> None:
        reader = Reader(names, grow=True, dtype=np.float64)
        for x in X:
            reader.read(x)

    def learn(self, batch: Batch) -> None:
        weights = None if batch.weights is None else np.asarray(batch.weights, np.float64)
        if weights is None or weights.any():  # examples of weight 0 have no effect
            self.model.partial_fit(self._rows(batch.X, self.model.n_features_in_), batch.y, sample_weight=weights)

    def _rows(self, X: Any, n_features: int) -> Any:
        """Return the examples as a matrix with all features."""
        if hasattr(X, "indptr"):
            width = max(n_features, X.shape[1])
            return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
        if self._names is None:
            raise ValueError("this model has learned features by number, and those of the shards have names")
        reader = Reader(self._names, grow=False, dtype=np.float64)
        for x in X:
            reader.read(x)
        return sparse.csr_matrix(reader.arrays(), shape=(len(X), len(self._names)))

    def begin(self, found: Findings) -> None:
        if found.names is not None:
            self._names = Names(found.names)
        X = [self._rows(first.X, found.n_features) for first in found.firsts]
        y = list(chain.from_iterable(first.y for first in found.firsts))
        self.model.partial_fit(sparse.vstack(X, format="csr"), y)

    def extend(self, found: Findings) -> None:
        n = self.model.n_features_in_
        new = [name for name in found.names or () if self._names is None or self._names.get(name) < 0]
        if new or found.n_features > n:
            what = repr(new[0]) if new else f"number {found.n_features}"
            raise ValueError(
                f"the shards have the feature {what}, and this model has learned {n} others: train a new model with "
                "warm_start=False, or with a model of onmargin.stream, which takes new features"
            )

    def finish(self) -> None:
        if self._names is not None:
            self.model.feature_names_in_ = np.array(self._names.names, dtype=object)


class SequenceLearner(BatchLearner):
    """Adapter for taggers of token sequences."""

    def labels(self, y: Any) -> Any:
        return y

    def read_names(self, X: Any, names: Names) -> None:
        reader = Reader(names, grow=True, dtype=np.float64, separator=self.model.separator)
        for sequence in X:
            reader.read_all(self.model._tokens(sequence))

    def learn(self, batch: Batch) -> None:
        self.model.partial_fit(batch.X, batch.y)

    def begin(self, found: Findings) -> None:
        model = self.model
        model._begin_chain([], model.plan(averaged=True))
        model._names = Names(found.names or ())
        for first in found.firsts:
            model.partial_fit(first.X, first.y)

    def extend(self, found: Findings) -> None:
        model = self.model
        model._names = Names(dict.fromkeys([*model._names.names, *(found.names or ())]))
        model._make_room(len(model._names))
        model.n_features_in_ = len(model._names)


class RecordLearner(BatchLearner):
    """Adapter for the models of `onmargin.stream`."""

    def labels(self, y: Any) -> Any:
        return y if self.model.task in {"classify", "ordinal", "rank"} else None

    def read_names(self, X: Any, names: Names) -> None:
        if self.model.features_.n_features is None:
            reader = self.model.features_.reader(names)
            for x in X:
                reader.read(x)

    def learn(self, batch: Batch) -> None:
        self.model.learn_many(batch.X, batch.y, batch.weights)

    def begin(self, found: Findings) -> None:
        self.model._begin(found.firsts[0].X if found.names is None else found.firsts[0].X[0], table=False)
        self._widen(found)
        for first in found.firsts:
            self.learn(first)

    def extend(self, found: Findings) -> None:
        self._widen(found)

    def _widen(self, found: Findings) -> None:
        """Append the features of the shards to the known ones, in the order of the shards."""
        model, n_features = self.model, found.n_features
        if found.names is not None and isinstance(model._names, Names):
            model._names = Names(dict.fromkeys([*model._names.names, *found.names]))
            n_features = len(model._names)
        geometry = model._learner.geometry
        if n_features > geometry.n_features:
            model._learner.geometry = geometry.resize(n_features)
        model._loop = None


_LEARNERS: dict[type, type[BatchLearner]] = {
    StreamLearner: RecordLearner,
    SequenceTagger: SequenceLearner,
    Estimator: RowLearner,
}
# Estimators of trials and structures, whose examples are not rows.
_OTHERS = (BlockClassifier, ClassFeatureClassifier, StructuredPredictor)
_MIXED = "There is a mix of plain weights, of ones with variances, and of geometry='adaptive' and 'normalized'"


def batch_learner(model: Any) -> BatchLearner:
    """Return the adapter that trains a model on batches."""
    return _kind(model)(model)


def _kind(model: Any) -> type[BatchLearner]:
    found = next((learner for kind, learner in _LEARNERS.items() if isinstance(model, kind)), None)
    if found is None or isinstance(model, _OTHERS):
        raise TypeError(
            "shards are for classifiers, regressors, label rankers, taggers and the learners of onmargin.stream; got "
            f"{type(model).__name__}"
        )
    return found


def check_model(model: Any) -> None:
    """Raise an error if parameters are invalid or the weights cannot be mixed, before any data is read."""
    _kind(model)
    model._check_parameters()
    name = type(model).__name__
    plan = model.plan()
    if plan.learner is not None:
        kept = "it learns its last examples again" if getattr(model, "kernel", None) is None else "of its kernel=..."
        raise ValueError(f"{name} cannot be mixed: it keeps examples besides its weights, because {kept}")
    _check_geometry(name, Model.begin(plan, Shape(1, np.float64, sparse=True)).learner.geometry)


def left_out_experts(model: Any) -> list[str]:
    """Return the names of the experts that take no part in training on shards.

    Experts on standardized rows and nonlinear experts are left out: each shard would have its own means, deviations and
    trees, which cannot be averaged.

    Parameters
    ----------
    model : object
        A model for :func:`fit`.

    Returns
    -------
    names : list of str
        The names; empty if the model has no experts.
    """
    ensemble = model.plan().ensemble
    if ensemble is None:
        return []
    mixed = {expert.name for expert in ensemble.sparse}
    return [name for name in ensemble.by_name() if name not in mixed]


def check_mixable(model: Any) -> None:
    """Raise an error if the weights of a model that has learned something cannot be mixed."""
    _check_geometry(type(model).__name__, model._learner.geometry)


def _check_geometry(name: str, geometry: Any) -> None:
    if reasons := why_not_mixed(geometry):
        raise ValueError(f"{name} cannot be mixed: {', and '.join(reasons)}. {_MIXED}")
