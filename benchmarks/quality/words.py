"""Mistakes of AutoClassifier on texts, by what counts as a word and how words are weighted.

python benchmarks/quality/words.py DATA
"""

import argparse
from pathlib import Path

import numpy as np
from streams import TEXTS

from onmargin import stream
from onmargin.features import RecordFeatures

SETTINGS = {
    "words, tf": {"symbols": False, "weighting": "tf"},
    "words, log": {"symbols": False, "weighting": "log"},
    "symbols, tf": {"symbols": True, "weighting": "tf"},
    "symbols, log": {"symbols": True, "weighting": "log"},
    "symbols, log, pairs": {"symbols": True, "weighting": "log", "ngrams": (1, 2)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=6000)
    options = parser.parse_args()
    print("stream", *SETTINGS, sep=" | ")
    for name, read in TEXTS.items():
        texts, labels = read(options.data)
        order = np.random.default_rng(0).permutation(len(texts))[: options.rows]
        row = []
        for settings in SETTINGS.values():
            model = stream.AutoClassifier(features=RecordFeatures(**settings))
            model.learn_many([texts[i] for i in order], labels[order].tolist())
            row.append(f"{100 * model.totals_.mistakes / len(order):.2f}")
        print(name, *row, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
