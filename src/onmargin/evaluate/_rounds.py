"""Pieces of a stream, and test-then-train rounds for models without totals."""

from collections.abc import Callable, Iterable, Iterator
from inspect import signature
from itertools import islice, pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.exceptions import NotFittedError

from onmargin.features import Scaled

# Examples, targets and the other arguments of partial_fit.
Piece = tuple[Any, Any, dict[str, Any]]


def length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def pieces(X: Any, y: Any, every: int, aligned: dict[str, Any]) -> Iterator[Piece]:
    """Yield `every` rounds at a time. `aligned` has one item per row; rows with equal `groups` are one round."""
    n = length(X)
    groups = aligned.get("groups")
    if groups is None:
        starts = np.arange(n)
    else:
        ids = np.asarray(groups)
        starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if n else np.arange(0)
    cuts = [*starts[::every].tolist(), n]
    for start, stop in pairwise(cuts):
        part = slice(start, stop)
        yield (
            _cut(X, part),
            None if y is None else _cut(y, part),
            {name: _cut(ids, part) for name, ids in aligned.items()},
        )


def _cut(values: Any, part: slice) -> Any:
    """Slice by position, also for a data frame with its own index."""
    return values.iloc[part] if hasattr(values, "iloc") else values[part]


def pair_up(stream: Iterable[Any], every: int) -> Iterator[Piece]:
    """Yield the pairs (x, y) of a stream, `every` at a time."""
    pairs = iter(stream)
    first = 0
    while batch := list(islice(pairs, every)):
        for i, pair in enumerate(batch):
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"a stream must be pairs (x, y); item {first + i} is {pair!r:.80}")
        first += len(batch)
        yield [x for x, _ in batch], [y for _, y in batch], {}


def as_batch(X: Any) -> Any:
    """Convert a list of rows of numbers to one array; return anything else unchanged."""
    rows = isinstance(X, list) and X and isinstance(X[0], np.ndarray | list | tuple) and _flat(X[0])
    return np.asarray(X) if rows else X


def _flat(x: Any) -> bool:
    return all(np.isscalar(item) and not isinstance(item, str) for item in x)


def learner_of(model: Any) -> Any:
    """Return the model, or the learner inside a scaler."""
    return model.estimator if isinstance(model, Scaled) else model


def takes_classes(model: Any) -> bool:
    return hasattr(model, "partial_fit") and "classes" in signature(learner_of(model).partial_fit).parameters


class OneByOne:
    """Predict and learn one example at a time, through predict_one and learn_one or predict and partial_fit."""

    def __init__(self, model: Any, classes: Any) -> None:
        self.model = model
        self.single = hasattr(model, "learn_one") and hasattr(model, "predict_one")
        told = classes is not None and not self.single and takes_classes(model)
        self.named = {"classes": classes} if told else {}
        if not self.single and not (hasattr(model, "predict") and hasattr(model, "partial_fit")):
            raise TypeError(
                f"model must have predict and partial_fit, or predict_one and learn_one; got {type(model).__name__}"
            )

    def predict(self, x: Any) -> Any:
        """Return the prediction, or None before anything was learned."""
        try:
            return self.model.predict_one(x) if self.single else self.model.predict(_one(x))[0]
        except (NotFittedError, AttributeError):
            return None

    def learn(self, x: Any, y: Any) -> None:
        if self.single:
            self.model.learn_one(x, y)
        else:
            self.model.partial_fit(_one(x), [y], **self.named)
            self.named = {}


def _one(x: Any) -> Any:
    """Return one example as a batch; a row of a sparse matrix already is one."""
    if hasattr(x, "shape"):
        return x if len(x.shape) == 2 else x[None, :]
    return [x]


def charge_of(model: Any, y: Any) -> tuple[str, Callable[[Any, Any], float]]:
    """Return the name and the function of the error; a missing prediction counts as wrong, or as the number 0."""
    number = np.asarray(y).dtype.kind == "f" and np.ndim(y) == 0
    if (isinstance(model, BaseEstimator) and is_regressor(model)) or number:
        return "mean absolute error", lambda y, guess: abs(float(y) - (0.0 if guess is None else float(guess)))
    return "error", lambda y, guess: float(guess is None or not _same(guess, y))


def _same(guess: Any, y: Any) -> bool:
    return bool(np.array_equal(guess, y)) if isinstance(y, np.ndarray) else bool(guess == y)
