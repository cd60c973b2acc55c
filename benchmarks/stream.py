"""Microseconds to learn one example of a stream, compared with river and scikit-learn's partial_fit of one row."""

import argparse
from collections.abc import Callable

import numpy as np
from river import linear_model
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from timing import race

import onmargin.river
from onmargin import stream
from onmargin.features import RecordFeatures

N_DICTS, N_FEATURES = 2000, 20
N_TEXTS, N_WORDS, VOCABULARY, BITS = 500, 100, 20_000, 18
Examples = list[tuple[object, bool]]


def dicts() -> Examples:
    """Return records of numbers with noisy labels."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_DICTS, N_FEATURES))
    y = X[:, :3].sum(axis=1) + 0.3 * random.normal(size=N_DICTS) > 0
    return [
        ({f"feature {j}": value for j, value in enumerate(row)}, label)
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]


def texts() -> Examples:
    """Return documents of two classes, with words drawn from a power law."""
    random = np.random.default_rng(1)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(random.choice(letters, random.integers(3, 10))) for _ in range(VOCABULARY)])
    rates = 1 / np.arange(5, VOCABULARY + 5)
    labels = random.uniform(size=N_TEXTS) < 0.5
    drawn = [random.choice(VOCABULARY, N_WORDS, p=rates / rates.sum()) for _ in labels]
    shifted = [
        np.where(random.uniform(size=N_WORDS) < 0.1, (row + 7) % VOCABULARY, row) if label else row
        for row, label in zip(drawn, labels, strict=True)
    ]
    return [(" ".join(words[row]), bool(label)) for row, label in zip(shifted, labels, strict=True)]


def one_by_one(learn: Callable[[object, bool], object], examples: Examples) -> Callable[[], None]:
    def run() -> None:
        for x, y in examples:
            learn(x, y)

    return run


def sgd() -> SGDClassifier:
    return SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0)


def of_dicts() -> dict[str, Callable[[], None]]:
    examples = dicts()
    known = [False, True]
    rows, model, named, vectorizer = sgd(), sgd(), [x for x, _ in examples], DictVectorizer(sparse=False)
    arrays = [(row[None], y) for row, (_, y) in zip(vectorizer.fit_transform(named), examples, strict=True)]
    return {
        "onmargin.stream": one_by_one(stream.PassiveAggressiveClassifier().learn_one, examples),
        "onmargin.stream, hashed": one_by_one(
            stream.PassiveAggressiveClassifier(features=RecordFeatures(n_features=2**BITS)).learn_one, examples
        ),
        "onmargin.river": one_by_one(onmargin.river.PassiveAggressiveClassifier().learn_one, examples),
        "river's PAClassifier": one_by_one(linear_model.PAClassifier().learn_one, examples),
        "scikit-learn's partial_fit of the row, made beforehand": one_by_one(
            lambda x, y: rows.partial_fit(x, [y], classes=known), arrays
        ),
        "scikit-learn's DictVectorizer and partial_fit": one_by_one(
            lambda x, y: model.partial_fit(vectorizer.transform([x]), [y], classes=known), examples
        ),
    }


def of_texts() -> dict[str, Callable[[], None]]:
    examples, known = texts(), [False, True]
    model, vectorizer = sgd(), HashingVectorizer(n_features=2**BITS, alternate_sign=False)
    return {
        "onmargin.stream, hashed": one_by_one(
            stream.PassiveAggressiveClassifier(features=RecordFeatures(n_features=2**BITS)).learn_one, examples
        ),
        "onmargin.stream": one_by_one(stream.PassiveAggressiveClassifier().learn_one, examples),
        "scikit-learn's HashingVectorizer and partial_fit": one_by_one(
            lambda x, y: model.partial_fit(vectorizer.transform([x]), [y], classes=known), examples
        ),
    }


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="all take turns, and the best turn counts")
    arguments = parser.parse_args()
    print("| examples | learner | us an example | times onmargin's |")
    print("| --- | --- | ---: | ---: |")
    for name, runners, n in [
        (f"dicts of {N_FEATURES} numbers", of_dicts(), N_DICTS),
        (f"texts of {N_WORDS} words", of_texts(), N_TEXTS),
    ]:
        seconds = race(runners, arguments.repeats)
        first = next(iter(runners))
        for learner, taken in seconds.items():
            print(f"| {name} | {learner} | {taken / n * 1e6:.2f} | {taken / seconds[first]:.1f} |")


if __name__ == "__main__":
    main()
