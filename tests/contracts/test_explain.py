"""Contributions and the intercept add up to the score of every label, in estimators and stream learners."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import onmargin
from onmargin import stream

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 4))
NAMES = list("abcd")
TARGETS = {
    "two": np.where(X[:, 0] > 0, "yes", "no"),
    "three": np.digitize(X[:, 0], [-0.5, 0.5]),
    "numbers": X @ [1.0, 2, 3, 4] + 3,
}
FORMS = {"dense": X, "sparse": sparse.csr_matrix(X), "frame": pd.DataFrame(X, columns=NAMES)}
LEARNERS = [
    (name, targets)
    for name in ["PassiveAggressiveClassifier", "AROWClassifier", "OnlineLogisticClassifier", "AutoClassifier"]
    for targets in ["two", "three"]
] + [(name, "numbers") for name in ["PassiveAggressiveRegressor", "OnlineRidgeRegressor", "AutoRegressor"]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "targets"), LEARNERS)
def test_estimators_add_up_to_the_score_of_every_label(name, targets, form):
    model = getattr(onmargin, name)().partial_fit(FORMS[form], TARGETS[targets])
    x = FORMS[form][:1]
    if targets == "numbers":
        scores = {None: model.predict(x)[0]}
    else:
        found = np.atleast_1d(model.decision_function(x)[0])
        scores = dict(zip(model.classes_.tolist(), found if len(found) > 1 else [-found[0], found[0]], strict=True))
    for label, score in scores.items():
        explained = model.explain(x) if label is None else model.explain(x, label)
        assert explained.label == label
        assert explained.score == pytest.approx(score)
        assert sum(explained.values()) + explained.intercept == pytest.approx(score)
        assert {*explained} <= {*(NAMES if form == "frame" else range(4))}
        assert [*map(abs, explained.values())] == sorted(map(abs, explained.values()), reverse=True)
    if targets != "numbers":
        assert model.explain(x).label == model.predict(x)[0]


@pytest.mark.parametrize("name", ["PassiveAggressiveClassifier", "AutoClassifier"])
@pytest.mark.parametrize("targets", ["two", "three"])
def test_stream_learners_add_up_to_the_score_of_every_label(name, targets):
    rows = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    model = getattr(stream, name)().learn_many(rows, TARGETS[targets].tolist())
    for label, score in model.scores_one(rows[0]).items():
        explained = model.explain(rows[0], label, top=2)
        assert (explained.label, len(explained)) == (label, 2)
        assert explained.score == pytest.approx(score)
        assert explained.intercept == pytest.approx(model.intercept(label))
    assert model.explain(rows[0]).label == model.predict_one(rows[0])


def test_other_learners_say_what_contributions_add_up_to():
    ball = stream.PassiveAggressiveUniclass().learn_many([{"a": 1.0}, {"a": 3.0, "b": 1.0}])
    explained = ball.explain({"a": 2.0})
    assert explained.score == sum(explained.values()) > 0
    assert stream.PassiveAggressiveRegressor().explain({"a": 2.0}).score == 0


def test_sparsified_weights_are_explained():
    model = onmargin.PassiveAggressiveClassifier().partial_fit(X, TARGETS["three"])
    before = model.explain(X[0])
    assert model.sparsify().explain(X[0]) == before
    assert sparse.issparse(model.coef_)


def test_what_cannot_be_explained_is_refused():
    model = onmargin.PassiveAggressiveClassifier().partial_fit(X, TARGETS["two"])
    with pytest.raises(ValueError, match=r"x must be one example, got 3 rows.*X\[:1\]"):
        model.explain(X[:3], "yes")
    with pytest.raises(ValueError, match="label 'maybe' is not one of"):
        model.explain(X[0], "maybe")
    with pytest.raises(ValueError, match="top must be None or an integer"):
        model.explain(X[0], top=-1)
    with pytest.raises(ValueError, match="a kernel has no weights by feature"):
        onmargin.PassiveAggressiveClassifier(kernel="rbf").partial_fit(X, TARGETS["two"]).explain(X[0])


def test_notebooks_show_explanations_totals_reliability_and_stream_learners():
    model = stream.PassiveAggressiveClassifier(C=0.25).learn_many(X, TARGETS["two"].tolist())
    assert "<code>PassiveAggressiveClassifier(C=0.25)</code>" in model._repr_html_()
    assert f">{model.totals_.mistakes}<" in model.totals_._repr_html_()
    assert "calibration_error" in model.reliability_._repr_html_()
    assert "<svg" in model.reliability_._repr_html_()
    shown = model.explain(X[0], "yes", top=1)._repr_html_()
    assert "score of yes" in shown
    assert "other features" in shown
