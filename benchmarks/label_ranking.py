"""Time of label ranking as labels and their pairs grow; with --data, its quality on data of Mulan (ARFF)."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.io import arff
from sklearn.model_selection import KFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from timing import race

from onmargin import LabelRanker
from onmargin.evaluate import RankingReport, ranking_report

UPDATES = "max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact"
LABELS = 25, 50, 100, 200, 400
LABELS_OF = {"emotions": 6, "scene": 6, "yeast": 14}  # number of label columns, the last ones of each file


def stream(labels: int, rounds: int = 4000, features: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with a tenth of the labels relevant: those that a noisy linear rule scores highest."""
    rng = np.random.default_rng(labels)
    X = rng.standard_normal((rounds, features))
    scores = X @ rng.standard_normal((features, labels)) + rng.standard_normal((rounds, labels))
    highest = np.sort(scores, axis=1)[:, -max(labels // 10, 1)]
    return X, (scores >= highest[:, None]).astype(np.int8)


def costs(repeats: int) -> None:
    """Print the time per round, and its ratio to the fewest labels; labels grow 16 times, pairs 256 times."""
    data = {labels: stream(labels) for labels in LABELS}

    def learn(update: str, labels: int) -> LabelRanker:
        return LabelRanker(C=0.1, update=update, calibrate=False).partial_fit(*data[labels])

    runners = {f"{update} {labels}": partial(learn, update, labels) for update in UPDATES for labels in LABELS}
    seconds = race(runners, repeats)
    print("| labels |", " | ".join(map(str, LABELS)), "|\n| ---", "| ---: " * len(LABELS), "|", sep="")
    pairs = [int(Y[0].sum()) * int((Y[0] == 0).sum()) for _, Y in data.values()]
    print("| pairs a round |", " | ".join(map(str, pairs)), "|")
    for update in UPDATES:
        taken = [seconds[f"{update} {labels}"] / len(data[labels][0]) * 1e6 for labels in LABELS]
        cells = [f"{micros:.1f} µs ({micros / taken[0]:.1f})" for micros in taken]
        print(f"| {update} |", " | ".join(cells), "|")


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and test parts together."""
    parts = [arff.loadarff(folder / name / f"{name}-{part}.arff")[0] for part in ("train", "test")]
    table = np.array([[float(value) for value in row] for part in parts for row in part.tolist()])
    return table[:, : -LABELS_OF[name]], table[:, -LABELS_OF[name] :].astype(int)


Learner = Callable[[float, int], LabelRanker | OneVsRestClassifier]

# C -> a learner. The grids range from too small to too large for each learner.
LEARNERS: dict[str, tuple[Learner, np.ndarray]] = {
    **{
        f"LabelRanker, {update}{', calibrated' if calibrate else ''}": (
            lambda C, seed, update=update, calibrate=calibrate: LabelRanker(
                C=C, update=update, calibrate=calibrate, average=True, max_iter=20, tol=None, random_state=seed
            ),
            10.0 ** np.arange(-5, 2),
        )
        for update, calibrate in (
            ("max", False),
            ("max", True),
            ("simproj", False),
            ("simproj", True),
            ("simopt", False),
            ("exact", False),
        )
    },
    "one LinearSVC a label": (
        lambda C, seed: OneVsRestClassifier(LinearSVC(C=C, random_state=seed, max_iter=20_000)),
        10.0 ** np.arange(-6, 2),
    ),
}


def measure(name: str, X: np.ndarray, Y: np.ndarray, seed: int) -> None:
    """Measure one split, two thirds for training; C has the best average precision in 3-fold cross-validation."""
    X, X_test, Y, Y_test = train_test_split(X, Y, test_size=1 / 3, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    print(
        f"\n{name}: {len(X)} + {len(X_test)} examples, {X.shape[1]} features, {Y.shape[1]} labels, "
        f"{Y.mean(axis=0).sum():.1f} an example\n"
    )
    print(
        "| learner | C | one-error | coverage | ranking loss | average precision |\n| --- | ---: " + "| ---: " * 4 + "|"
    )
    for title, (make, grid) in LEARNERS.items():

        def report(C: float, train: np.ndarray, test: np.ndarray, make: Learner = make) -> RankingReport:
            return ranking_report(Y[test], make(C, seed).fit(X[train], Y[train]).decision_function(X[test]))

        folds = list(KFold(3, shuffle=True, random_state=seed).split(X))
        C = max(grid, key=lambda C: np.mean([report(C, *fold).average_precision for fold in folds]))
        result = ranking_report(Y_test, make(C, seed).fit(X, Y).decision_function(X_test))
        coverage = f"{result.coverage:.2f} | {result.ranking_loss:.3f} | {result.average_precision:.3f}"
        print(f"| {title} | {C:g} | {result.one_error:.3f} | {coverage} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each update and number of labels")
    parser.add_argument("--data", type=Path, help="folder of the data sets emotions, scene and yeast")
    parser.add_argument("--seed", type=int, default=0, help="of the split and of the learners")
    options = parser.parse_args()
    if options.data is None:
        costs(options.repeats)
        return
    for name in LABELS_OF:
        measure(name, *load(options.data, name), options.seed)


if __name__ == "__main__":
    main()
