"""AutoClassifier and AutoRegressor with default parameters, on arrays and on dicts."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numbers_peers import running_mean
from peers import FEW
from scipy.sparse import issparse
from sklearn.metrics import roc_auc_score
from streams import Stream
from tables import FIRST, Table

from onmargin import AutoClassifier, AutoRegressor, stream
from onmargin.learner import as_rows


def measured(table: Table) -> dict[str, Any]:
    measure = of_numbers if table.kind == "numbers" else of_classes
    runs = [measure(order) for order in table.orders]
    if table.kind == "classes" and len(table.orders) > 1 and "drift" not in table.name:
        for run, (X, labels) in zip(runs, table.orders, strict=True):
            classes, y = np.unique(labels, return_inverse=True)
            if len(classes) == 2:
                run["auc"], run["auc of the best expert"] = areas(X, y)
    found: dict[str, Any] = {name: [run[name] for run in runs] for name in runs[0]}
    return found


def records_of(X: Any) -> list[dict[str, float]]:
    names = [f"column{j}" for j in range(X.shape[1])]
    if issparse(X):
        parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), strict=True)
        return [dict(zip([names[j] for j in row], values.tolist(), strict=True)) for row, values in parts]
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return call(), time.process_time() - start


def of_classes(order: Stream) -> dict[str, Any]:
    X, labels = order
    classes, y = np.unique(labels, return_inverse=True)
    codes = np.arange(len(classes))
    model, seconds = timed(lambda: AutoClassifier().partial_fit(X[:FIRST], y[:FIRST], classes=codes))
    first = 100 * model.totals_.mistakes / min(FIRST, len(y))
    if len(y) > FIRST:
        model.partial_fit(X[FIRST:], y[FIRST:])
    awake = AutoClassifier(sleeping=False).partial_fit(X, y, classes=codes)  # as experts do in all rounds
    results, percent = awake.experts_, 100 / len(y)
    found = {
        "error": percent * model.totals_.mistakes,
        "first rows": first,
        "experts": dict(zip(results.names, (percent * results.mistakes).tolist(), strict=True)),
        "microseconds": 1e6 * seconds / min(FIRST, len(y)),
    }
    if not issparse(X) and X.shape[1] <= FEW:
        linear = AutoClassifier(experts="linear").partial_fit(X, y, classes=codes)
        found["linear"] = percent * linear.totals_.mistakes
    if len(y) <= 50_000 and X.shape[1] <= 50_000:
        found["dicts"] = percent * stream.AutoClassifier().learn_many(records_of(X), y.tolist()).totals_.mistakes
    return found


def areas(X: Any, y: np.ndarray) -> tuple[float, float]:
    """Return the ROC AUC on the last third after training on the first two: of the model, and of its best expert."""
    n_learned = 2 * len(y) // 3
    model = AutoClassifier().partial_fit(X[:n_learned], y[:n_learned], classes=np.arange(2))
    rest, labels = X[n_learned:], y[n_learned:]
    each = model._learner.scores(as_rows(rest))[:, model._learner.task.places]
    return roc_auc_score(labels, model.decision_function(rest)), max(roc_auc_score(labels, one) for one in each.T)


def of_numbers(order: Stream) -> dict[str, Any]:
    X, y = order
    model, seconds = timed(lambda: AutoRegressor().partial_fit(X[:FIRST], y[:FIRST]))
    unknown = abs(y[0])  # the loss of the first prediction, 0; peers know the first target
    first = (model.totals_.loss - unknown) / y.std() / min(FIRST, len(y))
    if len(y) > FIRST:
        model.partial_fit(X[FIRST:], y[FIRST:])
    results = AutoRegressor(sleeping=False).partial_fit(X, y).experts_
    dicts = stream.AutoRegressor().learn_many(records_of(X), y.tolist())
    unit = y.std() * len(y)
    return {
        "error": (model.totals_.loss - unknown) / unit,
        "first rows": first,
        "dicts": (dicts.totals_.loss - unknown) / unit,
        "linear": (AutoRegressor(experts="linear").partial_fit(X, y).totals_.loss - unknown) / unit,
        "running mean": running_mean((y - y[0]) / y.std()),
        "experts": {
            name: float((loss - unknown) / unit) for name, loss in zip(results.names, results.loss, strict=True)
        },
        "microseconds": 1e6 * seconds / min(FIRST, len(y)),
    }
