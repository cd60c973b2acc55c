"""Progressive evaluation: curves equal the totals for any form of stream; delays, drift, plots and errors."""

import inspect
import subprocess
import sys
import typing
from importlib import import_module

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor

import onmargin
from onmargin import (
    BlockClassifier,
    LabelRanker,
    OrdinalRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PassiveAggressiveUniclass,
    Perceptron,
    SequenceTagger,
)
from onmargin.evaluate import ChangeAlarm, Curve, Curves, progressive
from onmargin.stream import PassiveAggressiveClassifier as OneByOne
from onmargin.theory import NoTheorem

mpl.use("Agg")
module = import_module("onmargin.evaluate.progressive")
random = np.random.default_rng(0)
X = random.standard_normal((237, 4))
y = random.integers(0, 3, 237)
z = X @ random.standard_normal(4)
MODELS = [
    (PassiveAggressiveClassifier(), y),
    (PassiveAggressiveClassifier(cost="absolute"), y),
    (PassiveAggressiveRegressor(), z),
    (PassiveAggressiveUniclass(), None),
    (OrdinalRegressor(), y),
    (LabelRanker(), np.eye(3, dtype=int)[y]),
    (LabelRanker(), [{str(label)} for label in y]),
    (onmargin.GradientDescentRegressor(rate=0.01), z),
    (onmargin.DualAscentClassifier(window=3), y > 0),
]


@pytest.mark.parametrize("every", [1, 10, 237, 1000])
@pytest.mark.parametrize(("model", "target"), MODELS)
def test_curves_equal_the_totals(model, target, every):
    curve = progressive(model, X, target, every=every, measure="error")
    classes = {"classes": np.unique(target)} if isinstance(target, np.ndarray) and target.dtype.kind in "bi" else {}
    classes = {} if isinstance(model, LabelRanker) else classes
    totals = type(model)(**model.get_params()).partial_fit(X, target, **classes).totals_
    rounds = totals.rounds
    assert curve.rounds[-1] == rounds
    assert round(curve.error[-1] * rounds) == totals.mistakes
    assert curve.loss[-1] * rounds == pytest.approx(totals.loss)
    assert curve.squared_loss[-1] * rounds == pytest.approx(totals.squared_loss)
    assert curve.cost[-1] * rounds == pytest.approx(totals.cost)
    assert curve.model.totals_.mistakes == totals.mistakes
    assert not hasattr(model, "_learner")


def test_regression_draws_its_loss():
    """The curve of AutoRegressor, which has no tube, was a flat line at 1.0: every number was a mistake."""
    curve = progressive(onmargin.AutoRegressor(), X, z, every=50, window=50)
    assert curve.measure == "mean loss"
    np.testing.assert_array_equal(curve.error, curve.loss)
    assert curve.window_error[-1] < curve.window_error[0] / 2
    assert progressive(onmargin.AutoRegressor(), X, z, delay=1).measure == "mean absolute error"


def test_measures_can_be_chosen():
    curve = progressive(PassiveAggressiveClassifier(cost="absolute"), X, y)
    for name in ("loss", "squared_loss", "cost"):
        chosen = progressive(PassiveAggressiveClassifier(cost="absolute"), X, y, measure=name)
        assert chosen.measure == f"mean {name.replace('_', ' ')}"
        np.testing.assert_array_equal(chosen.error, getattr(curve, name))
    squared = progressive(SGDRegressor(random_state=0), X, z, measure="squared_loss")
    np.testing.assert_array_equal(squared.error, squared.squared_loss)
    with pytest.raises(ValueError, match="measure must be None or one of error, loss, squared_loss, cost; got 'mae'"):
        progressive(PassiveAggressiveClassifier(), X, y, measure="mae")
    with pytest.raises(ValueError, match="measure='cost' needs learners with totals_ and delay=0"):
        progressive(SGDClassifier(random_state=0), X, y, measure="cost")
    with pytest.raises(ValueError, match="bound=True draws what the theorem bounds: drop measure"):
        progressive(PassiveAggressiveClassifier(C=0.1), X, y, measure="loss", bound=True)


def test_every_point_equals_the_totals_there():
    curve = progressive(PassiveAggressiveClassifier(), X, y, every=50)
    assert curve.rounds.tolist() == [50, 100, 150, 200, 237]
    for rounds, error in zip(curve.rounds, curve.error, strict=True):
        totals = PassiveAggressiveClassifier().partial_fit(X[:rounds], y[:rounds], classes=[0, 1, 2]).totals_
        assert error == totals.mistakes / rounds


