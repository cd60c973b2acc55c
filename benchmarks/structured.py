"""Time per round of structured prediction, compared with the calls to its model and with plain NumPy."""

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from timing import race

from onmargin import StructuredPredictor, reference

TAGS = range(4)


class Matching:
    """Matching of ten rows to ten columns; features are vectors."""

    def joint_features(self, x: Any, y: Any) -> Any:
        return x[np.arange(len(x)), y].sum(axis=0)

    def argmax(self, weights: Any, x: Any) -> Any:
        return linear_sum_assignment(x @ weights, maximize=True)[1]

    def cost(self, y: Any, z: Any) -> float:
        return float(np.count_nonzero(y != z))


class Tagging:
    """Tagging of words by the Viterbi algorithm; features have names."""

    def joint_features(self, words: Any, tags: Any) -> Any:
        return Counter([*zip(words, tags, strict=True), *pairwise(tags)])

    def argmax(self, weights: Any, words: Any) -> Any:
        best = {tag: (weights[words[0], tag], [tag]) for tag in TAGS}
        for word in words[1:]:
            best = {
                tag: max(
                    (score + weights[path[-1], tag] + weights[word, tag], [*path, tag]) for score, path in best.values()
                )
                for tag in TAGS
            }
        return max(best.values())[1]

    def cost(self, y: Any, z: Any) -> float:
        return sum(map(int.__ne__, y, z))


def matchings(n: int) -> tuple[Any, list[Any], list[Any]]:
    random = np.random.default_rng(0)
    X, w = random.standard_normal((n, 10, 10, 50)), random.standard_normal(50)
    return Matching(), list(X), [Matching().argmax(w + 0.05 * random.standard_normal(50), x) for x in X]


def sentences(n: int) -> tuple[Any, list[Any], list[Any]]:
    random = np.random.default_rng(0)
    usual = random.choice(TAGS, 300)
    X = [[f"w{i}" for i in (300 * random.random(random.integers(5, 20)) ** 3).astype(int)] for _ in range(n)]
    return Tagging(), X, [[int(usual[int(word[1:])]) for word in words] for words in X]


def calls(model: Any, weights: Any, X: list[Any], Y: list[Any]) -> None:
    """Run only the calls to the model in the rounds."""
    for x, y in zip(X, Y, strict=True):
        z = model.argmax(weights, x)
        model.cost(y, z)
        model.joint_features(x, y)
        model.joint_features(x, z)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="turns of each learner")
    parser.add_argument("--examples", type=int, default=1000)
    given = parser.parse_args()
    print("| structures | µs a round | the model's calls | times those | NumPy, times this | mistakes, % |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, make in ("matchings, vectors of 50", matchings), ("tag sequences, named features", sentences):
        model, X, Y = make(given.examples)
        fitted = StructuredPredictor(model=model).partial_fit(X, Y)
        runners: dict[str, Callable[[], object]] = {
            "round": lambda model=model, X=X, Y=Y: StructuredPredictor(model=model).partial_fit(X, Y),
            "calls": partial(calls, model, fitted.weights_, X, Y),
        }
        if make is matchings:
            runners["NumPy"] = partial(reference.structured, X, Y, model, reference.pa1(1.0))
        seconds = race(runners, given.repeats)
        slower = f"{seconds['NumPy'] / seconds['round']:.2f}" if "NumPy" in seconds else ""
        micro = {part: 1e6 * taken / given.examples for part, taken in seconds.items()}
        print(
            f"| {name} | {micro['round']:.0f} | {micro['calls']:.0f} | "
            f"{seconds['round'] / seconds['calls']:.2f} | {slower} | "
            f"{100 * fitted.totals_.mistakes / fitted.totals_.rounds:.0f} |"
        )


if __name__ == "__main__":
    main()
