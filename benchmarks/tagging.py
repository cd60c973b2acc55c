"""A linear-chain tagger against CRFsuite's online learners on the same features: token-passes a second, and F1.

With --data the folder of CoNLL-2000's train.txt and test.txt; without, sentences made up in the shape of that corpus.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pycrfsuite
from timing import race

from onmargin import SequenceTagger
from onmargin.evaluate import tagging_report
from onmargin.features import WindowFeatures
from onmargin.io import read_conll

Corpus = tuple[list[list[list[str]]], list[list[str]]]
PASSES = 10


def load(path: Path) -> Corpus:
    features = WindowFeatures()
    sentences = list(read_conll(path))
    return [features(sentence.tokens) for sentence in sentences], [sentence.labels for sentence in sentences]


def made_up(sentences: int = 2000, tags: int = 20, words: int = 20_000) -> Corpus:
    """Words of a power law whose tags depend on the word and on the tag before."""
    rng = np.random.default_rng(0)
    follows = rng.random((tags, tags)) ** 8
    follows /= follows.sum(axis=1, keepdims=True)
    features = WindowFeatures()
    X, y = [], []
    for _ in range(sentences):
        tag, tokens, labels = 0, [], []
        for rank in rng.zipf(1.3, 20) % words:
            tag = int(rng.choice(tags, p=follows[tag]))
            tokens.append((f"w{tag * words + rank}", f"t{(tag * 7 + rank % 3) % 44}"))
            labels.append(f"B-{tag}")
        X.append(features(tokens))
        y.append(labels)
    return X, y


def crfsuite(algorithm: str, X: list, y: list, file: Path) -> None:
    """Hand over the features and learn."""
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params={"max_iterations": PASSES}, verbose=False)
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels)
    trainer.train(str(file))


def onmargin(X: list, y: list) -> SequenceTagger:
    return SequenceTagger(separator=None, max_iter=PASSES, random_state=0).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of train.txt and test.txt")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each learner")
    options = parser.parse_args()
    train, test = (
        [load(options.data / f"{part}.txt") for part in ("train", "test")] if options.data else [made_up()] * 2
    )
    tokens = sum(map(len, train[0]))
    with tempfile.TemporaryDirectory() as folder:
        models = {name: Path(folder) / name for name in ("pa", "ap")}
        runners = {f"crfsuite {name}": partial(crfsuite, name, *train, file) for name, file in models.items()}
        seconds = race({"onmargin": partial(onmargin, *train), **runners}, options.repeats)
        predicted = {"onmargin": onmargin(*train).predict(test[0])}
        for name, file in models.items():
            tagger = pycrfsuite.Tagger()
            tagger.open(str(file))
            predicted[f"crfsuite {name}"] = [tagger.tag(sentence) for sentence in test[0]]
    print(f"{tokens:,} tokens, {PASSES} passes\n")
    print("| learner | s | token-passes a second | times onmargin | F1 |\n| --- | ---: | ---: | ---: | ---: |")
    for name, taken in seconds.items():
        f1 = tagging_report(test[1], predicted[name]).f1
        speed = PASSES * tokens / taken
        print(f"| {name} | {taken:.2f} | {speed:,.0f} | {taken / seconds['onmargin']:.1f} | {100 * f1:.2f} |")


if __name__ == "__main__":
    main()
