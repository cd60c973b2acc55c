"""After an interrupt (Ctrl-C) each example is learned completely or not at all, and interrupts are prompt."""

import random
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import settings

import onmargin
from onmargin import learner, river, stream
from onmargin.models import kernel_learner, phi
from onmargin.models.uniclass import starts_at_first
from onmargin.stream import _state
from tests.contracts.test_every_learner import NEEDS, SIZED, examples
from tests.saved import CASES, anatomy
from tests.waiting import LIMIT


def n_moments():
    """Return the number of moments at which each model is interrupted."""
    return max(settings.default.max_examples // 8, 3)


@pytest.fixture
def short_stretches(monkeypatch):
    """Check for interrupts after every few rounds."""
    for module in (learner, kernel_learner, _state):
        monkeypatch.setattr(module, "STRETCH", 500)
    monkeypatch.setattr(phi, "CHUNK", 8)


@contextmanager
def interrupted(moment, where="onmargin"):
    """Raise KeyboardInterrupt after a number of lines of the library, or of one file; yield a list with the count."""
    lines = [0]

    def on_line(frame, event, _):
        if event == "line":
            lines[0] += 1
            if lines[0] == moment:
                raise KeyboardInterrupt
        return on_line

    def on_call(frame, event, _):
        return on_line if "onmargin" in frame.f_code.co_filename and where in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield lines
    finally:
        sys.settrace(before)


def state(model):
    """Return the state of a model, without reserved room for future features."""
    if isinstance(model, onmargin.SequenceTagger) and model.__sklearn_is_fitted__():
        shown = [model.classes_, model.totals_, model.n_features_in_, model._names.names]
        leader = model._chain().leader
        coefs = [array[:, : model.n_features_in_] for array in leader.mean()[:1]]
        return anatomy([*shown, *coefs, leader.mean_transitions()])
    return anatomy({name: value for name, value in vars(model).items() if name != "model"})


def check_interrupts(begun, learn, state, n_learned):
    """Interrupt `learn` at many moments: the model has learned the first examples, and continues with others.

    `learn` takes a model and a slice of the examples.
    """
    learn(deepcopy(begun), slice(None))  # imports and caches are warm now
    whole = deepcopy(begun)
    with interrupted(-1) as lines:
        learn(whole, slice(None))
    for moment in random.Random(0).sample(range(1, lines[0] + 1), min(n_moments(), lines[0])):
        model = deepcopy(begun)
        with pytest.raises(KeyboardInterrupt), interrupted(moment):
            learn(model, slice(None))
        learned = n_learned(model) - n_learned(begun)
        part = learn(deepcopy(begun), slice(learned)) if learned else begun
        assert state(model) == state(part), f"interrupted at line {moment} of {lines[0]}, {learned} examples learned"
        if learned < n_learned(whole) - n_learned(begun):
            assert state(learn(model, slice(learned, None))) == state(whole)


def n_learned(model):
    """Return the number of examples; the first example of some balls is not a round."""
    if not model.__sklearn_is_fitted__():
        return 0
    planted = isinstance(model, onmargin.PassiveAggressiveUniclass) and starts_at_first(model)
    return model.totals_.rounds + planted


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.dtype is np.float64 or case.name in {"SequenceTagger", "StructuredPredictor"}],
    ids=str,
)
@pytest.mark.parametrize("begun", [True, False])
def test_partial_fit_learns_the_first_examples_or_none(case, begun, short_stretches):
    X, y = case.half(1) if begun else case.half(0)

    def learn(model, part):
        one_vector = isinstance(model, onmargin.Winnow)  # for two classes, which cannot become three
        named = {"classes": np.unique(y)} if one_vector or model.plan().classes.at_once else {}
        return model.partial_fit(X[part], None if y is None else y[part], **named)

    check_interrupts(case.half_way() if begun else case.model(), learn, state, n_learned)


@pytest.mark.parametrize("name", stream.__all__)
@pytest.mark.parametrize("rows", ["records", "vectors"])
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}], ids=["plain", "balanced"])
def test_learn_many_learns_the_first_examples(name, rows, options, short_stretches):
    kind = getattr(stream, name)
    if not options.keys() <= kind.__dataclass_fields__.keys():
        pytest.skip("it has no such option")
    X, y = map(list, zip(*examples(name, 30), strict=True))
    if rows == "vectors":
        X = np.array([[x.get(f"f{k}", 0.0) for k in range(8)] for x in X])
    elif name in SIZED:
        options = options | {"features": onmargin.features.RecordFeatures(n_features=64)}
    begun = kind(**NEEDS.get(name, {}) | options).learn_many(X[:10], y[:10])

    def learn(model, part):
        return model.learn_many(X[10:][part], y[10:][part])

    check_interrupts(begun, learn, lambda model: anatomy(model.__getstate__()), lambda model: model.totals_.rounds)


