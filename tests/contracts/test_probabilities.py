"""Every classifier of rows has probabilities, equal in all interfaces; saving, splitting and errors change nothing."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from river import bandit, ensemble, evaluate, metrics, model_selection, multiclass
from sklearn.metrics import log_loss

import onmargin
from onmargin import river as river_face
from onmargin import scale, stream
from onmargin.evaluate import progressive
from onmargin.reference.calibration import with_highest
from onmargin.scale import LocalEngine
from tests.shards import cut

NAMES = [name for name in stream.__all__ if getattr(stream, name).task == "classify"]
NAMES.remove("ClassFeatureClassifier")  # it learns trials of several rows
# The table of names must have its size, or numbers must not be negative.
SIZED = {"PNormPerceptron", "Winnow"}


def data(n=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.standard_normal((n, 6)))
    y = (3 * X[:, :n_classes] + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_interfaces_agree(name, n_classes):
    X, y = data(n_classes=n_classes)
    options = {"balanced": True} if name == "Winnow" else {}
    model = getattr(onmargin, name)(**options)
    for t in range(200):  # some learners add all labels of a call at once
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    p = model.predict_proba(X[200:])
    assert p.shape == (100, n_classes)
    assert_allclose(p.sum(axis=1), 1)
    assert (p > 0).all()
    assert_array_equal(model.predict_log_proba(X[200:]), np.log(p))
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[200:]))
    records = getattr(stream, name)(**options).learn_many(X[:200], y[:200])
    one = records.predict_proba_one(X[200])
    assert list(one) == model.classes_.tolist()
    assert list(one.values()) == p[0].tolist()
    assert records.predict_proba_many(X[200:203]) == [records.predict_proba_one(x) for x in X[200:203]]
    if name not in SIZED:
        streamed = getattr(river_face, name)()
        for x, label in zip(X[:100], y[:100], strict=True):
            streamed.learn_one(dict(enumerate(x)), label)
        assert_allclose(sum(streamed.predict_proba_one(dict(enumerate(X[200]))).values()), 1)


@pytest.mark.parametrize(
    "options", [{"strategy": "ovr"}, {"kernel": "rbf"}, {"average": True}, {"C": [0.1, 1.0]}], ids=str
)
def test_probabilities_are_better_than_frequencies(options):
    X, y = data(2000)
    model = onmargin.PassiveAggressiveClassifier(**{"C": 0.1} | options).partial_fit(X[:1500], y[:1500])
    assert log_loss(y[1500:], model.predict_proba(X[1500:])) < 0.95 * log_loss(
        y[1500:], np.tile(np.bincount(y[:1500]) / 1500, (500, 1))
    )


@pytest.mark.parametrize("average", [False, True])
def test_cuts_files_and_copies_change_no_bit(average, tmp_path):
    X, y = data()
    whole = onmargin.PassiveAggressiveClassifier(average=average).partial_fit(X, y)
    parts = onmargin.PassiveAggressiveClassifier(average=average)
    for start in range(0, 300, 7):
        parts.partial_fit(X[start : start + 7], y[start : start + 7])
        if start == 140:
            onmargin.save(parts, tmp_path / "model")
            parts = pickle.loads(pickle.dumps(deepcopy(onmargin.load(tmp_path / "model"))))
    assert_array_equal(whole.predict_proba(X), parts.predict_proba(X))
    assert whole._model.calibration.rounds == 300


def test_odds_of_known_classes_stay_when_a_class_appears():
    """Return the probabilities before the odds of the best class against all others are adjusted."""
    X, y = data(n_classes=2)
    for strategy in ("joint", "ovr"):
        model = onmargin.PassiveAggressiveClassifier(strategy=strategy).partial_fit(X, y)
        calibration = model._model.calibration
        state = calibration.state()
        calibration.__setstate__(state | {"best": np.array([1.0, 0.0, 0.0]), "lifts": state["lifts"] * [[0], [1]]})
        before = model.predict_proba(X)
        model._model.add_labels(np.array([-1]))
        model._model.set_task()
        after = model.predict_proba(X)
        assert after.shape == (300, 3)
        assert_allclose(after[:, 2] / after[:, 1], before[:, 1] / before[:, 0], rtol=1e-9)


def test_a_call_that_raises_does_not_change_them():
    X, y = data()
    model = onmargin.PassiveAggressiveClassifier(kernel="rbf").partial_fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, 6), np.nan), [0])
    with pytest.raises(ValueError, match="label"):
        model.partial_fit(X[:1], ["new"])
    assert_array_equal(model.predict_proba(X), before)
    records = stream.PassiveAggressiveClassifier().learn_many(X, y)
    before = records.predict_proba_one(X[0])
    with pytest.raises(ValueError, match="finite"):
        records.learn_one(np.full(6, np.nan), 7)
    assert records.predict_proba_one(X[0]) == before


def test_fit_calibrates_in_its_first_pass():
    X, y = data(1000, 2)
    model = onmargin.PassiveAggressiveClassifier(C=0.1, random_state=0, tol=None, max_iter=5).fit(X, y)
    assert model._model.calibration.rounds == 5000
    assert model._model.calibration.judged == 1000
    model.partial_fit(X, y)  # new examples for the model
    assert model._model.calibration.judged == 2000


def test_class_weights_do_not_change_probabilities():
    """The probabilities of rare classes are not raised to make them predictions."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 3))
    y = (X[:, 0] + rng.logistic(size=4000) > 3).astype(int)
    model = onmargin.AROWClassifier(class_weight="balanced").partial_fit(X, y)
    predicted = model.predict(X) == 1
    assert predicted.mean() > 2 * y.mean()
    assert model.predict_proba(X)[predicted, 1].mean() < 0.3