def test_forms_of_one_stream():
    expected = progressive(PassiveAggressiveClassifier(), X, y).error[-1]
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(237)[::-1])
    for stream in (sparse.csr_matrix(X), sparse.coo_matrix(X), X.tolist(), frame):
        target = pd.Series(y, index=frame.index) if stream is frame else y
        assert progressive(PassiveAggressiveClassifier(), stream, target).error[-1] == expected
    pairs = ((x, label) for x, label in zip(X, y, strict=True))
    assert progressive(PassiveAggressiveClassifier(), pairs, classes=[0, 1, 2]).error[-1] == expected


def test_blocks_are_rounds():
    groups = np.arange(237) // 4
    curve = progressive(BlockClassifier(), X, y > 0, groups=groups, every=7)
    totals = BlockClassifier().partial_fit(X, y > 0, groups).totals_
    assert curve.rounds[-1] == totals.rounds == 60
    assert round(curve.error[-1] * 60) == totals.mistakes


def test_sequences():
    sequences = [[[f"w{random.integers(0, 3)}"] for _ in range(3)] for _ in range(30)]
    labels = [[word[0] for word in row] for row in sequences]
    totals = SequenceTagger().partial_fit(sequences, labels, classes=["w0", "w1", "w2"]).totals_
    for stream in ((sequences, labels), (list(zip(sequences, labels, strict=True)), None)):
        curve = progressive(SequenceTagger(), *stream, every=4, classes=["w0", "w1", "w2"])
        assert round(curve.error[-1] * 30) == totals.mistakes


class Majority:
    """A model that predicts the most frequent label, one example at a time."""

    def __init__(self):
        self.counts = {}

    def predict_one(self, x):
        return max(self.counts, key=self.counts.get) if self.counts else None

    def learn_one(self, x, y):
        self.counts[y] = self.counts.get(y, 0) + 1


def test_models_of_other_libraries():
    labels = ["a", "b", "a", "a", "b", "a"]
    stream = [({"x": 1.0}, label) for label in labels]
    model = Majority()
    curve = progressive(model, stream, every=1)
    assert (curve.error * curve.rounds).tolist() == [1, 2, 2, 2, 3, 3]
    assert not model.counts
    curve = progressive(SGDClassifier(random_state=0), X, y, every=10)
    wrong, theirs = 1, SGDClassifier(random_state=0).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for x, label in zip(X[1:], y[1:], strict=True):
        wrong += theirs.predict(x[None, :])[0] != label
        theirs.partial_fit(x[None, :], [label])
    assert round(curve.error[-1] * 237) == wrong
    assert progressive(SGDRegressor(random_state=0), X, z).measure == "mean absolute error"


def test_several_models_are_measured_alike():
    models = {"PA": PassiveAggressiveClassifier(), "SGD": SGDClassifier(random_state=0)}
    curves = progressive(models, X, y, every=50)
    assert list(curves) == ["PA", "SGD"]
    assert len(curves) == 2
    frame = curves.frame()
    assert frame.groupby("model").size().to_dict() == {"PA": 5, "SGD": 5}
    assert (frame["rounds"] == [50, 100, 150, 200, 237] * 2).all()


def test_delayed_labels():
    """With a delay of 3 the prediction at t is of a model that has learned t - 3 examples."""
    curve = progressive(PassiveAggressiveClassifier(), X, y, delay=3, every=1)
    wrong, model = 0, PassiveAggressiveClassifier()
    for t in range(237):
        guess = model.predict(X[t : t + 1])[0] if t > 3 else None
        wrong += guess != y[t]
        assert round(curve.error[t] * (t + 1)) == wrong
        if t >= 3:
            model.partial_fit(X[t - 3 : t - 2], y[t - 3 : t - 2], classes=[0, 1, 2])
    assert curve.model.totals_.rounds == 234


def test_window_sees_drift():
    """The target is flipped in the middle: the window shows it, and the mean hides it."""
    labels = np.where(np.arange(237) < 120, z > 0, z < 0)
    curve = progressive(Perceptron(), X, labels, every=1, window=20)
    mistakes = np.diff(np.append(0, np.round(curve.error * curve.rounds)))
    expected = [mistakes[max(0, t - 19) : t + 1].mean() for t in range(237)]
    np.testing.assert_allclose(curve.window_error, expected, atol=1e-12)
    assert curve.window_error[139] > 2 * curve.error[139]


def test_time_and_memory():
    curve = progressive(PassiveAggressiveClassifier(), X, y)
    assert (np.diff(curve.seconds) > 0).all()
    assert curve.memory[-1] >= 3 * 4 * 8


def pixels(ax):
    ax.figure.canvas.draw()
    image = np.asarray(ax.figure.canvas.buffer_rgba())
    mpl.pyplot.close(ax.figure)
    return image