def entered_by_another_thread(model):
    """Return whether a thread can take its turn with the model."""
    entered = threading.Event()

    def enter():
        with model._turns:
            entered.set()

    threading.Thread(target=enter, daemon=True).start()
    return entered.wait(LIMIT)


@pytest.mark.parametrize("kind", [onmargin.PassiveAggressiveClassifier, stream.PassiveAggressiveClassifier])
def test_an_interrupt_leaves_no_turn_taken(kind):
    """Otherwise other threads wait forever; and so did those of a later object at the same address."""
    moment, lines = 0, [0]
    while moment <= lines[0]:
        model = kind()
        moment += 1
        with suppress(KeyboardInterrupt), interrupted(moment, "transaction.py") as lines:
            if hasattr(model, "learn_one"):
                model.learn_one({"f": 1.0}, "a")
            else:
                model.partial_fit([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
        assert entered_by_another_thread(model), f"interrupted at line {moment}"
    assert lines[0] > 10


@pytest.mark.parametrize("name", ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor", "LabelRanker"])
@pytest.mark.parametrize("budget", [None, 5])
@pytest.mark.parametrize("face", [stream, river])
def test_kernels_learn_the_first_examples(name, budget, face, short_stretches):
    X, y = map(list, zip(*examples(name, 30), strict=True))
    if face is river and name == "LabelRanker":
        y = [{label: label in labels for label in ("yes", "no")} for labels in y]
    begun = getattr(face, name)(kernel="rbf", gamma=0.5, budget=budget)
    for pair in zip(X[:10], y[:10], strict=True):
        begun.learn_one(*pair)

    def learn(model, part):
        for pair in zip(X[10:][part], y[10:][part], strict=True):
            model.learn_one(*pair)
        return model

    def inner(model):
        return model if face is stream else model.model

    check_interrupts(
        begun, learn, lambda model: anatomy(inner(model).__getstate__()), lambda model: inner(model).totals_.rounds
    )


@pytest.mark.parametrize("names", [None, 64])
def test_texts_are_counted_when_they_are_learned(names, short_stretches):
    random_ = random.Random(0)
    X = [" ".join(random_.choices("abcdefgh", k=4)) for _ in range(30)]
    y = ["yes" if "a" in x else "no" for x in X]
    features = onmargin.features.RecordFeatures(idf=True, n_features=names)
    begun = stream.PassiveAggressiveClassifier(features=features).learn_many(X[:10], y[:10])

    def learn(model, part):
        return model.learn_many(X[10:][part], y[10:][part])

    check_interrupts(begun, learn, lambda model: anatomy(model.__getstate__()), lambda model: model.totals_.rounds)


@contextmanager
def counted_looks():
    """Count how often a repeated signal is handled."""
    looks = [0]

    def count(*_):
        looks[0] += 1

    before = signal.signal(signal.SIGALRM, count)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        yield looks
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Options, numbers of rows, and values between two checks.
BLOCKS = {
    "PassiveAggressiveClassifier": ({}, 6000, 2**18),
    "PassiveAggressiveRegressor": ({}, 12000, 2**18),
    "AROWClassifier": ({}, 6000, 2**18),
    "AutoClassifier": ({}, 1000, 2**18),
    "DualAscentClassifier": ({}, 2000, 2**18),
    "QuasiAdditiveClassifier": ({"geometry": "entropic"}, 600, 2**14),
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("call", ["partial_fit", "fit"])
def test_long_block_handles_signals_promptly(name, call, monkeypatch):
    options, n, stretch = BLOCKS[name]
    monkeypatch.setattr(learner, "STRETCH", stretch)
    random_ = np.random.default_rng(0)
    X, y = random_.normal(size=(n, 1000)), random_.integers(0, 3, n)
    model = getattr(onmargin, name)(**options)
    if call == "fit":
        model.set_params(max_iter=1, tol=None)
    with counted_looks() as looks:
        getattr(model, call)(X, y)
    assert looks[0] > 20


def test_long_prediction_handles_signals_promptly(monkeypatch):
    monkeypatch.setattr(learner, "STRETCH", 2**20)
    X = np.random.default_rng(0).normal(size=(10_000, 1000))
    model = onmargin.PassiveAggressiveClassifier().partial_fit(X[:20], range(20))
    with counted_looks() as looks:
        model.predict(X)
    assert looks[0] > 20


def test_texts_handle_signals_promptly(monkeypatch):
    monkeypatch.setattr(_state, "STRETCH", 2**16)
    texts = ["every word of these is hashed, and there are some"] * 40_000
    model = stream.PassiveAggressiveClassifier(features=onmargin.features.RecordFeatures(n_features=2**12))
    model.learn_many(texts[:2], [0, 1])
    with counted_looks() as looks:
        model.learn_many(texts, [0, 1] * 20_000)
    assert looks[0] > 20
