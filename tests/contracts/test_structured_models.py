"""StructuredPredictor: models that fail or are inconsistent raise an error or a warning, and nothing is lost."""

import itertools
from contextlib import suppress
from copy import deepcopy

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import StructuredPredictor
from tests.structures import InForm, stream

MODEL, X, Y, WIDTH = stream("chains", n=30)
NAMED = InForm(MODEL, "dict", WIDTH)


class BreakdownError(Exception):
    """An exception that a model may raise."""


class Failing:
    """A model that fails in a given method, after some calls of it."""

    def __init__(self, model, after, method="argmax"):
        self.model, self.after, self.method, self.n_features = model, after, method, WIDTH

    def _call(self, method, *arguments):
        if method == self.method:
            self.after -= 1
            if self.after < 0:
                raise BreakdownError
        return getattr(self.model, method)(*arguments)

    def joint_features(self, x, y):
        return self._call("joint_features", x, y)

    def argmax(self, weights, x):
        return self._call("argmax", weights, x)

    def cost_augmented_argmax(self, weights, x, y):
        return self._call("cost_augmented_argmax", weights, x, y)

    def cost(self, y, z):
        return self._call("cost", y, z)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("method", ["joint_features", "argmax", "cost", "cost_augmented_argmax"])
@pytest.mark.parametrize("call", ["fit", "warm fit", "partial_fit", "learn_one"])
@pytest.mark.parametrize("form", ["vector", "pair", "dict"])
@pytest.mark.parametrize("learned", [0, 3])
def test_model_that_raises_does_not_change_the_learner(form, call, method, *, learned, average):
    source = InForm(MODEL, form, WIDTH)
    model = StructuredPredictor(model=source, update="max_loss", average=average, warm_start=call == "warm fit")
    if learned:
        model.partial_fit(X[:learned], Y[:learned])
    before = joblib.hash({name: value for name, value in vars(model).items() if name != "model"})
    weights = model.weights_ if learned else None
    kept = None if weights is None else deepcopy(weights)
    model.set_params(model=Failing(source, after=0 if call == "learn_one" else 25, method=method))
    with pytest.raises(BreakdownError) as caught:
        model.learn_one(X[5], Y[5]) if call == "learn_one" else getattr(model, call.removeprefix("warm "))(X, Y)
    assert call == "learn_one" or "example" in caught.value.__notes__[0]
    assert joblib.hash({name: value for name, value in vars(model).items() if name != "model"}) == before
    if kept is not None:
        assert np.array_equal(list(kept), list(model.weights_))  # names, or numbers


class Changed:
    """A correct model with some methods replaced."""

    n_features = WIDTH

    def __init__(self, model=MODEL, **answers):
        self.model = model
        for name, answer in answers.items():
            setattr(self, name, answer)

    def joint_features(self, x, y):
        return self.model.joint_features(x, y)

    def argmax(self, weights, x):
        return self.model.argmax(weights, x)

    def cost_augmented_argmax(self, weights, x, y):
        return self.model.cost_augmented_argmax(weights, x, y)

    def cost(self, y, z):
        return self.model.cost(y, z)


def worst(weights, x):
    return MODEL.candidates(x)[int(np.argmin(MODEL.scores(weights, x)))]


def after(calls, answer, otherwise):
    """Return a function whose result changes after some calls."""
    count = itertools.count()

    def either(*arguments):
        return (answer if next(count) >= calls else otherwise)(*arguments)

    return either


def drifting():
    count = itertools.count()
    return lambda x, y: MODEL.vector(x, y) + next(count)


