"""Records that are read while the rounds of those before are played are learned as one by one, bit for bit."""

import pickle
import random
import signal
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onmargin import stream
from onmargin._core import stream as core
from onmargin.features import RecordFeatures
from tests.interrupts import signal_after

LEARNERS = {
    "PA": stream.PassiveAggressiveClassifier,
    "averaged PA": lambda **options: stream.PassiveAggressiveClassifier(average=True, **options),
    "grid of C": lambda **options: stream.PassiveAggressiveClassifier(C=(0.01, 1.0), **options),
    "class weights": lambda **options: stream.PassiveAggressiveClassifier(class_weight={"c0": 2.0}, **options),
    "AROW": stream.AROWClassifier,
    "Auto": stream.AutoClassifier,
    "regression": stream.PassiveAggressiveRegressor,
}
FEATURES = {
    "names": {},
    "hashed": {"n_features": 2**9},
    "float32": {"dtype": "float32"},
}
# A block has at most 1024 records.
N_RECORDS = 8_000


@pytest.fixture(autouse=True)
def _always_pays(monkeypatch):
    """By this clock, reading and playing take equally long, so that a thread is started. No signal can interrupt it."""
    monkeypatch.setattr(core, "thread_time", count(0.0).__next__)


def records(n=N_RECORDS, size=4, seed=0):
    """Records with new names throughout, categories, missing values, repeated names, lists of names, and empty ones."""
    draw = random.Random(seed)

    def record(k):
        if k % 50 == 7:
            return [f"f{draw.randrange(30)}", f"f{draw.randrange(30)}", f"new{k}"]
        x = {f"f{draw.randrange(30)}": draw.gauss(0, 1) for _ in range(draw.randrange(2 * size))}
        if k % 7 == 0:
            x |= {"town": f"t{draw.randrange(k // 20 + 1)}", "none": None}
        return x | ({f"new{k}": 1} if k % 11 == 0 else {})

    return [record(k) for k in range(n)]


def labels(kind, n=N_RECORDS):
    """Labels of which the third is new in the middle, or numbers."""
    if kind == "regression":
        return [k % 13 - 6.0 for k in range(n)]
    return [f"c{k % 3 if k > n // 2 else k % 2}" for k in range(n)]


def make(kind, n_jobs, **features):
    return LEARNERS[kind](features=RecordFeatures(n_jobs=n_jobs, **features))


def learn_until_interrupted(one, X, y, seconds):
    with signal_after(seconds):
        while True:
            one.learn_many(X, y)


def state(model):
    """Everything that was learned."""
    model.features = None  # the numbers of threads differ
    return pickle.dumps(model)


def is_alike(one, other):
    return state(one) == state(other)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("kind", [kind for kind in LEARNERS if kind not in {"Auto", "class weights"}])
def test_a_thread_changes_no_bit(kind, features, threads):
    X, y = records(), labels(kind)
    weights = [float(k % 5 > 0) * (1 + k % 3) for k in range(len(X))]
    one, two = (make(kind, n_jobs, **FEATURES[features]).learn_many(X, y, weights) for n_jobs in (1, 2))
    assert threads
    assert two.totals_ == one.totals_
    assert two.feature_names_ == one.feature_names_
    assert is_alike(one, two)


@settings(deadline=None, max_examples=20)
@given(
    st.sampled_from([*LEARNERS]),
    st.sampled_from([*FEATURES]),
    st.tuples(st.integers(1, 900), st.integers(1, 40), st.integers(0, 9)),
    st.booleans(),
)
def test_many_are_learned_as_one_by_one(kind, features, drawn, weighted):
    X, y = records(*drawn), labels(kind, drawn[0])
    weights = [0.5 * (k % 4) if weighted else 1.0 for k in range(len(X))]
    singly, many = (make(kind, 2, **FEATURES[features]) for _ in range(2))
    for x, target, weight in zip(X, y, weights, strict=True):
        singly.learn_one(x, target, weight)
    assert is_alike(singly, many.learn_many(X, y, weights if weighted else None))