def test_before_anything_is_known():
    assert stream.AROWClassifier().predict_proba_one({"a": 1.0}) == {}
    assert stream.AROWClassifier().learn_one({"a": 1.0}, "x").predict_proba_one({"a": 1.0}) == {"x": 1.0}
    assert_array_equal(onmargin.AROWClassifier().partial_fit([[1.0]], ["x"]).predict_proba([[1.0]]), [[1.0]])
    blank = onmargin.PassiveAggressiveClassifier(target_loss=0.001, selection="largest", max_updates=9)
    with pytest.warns(match="target_loss"):
        blank.fit(*data())
    with pytest.raises(ValueError, match="selection='largest'"):
        blank.predict_proba(data()[0])


def test_shards_are_mixed():
    X, y = data(400, 2)
    X, y = [{str(k): value for k, value in enumerate(x)} for x in X.tolist()], y.tolist()
    parts = [stream.PassiveAggressiveClassifier(C=0.1).learn_many(X[k::2], y[k::2]) for k in range(2)]
    mixed = scale.fit(stream.PassiveAggressiveClassifier(C=0.1), cut(X, y, 2), epochs=1, engine=LocalEngine(1))
    one, other = (part._model.calibration.state() for part in parts)
    state = mixed._model.calibration.state()
    assert state["judged"] > 390
    assert (
        0.8 * min(one["factors"][0], other["factors"][0])
        < state["factors"][0]
        < 1.2 * max(one["factors"][0], other["factors"][0])
    )
    assert log_loss(y, [mixed.predict_proba_one(x)[1] for x in X]) < 0.6


@pytest.mark.parametrize("kind", [river_face.PassiveAggressiveClassifier, river_face.AROWClassifier])
def test_metrics_and_ensembles_of_river(kind):
    X, y = data(200, 2)
    pairs = [(dict(enumerate(x)), bool(label)) for x, label in zip(X.tolist(), y, strict=True)]
    assert 0.5 < evaluate.progressive_val_score(pairs, kind(), metrics.ROCAUC()).get() < 1
    assert 0 < evaluate.progressive_val_score(pairs, kind(), metrics.LogLoss()).get() < 1
    bagged = ensemble.ADWINBaggingClassifier(kind(), n_models=2, seed=0)
    assert evaluate.progressive_val_score(pairs, bagged, metrics.Accuracy()).get() > 0.5
    arms = [kind(), kind(C=0.1) if "Passive" in kind.__name__ else kind(r=1.0)]
    policy = bandit.EpsilonGreedy(epsilon=0.1, burn_in=10, seed=0)
    chosen = model_selection.BanditClassifier(arms, metrics.LogLoss(), policy)
    assert 0 < evaluate.progressive_val_score(pairs, chosen, metrics.LogLoss()).get() < 1
    X, y = data(200, 3)
    three = [(dict(enumerate(x)), int(label)) for x, label in zip(X.tolist(), y, strict=True)]
    against_rest = multiclass.OneVsRestClassifier(kind())
    assert evaluate.progressive_val_score(three, against_rest, metrics.Accuracy()).get() > 0.4


def test_reliability_is_that_of_the_probabilities_before():
    X, y = data(400, 3)
    model, shares = onmargin.AROWClassifier(), []
    model.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for t in range(1, 400):
        shares.append(model.predict_proba(X[t : t + 1])[0])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    first = with_highest(with_highest(np.full(3, 1 / 3), 0), 0)  # before and after the last stage
    p = np.vstack([first, *shares])
    found = model.reliability_
    assert found.rounds == found.judged == 400
    assert found.log_loss == pytest.approx(log_loss(y, p))
    assert found.brier_score == pytest.approx(((p - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = [np.flatnonzero((top * 10).astype(int) == k) for k in range(10)]
    error = sum(abs(top[rows].sum() - right[rows].sum()) for rows in bins) / 400
    assert found.calibration_error == pytest.approx(error)
    assert found.weight.sum() == 400
    curve = progressive(onmargin.AROWClassifier(), X, y)
    assert curve.log_loss[-1] == pytest.approx(found.log_loss)
    assert curve.frame()["brier_score"].iloc[-1] == pytest.approx(found.brier_score)
    assert len(curve.plot_reliability().lines) == 2
    assert np.isnan(stream.AROWClassifier().reliability_.log_loss)
    plain = progressive(onmargin.PassiveAggressiveRegressor(), X, y.astype(float))
    assert plain.log_loss is None
    with pytest.raises(ValueError, match="classifier"):
        plain.plot_reliability()
