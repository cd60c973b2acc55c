"""AutoRegressor as it comes against other libraries' regressors, linear ones with the best of a grid, in one pass."""

import argparse
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
from peers import TABLE_ORDERS, shuffled, standardized
from river import base, forest, linear_model, neighbors, optim, preprocessing, tree
from sklearn.linear_model import SGDRegressor
from streams import Stream
from tables import tables
from vowpalwabbit import Workspace

from onmargin import AutoRegressor, stream

MOST_ROWS = 6_000  # of a table, drawn at random: a forest takes milliseconds a row
RATES = (0.001, 0.01, 0.1, 1.0)

Learner = Callable[[np.ndarray, np.ndarray], float]  # the mean absolute error of a stream


def of_predictions(y: np.ndarray, predictions: Iterable[float]) -> float:
    found = np.nan_to_num(np.fromiter(predictions, float), nan=1e9, posinf=1e9, neginf=-1e9)
    return float(np.abs(y - found).mean())


def auto(X: np.ndarray, y: np.ndarray) -> float:
    return AutoRegressor().partial_fit(X, y).totals_.loss / len(y)


def auto_of_dicts(X: np.ndarray, y: np.ndarray) -> float:
    records = [dict(zip(map(str, range(X.shape[1])), row, strict=True)) for row in X.tolist()]
    return stream.AutoRegressor().learn_many(records, y.tolist()).totals_.loss / len(y)


def running_mean(X: np.ndarray, y: np.ndarray) -> float:
    return of_predictions(y, np.cumsum(y) / np.arange(1, len(y) + 1) - y / np.arange(1, len(y) + 1))


def descent(**options: object) -> Learner:
    """scikit-learn's, row by row."""

    def error(X: np.ndarray, y: np.ndarray) -> float:
        model = SGDRegressor(**options).partial_fit(X[:1], y[:1])

        def predictions() -> Iterable[float]:
            yield 0.0
            for i in range(1, len(y)):
                yield float(X[i] @ model.coef_ + model.intercept_[0])
                model.partial_fit(X[i : i + 1], y[i : i + 1])

        try:
            with np.errstate(all="ignore"):
                return of_predictions(y, predictions())
        except ValueError:  # it has diverged
            return np.inf

    return error


def wabbit(options: str) -> Learner:
    def error(X: np.ndarray, y: np.ndarray) -> float:
        model = Workspace(f"--quiet {options}")

        def predictions() -> Iterable[float]:
            for row, target in zip(X.tolist(), y.tolist(), strict=True):
                features = " ".join(f"{j}:{value!r}" for j, value in enumerate(row))
                yield model.predict(f"| {features}")
                model.learn(f"{target!r} | {features}")

        found = of_predictions(y, predictions())
        model.finish()
        return found

    return error


def river(make: Callable[[], base.Regressor]) -> Learner:
    def error(X: np.ndarray, y: np.ndarray) -> float:
        model = make()

        def predictions() -> Iterable[float]:
            for row, target in zip(X.tolist(), y.tolist(), strict=True):
                x = dict(enumerate(row))
                yield model.predict_one(x) or 0.0
                model.learn_one(x, target)

        return of_predictions(y, predictions())

    return error


LINEAR: dict[str, dict[str, Learner]] = {
    "Vowpal Wabbit": {
        options: wabbit(options)
        for options in (
            *(
                f"--loss_function {loss} -l {rate} --power_t {power}"
                for loss, rate, power in product(("squared", "quantile"), (0.02, 0.1, 0.5, 2, 8), (0.5, 0))
            ),
            "--coin",
        )
    },
    "SGD": {
        f"{loss} {schedule} {rate:g}": descent(loss=loss, learning_rate=schedule, eta0=rate, alpha=1e-6)
        for loss, schedule, rate in product(("squared_error", "epsilon_insensitive"), ("constant", "invscaling"), RATES)
    },
    "PA-I": {
        f"C={C:g}": descent(loss="epsilon_insensitive", learning_rate="pa1", eta0=C, epsilon=0.0, penalty=None)
        for C in (0.01, 0.1, 1.0, 10.0)
    },
    "river": {
        f"rate {rate:g}": river(lambda rate=rate: linear_model.LinearRegression(optim.SGD(rate))) for rate in RATES
    },
}
CURVED: dict[str, Learner] = {
    "forest": river(lambda: forest.ARFRegressor(seed=0)),
    "tree": river(lambda: tree.HoeffdingAdaptiveTreeRegressor(seed=0)),
    "neighbours": river(lambda: preprocessing.StandardScaler() | neighbors.KNNRegressor()),
}


def mean(learner: Learner, streams: list[Stream]) -> float:
    return float(np.mean([learner(X, y) for X, y in streams]))


def main() -> None:
    """Print a Markdown table of mean absolute errors, in % of that of the running mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, required=True, help="a folder as islp.py writes it")
    parser.add_argument("--streams", nargs="*", help="by default all")
    arguments = parser.parse_args()
    known = tables(arguments.tables)
    columns = ["table", "rows", "columns", "AutoRegressor", "as dicts", *LINEAR, *CURVED]
    print(f"| {' | '.join(columns)} | / best linear | / best curved |")
    print(f"| --- |{' ---: |' * (len(columns) + 1)}")
    for name in arguments.streams or known:
        X, y = known[name]()
        streams = [(X[:MOST_ROWS], y[:MOST_ROWS]) for X, y in shuffled((X, y), TABLE_ORDERS)]
        in_units = [(standardized(X), y) for X, y in streams]
        unit = mean(running_mean, streams) / 100
        ours, of_dicts = mean(auto, streams) / unit, mean(auto_of_dicts, streams) / unit
        linear = [
            min(mean(learner, rows) for learner in grid.values() for rows in (streams, in_units)) / unit
            for grid in LINEAR.values()
        ]
        curved = [min(mean(learner, rows) for rows in (streams, in_units)) / unit for learner in CURVED.values()]
        cells = [f"{error:.2f}" for error in (ours, of_dicts, *linear, *curved)]
        ratios = f"{ours / min(linear):.3f} | {ours / min(curved):.3f}"
        print(f"| {name} | {len(streams[0][1])} | {X.shape[1]} | {' | '.join(cells)} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
