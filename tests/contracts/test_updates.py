"""Incompatible or unknown updates and costs."""

import re

import numpy as np
import pytest

from onmargin import PassiveAggressiveClassifier

X, Y = np.eye(3), [0, 1, 2]

COMBINATIONS = {
    "squared loss": ({"update": "simproj", "loss": "squared_hinge"}, "loss='hinge'"),
    "one-vs-rest": ({"update": "exact", "strategy": "ovr"}, "strategy='joint'"),
    "costs": ({"update": "mira", "cost": "absolute"}, "cost=None"),
    "all at once": (
        {"update": "conopt", "loss": "squared_hinge", "cost": "squared", "strategy": "ovr"},
        "needs loss='hinge', cost=None, strategy='joint'",
    ),
    "infinite fixed step": ({"update": "simperc", "C": np.inf}, "a finite C"),
    "no margin": ({"update": "mira", "C": np.inf}, "a finite C"),
    "costs one-vs-rest": ({"cost": "absolute", "strategy": "ovr"}, "cost needs strategy='joint'"),
    "margins and costs": ({"class_margin": {0: 2.0}, "cost": "absolute"}, "class_margin needs cost=None"),
    **{
        f"margins and {update}": (
            {"class_margin": {0: 2.0}, "update": update},
            f"class_margin needs update other than {update!r}",
        )
        for update in ("simperc", "perceptron", "mira")
    },
    "unknown update": ({"update": "sim"}, "update must be 'max' or"),
    "unknown word for costs": ({"cost": "cubic"}, "'absolute', 'squared'"),
    "negative costs": ({"cost": -1 + np.eye(3)}, "at least 0"),
    "costly truth": ({"cost": np.ones((3, 3))}, "diagonal"),
    "not square": ({"cost": np.zeros((3, 2))}, "shape (3, 3)"),
    "too few": ({"cost": np.zeros((2, 2))}, "shape (3, 3)"),
    "NaN": ({"cost": np.full((3, 3), np.nan)}, "cost"),
    "unknown way": ({"cost": "absolute", "cost_update": "ml"}, "cost_update must be"),
}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("name", COMBINATIONS)
def test_refused_before_anything_is_learned(name, method):
    parameters, words = COMBINATIONS[name]
    model = PassiveAggressiveClassifier(**parameters)
    with pytest.raises(ValueError, match=re.escape(words)):
        getattr(model, method)(X, Y)
    assert not hasattr(model, "classes_")


def test_a_class_without_costs_is_refused():
    model = PassiveAggressiveClassifier(cost=1 - np.eye(2)).partial_fit(X[:2], [0, 1])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        model.partial_fit(X, Y)
    assert (model.coef_ == before).all()
    assert model.classes_.tolist() == [0, 1]
