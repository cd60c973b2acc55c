"""Peers for regression: linear ones with the best setting of a grid in hindsight, and curved ones with defaults.

Learning rates and C depend on the units of the target. So all peers get the target minus its first value, divided by
its standard deviation, which is known in hindsight only. Errors are mean absolute errors in units of that deviation.
"""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from peer import Best, best
from peer_capymoa import CAPYMOA_REGRESSORS
from peer_curved import RIVER_REGRESSORS, absolute_error
from peer_scikit_learn import blocks
from peers import raw_and_standardized
from river import linear_model, optim
from sklearn.linear_model import SGDRegressor
from sklearn.linear_model._sgd_fast import _plain_sgd64
from sklearn.utils._seq_dataset import ArrayDataset64
from streams import Stream
from tables import FIRST
from vowpal_wabbit import VowpalWabbit
from workloads import Workload

RATES = (0.001, 0.01, 0.1, 1.0)
WABBIT = [
    *(
        f"--loss_function {loss} -l {rate} --power_t {power}"
        for loss, (rate, power) in product(
            ("squared", "quantile"), [(0.1, 0.5), (0.5, 0.5), (2, 0.5), (8, 0.5), (0.02, 0), (0.1, 0), (0.5, 0)]
        )
    ),
    "--loss_function squared --coin",
]
DESCENT = {
    f"{loss} {schedule} {rate:g}": SGDRegressor(loss=loss, learning_rate=schedule, eta0=rate, penalty=None, epsilon=0.0)
    for loss, schedule, rate in product(("squared_error", "epsilon_insensitive"), ("constant", "invscaling"), RATES)
}
PASSIVE_AGGRESSIVE = {
    f"C={C:g}": SGDRegressor(loss="epsilon_insensitive", learning_rate="pa1", eta0=C, epsilon=0.0, penalty=None)
    for C in (0.001, 0.01, 0.1, 1.0, 10.0)
}


def in_units(stream: Stream) -> Workload:
    X, y = stream
    return Workload("", X, (y - y[0]) / y.std())


def error_of(y: np.ndarray, predictions: np.ndarray) -> float:
    return float(np.abs(y - np.nan_to_num(predictions, nan=1e9, posinf=1e9, neginf=-1e9)).mean())


def running_mean(y: np.ndarray) -> float:
    """Return the error of the mean of all targets so far, the unit of the errors of a table."""
    count = np.arange(len(y))
    return error_of(y, np.where(count, (np.cumsum(y) - y) / np.maximum(count, 1), 0.0))


def vowpal_wabbit(work: Workload) -> dict[str, float]:
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        wabbit = VowpalWabbit(work, Path(folder))
        bits = wabbit.options[:2]
        for options in WABBIT:
            wabbit.options = [*bits, *options.split()]
            answers = Path(folder) / "answers"
            wabbit._run("--cache_file", str(wabbit.cache), "--passes", "1", "-p", str(answers)).finish()
            errors[options] = error_of(work.y, np.loadtxt(answers))
    return errors


def scikit_learn(models: dict[str, SGDRegressor], work: Workload) -> dict[str, float]:
    return {name: error_of(work.y, progressive(model, work)) for name, model in models.items()}


def progressive(model: SGDRegressor, work: Workload) -> np.ndarray:
    """Return predictions of rows before `SGDRegressor.partial_fit` learns them, by the compiled loop of that method."""
    coef, intercept = np.zeros(work.X.shape[1]), 0.0
    found = np.full(len(work.y), np.inf)
    descend = partial(
        _plain_sgd64,
        average_weights=None,
        average_intercept=0.0,
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
        average=0,
    )
    for rows in blocks(len(work.y), part=200):
        X, y = work.X[rows], work.y[rows]
        found[rows] = X @ coef + intercept
        block = ArrayDataset64(X, y, np.ones(len(y)), seed=1)
        none = np.zeros(len(y), np.uint8)
        try:
            _, intercept, *_ = descend(
                weights=coef, intercept=intercept, dataset=block, validation_mask=none, t=1.0 + rows.start
            )
        except ValueError:  # the weights have overflowed
            break
    return found


def river(work: Workload) -> dict[str, float]:
    return {f"rate {rate:g}": absolute_error(linear_model.LinearRegression(optim.SGD(rate)), work) for rate in RATES}


LINEAR: dict[str, Callable[[Workload], dict[str, float]]] = {
    "Vowpal Wabbit": vowpal_wabbit,
    "SGD": partial(scikit_learn, DESCENT),
    "PA-I": partial(scikit_learn, PASSIVE_AGGRESSIVE),
    "river": river,
}
CURVED = CAPYMOA_REGRESSORS | RIVER_REGRESSORS


def linear_peer(name: str, streams: Sequence[Stream]) -> Best:
    """Return the best setting of a linear peer on raw or standardized rows."""
    errors: dict[str, list[float]] = {}
    for version, rows in raw_and_standardized(streams).items():
        for stream in rows:
            for setting, error in LINEAR[name](in_units(stream)).items():
                errors.setdefault(setting + version, []).append(error)
    return best(errors)


def curved_peer(name: str, streams: Sequence[Stream]) -> Best | None:
    """Return the result of a curved peer on the first rows of the first order."""
    work = in_units(streams[0])
    return CURVED[name]([Workload("", work.X[:FIRST], work.y[:FIRST])])
