"""Experts with forgetting, and a warning if one of them leads and the model predicts old data."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

import onmargin
from onmargin import AutoClassifier, AutoRegressor, river, stream

random = np.random.default_rng(0)
X = random.standard_normal((400, 3))
Y = np.cumsum(random.standard_normal(400))
ONE_PASS = {"max_iter": 1, "tol": None, "shuffle": False, "experts": "linear"}
X_AND_ONE = np.column_stack([X, np.ones(400)])
FACES = [onmargin, stream, river]


@pytest.mark.parametrize("experts", ["all", "linear"])
@pytest.mark.parametrize("kind", [AutoClassifier, AutoRegressor])
def test_without_drift_no_expert_forgets(kind, experts):
    y = Y > 0 if kind is AutoClassifier else Y
    for rows in (X, X.tolist()):
        assert kind(experts=experts).partial_fit(rows, y).experts_.forgets.sum() >= 2
        assert not kind(experts=experts, drift=False).partial_fit(rows, y).experts_.forgets.any()


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", ["AutoClassifier", "AutoRegressor"])
def test_every_interface_has_it(face, name):
    with pytest.raises(ValueError, match="drift must be"):
        getattr(getattr(face, name)(drift="no"), "fit", None)(X, Y > 0)
    model = getattr(face, name)(drift=False)
    if face is not onmargin:
        model.learn_one({"a": 1.0, "b": 2.0}, True if name == "AutoClassifier" else 1.0)
        assert not getattr(model, "model", model).experts_.forgets.any()


def test_it_is_fixed_and_saved(tmp_path):
    model = AutoRegressor(drift=False).partial_fit(X, Y)
    with pytest.raises(onmargin.ParameterError, match="drift cannot change"):
        model.set_params(drift=True).partial_fit(X, Y)
    onmargin.save(model.set_params(drift=False), tmp_path / "model")
    assert onmargin.load(tmp_path / "model").experts_.names == model.experts_.names


@pytest.mark.parametrize("kind", [AutoClassifier, AutoRegressor])
def test_a_forgetting_leader_warns_once(kind):
    """Digits come from one writer after another, and the level of the numbers drifts."""
    X, y = load_digits(return_X_y=True) if kind is AutoClassifier else (np.ones((400, 2)), Y)
    model = kind(**ONE_PASS).fit(X, y)
    assert model.experts_.forgets[model.experts_.leader]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X[:1])
    with pytest.warns(UserWarning, match="forgets: .*Fit with shuffle=True or drift=False") as caught:
        model.predict(X)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        kind(**ONE_PASS, drift=False).fit(X, y).predict(X)
        kind(experts="linear").partial_fit(X, y).predict(X[9:])  # a stream has started
        model.partial_fit(X[:9], y[:9]).predict(X)


@pytest.mark.parametrize("kind", [AutoClassifier, AutoRegressor])
def test_predicting_the_first_rows_of_a_stream_warns_once(kind):
    X, y = load_digits(return_X_y=True) if kind is AutoClassifier else (X_AND_ONE, Y)
    model = kind(experts="linear")
    for part in (slice(0, 300), slice(300, None)):
        model.partial_fit(X[part], y[part])
    assert model.experts_.forgets[model.experts_.leader]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X[1:])
    with pytest.warns(UserWarning, match="forgets: .*Fit with shuffle=True or drift=False"):
        model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        kind(experts="linear").partial_fit(X[:50], y[:50]).predict(X[:50])
