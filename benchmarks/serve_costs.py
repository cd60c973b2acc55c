"""Estimated and measured time of predictions by the service: the estimates, made in advance, must be upper bounds."""

import argparse
from functools import partial

from timing import race

from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.schema import Example

TEXT = "some words of a text "
CASES = {
    "text, n-grams of up to 3 words": ("classify", {"ngrams": [1, 3]}, TEXT, TEXT * 2000),
    "text, 2^18 hashed features": ("classify", {"n_features": 2**18}, TEXT, TEXT * 2000),
    "dict of 5,000 numbers": ("classify", {}, {"a": 1.0}, {f"f{k}": 1.0 for k in range(5000)}),
    "kernel with 100 supports": ("classify", {"kernel": "rbf", "gamma": 0.1}, None, [0.5] * 20),
    "sequence of 300 tokens": ("tag", {}, [["a"]], [["a", "b"]] * 300),
}


def trained(task: str, parameters: dict[str, object], x: object, n_labels: int) -> JsonLearner:
    """Return a learner of many labels."""
    learner = JsonLearner.begin(None, task, parameters, Room())
    for k in range(n_labels):
        example = [k * j % 7 / 7 for j in range(20)] if x is None else x
        learner.learn(Example(example, [f"l{k}"] if task == "tag" else f"l{k}"))
    return learner


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="repetitions, of which the best counts")
    parser.add_argument("--labels", type=int, default=100, help="labels of each model")
    arguments = parser.parse_args()
    print("| example | estimated ms | measured ms | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for name, (task, parameters, first, x) in CASES.items():
        learner = trained(task, parameters, first, arguments.labels)
        estimated = learner.costs.work(x) / 1e6
        measured = 1e3 * race({name: partial(learner.predict, x)}, arguments.repeats)[name]
        print(f"| {name} | {estimated:.2f} | {measured:.2f} | {estimated / measured:.1f} |")


if __name__ == "__main__":
    main()
