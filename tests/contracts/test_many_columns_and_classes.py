"""With many columns and many classes those experts stay that look at few columns, and pay for their classes."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from onmargin import AutoClassifier, AutoRegressor, stream

RANDOM = np.random.default_rng(0)
TREES = {"forest", "boosted trees"}
FERNS = {f"adaptive, logistic descent, rate=1, ferns of {tests} tests" for tests in (5, 7)}


@pytest.mark.parametrize(("learns", "stay"), [(AutoClassifier, TREES | FERNS), (AutoRegressor, TREES)])
def test_what_looks_at_few_columns_stays_behind_300(learns, stay):
    X, y = RANDOM.normal(size=(40, 1025)), RANDOM.integers(0, 2, 40)
    few, more, most = (set(learns().partial_fit(X[:, :n], y).experts_.names) for n in (300, 301, 1025))
    assert stay <= more
    assert few - more - {"ridge, curved 0.3, ranks"} == {"nearest neighbors", "ridge, curved 0.3", "ridge, curved 1"}
    assert not stay & most


def test_there_is_no_cliff_in_the_error():
    """Columns of noise, and a box that only trees and ferns find."""
    X = RANDOM.normal(size=(1500, 301))
    y = (np.abs(X[:, 0]) < 0.67).astype(int)
    X[:, 1:] *= RANDOM.random(300) < 0.05
    before, after = (AutoClassifier().partial_fit(X[:, :n], y).totals_.mistakes for n in (300, 301))
    assert after < 1.1 * before


@pytest.mark.parametrize("known", [True, False])
def test_experts_that_cannot_pay_for_classes_drop_out(known):
    centers, y = RANDOM.normal(size=(40, 5)), RANDOM.permutation(np.arange(400) % 40)
    X = centers[y] + 0.3 * RANDOM.normal(size=(400, 5))
    model = AutoClassifier()
    if known:
        model.partial_fit(X, y, classes=np.arange(40))
    else:
        for first in range(0, 400, 8):
            model.partial_fit(X[first : first + 8], y[first : first + 8])
    results = model.experts_
    assert not (TREES | FERNS) & set(results.names)
    assert "left out with 40 classes: forest; boosted trees" in repr(results)
    assert model.totals_.mistakes < 300
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    assert_array_equal(again.decision_function(X), model.partial_fit(X, y).decision_function(X))
    assert "forest" not in repr(AutoClassifier().partial_fit(X, y % 30).experts_).split("left out")[1]


def test_classes_of_records_drop_experts_too():
    model = stream.AutoClassifier()
    for t in range(200):
        model.learn_one({"x": float(t % 40), "y": 1.0}, f"class {t % 40}")
    assert "forest" not in model.models_
    assert "left out with 40 classes" in repr(model.experts_)
    assert model.predict_one({"x": 3.0, "y": 1.0}).startswith("class ")


def test_memory_of_many_classes_is_bounded():
    X, y = RANDOM.normal(size=(300, 50)), np.arange(300) % 200
    model = AutoClassifier().partial_fit(X, y, classes=np.arange(200))
    assert len(pickle.dumps(model)) < 20e6
