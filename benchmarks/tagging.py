"""Speed and quality of a linear-chain tagger, and of nine at once, compared with CRFsuite's online learners.

--data is a folder whose files end in train.txt and test.txt, read as in the example of the task: CoNLL-2000 for
"chunks", English Universal Dependencies for "words". Without it, synthetic sentences in the shape of CoNLL-2000 are
used. Speed is in token-passes per second.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from runpy import run_path

import numpy as np
import pycrfsuite
from timing import race

from onmargin import SequenceTagger
from onmargin.evaluate import tagging_report
from onmargin.features import WindowFeatures

Corpus = tuple[list[list[list[str]]], list[list[str]]]
EXAMPLES = Path(__file__).parents[1] / "examples"
# Quality of a tagger by task: the scheme of its spans, and the measure.
MEASURES = {"chunks": ("bio", "f1"), "words": (None, "accuracy")}


def load(folder: Path, task: str) -> list[Corpus]:
    """Return the training and the test sentences."""
    read = run_path(str(EXAMPLES / f"tag_{task}.py"))["load"]
    return [read(str(next(folder.glob(f"*{part}.txt")))) for part in ("train", "test")]


def made_up(sentences: int = 2000, tags: int = 20, words: int = 20_000) -> Corpus:
    """Return sentences of power-law words whose tags depend on the word and on the previous tag."""
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


def crfsuite(algorithm: str, passes: int, X: list, y: list, file: Path) -> None:
    """Pass the features to CRFsuite and train."""
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params={"max_iterations": passes}, verbose=False)
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels)
    trainer.train(str(file))


def onmargin(passes: int, X: list, y: list, **options: object) -> SequenceTagger:
    return SequenceTagger(separator=None, max_iter=passes, random_state=0, **options).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=MEASURES, default="chunks", help="whose data are given")
    parser.add_argument("--data", type=Path, help="folder of the training and the test file")
    parser.add_argument("--passes", type=int, default=10, help="passes of each learner")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each learner")
    options = parser.parse_args()
    passes, (scheme, measure) = options.passes, MEASURES[options.task]
    train, test = load(options.data, options.task) if options.data else [made_up()] * 2
    tokens = sum(map(len, train[0]))
    with tempfile.TemporaryDirectory() as folder:
        models = {name: Path(folder) / name for name in ("pa", "ap")}
        runners = {f"crfsuite {name}": partial(crfsuite, name, passes, *train, file) for name, file in models.items()}
        taggers = {
            "onmargin": partial(onmargin, passes, *train),
            "onmargin, nine C": partial(onmargin, passes, *train, C="auto", combine="hedge"),
        }
        seconds = race(taggers | runners, options.repeats)
        predicted = {name: learn().predict(test[0]) for name, learn in taggers.items()}
        for name, file in models.items():
            tagger = pycrfsuite.Tagger()
            tagger.open(str(file))
            predicted[f"crfsuite {name}"] = [tagger.tag(sentence) for sentence in test[0]]
    print(f"{tokens:,} tokens, {passes} passes\n")
    print(f"| learner | s | token-passes a second | times onmargin | {measure} |\n| --- | ---: | ---: | ---: | ---: |")
    for name, taken in seconds.items():
        good = getattr(tagging_report(test[1], predicted[name], scheme), measure)
        speed = passes * tokens / taken
        print(f"| {name} | {taken:.2f} | {speed:,.0f} | {taken / seconds['onmargin']:.1f} | {100 * good:.2f} |")


if __name__ == "__main__":
    main()
