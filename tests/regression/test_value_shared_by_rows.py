"""A pair of rows that share a huge value was projected onto: adding and subtracting the value gave infinite weights."""

import numpy as np
import pytest

from onmargin import ClassFeatureClassifier
from onmargin.features import ClassTermFeatures


@pytest.mark.parametrize("weight", [1.0, 1e9, 1e300])
@pytest.mark.parametrize("shared", [1e150, 1e300])
@pytest.mark.parametrize("update", ["max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact"])
def test_weights_stay_finite(shared, weight, update):
    model = ClassFeatureClassifier(phi=lambda x, label: [shared, 1e-4 * label], update=update)
    with np.errstate(all="ignore"):
        model.partial_fit(["x"], [1], classes=[0, 1, 2], sample_weight=[weight])
    assert np.isfinite(model.coef_).all()


def test_frequencies_of_terms():
    random_ = np.random.default_rng(0)
    X = np.abs(random_.normal(size=(30, 6)) * (random_.random((30, 6)) < 0.7))
    model = ClassFeatureClassifier(phi=ClassTermFeatures(kind="tfidf")).partial_fit(X, np.arange(30) % 3)
    with np.errstate(all="ignore"):
        for label in range(3):
            model.partial_fit([[0.0, 0.0, 5e299, 0.0, 1.0, 1e-4]], [label], sample_weight=[1e9])
    assert np.isfinite(model.coef_).all()
