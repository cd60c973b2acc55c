"""Sequences that are read while the rounds of those before are played are learned as by one thread, bit for bit."""

import random
import signal
from itertools import count

import numpy as np
import pytest

from onmargin import SequenceTagger
from onmargin.estimators import _chain_learner

LABELS = ["A", "B", "C"]
KINDS = {
    "prediction": {},
    "max_loss": {"update": "max_loss", "cost": "squared_hamming", "loss": "squared_hinge"},
    "averaged": {"average": True, "fit_intercept": False},
    "perceptron": {"update": "perceptron"},
    "grid of C": {"C": (0.01, 1.0)},  # learned by one thread
}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Blocks are small, and by this clock reading and playing take equally long, so that a thread is started."""
    ticks = count()
    monkeypatch.setattr(_chain_learner, "thread_time", lambda: float(next(ticks)))
    monkeypatch.setattr(_chain_learner, "BLOCK", 50)


def sequences(n=400, seed=0):
    """Sequences with new names and new labels throughout, of lists and dicts, and some empty ones."""
    draw = random.Random(seed)

    def token(k, i):
        names = [f"w{draw.randrange(30)}", f"end{draw.randrange(5)}", *([f"new{k}"] if k % 3 == 0 else [])]
        return {name: draw.gauss(0, 1) for name in names} if i % 4 == 1 else names

    X = [[token(k, i) for i in range(draw.randrange(7))] for k in range(n)]
    return X, [[draw.choice(LABELS) + ("+" if k == 250 else "") for _ in x] for k, x in enumerate(X)]


def learned(tagger):
    """Everything that was learned, without the room for more features."""
    shown = [tagger.coef_, tagger.intercept_, tagger.transitions_]
    return (
        tagger.totals_,
        tagger.classes_.tolist(),
        tagger.feature_names_,
        tagger.n_features_in_,
        [array.tolist() for array in shown],
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_thread_changes_no_bit(kind, weighted, threads):
    X, y = sequences()
    weight = [0.5 * (k % 3) for k in range(len(X))] if weighted else None
    one, two = (SequenceTagger(n_jobs=n_jobs, **KINDS[kind]) for n_jobs in (1, 2))
    for tagger in (one, two):
        tagger.partial_fit(X[:300], y[:300], sample_weight=None if weight is None else weight[:300])
        tagger.partial_fit(X[100:], y[100:], sample_weight=None if weight is None else weight[100:])
        tagger.partial_fit(*sequences(seed=1), classes=[*LABELS, "D"])
    assert bool(threads) == (kind != "grid of C")
    assert learned(one) == learned(two)
    assert one.predict(X[:50]) == two.predict(X[:50])


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize(
    ("place", "bad", "message"),
    [
        (350, [["w1"], 7], "sequence 350 of X, token 1: expected a dict"),
        (350, [["w1"], {"w2": float("inf")}], "sequence 350 of X, token 1: the value of feature 'w2'"),
        (2, [["w1"], {"w2": object()}], "sequence 2 of X, token 1: the value of feature 'w2'"),
    ],
)
def test_an_error_leaves_everything_as_it_was(place, bad, message, begun, threads):
    X, y = sequences()
    taggers = [SequenceTagger(n_jobs=n_jobs) for n_jobs in (1, 2)]
    messages = []
    for tagger in taggers:
        if begun:
            tagger.partial_fit(X[:60], y[:60])
        before = learned(tagger) if begun else None
        wrong = [*X[:place], bad, *X[place + 1 :]]
        with pytest.raises((TypeError, ValueError), match=message) as error:
            tagger.partial_fit(wrong, [*y[:place], ["A", "B"], *y[place + 1 :]])
        messages.append(str(error.value).partition(" at 0x")[0])
        assert (learned(tagger) if begun else None) == before
        assert hasattr(tagger, "classes_") == begun
    assert messages[0] == messages[1]
    one, two = (tagger.partial_fit(X, y) for tagger in taggers)
    assert learned(one) == learned(two)
    assert threads


def test_errors_in_tokens_come_before_those_in_labels():
    X, y = sequences()
    X[390], y[3] = [7], [*y[3], "A"]
    for n_jobs in (1, 2):
        with pytest.raises(TypeError, match="sequence 390 of X"):
            SequenceTagger(n_jobs=n_jobs).partial_fit(X, y)
    X[390], y[390] = [["w1"]], ["A"]
    for n_jobs in (1, 2):
        with pytest.raises(ValueError, match="sequence 3 has"):
            SequenceTagger(n_jobs=n_jobs).partial_fit(X, y)


@pytest.fixture
def interrupts():
    """Let SIGINT raise KeyboardInterrupt; shells ignore it in background jobs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_leaves_everything_as_it_was(threads):
    class Interrupting:
        def __float__(self):
            signal.raise_signal(signal.SIGINT)
            return 1.0

    X, y = sequences()
    tagger = SequenceTagger(n_jobs=2).partial_fit(X[:60], y[:60])
    before = learned(tagger)
    with pytest.raises(KeyboardInterrupt):
        tagger.partial_fit([*X, [{"w1": Interrupting()}]], [*y, ["A"]])
    assert threads
    assert learned(tagger) == before
    assert learned(tagger.partial_fit(X, y)) == learned(
        SequenceTagger(n_jobs=1).partial_fit(X[:60], y[:60]).partial_fit(X, y)
    )


def test_no_thread_is_started_where_it_does_not_pay(threads, monkeypatch):
    ticks = iter([0.0, *(9 + 10 * (k // 2) + k % 2 for k in range(100))])  # reading takes nine of ten parts
    monkeypatch.setattr(_chain_learner, "thread_time", lambda: next(ticks))
    X, y = sequences()
    one, two = (SequenceTagger(n_jobs=n_jobs).partial_fit(X, y) for n_jobs in (1, 2))
    assert not threads
    assert learned(one) == learned(two)


def test_room_for_names_that_did_not_come_is_given_back():
    X, y = sequences()
    common = [[["w1", "end1"] for _ in x] for x in X]
    tagger = SequenceTagger(n_jobs=2).partial_fit(common, y)
    assert tagger._learner.geometry.n_features <= 2 * tagger.n_features_in_
    assert np.isfinite(tagger.coef_).all()
