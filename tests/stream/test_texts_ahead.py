"""Texts whose features are made ahead by several threads are learned as one by one, bit for bit."""

import random
import signal
import threading

import pytest

from onmargin import stream
from onmargin.features import RecordFeatures
from tests.interrupts import signal_after

KINDS = {
    "names": {},
    "hashed": {"n_features": 2**12, "dtype": "float32"},
    "pairs of words": {"ngrams": (1, 2), "weighting": "log", "lowercase": False},
    "document frequencies": {"idf": True},
    "hashed document frequencies": {"idf": True, "n_features": 2**10},
}
# A block has at most 512 texts.
N_TEXTS = 6000


def texts(n=N_TEXTS, seed=0):
    """Texts with new words throughout, some outside ASCII or longer than others, and some empty ones."""
    draw = random.Random(seed)
    words = [f"w{k}" for k in range(1000)] + [
        "Straße",
        "мир",
        "日本語" * 30,
        "a" * 300,
        "naïve",
        "\U0001d49c\U0001d4b7",
    ]
    return [
        " ".join([*draw.choices(words, k=draw.randrange(6)), *([f"new{k}"] if k % 3 == 0 else [])]) for k in range(n)
    ]


def labels(n=N_TEXTS):
    return [f"c{k % 3 if k > 2000 else k % 2}" for k in range(n)]  # the third label is new in the middle


def model(n_jobs, **features):
    return stream.PassiveAggressiveClassifier(features=RecordFeatures(n_jobs=n_jobs, **features))


def learn_until_interrupted(one, X, y, seconds):
    with signal_after(seconds):
        while True:
            one.learn_many(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_bit(kind):
    X, y = texts(), labels()
    X[3500] = {"w1": 2.0, "w2": -1.0}  # not a text
    weights = [float(k % 5 > 0) for k in range(len(X))]
    one, several = (model(n_jobs, **KINDS[kind]).learn_many(X, y, weights) for n_jobs in (1, 4))
    assert several.totals_ == one.totals_
    assert several.feature_names_ == one.feature_names_
    assert [several.weights(label) for label in ("c0", "c2")] == [one.weights(label) for label in ("c0", "c2")]
    assert several.predict_many(X[:50]) == one.predict_many(X[:50])


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_example_leaves_those_before(kind):
    X, y = texts(4000), labels(4000)
    X[3700] = 7
    several, single = model(3, **KINDS[kind]), model(1, **KINDS[kind])
    with pytest.raises(TypeError, match="example 3700: expected a dict"):
        several.learn_many(X, y)
    single.learn_many(X[:3700], y[:3700])
    assert several.totals_ == single.totals_
    assert several.feature_names_ == single.feature_names_
    assert several.learn_many(X[3701:], y[3701:]).totals_ == single.learn_many(X[3701:], y[3701:]).totals_


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
@pytest.mark.parametrize("kind", ["names", "document frequencies"])
def test_an_interrupt_loses_nothing(kind):
    X, y = texts(), labels()
    for milliseconds in (1, 2, 4):
        several, single = model(3, **KINDS[kind]), model(1, **KINDS[kind])
        with pytest.raises(KeyboardInterrupt):
            learn_until_interrupted(several, X, y, milliseconds / 1000)
        rounds = several.totals_.rounds
        for _ in range(rounds // len(X)):
            single.learn_many(X, y)
        single.learn_many(X[: rounds % len(X)], y[: rounds % len(X)])
        assert several.totals_ == single.totals_
        assert several.feature_names_ == single.feature_names_
        assert several.learn_many(X, y).weights("c1") == single.learn_many(X, y).weights("c1")


def test_no_thread_is_left():
    before = threading.active_count()
    X, y = texts(), labels()
    model(4).learn_many(X, y)
    assert threading.active_count() == before
