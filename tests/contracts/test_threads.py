"""Threads can share a model: calls are serialized, nothing is lost and nothing crashes."""

import signal
import sys
import threading
from itertools import cycle, islice

import numpy as np
import pytest
from scipy import sparse

import onmargin
from onmargin import stream
from onmargin._core.turns import Turns
from onmargin.features import RecordFeatures
from tests.saved import anatomy
from tests.waiting import wait_until

N_THREADS, N_CALLS = 4, 40
WORDS = [f"word{i}" for i in range(400)]


def at_once(*tasks):
    """Run functions in separate threads, each with the number of its call, and reraise their exceptions."""
    errors, ready = [], threading.Barrier(len(tasks))

    def run(task, first):
        try:
            ready.wait()
            for i in range(N_CALLS):
                task(first + i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task, k * N_CALLS)) for k, task in enumerate(tasks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.fixture(autouse=True)
def switching():
    """Switch between threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def text(i):
    return " ".join(islice(cycle(WORDS), 7 * i % 400, 7 * i % 400 + 30))


class Slow(float):
    """A number that lets other threads run while it is read."""

    def __float__(self):
        threading.Event().wait(1e-6)
        return 1.0


EXAMPLES = {
    "texts": text,
    "dicts": lambda i: {f"name{i}": 1.0, "common": Slow(1.0)},
    "lists": lambda i: [f"name{i}", "common"],
    "vectors": lambda i: np.array([1.0, i, i % 7]),
}
every_kind = pytest.mark.parametrize("kind", EXAMPLES)
hashed = pytest.mark.parametrize("n_features", [None, 2**10], ids=["names", "hashed"])


@every_kind
@hashed
@pytest.mark.parametrize("weighted", [False, True])
def test_examples_of_several_threads_are_all_learned(kind, n_features, weighted):
    n_features = None if kind == "vectors" else n_features
    model = stream.PassiveAggressiveClassifier(
        features=RecordFeatures(n_features=n_features), class_weight="balanced" if weighted else None
    )
    example = EXAMPLES[kind]
    at_once(*[lambda i: model.learn_one(example(i), f"label{i % 5}")] * N_THREADS)
    assert model.totals_.rounds == N_THREADS * N_CALLS
    assert model.classes_ == [f"label{k}" for k in range(5)]
    if n_features is None and kind == "dicts":
        assert set(model._names.names) == {f"name{i}" for i in range(N_THREADS * N_CALLS)} | {"common"}


@every_kind
@hashed
def test_predictions_while_another_thread_learns(kind, n_features):
    model = stream.PassiveAggressiveClassifier(
        features=RecordFeatures(n_features=None if kind == "vectors" else n_features)
    )
    example = EXAMPLES[kind]
    model.learn_one(example(0), 0).learn_one(example(1), 1)

    def predict(i):
        assert model.predict_one(example(i)) in model.classes_
        assert set(model.scores_one(example(i))) <= set(model.classes_)

    def learn(i):
        model.learn_many([example(i + k) for k in range(20)], [(i + k) // 10 for k in range(20)])

    at_once(learn, learn, predict, predict)
    assert model.totals_.rounds == 2 + 2 * N_CALLS * 20


@pytest.mark.parametrize(
    "name", ["PassiveAggressiveRegressor", "PassiveAggressiveUniclass", "AutoRegressor", "AROWRegressor"]
)
def test_other_streams(name):
    model = getattr(stream, name)()
    y = [] if name == "PassiveAggressiveUniclass" else [1.0]
    at_once(*[lambda i: model.learn_one(text(i), *y)] * 2, lambda i: model.predict_one(text(i)))
    assert model.totals_.rounds == 2 * N_CALLS - (name == "PassiveAggressiveUniclass")


def test_an_example_that_calls_the_model_is_refused():
    model = stream.PassiveAggressiveRegressor().learn_one({"a": 1.0}, 1.0)

    class Calling(float):
        def __float__(self):
            model.learn_one({"b": 1.0}, 1.0)
            return 1.0

    with pytest.raises(RuntimeError, match="within an example"):
        model.learn_one({"a": Calling(), "c": 2.0}, 1.0)
    assert model.totals_.rounds == 1
    assert model.learn_one({"a": 1.0}, 1.0).totals_.rounds == 2


ESTIMATORS = {
    "linear": lambda: onmargin.PassiveAggressiveClassifier(average=True),
    "kernel": lambda: onmargin.PassiveAggressiveClassifier(kernel="rbf"),
    "budget": lambda: onmargin.PassiveAggressiveClassifier(kernel="rbf", budget=20),
    "ball": lambda: onmargin.PassiveAggressiveUniclass(kernel="rbf"),
    "perceptron": onmargin.Perceptron,
    "window": lambda: onmargin.DualAscentClassifier(kernel="rbf", window=5),
    "auto": onmargin.AutoClassifier,
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_estimators_learn_the_rows_of_every_thread(name, is_sparse):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 20))
    y = None if name == "ball" else (X[:, 0] + random.normal(size=300) > 0).astype(int)
    rows = sparse.csr_matrix(X) if is_sparse else X
    model = ESTIMATORS[name]().partial_fit(rows, y)

    def learn(i):
        model.partial_fit(rows[:50], None if y is None else y[:50])

    at_once(learn, learn, lambda i: model.decision_function(rows[3:]), lambda i: model.predict(rows[:3]))
    assert model.totals_.rounds == 300 - (name == "ball") + 2 * N_CALLS * 50


@pytest.mark.parametrize("kind", [onmargin.AutoClassifier, onmargin.AutoRegressor])
def test_predictions_do_not_change_what_experts_learn(kind):
    """Predictions wrote the scores of experts, and which of them sleep, to where rounds keep them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_CALLS * 25, 20))
    y = (X[:, 0] + random.normal(size=len(X)) > 0).astype(int)
    model, alone = (kind().partial_fit(X[:50], y[:50]) for _ in range(2))

    def learn(one, i):
        rows = slice(25 * i, 25 * i + 25)
        one.partial_fit(X[rows], y[rows])

    at_once(lambda i: learn(model, i), lambda i: model.predict(X[:200]), lambda i: model.predict(X[200:]))
    for i in range(N_CALLS):
        learn(alone, i)
    assert anatomy(vars(model)) == anatomy(vars(alone))


