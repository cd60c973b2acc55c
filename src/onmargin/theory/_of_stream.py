"""The run of a stream learner as that of an estimator, for which the theorems are stated."""

from copy import deepcopy
from typing import Any

from scipy import sparse

import onmargin
from onmargin.stream._examples import each, is_vector
from onmargin.stream._learner import StreamLearner
from onmargin.theory.certificate import NoTheorem


def as_estimator(model: StreamLearner, X: Any, y: Any) -> tuple[Any, Any, StreamLearner]:
    """Return the estimator with the options of a stream learner, the examples as rows, and the learner after them.

    An untrained learner is copied and learns the examples.
    """
    kind = getattr(onmargin, type(model).__name__, None)
    if kind is None:
        raise NoTheorem(f"no theorem covers {type(model).__name__}: no estimator of onmargin has this name")
    options = model.get_params()
    estimator = kind(**{name: options[name] for name in kind().get_params() if name in options})
    if not is_vector(X):
        X = list(each(X, model._vectors()))
    learned = model if model._has_begun else deepcopy(model).learn_many(X, y)
    return estimator, X if is_vector(X) else _rows(model, X), learned


def _rows(model: StreamLearner, examples: list[Any]) -> Any:
    """Return examples as rows of the features that the learner reads, in the order in which they appear."""
    if any(is_vector(x) for x in examples):
        raise NoTheorem("pass the vectors of the stream as one matrix X")
    features = model.features_
    if features.idf:
        raise NoTheorem("with idf=True, the rows of texts depend on the texts before: certify a run with idf=False")
    names = features.index()
    reader = features.reader(names)
    reader.read_all(examples)
    shape = (len(examples), features.n_features or len(names))
    return sparse.csr_matrix(reader.arrays(), shape=shape)
