"""What a certificate shows, what it refuses, and what it says of runs that are not those of the stream."""

from math import inf

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

import onmargin
from onmargin import PassiveAggressiveClassifier, theory
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


# What each bound must be, from the totals of the run and the size F(u), loss and squared loss of the competitor.
BOUNDS = {
    "two classes": (
        PassiveAggressiveClassifier(C=0.5),
        y,
        lambda t, F, loss, squares: theory.pa1_mistakes(0.5, t.max_squared_norm, 2 * F, loss),
    ),
    "three classes": (
        PassiveAggressiveClassifier(C=0.5),
        three,
        lambda t, F, loss, squares: theory.pa1_mistakes(0.5, 2 * t.max_squared_norm, 2 * F, loss),
    ),
    "MIRA": (  # in units of C
        PassiveAggressiveClassifier(C=0.5, update="mira"),
        three,
        lambda t, F, loss, squares: theory.climbing_mistakes(1.0, 2 * t.max_squared_norm, F, loss, margin=2.0),
    ),
    "three classes, squared": (
        PassiveAggressiveClassifier(C=0.5, loss="squared_hinge"),
        three,
        lambda t, F, loss, squares: theory.pa2_squared_loss(0.5, 2 * t.max_squared_norm, 2 * F, squares),
    ),
    "costs": (
        PassiveAggressiveClassifier(C=0.5, cost="squared"),
        three,
        lambda t, F, loss, squares: theory.pa1_cost(0.5, 2 * t.max_squared_norm, 2 * F, loss, 4.0),
    ),
    "Perceptron": (
        onmargin.Perceptron(C=3.0),
        three,
        lambda t, F, loss, squares: theory.perceptron_mistakes(2 * t.max_squared_norm, 2 * F, loss),
    ),
    "numbers": (
        onmargin.PassiveAggressiveRegressor(C=0.5),
        X[:, 0] * 2,
        lambda t, F, loss, squares: theory.pa1_loss(0.5, t.max_squared_norm, 60, 2 * F, loss),
    ),
    "ball": (
        onmargin.PassiveAggressiveUniclass(C=0.5),
        None,
        lambda t, F, loss, squares: theory.pa1_loss(0.5, 1.0, 59, 2 * F, loss),
    ),
    "labels": (
        onmargin.LabelRanker(C=0.5),
        [{str(label)} for label in three],
        lambda t, F, loss, squares: theory.pa1_mistakes(0.5, 2 * t.max_squared_norm, 2 * F, loss),
    ),
    "ranks": (
        onmargin.OrdinalRegressor(C=0.5),
        three,
        lambda t, F, loss, squares: theory.pa1_mistakes(0.5, t.max_squared_norm, 2 * F, loss),
    ),
    "rows": (
        onmargin.BlockClassifier(C=0.05, update="conopt"),
        y,
        lambda t, F, loss, squares: theory.simperc_mistakes(0.05, t.max_squared_norm, 2 * F, loss),
    ),
    "balanced simplex": (
        onmargin.QuasiAdditiveClassifier(geometry="entropic", C=0.01, step="fixed"),
        y,
        lambda t, F, loss, squares: theory.fixed_mistakes(0.01, np.abs(X).max() ** 2, F, loss, margin=0.1),
    ),
    "p-norm": (
        onmargin.QuasiAdditiveClassifier(geometry="pnorm", p=3.0, C=0.1),
        y,
        lambda t, F, loss, squares: theory.climbing_mistakes(0.1, 2 * np.linalg.norm(X, 3, axis=1).max() ** 2, F, loss),
    ),
    "Winnow": (
        onmargin.Winnow(margin=0.05, rate=0.01),
        (np.abs(X), y),
        lambda t, F, loss, squares: theory.fixed_mistakes(
            0.01, np.ptp(np.abs(X), axis=1).max() ** 2 / 4, F, loss, margin=0.05
        ),
    ),
    "descent": (
        onmargin.GradientDescentRegressor(),
        X[:, 0] * 2,
        lambda t, F, loss, squares: 2 * squares + 4 * (X**2).sum(axis=1).max() * F,
    ),
    "exponentiated": (
        onmargin.ExponentiatedGradientRegressor(),
        X[:, 0],
        lambda t, F, loss, squares: 2 * squares + np.ptp(X, axis=1).max() ** 2 * F,
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bound_is_that_of_the_theorem(name):
    model, target, bound = BOUNDS[name]
    rows, target = target if isinstance(target, tuple) else (X, target)
    certificate = certify(model, rows, target)
    u = certificate.competitor
    assert certificate.holds
    assert certificate.bound == pytest.approx(bound(certificate.totals, u.size, u.loss, u.squared_loss))


@pytest.mark.parametrize("kind", [onmargin.PassiveAggressiveRegressor, PassiveAggressiveClassifier])
def test_multiplicative_pa_has_its_own_theorem(kind):
    """[NIPS] Thm. 4: half the squared spread of the rows times the divergence of a competitor without loss."""
    u = np.array([0.4, 0.3, 0.2, 0.1])
    rows, named = (X, {"epsilon": 0.1}) if kind is onmargin.PassiveAggressiveRegressor else (np.abs(X), {"margin": 0.1})
    target = rows @ u if "epsilon" in named else y
    if "margin" in named:
        rows = np.where(y, 1, -1)[:, None] * rows
    certificate = certify(kind(C=np.inf, geometry="entropic", fit_intercept=False, **named), rows, target, u)
    assert certificate.holds
    assert certificate.theorem == "[NIPS] Thm. 4, corrected"
    assert certificate.bound == pytest.approx(np.ptp(rows, axis=1).max() ** 2 / 2 * (u * np.log(4 * u)).sum())


def test_losses_of_a_competitor_are_those_of_the_learner_itself():
    """A learner that cannot move has the losses of its weights on every row."""
    coef, intercept = random.standard_normal((3, 4)), random.standard_normal(3)
    model = PassiveAggressiveClassifier(C=1e-12, max_iter=1, tol=None, shuffle=False, intercept_scaling=1.0)
    totals = model.fit(X, three, coef_init=coef, intercept_init=intercept).totals_
    u = certify(PassiveAggressiveClassifier(intercept_scaling=1.0), X, three, (coef, intercept)).competitor
    assert u.loss == pytest.approx(totals.loss)
    assert u.squared_loss == pytest.approx(totals.squared_loss)
    assert 2 * u.size == pytest.approx((coef**2).sum() + (intercept**2).sum())


REFUSED = [
    (PassiveAggressiveClassifier(update="simproj"), three, {}, "simproj"),
    (PassiveAggressiveClassifier(update="simopt"), three, {}, "simopt"),
    (PassiveAggressiveClassifier(class_weight="balanced"), y, {}, "class_weight"),
    (PassiveAggressiveClassifier(class_weight={0: 2.0}, loss="squared_hinge"), y, {}, "class_weight"),
    (PassiveAggressiveClassifier(class_weight={0: 2.0}, cost="squared"), three, {}, "class_weight and cost"),
    (PassiveAggressiveClassifier(kernel="rbf", budget=5), y, {}, "budget"),
    (PassiveAggressiveClassifier(kernel="sigmoid", gamma=3.0, coef0=-2.0), y, {}, "positive semidefinite"),
    (PassiveAggressiveClassifier(kernel="rbf"), y, {"competitor": np.zeros(4)}, "one coefficient per row"),
    (onmargin.AROWClassifier(), y, {}, "rate of their own"),
    (onmargin.AutoClassifier(), y, {}, "several models"),
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


def test_a_coordinate_of_a_given_value_is_there_from_the_first_row_on():
    """One that is taken from the first row that is not zero is not there before."""
    zeros, y = np.zeros((3, 2)), np.array([1.0, 3.0, 2.0])
    given = certify(onmargin.PassiveAggressiveRegressor(intercept_scaling=1.0, C=1.0), zeros, y)
    assert given.competitor.weights.size == 3
    assert given.competitor.weights[-1] > 1
    assert given.holds
    assert certify(onmargin.PassiveAggressiveRegressor(C=1.0), zeros, y).competitor.loss == pytest.approx(6 - 0.3)


def test_linear_kernel_is_no_kernel():
    """The same best competitor, whether it is found among weights or among combinations of rows."""
    for model, target in (
        (PassiveAggressiveClassifier(C=0.3), three),
        (onmargin.PassiveAggressiveRegressor(), X[:, 0]),
    ):
        plain = certify(clone(model).set_params(fit_intercept=False), X, target, accuracy=1e-4)
        expanded = certify(clone(model).set_params(fit_intercept=False, kernel="linear"), X, target, accuracy=1e-4)
        assert expanded.holds
        assert expanded.bound == pytest.approx(plain.bound, rel=1e-3)
        assert expanded.best.gap <= 1e-4


def test_competitor_in_the_span_of_the_rows():
    """|u|^2 = beta' K beta, and its losses are those of an expansion over the rows."""
    beta = random.standard_normal(60)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    model = PassiveAggressiveClassifier(C=0.5, kernel="rbf", gamma=0.3, fit_intercept=False)
    u = certify(model, X, y, beta).competitor
    assert 2 * u.size == pytest.approx(beta @ K @ beta)
    assert u.losses == pytest.approx(np.maximum(1 - np.where(y, 1, -1) * (K @ beta), 0), abs=1e-6)


def test_columns_of_one_vs_rest_add_up():
    certificate = certify(PassiveAggressiveClassifier(C=0.5, strategy="ovr"), X, three)
    u, totals = certificate.competitor, certificate.totals
    assert certificate.holds
    assert certificate.bound == pytest.approx(theory.pa1_mistakes(0.5, totals.max_squared_norm, 2 * u.size, u.loss))


def test_class_weights_multiply_c():
    """In units of the smallest weight: C is 0.25, and losses of class 1 count four times."""
    model = PassiveAggressiveClassifier(C=0.5, class_weight={0: 0.5, 1: 2.0}, fit_intercept=False)
    zero = certify(model, X, y, np.zeros(4))
    assert zero.holds
    R2 = (X**2).sum(axis=1).max()
    loss = (y == 0).sum() + 4 * (y == 1).sum()
    assert zero.bound == pytest.approx(theory.pa1_mistakes(0.25, R2, 0.0, loss))


def test_margins_of_classes_count_as_the_smallest():
    model = PassiveAggressiveClassifier(C=0.5, class_margin={0: 0.5, 1: 2.0}, fit_intercept=False)
    zero = certify(model, X, y, np.zeros(4))
    loss = 0.5 * (y == 0).sum() + 2 * (y == 1).sum()
    R2 = (X**2).sum(axis=1).max()
    assert zero.holds
    assert zero.bound == pytest.approx(theory.climbing_mistakes(0.5, R2, 0.0, loss, margin=0.5))
