"""What a certificate shows, what it refuses, and what it says of runs that are not those of the stream."""

from math import inf

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import onmargin
from onmargin import PassiveAggressiveClassifier
from onmargin.theory import NoTheorem, certify

random = np.random.default_rng(0)
X = random.standard_normal((60, 4))
y = (X @ np.array([1.0, -1, 0.5, 0]) > 0).astype(int)
three = random.integers(0, 3, 60)


def test_words():
    certificate = certify(PassiveAggressiveClassifier(C=0.5), X, y)
    assert certificate.holds
    assert certificate.slack == certificate.bound - certificate.suffered
    assert certificate.theorem == "[PD] Thm. 1"
    assert certificate.competitor is certificate.best
    text, html = str(certificate), certificate._repr_html_()
    assert "Certified: [PD] Thm. 1 allows" in text
    assert "within 0." in text
    assert "Certificate: holds" in html
    assert "&lt;=" in html


def test_own_totals_of_a_model_that_has_learned():
    model = PassiveAggressiveClassifier(C=0.5)
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[None, :], [label], classes=[0, 1])
    certificate = certify(model, X, y)
    assert certificate.holds
    assert certificate.totals == model.totals_
    assert [condition.met for condition in certificate.conditions] == [True]


def test_several_passes_are_not_one():
    certificate = certify(PassiveAggressiveClassifier(max_iter=3, tol=None, random_state=0).fit(X, y), X, y)
    assert not certificate.holds
    assert "rounds 180, a copy has 60" in certificate.summary


@pytest.mark.parametrize(("labels", "holds"), [(y, True), (three, False)])
def test_classes_that_turn_up_on_the_way(labels, holds):
    """With two, nothing was asked before the second; with three, the first two shared a column."""
    certificate = certify(PassiveAggressiveClassifier(C=0.5).partial_fit(X, labels), X, labels)
    assert certificate.holds == holds


def test_labels_that_turn_up_on_the_way_are_rivals_not_met_yet():
    labels = [{str(label)} for label in three]
    assert certify(onmargin.LabelRanker(C=0.1).partial_fit(X, labels), X, labels).holds


def test_a_better_competitor_makes_a_smaller_bound():
    model = PassiveAggressiveClassifier(C=0.5, intercept_scaling=1.0)
    best = certify(model, X, y)
    coef, intercept = best.best.weights[:4], best.best.weights[4]
    same = certify(model, X, y, (coef, intercept))
    assert same.bound == pytest.approx(best.bound)
    nothing = certify(model, X, y, np.zeros(4))
    assert nothing.bound > best.bound
    assert nothing.best_bound == pytest.approx(best.bound)
    machine = PassiveAggressiveClassifier(C=0.5, intercept_scaling=1.0, random_state=0).fit(X, y)
    assert best.bound <= certify(model, X, y, machine).bound


def test_float32_and_dense_alike():
    wide, narrow = (certify(PassiveAggressiveClassifier(C=0.5), X.astype(dtype), y) for dtype in (float, np.float32))
    assert wide.holds
    assert narrow.holds
    assert narrow.bound == pytest.approx(wide.bound, rel=1e-3)


def test_floor_on_the_simplex_needs_no_norm():
    certificate = certify(onmargin.QuasiAdditiveClassifier(geometry="entropic", margin=1.0), X, three)
    assert certificate.floor() > 0
    for u in random.dirichlet(np.ones(24), 50):
        scores = X @ (u[:12] - u[12:]).reshape(3, 4).T
        rows = np.arange(60)
        right = scores[rows, three]
        scores[rows, three] = -inf
        assert np.maximum(0, 1 - right + scores.max(axis=1)).sum() >= certificate.floor()


REFUSED = [
    (PassiveAggressiveClassifier(update="simproj"), three, {}, "simproj"),
    (PassiveAggressiveClassifier(update="simopt"), three, {}, "simopt"),
    (PassiveAggressiveClassifier(strategy="ovr"), three, {}, "ovr"),
    (PassiveAggressiveClassifier(class_weight={0: 2.0}), y, {}, "class_weight"),
    (PassiveAggressiveClassifier(), y, {"accuracy": 0.0}, "accuracy"),
    (PassiveAggressiveClassifier(), y, {"competitor": np.zeros(3)}, "competitor"),
    (PassiveAggressiveClassifier(), y, {"competitor": (np.zeros(4), 0.0, 1.0)}, "competitor"),
    (PassiveAggressiveClassifier(), y, {"competitor": np.full(4, np.nan)}, "competitor"),
    (PassiveAggressiveClassifier(C=-1.0), y, {}, "C must be"),
    (onmargin.QuasiAdditiveClassifier(geometry="entropic", balanced=False), y, {"competitor": np.ones(4)}, "simplex"),
    (onmargin.QuasiAdditiveClassifier(geometry="entropic"), y, {"competitor": np.ones(4)}, "at most 1"),
]


@pytest.mark.parametrize(("model", "target", "given", "words"), REFUSED)
def test_refusals(model, target, given, words):
    with pytest.raises(ValueError, match=words):
        certify(model, X, target, **given)


def test_sets_have_no_theorem_for_max():
    with pytest.raises(ValueError, match="sets"):
        certify(onmargin.BlockClassifier(), X, y, groups=np.arange(60) // 4, sets=np.arange(60) % 2)


def test_structured_perceptron_has_none():
    with pytest.raises(ValueError, match="perceptron"):
        certify(onmargin.SequenceTagger(update="perceptron"), [[["a"], ["b"]]], [["s", "t"]])


def test_other_models_are_refused():
    with pytest.raises(NoTheorem, match="SGDClassifier"):
        certify(SGDClassifier(), X, y)