@pytest.mark.parametrize(
    ("model", "target", "word"),
    [
        (PassiveAggressiveClassifier(C=0.1), y, "error"),
        (PassiveAggressiveClassifier(C=0.1, loss="squared_hinge"), y, "mean squared loss"),
        (PassiveAggressiveRegressor(C=0.1), z, "mean loss"),
        (PassiveAggressiveClassifier(C=0.1, cost="absolute"), y, "mean cost"),
    ],
)
def test_plots_have_the_curve_and_its_bound(model, target, word):
    curve = progressive(model, X, target, bound=True)
    drawn = {"error": "error", "mean squared loss": "squared_loss", "mean loss": "loss", "mean cost": "cost"}[word]
    assert (getattr(curve, drawn) <= curve.bound * (1 + 1e-9)).all()
    ax = curve.plot()
    assert ax.get_ylabel() == word
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [word, "allowed"]
    assert "bound" in curve.frame().columns
    image = pixels(ax)
    assert len(np.unique(image.reshape(-1, 4), axis=0)) > 10
    blank = pixels(mpl.pyplot.subplots(layout="constrained")[1])
    assert image.shape != blank.shape or (image != blank).any()


def test_plot_of_several():
    ax = progressive({"a": Perceptron(), "b": PassiveAggressiveClassifier()}, X, y).plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert len(np.unique(pixels(ax).reshape(-1, 4), axis=0)) > 10


def test_bounds_where_they_apply():
    models = {"max": PassiveAggressiveClassifier(C=0.1), "simopt": PassiveAggressiveClassifier(update="simopt")}
    curves = progressive(models, X, y, bound=True)
    assert curves["simopt"].bound is None
    assert np.isnan(curves.frame().query("model == 'simopt'")["bound"]).all()
    with pytest.raises(NoTheorem, match="simopt"):
        progressive(models["simopt"], X, y, bound=True)
    ball = progressive(PassiveAggressiveUniclass(C=0.1), X, every=1, bound=True)
    assert ball.rounds[:2].tolist() == [0, 1]
    assert (ball.loss <= ball.bound * (1 + 1e-9)).all()


def test_heavy_libraries_wait():
    """scikit-learn itself may import pandas to check whether a list is a frame."""
    learn = "import sys, onmargin; X, y = [[1.0], [-1.0]], [0, 1]; m = onmargin.Perceptron().partial_fit(X, y);"
    curve = "from onmargin.evaluate import progressive; progressive(onmargin.Perceptron(), X, y);"
    report = "print({'pandas', 'matplotlib'} & set(sys.modules));"
    code = learn + report + curve + report
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    without, with_curve = done.stdout.splitlines()
    assert with_curve == without
    assert "matplotlib" not in with_curve


def test_plain_arrays_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = progressive(Perceptron(), X, y).frame()
    assert isinstance(frame, dict)
    assert (frame["rounds"][-1], len(frame["error"])) == (237, len(frame["rounds"]))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        progressive(Perceptron(), X, y).plot()


