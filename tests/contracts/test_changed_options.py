"""An option that changes between two calls takes effect in the second, however the model remembers its plan."""

from copy import copy, deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from onmargin import AROWClassifier, PassiveAggressiveClassifier, PassiveAggressiveRegressor

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)


def assigned(model, C):
    model.C = C
    return model


CHANGES = {
    "set_params": lambda model, C: model.set_params(C=C),
    "assigned": assigned,
    "copy": lambda model, C: assigned(copy(model), C),
    "deepcopy": lambda model, C: assigned(deepcopy(model), C),
}


@pytest.mark.parametrize("kind", [PassiveAggressiveClassifier, PassiveAggressiveRegressor])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_option_takes_effect_in_the_next_call(kind, change):
    model = kind(C=0.01)
    for part in (slice(0, 100), slice(100, 200)):  # the second call has the plan of the first
        model.partial_fit(X[part], y[part])
    changed = change(deepcopy(model), 5.0).partial_fit(X[200:300], y[200:300])
    assert not np.array_equal(changed.coef_, model.partial_fit(X[200:300], y[200:300]).coef_)


def test_a_wrong_value_is_refused_after_right_ones():
    model = PassiveAggressiveClassifier().partial_fit(X, y).partial_fit(X, y)
    with pytest.raises(ValueError, match="C must be"):
        model.set_params(C=-1.0).partial_fit(X, y)


def test_a_mutable_option_may_change_in_place():
    weights = {0: 1.0, 1: 1.0}
    model = AROWClassifier(class_weight=weights).partial_fit(X[:100], y[:100])
    plain = deepcopy(model).partial_fit(X[100:], y[100:])
    weights[1] = 50.0
    assert not np.array_equal(model.partial_fit(X[100:], y[100:]).coef_, plain.coef_)


def test_a_clone_has_its_own_plan():
    model = PassiveAggressiveClassifier(C=0.01).partial_fit(X, y)
    other = clone(model).set_params(C=1.0).partial_fit(X, y)
    expected = PassiveAggressiveClassifier(C=1.0).partial_fit(X, y)
    np.testing.assert_array_equal(other.coef_, expected.coef_)
