"""scikit-learn's linear learners, by the compiled loop behind `SGDClassifier.partial_fit`.

A call of `partial_fit` takes as long as hundreds of rows, most of it for checks. The work after the checks, a pass over
the given rows by `_plain_sgd64` for each class, is called here directly. All settings of the grid learn the first order
in blocks of rows that are predicted before they are learned. The three best of them then learn all orders in smaller
blocks, and the best of these counts.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from peer import Best, best
from scipy.sparse import issparse
from sklearn.linear_model import SGDClassifier
from sklearn.linear_model._base import SPARSE_INTERCEPT_DECAY
from sklearn.linear_model._sgd_fast import _plain_sgd64
from sklearn.utils._seq_dataset import ArrayDataset64, CSRDataset64
from workloads import Workload

POWERS = (0.001, 0.01, 0.1, 1.0, 10.0)
RATES: dict[str, dict[str, Any]] = {
    **{f"constant {rate:g}": {"learning_rate": "constant", "eta0": rate, "penalty": None} for rate in POWERS},
    **{
        f"falling {rate:g}": {"learning_rate": "invscaling", "eta0": rate, "penalty": None}
        for rate in (0.1, 1, 10, 100)
    },
    **{f"optimal {alpha:g}": {"learning_rate": "optimal", "alpha": alpha} for alpha in (1e-6, 1e-5, 1e-4, 1e-3)},
}
AVERAGED = {f"{name}, averaged": rate | {"average": True} for name, rate in RATES.items() if "constant" in name}
DESCENT = {
    f"{loss}, {name}": SGDClassifier(loss=loss, **rate)
    for loss, (name, rate) in product(("hinge", "log_loss"), (RATES | AVERAGED).items())
}
# These are PassiveAggressiveClassifier, which is deprecated, and Perceptron.
PASSIVE_AGGRESSIVE = {
    f"C={C:g}{', averaged' * average}": SGDClassifier(learning_rate="pa1", eta0=C, penalty=None, average=average)
    for average, C in product((False, True), POWERS)
}
PERCEPTRON = {"plain": SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None)}


def descent(works: Sequence[Workload]) -> Best:
    return _tuned(DESCENT, works)


def passive_aggressive(works: Sequence[Workload]) -> Best:
    return _tuned(PASSIVE_AGGRESSIVE, works)


def perceptron(works: Sequence[Workload]) -> Best:
    return _tuned(PERCEPTRON, works)


def _tuned(models: dict[str, SGDClassifier], works: Sequence[Workload]) -> Best:
    roughly = {name: _errors(model, works[:1], _rough) for name, model in models.items()}
    promising = sorted(roughly, key=lambda name: sum(roughly[name]))[:3]
    return best({name: _errors(models[name], works, _fine) for name in promising})


def _rough(work: Workload) -> Iterator[slice]:
    """Return blocks of at most 1/20 of the rows before them."""
    return blocks(len(work.y), part=20)


def _fine(work: Workload) -> Iterator[slice]:
    """Return blocks of at most 1/500 of the rows before them, or 1/100 for more than two classes (one call each)."""
    return blocks(len(work.y), part=500 if len(work.classes) == 2 else 100)


def blocks(n_rows: int, part: int) -> Iterator[slice]:
    """Return slices of at most a given fraction of the rows before them, and of at least one row."""
    stop = 0
    while stop < n_rows:
        start, stop = stop, stop + max(1, stop // part)
        yield slice(start, stop)


def _errors(
    model: SGDClassifier, works: Sequence[Workload], parts: Callable[[Workload], Iterator[slice]]
) -> list[float]:
    return [_error(_Passes(model, work), work, parts(work)) for work in works]


def _error(passes: "_Passes", work: Workload, parts: Iterator[slice]) -> float:
    """Return the error in %; it is 100 if weights overflow."""
    mistakes = 0
    for rows in parts:
        X, y = work.X[rows], work.y[rows]
        mistakes += np.count_nonzero(passes.predict(X) != y)
        try:
            passes.learn(X, y)
        except ValueError:
            return 100.0
    return 100 * mistakes / len(work.y)


class _Passes:
    """The result of one `SGDClassifier.partial_fit` of the whole stream without shuffling, in any number of calls.

    Calls of `partial_fit` do the same, unless weights are averaged: then they mix up the intercept and its average.
    """

    def __init__(self, model: SGDClassifier, work: Workload) -> None:
        self.average, self.t = int(model.average), 1.0
        self.positive = work.classes if len(work.classes) > 2 else work.classes[1:]
        # As they learn, and their averages.
        self.coef = np.zeros((2, len(self.positive), work.X.shape[1]))
        self.intercept = np.zeros((2, len(self.positive)))
        self.negative = 0.0 if model.loss == "log_loss" else -1.0
        self.descend = partial(
            _plain_sgd64,
            loss=model._get_loss_function(model.loss),
            penalty_type=model._get_penalty_type(model.penalty),
            alpha=model.alpha,
            l1_ratio=0.0,
            early_stopping=False,
            validation_score_cb=None,
            n_iter_no_change=1,
            max_iter=1,
            tol=-np.inf,
            fit_intercept=1,
            verbose=0,
            shuffle=0,
            seed=0,
            weight_pos=1.0,
            weight_neg=1.0,
            learning_rate=model._get_learning_rate_type(model.learning_rate),
            eta0=model.eta0,
            power_t=model.power_t,
            one_class=0,
            intercept_decay=SPARSE_INTERCEPT_DECAY if issparse(work.X) else 1.0,
            average=self.average,
        )

    def predict(self, X: Any) -> np.ndarray:
        scores = X @ self.coef[self.average].T + self.intercept[self.average]
        return scores.argmax(axis=1) if len(self.positive) > 1 else (scores[:, 0] > 0).astype(int)

    def learn(self, X: Any, y: np.ndarray) -> None:
        ones, none = np.ones(len(y)), np.zeros(len(y), np.uint8)
        for k, label in enumerate(self.positive):
            target = np.where(y == label, 1.0, self.negative)
            if issparse(X):
                rows = CSRDataset64(X.data, X.indptr, X.indices, target, ones, seed=1)
            else:
                rows = ArrayDataset64(X, target, ones, seed=1)
            _, self.intercept[0, k], _, self.intercept[1, k], _ = self.descend(
                weights=self.coef[0, k],
                intercept=self.intercept[0, k],
                average_weights=self.coef[1, k] if self.average else None,
                average_intercept=self.intercept[1, k],
                dataset=rows,
                validation_mask=none,
                t=self.t,
            )
        self.t += len(y)