@pytest.mark.parametrize(
    ("arguments", "named", "error", "words"),
    [
        ((Perceptron(), X, y[:5]), {}, ValueError, "237 and 5"),
        ((Perceptron(), X, y), {"every": 0}, ValueError, "every"),
        ((Perceptron(), X, y), {"every": 2.5}, ValueError, "every"),
        ((Perceptron(), X, y), {"delay": -1}, ValueError, "delay"),
        ((Perceptron(), X, y), {"window": 0}, ValueError, "window"),
        (({}, X, y), {}, ValueError, "empty"),
        ((object(), X, y), {}, TypeError, "predict_one"),
        ((Perceptron(), [1.0, 2.0]), {}, ValueError, "item 0"),
        ((Perceptron(), X, y), {"bound": True, "delay": 2}, ValueError, "bound"),
        ((Perceptron(), iter([])), {"bound": True}, ValueError, "bound"),
        ((SGDClassifier(), X, y), {"bound": True}, ValueError, "bound"),
        ((BlockClassifier(), X, y > 0), {"groups": np.arange(237) // 2, "delay": 1}, ValueError, "groups"),
    ],
)
def test_refusals(arguments, named, error, words):
    with pytest.raises(error, match=words):
        progressive(*arguments, **named)


# An alarm.

TURNED = np.random.default_rng(1).standard_normal((3000, 5))
SIDE = TURNED @ [1.0, 2.0, -1.0, 0.5, 1.0] > 0
SIDE[1500:] = ~SIDE[1500:]
ALARM = ChangeAlarm()


@pytest.mark.parametrize(
    "model",
    [
        PassiveAggressiveClassifier(),
        pytest.param(SGDClassifier(random_state=0), marks=pytest.mark.full),
        OneByOne(),
    ],
    ids=str,
)
def test_alarm_reports_where_the_stream_changed(model):
    if isinstance(model, OneByOne):
        curve = progressive(model, zip(TURNED, SIDE.tolist(), strict=True), alarm=ALARM, every=50)
    else:
        curve = progressive(model, TURNED, SIDE, alarm=ALARM)
    assert curve.changes.dtype == np.intp
    assert 1500 < curve.changes[0] < 1600
    assert ALARM.rounds_ == 0


def test_alarm_changes_nothing_else():
    plain, alarmed = (progressive(PassiveAggressiveClassifier(), TURNED, SIDE, alarm=alarm) for alarm in (None, ALARM))
    assert plain.changes is None
    for name in ("rounds", "error", "loss", "squared_loss", "window_error"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(alarmed, name))


class RecordingAlarm(ChangeAlarm):
    """An alarm that records its input."""

    def update(self, loss):
        self.__dict__.setdefault("received", []).append(bool(loss))
        return super().update(loss)


SENTENCES = [[["a"], ["b"]], [["b"]], [["a"]]] * 5
RECORDED = [
    *((model, X[:60], None if target is None else target[:60]) for model, target in MODELS),
    (PassiveAggressiveClassifier(kernel="rbf"), X[:60], y[:60]),
    (PassiveAggressiveClassifier(kernel="rbf", budget=5), X[:60], y[:60]),
    (PassiveAggressiveClassifier(C="auto"), X[:60], y[:60]),
    (onmargin.DualAscentClassifier(kernel="rbf", window=3), X[:60], y[:60] > 0),
    (SequenceTagger(), SENTENCES, [["x", "y"], ["x"], ["x"]] * 5),
]


@pytest.mark.parametrize("every", [1, 10, 1000])
@pytest.mark.parametrize(("model", "rows", "target"), RECORDED)
def test_alarm_receives_every_mistake(model, rows, target, every, monkeypatch):
    """It receives them in order, as the totals count them when each example is its own call."""
    monkeypatch.setattr(module, "ChangeAlarm", RecordingAlarm)
    run = module._Totals(model, module._labels(target), RecordingAlarm(), stream=False)
    single, named, counts = clone(model), run.named, [0]
    for piece in module.pieces(rows, target, every, {}):
        run.record(piece)
    for row, answer, _ in module.pieces(rows, target, 1, {}):
        counts.append(single.partial_fit(row, answer, **named).totals_.mistakes)
        named = {}
    assert run.alarm.received == np.diff(counts).astype(bool).tolist()


def test_alarm_receives_the_mistakes_of_trials_and_tubes():
    groups = np.repeat(np.arange(1500), 2)
    sides = np.where(SIDE, 1, -1)
    curve = progressive(BlockClassifier(C=0.1), TURNED, sides, groups=groups, alarm=ALARM)
    assert curve.rounds[-1] == 1500
    assert 750 < curve.changes[0] < 850
    z = TURNED @ np.arange(5)
    z[1500:] += np.random.default_rng(2).standard_normal(1500)
    curve = progressive(PassiveAggressiveRegressor(), TURNED, z, alarm=ALARM)
    assert 1500 < curve.changes[0] < 1600


def test_alarm_is_drawn():
    curves = progressive({"PA": PassiveAggressiveClassifier(), "Perceptron": Perceptron()}, TURNED, SIDE, alarm=ALARM)
    ax = curves.plot()
    _, labels = ax.get_legend_handles_labels()
    assert {"change: PA", "change: Perceptron"} <= set(labels)
    at = {line.get_xdata()[0] for line in ax.get_lines() if line.get_linestyle() == ":"}
    assert at == {*curves["PA"].changes.tolist(), *curves["Perceptron"].changes.tolist()}


def test_alarm_for_errors_of_numbers_is_refused():
    with pytest.raises(ValueError, match="alarm needs mistakes, and the predictions are charged the mean absolute"):
        progressive(SGDRegressor(), X, z, alarm=ALARM)
    with pytest.raises(ValueError, match="alarm must be None or a ChangeAlarm"):
        progressive(PassiveAggressiveClassifier(), X, y, alarm=True)


def test_type_checkers_see_all_options():
    """The signatures by type of model take their options from one class, which must have all of them."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    options = {p.name for p in inspect.signature(progressive).parameters.values() if p.kind is by_name}
    assert set(module._Options.__annotations__) == options
    assert [typing.get_type_hints(one)["return"] for one in typing.get_overloads(progressive)] == [Curves, Curve]
