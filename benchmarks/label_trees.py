"""Costs as distances in a label tree: 20 newsgroups by their dotted names, one pass in order of time.

python benchmarks/label_trees.py --data FOLDER
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from onmargin import PassiveAggressiveClassifier
from onmargin.features import tree_costs

sys.path.insert(0, str(Path(__file__).parent / "quality"))
from streams import newsgroups

CS = 0.1, 0.3, 1.0, 3.0
LEARNERS = {"plain": {}, "prediction": {"cost_update": "prediction"}, "max_loss": {"cost_update": "max_loss"}}
BLOCK = 200  # number of messages that are predicted, then learned


def main() -> None:
    """Print the mistakes and the mean tree distance of each learner, with the C of the smallest distance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    X, y = newsgroups(parser.parse_args().data)
    classes, codes = np.unique(y, return_inverse=True)
    tree = tree_costs(classes, separator=".")
    print("| learner | C | % mistakes | mean tree distance | of a mistake |\n| --- | ---: | ---: | ---: | ---: |")
    for name, options in LEARNERS.items():
        rows = []
        for C in CS:
            model = PassiveAggressiveClassifier(C=C, **({"cost": tree, **options} if options else {}))
            distances = []
            for start in range(0, len(y), BLOCK):
                part = slice(start, start + BLOCK)
                if start:
                    guesses = model.decision_function(X[part]).argmax(axis=1)
                    distances.append(tree[codes[part], guesses])
                model.partial_fit(X[part], y[part], classes=classes)
            paid = np.concatenate(distances)
            rows.append((paid.mean(), C, 100 * (paid > 0).mean(), paid[paid > 0].mean()))
        mean, C, mistakes, each = min(rows)
        print(f"| {name} | {C:g} | {mistakes:.2f} | {mean:.3f} | {each:.2f} |")


if __name__ == "__main__":
    main()
