"""How good probabilities and prediction sets are on real streams, each judged before its example is learned."""

import argparse
from math import log
from pathlib import Path

import numpy as np
from river import linear_model, optim
from scipy.sparse import csr_matrix, issparse
from streams import STREAMS, Stream

from onmargin import AROWClassifier, AutoClassifier
from onmargin.confidence import PredictionSets

RATES = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)


def dicts(X: np.ndarray | csr_matrix) -> list[dict[int, float]]:
    """The rows as river takes them."""
    if not issparse(X):
        return [dict(enumerate(row)) for row in X.tolist()]
    parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), strict=True)
    return [dict(zip(indices.tolist(), values.tolist(), strict=True)) for indices, values in parts]


def logistic(stream: Stream) -> float:
    """The progressive log loss of river's logistic regression at its best rate; nan for more than two classes."""
    X, y = stream
    labels = np.unique(y)
    if len(labels) != 2:
        return float("nan")
    examples = list(zip(dicts(X), (y == labels[1]).tolist(), strict=True))
    losses = []
    for rate in RATES:
        model, total = linear_model.LogisticRegression(optim.SGD(rate)), 0.0
        for x, label in examples:
            p = model.predict_proba_one(x).get(label, 0.5)
            total -= log(max(p, 1e-13))
            model.learn_one(x, label)
        losses.append(total / len(examples))
    return min(losses)


def row(name: str, stream: Stream) -> str:
    """One line of the table."""
    X, y = stream
    cells = []
    for model in (AROWClassifier(), AutoClassifier(experts="linear")):
        found = model.partial_fit(X, y, classes=np.unique(y)).reliability_
        cells += [f"{found.log_loss:.4f}", f"{found.calibration_error:.3f}"]
    sets = PredictionSets(AROWClassifier(), coverage=0.9)
    for start in range(0, len(y), 20):
        sets.partial_fit(X[start : start + 20], y[start : start + 20], classes=np.unique(y))
    report = sets.coverage_
    return f"| {name} | {' | '.join(cells)} | {logistic(stream):.4f} | {report.covered:.4f} | {report.size:.2f} |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data sets")
    parser.add_argument("--streams", nargs="*", choices=STREAMS, default=["sms", "a9a", "w8a", "elec", "reuters"])
    parser.add_argument("--rows", type=int, default=20_000, help="at most so many rows of each stream")
    arguments = parser.parse_args()
    print("| stream | AROW log loss | error | Auto log loss | error | river logistic | covered (0.9) | size |")
    print("| --- |" + " ---: |" * 7)
    for name in arguments.streams:
        X, y = STREAMS[name](arguments.data)
        print(row(name, (X[: arguments.rows], y[: arguments.rows])), flush=True)


if __name__ == "__main__":
    main()
