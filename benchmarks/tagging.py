"""Speed and quality of a linear-chain tagger, and of nine at once, compared with CRFsuite's online learners.

--data is a folder whose files end in train.txt and test.txt, read as in the example of the task: CoNLL-2000 for
"chunks", English Universal Dependencies for "words". Without it, synthetic sentences in the shape of CoNLL-2000 are
used. Speed is in token-passes per second. With --confidence, it measures probabilities instead: how well those of
tokens, spans and labelings are calibrated on the test sentences, with a temperature found on a tenth of the training
sentences, which are not learned.
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
from onmargin.evaluate import spans, tagging_report
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


def calibration(pairs: list[tuple[float, bool]], bins: int = 10) -> tuple[float, float, float]:
    """Return the mean probability, how often it was right, and the calibration error."""
    p, hits = np.array(pairs, dtype=float).T
    places = np.minimum((bins * p).astype(int), bins - 1)
    gaps = np.abs(np.bincount(places, p - hits, minlength=bins))
    return float(p.mean()), float(hits.mean()), float(gaps.sum() / len(p))


def confidence(train: Corpus, test: Corpus, scheme: str | None, passes: int, n_best: int = 5) -> None:
    """Print how well the probabilities of tokens, of predicted spans and of labelings are calibrated."""
    held_out = slice(9 * len(train[0]) // 10, None)
    rest = slice(held_out.start)
    tagger = onmargin(passes, train[0][rest], train[1][rest])
    print("| temperature | what | number | probability | frequency | calibration error |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for calibrated in (False, True):
        if calibrated:
            tagger.calibrate(train[0][held_out], train[1][held_out])
        found: dict[str, list[tuple[float, bool]]] = {"tokens": [], "spans": [], "labelings": [], f"{n_best} best": []}
        for sentence, right in zip(*test, strict=True):
            (marginals,) = tagger.predict_marginals([sentence])
            best = tagger.classes_[marginals.argmax(axis=1)]
            found["tokens"] += zip(marginals.max(axis=1).tolist(), best == np.array(right), strict=True)
            (labelings,) = tagger.decode([sentence], n_best)
            shares = [tagger.labels_proba_one(sentence, labels) for _, labels in labelings]
            found["labelings"].append((shares[0], labelings[0][1] == right))
            found[f"{n_best} best"].append((sum(shares), any(labels == right for _, labels in labelings)))
            for _, start, stop in spans(labelings[0][1]) if scheme == "bio" else ():
                inside = [label if start <= k < stop else None for k, label in enumerate(labelings[0][1])]
                came = right[start:stop] == inside[start:stop]
                found["spans"].append((tagger.labels_proba_one(sentence, inside), came))
        temperature = vars(tagger).get("temperature_", 1)
        for what, pairs in found.items():
            if pairs:
                numbers = " | ".join(f"{number:.3f}" for number in calibration(pairs))
                print(f"| {temperature:.3g} | {what} | {len(pairs):,} | {numbers} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=MEASURES, default="chunks", help="whose data are given")
    parser.add_argument("--data", type=Path, help="folder of the training and the test file")
    parser.add_argument("--passes", type=int, default=10, help="passes of each learner")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each learner")
    parser.add_argument("--confidence", action="store_true", help="measure the calibration of probabilities")
    options = parser.parse_args()
    passes, (scheme, measure) = options.passes, MEASURES[options.task]
    train, test = load(options.data, options.task) if options.data else [made_up()] * 2
    if options.confidence:
        confidence(train, test, scheme, passes)
        return
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