BAD_MODELS = {
    "not the best": (lambda: {"argmax": worst}, "argmax does not maximize"),
    "not the best augmented": (
        lambda: {"cost_augmented_argmax": lambda w, x, y: worst(w, x)},
        r"cost_augmented_argmax does not maximize .* \+ sqrt",
    ),
    "no answer": (lambda: {"argmax": lambda w, x: None}, "argmax must return a structure; got None"),
    "no rival": (lambda: {"cost_augmented_argmax": lambda w, x, y: None}, "must return a structure; got None"),
    "negative cost": (
        lambda: {"cost": lambda y, z: -1.0},
        r"cost\(y, z\) must give a finite number at least 0; got -1",
    ),
    "infinite cost": (lambda: {"cost": lambda y, z: np.inf * (y != z)}, "finite number at least 0"),
    "cost NaN": (lambda: {"cost": lambda y, z: np.nan}, "finite number at least 0; got nan"),
    "no cost": (lambda: {"cost": lambda y, z: None}, "finite number at least 0; got None"),
    "cost a word": (lambda: {"cost": lambda y, z: "1"}, "finite number at least 0; got '1'"),
    "right costs": (lambda: {"cost": lambda y, z: 1 + MODEL.cost(y, z)}, r"cost\(y, y\) must be 0; got 1.0"),
    "features change": (
        lambda: {"joint_features": drifting()},
        "must give the same each time",
    ),
    "NaN": (lambda: {"joint_features": lambda x, y: MODEL.vector(x, y) * np.nan}, "finite numbers"),
    "infinity": (
        lambda: {"joint_features": after(9, lambda x, y: (np.array([1]), np.array([np.inf])), MODEL.vector)},
        "finite numbers",
    ),
    "another length": (
        lambda: {"joint_features": after(9, lambda x, y: np.ones(3), MODEL.vector)},
        f"must give {WIDTH} features, as at first; got 3",
    ),
    "another form": (
        lambda: {"joint_features": after(9, lambda x, y: {"a": 1.0}, MODEL.vector)},
        f"must give vectors of {WIDTH} features, as at first; got {{'a': 1.0}}",
    ),
    "index too large": (
        lambda: {"joint_features": after(9, lambda x, y: ([WIDTH], [1.0]), MODEL.vector)},
        f"indices from 0 to {WIDTH - 1}; got {WIDTH}",
    ),
    "index below 0": (lambda: {"joint_features": lambda x, y: ([1, -1], [1.0, 1.0])}, "indices from 0 to"),
    "indices no integers": (lambda: {"joint_features": lambda x, y: ([0.5], [1.0])}, "indices must be whole numbers"),
    "uneven pair": (lambda: {"joint_features": lambda x, y: ([0, 1], [1.0])}, "as many as values"),
    "a matrix": (lambda: {"joint_features": lambda x, y: np.ones((2, WIDTH))}, "they have shape"),
    "a sparse matrix": (lambda: {"joint_features": lambda x, y: sparse.eye(WIDTH, format="csr")}, "they have shape"),
    "nothing": (lambda: {"joint_features": lambda x, y: None}, "joint_features must give"),
    "text": (lambda: {"joint_features": lambda x, y: "features"}, "joint_features must give"),
    "a number": (lambda: {"joint_features": lambda x, y: 3.0}, "joint_features must give"),
    "n_features": (lambda: {"joint_features": lambda x, y: ([0], [1.0]), "n_features": None}, "attribute n_features"),
    "no features": (lambda: {"joint_features": lambda x, y: []}, "features must be from 1"),
}


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize(("answers", "message"), BAD_MODELS.values(), ids=BAD_MODELS.keys())
def test_inconsistent_models_are_reported(answers, message, call, *, learned):
    model = StructuredPredictor(model=Changed(), update="max_loss", check_rounds=100)
    if learned and "n_features" not in message and "from 1" not in message:
        model.partial_fit(X[:3], Y[:3])
    before = joblib.hash({name: value for name, value in vars(model).items() if name != "model"})
    model.set_params(model=Changed(**answers()))
    with pytest.raises(ValueError, match=message) as caught:
        getattr(model, call)(X, Y)
    assert "example" in caught.value.__notes__[0]
    assert joblib.hash({name: value for name, value in vars(model).items() if name != "model"}) == before


NAMES = {
    "a vector": (lambda x, y: np.ones(3), "must give a dict of name: value, as at first"),
    "NaN": (lambda x, y: {"a": np.nan}, "finite numbers; got {'a': nan}"),
    "infinities": (lambda x, y: {"a": np.inf, "b": -np.inf}, "finite numbers"),
    "text": (lambda x, y: {"a": "b"}, "must give numbers; got {'a': 'b'}"),
    "nothing": (lambda x, y: {"a": None}, "must give numbers"),
}


@pytest.mark.parametrize(("answer", "message"), NAMES.values(), ids=NAMES.keys())
def test_named_features_are_refused(answer, message):
    model = StructuredPredictor(model=NAMED).partial_fit(X[:3], Y[:3])
    before = joblib.hash(vars(model))
    model.set_params(model=Changed(NAMED, joint_features=answer))
    with pytest.raises(ValueError, match=message):
        model.learn_one(X[0], Y[0])
    model.set_params(model=NAMED)
    assert joblib.hash(vars(model)) == before


def test_checks_end_after_their_rounds():
    """Training continues with an approximate search; it is reported in the first rounds only, or never."""
    poor = Changed(argmax=worst)
    with pytest.raises(ValueError, match="check_rounds=0"):
        StructuredPredictor(model=poor).partial_fit(X, Y)
    assert StructuredPredictor(model=poor, check_rounds=0).partial_fit(X, Y).totals_.rounds == 30
    model = StructuredPredictor(model=MODEL, check_rounds=5).partial_fit(X[:5], Y[:5])
    model.set_params(model=poor).partial_fit(X, Y)


@given(st.lists(st.tuples(st.integers(0, 29), st.booleans()), min_size=1, max_size=20))
def test_weights_by_name_are_those_of_the_core(calls):
    """They are stored twice, so that models read them quickly."""
    model = StructuredPredictor(model=NAMED)
    for i, fails in calls:
        model.set_params(model=Failing(NAMED, after=1 if fails else 10**9))
        with suppress(BreakdownError):
            model.partial_fit(X[i : i + 2], Y[i : i + 2])
        if hasattr(model, "totals_"):
            assert dict(model.weights_) == dict(zip(model.feature_names_, model.coef_.tolist(), strict=True))


def test_large_numbers_are_not_errors():
    large = Changed(joint_features=lambda x, y: MODEL.vector(x, y) * 1e150)
    StructuredPredictor(model=large, check_rounds=0).partial_fit(X, Y)
