"""Error of each kind of class-term features: mail by folder, and with label sets the topics of Reuters stories.

python benchmarks/class_terms.py --data FOLDER
"""

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from onmargin import ClassFeatureClassifier, LabelRanker
from onmargin.features import ClassTermFeatures
from onmargin.lab.data import USERS, messages

KINDS = "additive", "multiplicative", "tfidf"
CS = [2.0**k for k in range(-7, 2, 2)]


def stories(folder: Path) -> tuple[list[str], list[list[str]]]:
    """Return the training stories of the ModApte split that have a topic, in order, and their topics."""
    with gzip.open(folder / "reuters21578/reuters21578.jsonl.gz", "rt", encoding="utf-8") as file:
        told = [json.loads(line) for line in file]
    kept = [s for s in told if s["topics"] and s["has_topics"] == "YES" and s["lewissplit"] == "TRAIN"]
    return [f"{s['title'] or ''} {s['body'] or ''}" for s in kept], [sorted(set(s["topics"])) for s in kept]


def least(model: object, X: object, y: object) -> str:
    """Return the lowest percentage of progressive mistakes over C."""
    errors = []
    for C in CS:
        totals = clone(model).set_params(C=C).partial_fit(X, y).totals_
        errors.append(100 * totals.mistakes / totals.rounds)
    return f"{min(errors):.1f}"


def main() -> None:
    """Print one line per stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--streams", nargs="*", default=[*USERS, "reuters"])
    given = parser.parse_args()
    print("| stream |", " | ".join(KINDS), "| prototypes |\n| ---", "| ---: " * 4, "|", sep="")
    for name in given.streams:
        texts, labels = stories(given.data) if name == "reuters" else messages(given.data, name)
        X = CountVectorizer(dtype=np.float64, min_df=2).fit_transform(texts)
        sets = labels if name == "reuters" else [{label} for label in labels.tolist()]
        cells = [least(ClassFeatureClassifier(phi=ClassTermFeatures(kind=kind)), X, labels) for kind in KINDS]
        cells.append(least(LabelRanker(calibrate=False, fit_intercept=False), X, sets))
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
