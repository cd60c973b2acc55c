"""Taggers that learn on after `fit`: corrections of wrong sentences, more of the same source, and a new domain.

CONLL is a folder with the train.txt and test.txt of CoNLL-2000, EWT one with en_ewt-ud-dev.conllu and
en_ewt-ud-test.conllu of English Universal Dependencies. Chunks are learned from the first half of CoNLL-2000, then from
the second half. Tags of the Penn Treebank are learned from CoNLL-2000, then from the first sentences of EWT. Both are
measured with a new average after `fit`, and with one average over all rounds, which `warm_start` continues.
"""

import argparse
from copy import deepcopy
from pathlib import Path

import numpy as np

from onmargin import SequenceTagger
from onmargin.evaluate import tagging_report
from onmargin.features import WindowFeatures
from onmargin.io import read_conll
from onmargin.learner import mark_fitted

Corpus = tuple[list[list[list[str]]], list[list[str]]]


def chunks(path: Path) -> Corpus:
    """Return the features and chunk labels of the sentences of CoNLL-2000."""
    features, sentences = WindowFeatures(), list(read_conll(str(path)))
    return [features(tokens) for tokens, _ in sentences], [labels for _, labels in sentences]


def words(path: Path, word: int, tag: int) -> Corpus:
    """Return the features of words and their tags, from columns of a file."""
    X, y = [], []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split() for line in block.split("\n") if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit() or len(row) < 5]
        w = ["<s>", *(row[word] for row in rows), "</s>"]
        X.append(
            [
                [f"w={w[i]}", f"-1={w[i - 1]}", f"+1={w[i + 1]}", f"low={w[i].lower()}", f"capital={w[i][0].isupper()}"]
                + [f"end{k}={w[i][-k:]}" for k in (1, 2, 3)]
                for i in range(1, len(rows) + 1)
            ]
        )
        y.append([row[tag] for row in rows])
    return X, y


def presentations(tagger: SequenceTagger, X: list, y: list, most: int = 100) -> list[int]:
    """Return how often each wrong sentence is presented, to a fresh copy, before it is tagged right."""
    counts = []
    for x, labels in zip(X, y, strict=True):
        one, n = deepcopy(tagger), 0
        while n < most and one.predict_one(x) != labels:
            one.learn_one(x, labels)
            n += 1
        counts.append(n)
    return counts


def follow(tagger: SequenceTagger, more: Corpus, test: Corpus, scheme: str | None, marks: list[int]) -> None:
    """Print the quality after more sentences, with a new average and with one over all rounds."""
    print("| further sentences | new average | one average |\n| ---: | ---: | ---: |")
    both = deepcopy(tagger), deepcopy(tagger)
    mark_fitted(both[1], fitted=False)
    for start, stop in zip([0, *marks], marks, strict=False):
        found = []
        for one in both:
            if stop > start:
                one.partial_fit(more[0][start:stop], more[1][start:stop])
            report = tagging_report(test[1], one.predict(test[0]), scheme=scheme)
            found.append(100 * (report.accuracy if scheme is None else report.f1))
        print(f"| {stop:,} | {found[0]:.2f} | {found[1]:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conll", type=Path, required=True, help="folder of CoNLL-2000")
    parser.add_argument("--ewt", type=Path, required=True, help="folder of English EWT")
    parser.add_argument("--sentences", type=int, default=100, help="number of wrong sentences to correct")
    options = parser.parse_args()

    def fit(X: list, y: list) -> SequenceTagger:
        return SequenceTagger(separator=None, random_state=0).fit(X, y)

    (X, y), test = (chunks(options.conll / f"{part}.txt") for part in ("train", "test"))
    half = len(X) // 2
    everything = tagging_report(test[1], fit(X, y).predict(test[0]))
    print(f"chunks: F1 {100 * everything.f1:.2f} after a fit on all\n")
    tagger = fit(X[:half], y[:half])
    follow(tagger, (X[half:], y[half:]), test, "bio", [0, 500, 1000, 2000, 3000, len(X) - half])
    wrong = [i for i, labels in enumerate(tagger.predict(test[0])) if labels != test[1][i]][: options.sentences]
    counts = np.array(presentations(tagger, [test[0][i] for i in wrong], [test[1][i] for i in wrong]))
    print(f"\n{np.mean(counts <= 3):.0%} of {len(counts)} wrong sentences are right after at most 3 presentations\n")
    source = words(options.conll / "train.txt", 0, 1)
    more, test = (words(options.ewt / f"en_ewt-ud-{part}.conllu", 1, 4) for part in ("dev", "test"))
    print("tags: accuracy on the new domain\n")
    follow(fit(*source), more, test, None, [0, 50, 200, 500, 1000, len(more[0])])


if __name__ == "__main__":
    main()
