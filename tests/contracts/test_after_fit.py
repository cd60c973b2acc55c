"""After `fit`, learning goes on from the averaged weights, with a new average: corrections take effect."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_regression

import onmargin
from onmargin import (
    AROWClassifier,
    LabelRanker,
    OrdinalRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    SequenceTagger,
    io,
    scale,
    stream,
)
from tests.apps.program import onmargin as program
from tests.sentences import corpus

X, DIGITS = load_digits(return_X_y=True)
X = X[:400] / 16
BINARY, DIGITS = (DIGITS[:400] > 4).astype(int), DIGITS[:400]
NUMBERS = make_regression(400, 64, noise=5.0, random_state=0)[1]

MODELS = {
    "two classes": (PassiveAggressiveClassifier(average=True), BINARY),
    "ten classes": (PassiveAggressiveClassifier(average=True, update="exact"), DIGITS),
    "one against the rest": (PassiveAggressiveClassifier(average=20, strategy="ovr"), DIGITS),
    "adaptive": (PassiveAggressiveClassifier(average=True, geometry="adaptive"), DIGITS),
    "normalized": (PassiveAggressiveClassifier(average=True, geometry="normalized"), BINARY),
    "kernel": (PassiveAggressiveClassifier(average=True, kernel="rbf", gamma=0.1), BINARY),
    "several C": (PassiveAggressiveClassifier(average=True, C=[0.001, 0.01]), DIGITS),
    "numbers": (PassiveAggressiveRegressor(average=True), NUMBERS),
    "variances": (AROWClassifier(average=True), BINARY),
    "ranks": (OrdinalRegressor(ranks=list(range(10)), average=True), DIGITS),
    "sets of labels": (LabelRanker(average=True), [{int(k), int(k) % 3} for k in DIGITS]),
}


def examples(y, part):
    return X[part], [y[i] for i in range(400)[part]] if isinstance(y, list) else y[part]


def answers(model):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("name", MODELS)
def test_calls_files_and_errors(name, tmp_path):
    """How the stream is cut changes no bit, nor do a model file and a call that fails."""
    given, y = MODELS[name]
    model = deepcopy(given).set_params(max_iter=3, tol=None, random_state=0).fit(*examples(y, slice(300)))
    fitted = answers(model)
    once = deepcopy(model).partial_fit(*examples(y, slice(300, 400)))
    with pytest.raises(ValueError, match=r"NaN|finite"):
        model.partial_fit(np.full((1, 64), np.nan), examples(y, slice(1))[1])
    np.testing.assert_array_equal(answers(model), fitted)
    for cut in ((300, 301), (301, 350), (350, 400)):
        onmargin.save(model, tmp_path / "model")
        model = onmargin.load(tmp_path / "model").partial_fit(*examples(y, slice(*cut)))
    np.testing.assert_array_equal(answers(model), answers(once))
    assert model.totals_ == once.totals_


def test_sparse_rows_learn_the_same():
    models = []
    for rows in (X, sparse.csr_array(X)):
        model = PassiveAggressiveClassifier(average=True, max_iter=3, tol=None, random_state=0)
        models.append(model.fit(rows[:300], DIGITS[:300]).partial_fit(rows[300:], DIGITS[300:]))
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-12)


@pytest.mark.parametrize("C", [1.0, [0.5, 1.0]], ids=str)
def test_a_correction_counts_in_full(C):
    """1,200 rounds before would hide it."""
    model = PassiveAggressiveClassifier(C=C, average=True, max_iter=3, tol=None, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, DIGITS)
    for _ in range(2):
        model.partial_fit(X[:1], 9 - DIGITS[:1])
    assert model.predict(X[:1]) == 9 - DIGITS[0]


def test_a_warm_start_goes_on_with_the_same_mean():
    one = PassiveAggressiveClassifier(average=True, max_iter=4, tol=None, shuffle=False).fit(X, DIGITS)
    other = PassiveAggressiveClassifier(average=True, max_iter=2, tol=None, shuffle=False, warm_start=True)
    other.fit(X, DIGITS).fit(X, DIGITS)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_without_fit_the_mean_is_that_of_all_rounds():
    one = PassiveAggressiveClassifier(average=True).partial_fit(X, DIGITS)
    other = PassiveAggressiveClassifier(average=True).partial_fit(X[:200], DIGITS[:200], classes=range(10))
    np.testing.assert_array_equal(one.coef_, other.partial_fit(X[200:], DIGITS[200:]).coef_)


@pytest.mark.parametrize("options", [{}, {"transition_features": "all"}, {"C": [0.1, 1.0]}], ids=str)
def test_a_corrected_sentence_is_tagged_right(options, tmp_path):
    sentences, labels = corpus(200)
    tagger = SequenceTagger(random_state=0, **options).fit(sentences, labels)
    other = [label.replace("DET", "NUM") for label in labels[0]]
    assert tagger.predict_one(sentences[0]) == labels[0]
    again = deepcopy(tagger)
    for _ in range(3):
        tagger.learn_one(sentences[0], other)
    assert tagger.predict_one(sentences[0]) == other
    onmargin.save(again, tmp_path / "model")
    again = onmargin.load(tmp_path / "model").partial_fit(sentences[:1] * 3, [other] * 3)
    np.testing.assert_array_equal(again.coef_, tagger.coef_)
    np.testing.assert_array_equal(again.transitions_, tagger.transitions_)


def test_shards_and_streams(tmp_path):
    """Learning after training on shards goes on from the averaged weights, in records too."""
    rng = np.random.default_rng(0)
    lines = [
        f"{'ab'[int(words[0] > 4)]}\t{' '.join(f'w{k}' for k in words)}" for words in rng.integers(10, size=(90, 4))
    ]
    for k in range(3):
        (tmp_path / f"part{k}.txt").write_text("\n".join(lines[k::3]) + "\n")
    model = stream.PassiveAggressiveClassifier(average=True)
    scale.fit(model, io.shards(f"{tmp_path}/*.txt"), workers=1, epochs=2)
    onmargin.save(model, tmp_path / "model")
    again = onmargin.load(tmp_path / "model")
    mean = model.weights("b")
    for one in (model, again):
        one.learn_one("w1 w2 zebra", "b").learn_one("w1 w2 zebra", "b")
    assert model.weights("b") == again.weights("b") != mean
    assert model.predict_one("w1 w2 zebra") == "b"


def test_the_command_line_continues_from_the_mean(tmp_path):
    """--from does, and so does a service that learns with the file; --resume continues the passes."""
    data, more = tmp_path / "a.conll", tmp_path / "b.conll"
    data.write_text("the DT\ndog NN\n\nthe DT\ncat NN\nsleeps VB\n\n" * 50)
    more.write_text("dog VB\n\n")
    program("train", data, "-o", tmp_path / "one", "--passes", 4)
    program("train", data, "-o", tmp_path / "two", "--passes", 2)
    program("train", data, "-o", tmp_path / "two", "--passes", 4, "--resume")
    one, two = (onmargin.load(tmp_path / name) for name in ("one", "two"))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.predict_one([["dog"]]) == ["NN"]
    program("train", more, "-o", tmp_path / "three", "--from", tmp_path / "one")
    assert onmargin.load(tmp_path / "three").predict_one([["dog"]]) == ["VB"]