@pytest.mark.parametrize("bad", [7, {"f1": float("inf")}, {"f1": 1.0, "another": object()}])
@pytest.mark.parametrize("kind", ["PA", "AROW"])
def test_a_refused_example_leaves_those_before(kind, bad, threads):
    X, y = records(), labels(kind)
    X[7_700] = bad
    several, single = make(kind, 2), make(kind, 1)
    with pytest.raises((TypeError, ValueError), match="example 7700: "):
        several.learn_many(X, y)
    assert threads
    single.learn_many(X[:7_700], y[:7_700])
    assert is_alike(several, single)
    assert is_alike(several.learn_many(X[7_701:], y[7_701:]), single.learn_many(X[7_701:], y[7_701:]))


class Number:
    """A value whose own code runs when it is read."""

    def __init__(self, act):
        self.act = act

    def __float__(self):
        return float(self.act())


def test_an_error_of_an_examples_own_code_leaves_those_before(threads):
    X, y = records(), labels("PA")
    several, single = make("PA", 2), make("PA", 1)
    X[7_700] = {"another": 1.0, "f1": Number(lambda: 1 // 0)}
    with pytest.raises(ZeroDivisionError):
        several.learn_many(X, y)
    assert threads
    assert is_alike(several, single.learn_many(X[:7_700], y[:7_700]))


@pytest.mark.parametrize("call", ["learn_one", "learn_many"])
def test_an_example_cannot_use_the_model_that_reads_it(call, threads):
    X, y = records(), labels("PA")
    several, single = make("PA", 2), make("PA", 1)
    inner = ({"f2": 1.0}, "c0") if call == "learn_one" else ([{"f2": 1.0}], ["c0"])
    X[7_700] = {"another": 1.0, "f1": Number(lambda: getattr(several, call)(*inner))}
    with pytest.raises(RuntimeError, match="from within an example"):
        several.learn_many(X, y)
    assert is_alike(several, single.learn_many(X[:7_700], y[:7_700]))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
def test_an_interrupt_loses_nothing():
    X, y = records(), labels("PA")
    for milliseconds in (1, 5, 20):
        several, single = make("PA", 2), make("PA", 1)
        several.learn_many(X[:10], y[:10])
        several._loop.stretch = 1 << 12
        with pytest.raises(KeyboardInterrupt):
            learn_until_interrupted(several, X[10:], y[10:], milliseconds / 1000)
        rounds = several.totals_.rounds - 10
        single.learn_many(X[:10], y[:10])
        for _ in range(rounds // len(X[10:])):
            single.learn_many(X[10:], y[10:])
        rest = slice(10, 10 + rounds % len(X[10:]))
        assert is_alike(several, single.learn_many(X[rest], y[rest]))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
def test_a_signal_handler_may_use_the_model():
    X, y = records(), [f"c{k % 2}" for k in range(N_RECORDS)]  # no new names or labels
    several = make("PA", 2, n_features=2**9).learn_many(X[:10], y[:10])
    several._loop.stretch = 1 << 12
    seen = []

    def handle(*_):
        seen.append(several.predict_one(X[0]))
        several.learn_many(X[:3000], y[:3000])

    with signal_after(0.003, handle):
        for _ in range(20):
            several.learn_many(X, y)
    assert several.totals_.rounds == 10 + 20 * len(X) + 3000 * len(seen)
    assert len(seen) == 1


def test_one_thread_is_enough(threads):
    X, y = records(), labels("PA")
    make("PA", 1).learn_many(X, y)
    assert not threads


def test_no_thread_is_started_where_reading_takes_nearly_all_the_time(threads, monkeypatch):
    ticks = iter([0.0, *(9 + 10 * (k // 2) + k % 2 for k in range(10**4))])  # nine of ten parts
    monkeypatch.setattr(core, "thread_time", ticks.__next__)
    X, y = records(), labels("PA")
    make("PA", 2).learn_many(X, y)
    assert not threads


def test_without_a_thread_the_caller_plays(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("onmargin._core.background.start_new_thread", refuse)
    X, y = records(), labels("PA")
    one, two = (make("PA", n_jobs).learn_many(X, y) for n_jobs in (1, 2))
    assert is_alike(one, two)
