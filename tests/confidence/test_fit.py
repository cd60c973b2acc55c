"""`fit` of wrappers starts again, as in scikit-learn."""

import numpy as np
import pytest
from river import linear_model
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor

from onmargin import AROWClassifier, LabelRanker, PassiveAggressiveRegressor, stream
from onmargin.confidence import Decisions, Intervals, PredictionSets

CLASSES = load_digits(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    ("wrapper", "rows"),
    [
        (PredictionSets(AROWClassifier()), CLASSES),
        (PredictionSets(SGDClassifier(loss="log_loss", random_state=0), by_class=True), CLASSES),
        (Decisions(AROWClassifier(), abstain=0.2), CLASSES),
        (Intervals(PassiveAggressiveRegressor(), asymmetric=True), NUMBERS),
        (Intervals(SGDRegressor(random_state=0)), NUMBERS),
    ],
)
def test_fit_is_one_pass_of_a_new_object(wrapper, rows):
    X, y = rows[0][:300], rows[1][:300]
    given, fitted = wrapper.model, clone(wrapper)
    options = {} if isinstance(wrapper, Intervals) else {"classes": np.unique(y)}
    passed = clone(wrapper).partial_fit(X, y, **options)
    for _ in range(2):
        assert fitted.fit(X, y) is fitted
        assert repr(report(fitted)) == repr(report(passed))
        np.testing.assert_array_equal(fitted.model.predict(X), passed.model.predict(X))
    wrapper.fit(X, y)
    assert wrapper.model is not given
    assert not hasattr(given, "n_features_in_")


def report(wrapper):
    return wrapper.report_ if isinstance(wrapper, Decisions) else wrapper.coverage_


def test_a_failed_fit_changes_nothing():
    X, y = CLASSES[0][:100], CLASSES[1][:100]
    sets = PredictionSets(AROWClassifier()).fit(X, y)
    model, before = sets.model, sets.coverage_
    broken = X.copy()
    broken[50, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        sets.fit(broken, y)
    assert sets.model is model
    assert sets.coverage_ == before


def test_label_sets():
    labels = [{"even" if one % 2 == 0 else "odd", "small" if one < 5 else "large"} for one in CLASSES[1][:200].tolist()]
    sets = PredictionSets(LabelRanker(), coverage=0.8).fit(CLASSES[0][:200], labels)
    assert sets.coverage_.rounds == 168
    assert {*sets.model.classes_} == {"even", "odd", "small", "large"}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_models_that_cannot_learn_rows_name_the_remedy(method):
    X, y = CLASSES[0][:50], CLASSES[1][:50]
    with pytest.raises(TypeError, match=r"LogisticRegression has no partial_fit: fit it first, and call observe"):
        getattr(PredictionSets(LogisticRegression()), method)(X, y)
    for model in (linear_model.LogisticRegression(), stream.AROWClassifier()):
        with pytest.raises(TypeError, match=r"has no partial_fit: call learn_one\(x, y\) for each record"):
            getattr(PredictionSets(model), method)(X, y)