def test_taggers_add_names_and_labels_while_others_predict():
    model = onmargin.SequenceTagger()
    model.partial_fit([[["a"], ["b"]]], [["x", "y"]])

    def names(i):  # one thread learns these while another looks them up
        return [[f"name{i % N_CALLS} {k}" for k in range(200)]] * 30

    def learn(i):
        model.learn_one(names(i), [f"label{k % 3 + i % 5}" for k in range(30)])

    def predict(i):
        assert len(model.predict_one(names(i))) == 30
        assert len(model.decode([names(i)], 2)[0]) == 2

    at_once(learn, learn, predict, predict)
    assert model.totals_.rounds == 1 + 2 * N_CALLS


def test_turns_are_taken_in_order(monkeypatch):
    turns, order, threads, waiting = Turns(), [], [], set()
    monkeypatch.setattr("onmargin._core.turns.sleep", lambda _: waiting.add(threading.get_ident()))

    def take(k):
        with turns, turns:
            order.append(k)

    with turns:
        for k in range(5):
            threads.append(threading.Thread(target=take, args=(k,)))
            threads[-1].start()
            wait_until(lambda: threads[-1].ident in waiting)
        assert order == []
    for thread in threads:
        thread.join()
    assert order == list(range(5))


@pytest.mark.parametrize("received", ["by the thread that waits", "by another one"])
def test_a_thread_that_is_interrupted_waits_no_longer(received):
    turns, held, over = Turns(), threading.Event(), threading.Event()

    def hold():
        with turns:
            held.set()
            over.wait()

    def interrupt(*_):
        raise KeyboardInterrupt

    def wait():
        thread = threading.main_thread() if received == "by the thread that waits" else holder
        threading.Timer(0.05, signal.pthread_kill, [thread.ident, signal.SIGALRM]).start()
        turns.__enter__()

    holder, before = threading.Thread(target=hold), signal.signal(signal.SIGALRM, interrupt)
    holder.start()
    held.wait()
    try:
        with pytest.raises(KeyboardInterrupt):
            wait()
    finally:
        signal.signal(signal.SIGALRM, before)
        over.set()
    holder.join()
    with turns:
        assert not holder.is_alive()
