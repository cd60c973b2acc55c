"""Quality of probabilities, prediction sets and queries on real streams, each evaluated before its example is learned.

Log loss and calibration error of learners with nothing tuned stand next to the log loss of the best setting of Vowpal
Wabbit's and river's logistic learners in hindsight. Vowpal Wabbit needs the extra `bench`.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from math import log
from pathlib import Path

import numpy as np
from river import linear_model, optim, preprocessing
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import make_classification
from streams import STREAMS, Stream

from onmargin import AROWClassifier, AutoClassifier, stream
from onmargin.confidence import PredictionSets, SelectiveSampler

sys.path.append(str(Path(__file__).parents[1]))

from vowpal_wabbit import VowpalWabbit
from workloads import Workload

COVERAGE = 0.9
RATES = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)  # of river
MOST = 1_000_000  # stored values that river's learners process in a few seconds
UPDATES = [
    *(f"-l {rate} --power_t {power}" for power, rate in product((0.5, 0), (0.02, 0.1, 0.5, 2, 8, 32, 128))),
    "--coin",
]


def dicts(X: np.ndarray | csr_matrix) -> list[dict[int, float]]:
    """Return the rows as dicts, for river."""
    if not issparse(X):
        return [dict(enumerate(row)) for row in X.tolist()]
    parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), strict=True)
    return [dict(zip(indices.tolist(), values.tolist(), strict=True)) for indices, values in parts]


def river(X: np.ndarray | csr_matrix, codes: np.ndarray) -> float:
    """Return the log loss of river's logistic regression at its best rate; dense rows also standardized.

    It is nan for more than two classes, whose probabilities river's one-vs-rest does not have, and for long streams.
    """
    if codes.max() > 1 or csr_matrix(X).nnz > MOST:
        return float("nan")
    examples = list(zip(dicts(X), codes.astype(bool).tolist(), strict=True))
    losses = []
    for rate, scaled in product(RATES, (False,) if issparse(X) else (False, True)):
        model = linear_model.LogisticRegression(optim.SGD(rate))
        whole, total = preprocessing.StandardScaler() | model if scaled else model, 0.0
        for x, label in examples:
            total -= log(max(whole.predict_proba_one(x).get(label, 0.5), 1e-13))
            whole.learn_one(x, label)
        losses.append(total / len(examples))
    return min(losses)


def vowpal_wabbit(X: np.ndarray | csr_matrix, codes: np.ndarray) -> float:
    """Return the log loss of Vowpal Wabbit at its best setting, with logistic loss, one-vs-rest for several classes."""
    n_classes = int(codes.max()) + 1
    with tempfile.TemporaryDirectory() as folder:
        wabbit = VowpalWabbit(Workload("", X, codes, np.arange(n_classes)), Path(folder))
        bits, out = wabbit.options[:2], Path(folder) / "probabilities"
        losses = []
        for update in UPDATES:
            if n_classes == 2:
                wabbit.options = [*bits, "--loss_function", "logistic", *update.split()]
                losses.append(wabbit.learn().get_sum_loss() / len(codes))
                continue
            task = ["--oaa", str(n_classes), "--loss_function", "logistic", "--probabilities", "-p", str(out)]
            wabbit.options = [*bits, *task, *update.split()]
            wabbit.learn().finish()
            with out.open() as lines:
                shares = [line.split()[k].split(":")[1] for line, k in zip(lines, codes, strict=True)]
            losses.append(-np.log(np.maximum(np.array(shares, dtype=float), 1e-13)).mean())
    return float(min(losses))


def probabilities(name: str, X: np.ndarray | csr_matrix, y: np.ndarray) -> str:
    """Return one line of the table of probabilities."""
    classes, codes = np.unique(y, return_inverse=True)
    cells = []
    for model in (AutoClassifier(), AROWClassifier()):
        found = model.partial_fit(X, y, classes=classes).reliability_
        cells += [f"{found.log_loss:.4f}", f"{found.calibration_error:.3f}"]
    peers = [vowpal_wabbit(X, codes), river(X, codes)]
    cells += [f"{loss:.4f}" if np.isfinite(loss) else "-" for loss in peers]
    return " | ".join([name, str(len(y)), *cells, f"{float(cells[0]) / np.nanmin(peers):.3f}"])


def sets(name: str, X: np.ndarray | csr_matrix, y: np.ndarray) -> str:
    """Return one line of the table of prediction sets, for the stream in calls of 20 rows."""
    cells = []
    for options in ({}, {"by_class": True}):
        covering = PredictionSets(AROWClassifier(), COVERAGE, **options)
        for start in range(0, len(y), 20):
            covering.partial_fit(X[start : start + 20], y[start : start + 20], classes=np.unique(y))
        found = covering.coverage_
        cells += [f"{found.covered:.4f}", f"{found.size:.2f}"]
    worst = min(one.covered for one in covering.class_coverage_.values() if one.rounds >= 100)
    return " | ".join([name, str(len(y)), *cells, f"{worst:.4f}"])


def split_conformal(name: str, X: np.ndarray | csr_matrix, y: np.ndarray) -> str:
    """Return one line on shuffled rows: a model fitted on half of them, calibrated on a quarter, tested on the rest."""
    order = np.random.default_rng(0).permutation(len(y))
    train, held_out, test = np.split(order, [len(y) // 2, 3 * len(y) // 4])
    model = AROWClassifier().partial_fit(X[train], y[train])
    codes = {label: k for k, label in enumerate(model.classes_.tolist())}
    strange = [1 - model.predict_proba(X[part]) for part in (held_out, test)]
    right = [np.array([codes[label] for label in y[part].tolist()]) for part in (held_out, test)]
    own = np.sort(strange[0][np.arange(len(held_out)), right[0]])
    threshold = own[min(int(np.ceil((len(own) + 1) * COVERAGE)) - 1, len(own) - 1)]
    members = strange[1] <= threshold
    online = PredictionSets(model, COVERAGE).observe(X[held_out], y[held_out])
    before = online.coverage_
    after = online.observe(X[test], y[test]).coverage_
    n = after.rounds - before.rounds
    covered = (after.covered * after.rounds - before.covered * before.rounds) / n
    size = (after.size * after.rounds - before.size * before.rounds) / n
    cells = [members[np.arange(len(test)), right[1]].mean(), members.sum(axis=1).mean(), covered, size]
    return " | ".join([name, str(len(test)), *(f"{cell:.3f}" for cell in cells), f"{size / cells[1]:.3f}"])


def queries(name: str, X: np.ndarray | csr_matrix, y: np.ndarray) -> str:
    """Return one line on selective sampling: mistakes and requested labels, for three values of b and all labels."""
    cells = []
    for b in (0.03, 0.1, 0.3, float("inf")):
        sampler, mistakes = SelectiveSampler(stream.AROWClassifier(), b=b), 0
        for x, label in zip(X if not issparse(X) else [X[k] for k in range(len(y))], y.tolist(), strict=True):
            mistakes += sampler.predict_one(x) != label
            if sampler.query_one(x):
                sampler.learn_one(x, label)
        cells.append(f"{mistakes} ({sampler.asked / len(y):.0%})")
    return " | ".join([name, str(len(y)), *cells])


def made_up() -> Iterator[tuple[str, Stream]]:
    """Yield i.i.d. examples."""
    for n_classes in (3, 10):
        yield (
            f"made up, {n_classes} classes",
            make_classification(20_000, 20, n_informative=8, n_classes=n_classes, random_state=0),
        )


TABLES: dict[str, tuple[Callable[..., str], str]] = {
    "probabilities": (
        probabilities,
        "stream | rows | Auto log loss | error | AROW log loss | error | Vowpal Wabbit | river | Auto to best",
    ),
    "sets": (sets, "stream | rows | covered | size | by class: covered | size | worst class of 100 rows or more"),
    "split": (
        split_conformal,
        "data | test rows | split: covered | size | online: covered | size | sizes, online to split",
    ),
    "queries": (queries, "stream | rows | b = 0.03 | b = 0.1 | b = 0.3 | all labels"),
}


def main() -> None:
    """Print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data sets")
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=[*TABLES])
    parser.add_argument("--streams", nargs="*", choices=STREAMS, default=[*STREAMS])
    parser.add_argument("--rows", type=int, default=20_000, help="maximum number of rows of each stream")
    arguments = parser.parse_args()
    for table in arguments.tables:
        line, head = TABLES[table]
        print(f"\n| {head} |\n| --- |" + " ---: |" * head.count("|"))
        for name in arguments.streams:
            X, y = STREAMS[name](arguments.data)
            print(f"| {line(name, X[: arguments.rows], y[: arguments.rows])} |", flush=True)
        for name, (X, y) in made_up() if table == "split" else ():
            print(f"| {line(name, X, y)} |", flush=True)


if __name__ == "__main__":
    main()
