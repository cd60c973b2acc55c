"""Certificates: bounds, conditions, errors, and totals that do not belong to the stream."""

import re
from dataclasses import replace
from itertools import chain, product
from math import inf
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_regressor
from sklearn.linear_model import SGDClassifier

import onmargin
from onmargin import PassiveAggressiveClassifier, stream, theory
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.steps.step import Constant, Projection, Step
from onmargin.features import RecordFeatures
from onmargin.theory import NoTheorem, certify
from onmargin.theory._table import TABLE as THEOREMS
from onmargin.theory._table import Parts, is_listed, plan_parts
from tests.structures import Chains

random = np.random.default_rng(0)
X = random.standard_normal((60, 4))
THIRDS = X[:, :3].argmax(axis=1)
y = (X @ np.array([1.0, -1, 0.5, 0]) > 0).astype(int)
three = random.integers(0, 3, 60)


def test_text_of_a_certificate():
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
def test_classes_that_appear_during_the_stream(labels, holds):
    """With two classes there is no loss before the second; with three, the first two shared a column."""
    certificate = certify(PassiveAggressiveClassifier(C=0.5).partial_fit(X, labels), X, labels)
    assert certificate.holds == holds


def test_labels_that_appear_later_are_not_rivals_before():
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


# Each bound, from the totals of the run and from the size F(u), loss and squared loss of the competitor.
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
    (onmargin.SCWClassifier(), y, {}, "no theorem covers SCWClassifier"),
    (onmargin.AutoClassifier(combine="leader"), y, {}, "leader of several models"),
    (onmargin.AutoClassifier(), y, {"competitor": np.zeros(4)}, "best of them"),
    (onmargin.AROWClassifier(forgetting=0.1), y, {}, "forgetting"),
    (onmargin.AROWClassifier(class_weight={0: 2.0}), y, {}, "class_weight"),
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
    """An "auto" coordinate does not exist before the first nonzero row."""
    zeros, y = np.zeros((3, 2)), np.array([1.0, 3.0, 2.0])
    given = certify(onmargin.PassiveAggressiveRegressor(intercept_scaling=1.0, C=1.0), zeros, y)
    assert given.competitor.weights.size == 3
    assert given.competitor.weights[-1] > 1
    assert given.holds
    assert certify(onmargin.PassiveAggressiveRegressor(C=1.0), zeros, y).competitor.loss == pytest.approx(6 - 0.3)


def test_linear_kernel_equals_no_kernel():
    """The best competitor is the same, whether it is sought among weights or among combinations of rows."""
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


def test_class_weights_multiply_c_and_the_margin():
    """C is 0.25, mistakes aim at 0.5 at least, and losses of class 1 count four times, from a margin of 2."""
    model = PassiveAggressiveClassifier(C=0.5, class_weight={0: 0.5, 1: 2.0}, fit_intercept=False)
    zero = certify(model, X, y, np.zeros(4))
    assert zero.holds
    R2 = (X**2).sum(axis=1).max()
    loss = (y == 0).sum() + 4 * 2.0 * (y == 1).sum()
    assert zero.bound == pytest.approx(theory.climbing_mistakes(0.25, R2, 0.0, loss, margin=0.5))


def test_margins_of_classes_count_as_the_smallest():
    model = PassiveAggressiveClassifier(C=0.5, class_margin={0: 0.5, 1: 2.0}, fit_intercept=False)
    zero = certify(model, X, y, np.zeros(4))
    loss = 0.5 * (y == 0).sum() + 2 * (y == 1).sum()
    R2 = (X**2).sum(axis=1).max()
    assert zero.holds
    assert zero.bound == pytest.approx(theory.climbing_mistakes(0.5, R2, 0.0, loss, margin=0.5))


def test_equal_margins_of_classes_are_one_margin():
    one = certify(PassiveAggressiveClassifier(C=0.5, margin=2.0), X, three)
    equal = certify(PassiveAggressiveClassifier(C=0.5, class_margin={0: 2.0, 1: 2.0, 2: 2.0}), X, three)
    assert equal.holds
    assert (equal.bound, equal.theorem) == (pytest.approx(one.bound), one.theorem)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bound_of_arow_depends_on_the_growth_of_its_precisions(dtype):
    """B of the theorem, taken from the weights and variances after each row."""
    model = onmargin.AROWClassifier(r=0.5, intercept_scaling=1.0)
    rows, u = X.astype(dtype), np.array([0.4, -0.3, 0.2, 0.1, 0.05])
    certificate = certify(model, rows, y, (u[:4], u[4]))
    assert certificate.holds
    drift, before, run = 0.0, np.ones(5), clone(model)
    for i in range(60):
        run.partial_fit(rows[i : i + 1], y[i : i + 1], classes=[0, 1])
        after = 1 / np.append(run.confidence_[0].astype(float), run._learner.geometry.metric_intercept[0])
        w = np.append(run.coef_[0], run.intercept_[0])
        drift, before = drift + ((after - before) * (u - w) ** 2).sum(), after
    wide = np.column_stack([X, np.ones(60)])
    losses = np.maximum(1 - np.where(y, 1, -1) * (wide @ u), 0)
    R2 = (wide**2).sum(axis=1).max()
    bound = theory.arow_squared_loss(0.5, R2, u @ u, (losses**2).sum(), drift)
    assert certificate.bound == pytest.approx(bound, rel=1e-4)


def test_the_intercept_of_arow_may_come_late():
    """Rows of zeros have no intercept coordinate before the first nonzero row."""
    late = np.vstack([np.zeros((3, 4)), X])
    assert certify(onmargin.AROWRegressor(), late, np.append([1.0, 2.0, 3.0], X[:, 0])).holds


SEVERAL = [
    (onmargin.AutoClassifier(), y, 2.0, "mistakes", "experts_"),
    (PassiveAggressiveClassifier(C=[0.01, 1.0], combine="hedge"), three, 2.0, "mistakes", "grid_"),
    (onmargin.PassiveAggressiveRegressor(C="auto", combine="hedge"), X[:, 0], 1.0, "loss", "grid_"),
    (onmargin.AutoRegressor(), X[:, 0], 1.0, "loss", "experts_"),
]


@pytest.mark.parametrize(("model", "target", "factor", "counted", "shown"), SEVERAL)
def test_several_models_are_compared_with_the_best_of_them(model, target, factor, counted, shown):
    certificate = certify(model, X, target)
    named = {"classes": np.unique(target)} if counted == "mistakes" else {}
    results = getattr(clone(model).partial_fit(X, target, **named), shown)
    assert certificate.holds
    assert certificate.theorem == "[ADAHEDGE] Thm. 8"
    assert certificate.counted == counted
    best = getattr(results, counted).min()
    more = 10 if counted == "mistakes" else 0  # by which the mean of scaled scores may be worse than the vote
    assert certificate.bound == pytest.approx(factor * (best + results.regret_bound) + more)
    assert certificate.competitor.loss == pytest.approx(best)
    assert certificate.along()[-1] == pytest.approx(certificate.bound)
    assert "the best of its models" in str(certificate)


def test_outliers_are_not_certified():
    target = X[:, 0].copy()
    target[40] = 1e9
    certificate = certify(onmargin.AutoRegressor(), X, target)
    assert not certificate.holds
    assert "outliers" in certificate.summary


class Named:
    """A model of vectors whose features have names."""

    def __init__(self, model):
        self.model = model

    def joint_features(self, x, y):
        return {f"f{j}": value for j, value in enumerate(self.model.vector(x, y)) if value}

    def argmax(self, weights, x):
        return self.model.argmax(self.as_vector(weights), x)

    def cost_augmented_argmax(self, weights, x, y):
        return self.model.cost_augmented_argmax(self.as_vector(weights), x, y)

    def as_vector(self, weights):
        return np.array([weights[f"f{j}"] for j in range(8)])

    def cost(self, y, z):
        return self.model.cost(y, z)


chains = [random.standard_normal((3, 2)) for _ in range(25)]
paths = [tuple(int(a > 0) for a in x[:, 0]) for x in chains]


@pytest.mark.parametrize("given", [{"C": 1.0}, {"C": 0.3, "loss": "squared_hinge"}, {"C": inf}])
@pytest.mark.parametrize("update", ["prediction", "max_loss"])
def test_structures(given, update):
    """The best competitor is proved optimal, and a given one has the losses found by listing all structures."""
    model = Chains()
    certificate = certify(onmargin.StructuredPredictor(model=model, update=update, **given), chains, paths)
    assert certificate.holds
    assert certificate.best.gap <= 0.01
    u = random.standard_normal(8)
    other = certify(onmargin.StructuredPredictor(model=model, update=update, C=1.0), chains, paths, u)
    losses = [max(model.max_loss(u, x, y), 0) for x, y in zip(chains, paths, strict=True)]
    assert other.competitor.losses == pytest.approx(losses)
    assert other.holds


def test_structures_with_named_features():
    plain = certify(onmargin.StructuredPredictor(model=Chains()), chains, paths)
    model = onmargin.StructuredPredictor(model=Named(Chains())).partial_fit(chains, paths)
    certificate = certify(model, chains, paths)
    assert certificate.holds
    assert certificate.bound == pytest.approx(plain.bound, rel=0.02)
    assert certify(model, chains, paths, model).bound >= certificate.bound * 0.98
    by_name = certify(model, chains, paths, {"f0": -2.0, "f2": 2.0, "unknown": 1.0})
    assert 2 * by_name.competitor.size == pytest.approx(9.0)
    with pytest.raises(ValueError, match="mapping"):
        certify(model, chains, paths, np.zeros(8))


LEARNERS = [kind for kind in (getattr(onmargin, name) for name in onmargin.__all__) if hasattr(kind, "partial_fit")]
PLANS = {kind: kind().plan() for kind in LEARNERS if kind is not onmargin.StructuredPredictor}
WITHOUT_THEOREM = [kind for kind, plan in PLANS.items() if plan.ensemble is None and not is_listed(plan_parts(plan))]

# Every row of the table in the documentation, by its first cell, with learners that it covers.
TABLE = {
    '``update="simproj"``, ``update="simopt"``': [
        (PassiveAggressiveClassifier(update="simproj"), X, three),
        (onmargin.LabelRanker(update="simopt"), X, [{int(one)} for one in three]),
        (onmargin.BlockClassifier(update="simproj"), X, y),
    ],
    '``update="max"`` of blocks with `sets`': [],
    '``SequenceTagger(update="perceptron")``': [
        (onmargin.SequenceTagger(update="perceptron"), [[["a"], ["b"]]], [["s", "t"]])
    ],
    '``SequenceTagger`` with ``update="conproj"`` or ``"exact"``': [
        (onmargin.SequenceTagger(update=update), [[["a"], ["b"]]], [["s", "t"]]) for update in ("conproj", "exact")
    ],
    '``SequenceTagger(cost="hamming")`` with `label_cost`': [],
    "``StructuredPredictor`` whose model has no ``cost_augmented_argmax``": [],
    '|learners without a theorem|; ``geometry="adaptive"`` and ``"normalized"``': [
        *((kind(), X, X[:, 0] if is_regressor(kind()) else y) for kind in WITHOUT_THEOREM),
        (PassiveAggressiveClassifier(geometry="adaptive"), X, y),
        (onmargin.PassiveAggressiveRegressor(geometry="normalized"), X, X[:, 0]),
    ],
    "``OnlineLogisticClassifier``": [
        (onmargin.OnlineLogisticClassifier(geometry=geometry), X, target)
        for geometry in ("euclidean", "adaptive")
        for target in (y, three)
    ],
    "``AROWClassifier`` and ``AROWRegressor`` with `forgetting`": [
        (onmargin.AROWClassifier(forgetting=0.1), X, y),
        (onmargin.AROWRegressor(forgetting=0.1), X, X[:, 0]),
    ],
    "``OnlineRidgeRegressor`` with `forgetting`": [(onmargin.OnlineRidgeRegressor(forgetting=0.1), X, X[:, 0])],
    'several models with ``combine="leader"``; several taggers': [
        (PassiveAggressiveClassifier(C="auto"), X, y),
        (PassiveAggressiveClassifier(average="best"), X, y),
        (onmargin.AROWClassifier(average="best"), X, y),
        (onmargin.AutoRegressor(combine="leader"), X, X[:, 0]),
        (onmargin.SequenceTagger(C="auto"), [[["a"], ["b"]]], [["s", "t"]]),
    ],
    "``budget=``": [(PassiveAggressiveClassifier(kernel="rbf", budget=5), X, y)],
    "kernels that are not positive semidefinite on the rows; kernels with more than 3000 rows": [
        (PassiveAggressiveClassifier(kernel="sigmoid", gamma=3.0, coef0=-2.0), X, y),
    ],
    'class weights, except a dict of them with PA-I, "conproj" or "exact"': [
        (PassiveAggressiveClassifier(class_weight="balanced"), X, y),
        (PassiveAggressiveClassifier(class_weight={0: 2.0}, C=inf), X, y),
        (PassiveAggressiveClassifier(class_weight={0: 2.0}, cost="squared"), X, three),
        (onmargin.AROWClassifier(class_weight={0: 2.0}), X, y),
        (onmargin.AutoClassifier(class_weight={0: 2.0}), X, y),
        (onmargin.Perceptron(class_weight={0: 2.0}), X, y),
        (onmargin.DualAscentClassifier(class_weight={0: 2.0}), X, y),
    ],
    "``margin=0``": [(PassiveAggressiveClassifier(margin=0.0), X, y)],
}


def test_the_table_of_the_documentation_is_true():
    """It has the rows above, whose learners are refused, and no other public learner is."""
    text = (Path(__file__).parents[2] / "docs/bounds.rst").read_text(encoding="utf-8")
    section = text.split("What certify refuses\n---", 1)[1].split("What the bounds are not about", 1)[0]
    rows = re.findall(r"\n   \* - (.*?)\n     - ", section, re.DOTALL)[1:]
    assert [" ".join(row.split()) for row in rows] == list(TABLE)
    for refused in TABLE.values():
        for model, rows, target in refused:
            with pytest.raises(NoTheorem):
                certify(model, rows, target)


def test_structures_that_cannot_be_searched_are_refused():
    class Unsearched:
        def __getattr__(self, name):
            if name == "cost_augmented_argmax":
                raise AttributeError(name)
            return getattr(Chains(), name)

    with pytest.raises(NoTheorem, match="cost_augmented_argmax"):
        certify(onmargin.StructuredPredictor(model=Unsearched()), chains, paths)


# A stream for every public learner with its default parameters.
RANKS = [{int(one)} for one in three]
STREAMS = {
    "BlockClassifier": (X, y),
    "ClassFeatureClassifier": (random.standard_normal((60, 3, 4)), three),
    "LabelRanker": (X, RANKS),
    "PassiveAggressiveUniclass": (X, None),
    "SequenceTagger": ([[["a"], ["b"]]] * 3, [["s", "t"]] * 3),
    "StructuredPredictor": (chains, paths),
    "Winnow": (np.abs(X), y),
}


def default(kind):
    """Return an untrained model and a stream for it."""
    name = next(base.__name__ for base in kind.__mro__ if base in LEARNERS)
    rows, target = STREAMS.get(name, (X, X[:, 0] if name.endswith("Regressor") else y))
    model = kind(model=Chains()) if name == "StructuredPredictor" else kind()
    return model, rows, three if name == "OrdinalRegressor" else target


@pytest.mark.parametrize("name", [kind.__name__ for kind in LEARNERS])
@pytest.mark.filterwarnings("ignore:margin .* is out of reach:UserWarning")
def test_every_learner_is_certified_or_in_the_table(name):
    model, rows, target = default(getattr(onmargin, name))
    refused = [one for one, *_ in chain(*TABLE.values())]
    if any(type(model) is type(one) and one.get_params() == model.get_params() for one in refused):
        with pytest.raises(NoTheorem):
            certify(model, rows, target)
    else:
        certificate = certify(model, rows, target)
        assert certificate.holds or not all(condition.met for condition in certificate.conditions)


def foreign(part):
    """Return a part like this one, of a class that no theorem is registered for."""
    make, arguments, *_ = part.__reduce__()
    settings = getattr(make, "keywords", {})
    return type("Foreign", (type(part),), {})(*getattr(make, "args", ()), *arguments, **settings)


def with_part(name, kind, make):
    """Return a subclass of an estimator, whose plan has another task, step or geometry: `make` of its own."""

    class Other(kind):
        def plan(self):
            plan = super().plan()
            if name == "task":
                return replace(plan, task=lambda labels: make(plan.task(labels)))
            if name == "geometry":
                return replace(plan, weights=lambda *arguments: make(plan.weights(*arguments)))
            step = plan.step
            return replace(plan, step=make(step) if isinstance(step, Step) else lambda X: make(step(X)))

    # scikit-learn reads the parameters of the signature.
    Other.__init__ = kind.__init__
    return Other


def foreign_within(part):
    """Return a part like this one, made of foreign parts."""
    make, arguments, *_ = part.__reduce__()
    assert any(isinstance(one, Geometry) for one in arguments)
    return make(*(foreign(one) if isinstance(one, Geometry) else one for one in arguments))


# Learners that have a theorem: every one with its default parameters, and others.
CERTIFIED = {kind.__name__: default(kind) for kind in LEARNERS if kind not in WITHOUT_THEOREM} | {
    name: (model, *(target if isinstance(target, tuple) else (X, target)))
    for name, (model, target, _) in BOUNDS.items()
}


@pytest.mark.parametrize("part", ["task", "step", "geometry"])
@pytest.mark.parametrize("name", CERTIFIED)
@pytest.mark.filterwarnings("ignore:margin .* is out of reach:UserWarning")
def test_a_foreign_part_has_no_theorem(name, part):
    """Certificates come from the parts that ran, not from the names of options."""
    model, rows, target = CERTIFIED[name]
    if name.startswith("Auto") and part != "task":
        pytest.skip("the regret bound holds for models of any step and geometry")
    other = with_part(part, type(model), foreign)(**model.get_params(deep=False))
    certify(model, rows, target)
    with pytest.raises(NoTheorem, match=r"no theorem covers Other: .*\bForeign\b"):
        certify(other, rows, target)


@pytest.mark.parametrize("update", ["max", "conproj", "simperc"])
@pytest.mark.parametrize("kind", [onmargin.BlockClassifier, onmargin.ClassFeatureClassifier])
@pytest.mark.filterwarnings("ignore:margin .* is out of reach:UserWarning")
def test_a_foreign_part_of_a_geometry_has_no_theorem(kind, update):
    """Trials on the simplex have a geometry that is made of another."""
    _, *stream = default(kind)
    certify(kind(geometry="entropic", C=0.01, update=update), *stream)
    other = with_part("geometry", kind, foreign_within)(geometry="entropic", C=0.01, update=update)
    with pytest.raises(NoTheorem, match="geometry AdditiveBlocks of Foreign"):
        certify(other, *stream)


def made(kind):
    """Return an object of a class, without values."""
    return kind.__new__(kind)


@pytest.mark.parametrize("field", Parts._fields)
def test_a_theorem_covers_only_the_types_that_the_table_lists(field):
    listed = {kinds for row in THEOREMS for kinds in product(row.tasks, row.steps, row.geometries)}
    for kinds in listed:
        parts = Parts(*map(made, kinds))
        assert is_listed(parts)
        assert not is_listed(parts._replace(**{field: made(type("Foreign", (type(getattr(parts, field)),), {}))}))


def test_rounds_of_another_kind_have_no_theorem():
    """The loop over the rounds is one of those that the theorems are about."""

    class OtherLoop(PassiveAggressiveClassifier):
        def partial_fit(self, *arguments, **named):
            super().partial_fit(*arguments, **named)
            learner = self._model.learner
            self._model.learner = type("Foreign", (type(learner),), {})(learner.task, learner.step, learner.geometry)
            return self

    OtherLoop.__init__ = PassiveAggressiveClassifier.__init__
    with pytest.raises(NoTheorem, match="its rounds are those of a Foreign"):
        certify(OtherLoop(), X, y)


@pytest.mark.parametrize("kind", [PassiveAggressiveClassifier, onmargin.PassiveAggressiveRegressor])
def test_another_step_is_not_passive_aggressive(kind):
    with pytest.raises(NoTheorem, match="step Constant"):
        certify(*default(with_part("step", kind, lambda step: Constant(5.0))))


def test_values_of_parts_count_and_not_options():
    """The theorem is that of PA-II with C = 0.25 if that is the step, whatever the options say."""
    kind = with_part("step", PassiveAggressiveClassifier, lambda step: Projection(damping=2.0))
    own = certify(PassiveAggressiveClassifier(C=0.25, loss="squared_hinge"), X, y)
    other = certify(kind(C=3.0), X, y)
    assert (other.theorem, other.bound) == (own.theorem, pytest.approx(own.bound))
    with pytest.raises(NoTheorem, match="or their values"):
        certify(with_part("step", PassiveAggressiveClassifier, lambda step: Projection(1.0, 2.0))(), X, y)


@pytest.mark.parametrize("kind", [PassiveAggressiveClassifier, onmargin.Perceptron, onmargin.PNormPerceptron])
def test_a_third_class_that_appeared_late_is_a_condition(kind):
    """Two classes have one column, which a third class splits: no theorem covers the rounds before and after."""
    late, named = kind().partial_fit(X, THIRDS), kind().partial_fit(X, THIRDS, classes=range(3))
    unmet = [condition for condition in certify(late, X, THIRDS).conditions if not condition.met]
    assert any("pass classes= in the first call" in condition.measured for condition in unmet)
    assert all("classes=" not in condition.measured for condition in certify(named, X, THIRDS).conditions)


RECORDS = [dict(zip("abc", row, strict=True)) for row in np.random.default_rng(4).normal(size=(80, 3)).tolist()]
SIGNS = [int(x["a"] + 0.2 * x["b"] > 0) for x in RECORDS]


@pytest.mark.parametrize("name", ["PassiveAggressiveClassifier", "AROWClassifier", "Perceptron"])
def test_learners_of_streams_are_certified_as_estimators(name):
    X = np.array([[*x.values()] for x in RECORDS])
    of_rows = certify(getattr(onmargin, name)(), X, SIGNS)
    untrained = getattr(stream, name)()
    learned = getattr(stream, name)().learn_many(RECORDS, SIGNS)
    for model, rows in [(untrained, RECORDS), (learned, RECORDS), (untrained, X)]:
        certificate = certify(model, rows, SIGNS)
        assert certificate.holds
        assert certificate.totals.mistakes == of_rows.totals.mistakes
        assert certificate.bound == pytest.approx(of_rows.bound, rel=0.02)
    assert not untrained._has_begun
    assert not certify(learned, RECORDS[1:], SIGNS[1:]).holds


def test_texts_are_certified_but_not_with_idf():
    texts, labels = ["a good text", "a bad one", "good day"], ["x", "y", "x"]
    assert certify(stream.PassiveAggressiveClassifier(), texts, labels).holds
    with pytest.raises(NoTheorem, match="idf=False"):
        certify(stream.PassiveAggressiveClassifier(features=RecordFeatures(idf=True)), texts, labels)


def test_a_stream_learner_without_an_estimator_has_no_theorem():
    class Other(stream.PassiveAggressiveClassifier):
        pass

    with pytest.raises(NoTheorem, match="no estimator of onmargin has this name"):
        certify(Other(), RECORDS, SIGNS)


def test_late_classes_of_streams_name_the_estimator():
    model, labels = stream.PassiveAggressiveClassifier(), [k % 3 for k in range(80)]
    certificate = certify(model, RECORDS, labels)
    assert not certificate.holds
    assert "use onmargin.PassiveAggressiveClassifier, with classes=" in certificate.summary


def test_a_bound_above_the_number_of_rounds_is_called_vacuous():
    X, y = np.array([[*x.values()] for x in RECORDS]), SIGNS
    wide = certify(onmargin.PassiveAggressiveClassifier(C=10), 50 * X, y)
    assert wide.holds
    assert wide.vacuous
    assert "vacuous" in wide.summary
    assert "Rows of norm 1" in wide.summary
    narrow = certify(onmargin.PassiveAggressiveClassifier(C=0.1), X / np.linalg.norm(X, axis=1)[:, None], y)
    assert not narrow.vacuous
    assert "vacuous" not in narrow.summary


def mean_before_each_round(model, X, y):
    """Return the mean of the weights, intercept last, before each row is learned."""
    named = {} if is_regressor(model) else {"classes": np.unique(y)}
    own, held = clone(model), []
    for i in range(len(y)):
        coef = np.atleast_2d(getattr(own, "coef_", np.zeros(1)))
        held.append(np.column_stack([coef, own.intercept_]) if i else 0.0)
        own.partial_fit(X[i : i + 1], y[i : i + 1], **named)
    return sum(held) / len(held)


@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (PassiveAggressiveClassifier(C=0.5), y),
        (PassiveAggressiveClassifier(C=0.5, average=True), three),
        (onmargin.PassiveAggressiveRegressor(C=0.1), X @ np.ones(4)),
    ],
    ids=["two classes", "three classes", "numbers"],
)
@pytest.mark.parametrize("of", [np.asarray, csr_array], ids=["dense", "CSR"])
def test_the_risk_is_about_the_weights_that_predicted(model, targets, of):
    rows = of(X)
    certificate = certify(model, rows, targets)
    risk = certificate.risk(largest_loss=10.0, delta=0.1)
    assert risk.bound == 10 * theory.online_to_batch_risk(certificate.totals.loss / 10, 60, 0.1)
    expected = mean_before_each_round(model.set_params(average=False), X, targets)
    found = np.column_stack([np.atleast_2d(risk.coef), risk.intercept])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_what_the_risk_needs():
    certificate = certify(PassiveAggressiveClassifier(C=0.5), X, y)
    with pytest.raises(ValueError, match="between 0 and 1"):
        certificate.risk(largest_loss=1e-3)
    with pytest.raises(ValueError, match="largest_loss must be above 0"):
        certificate.risk(largest_loss=0.0)
    with pytest.raises(ValueError, match="0 < delta < 1"):
        certificate.risk(largest_loss=10.0, delta=0.0)


@pytest.mark.parametrize(
    "model",
    [
        PassiveAggressiveClassifier(C=0.5, kernel="rbf"),
        PassiveAggressiveClassifier(C=0.5, class_weight={0: 1.0, 1: 2.0}),
        onmargin.PNormPerceptron(),
        PassiveAggressiveClassifier(C=[0.1, 1.0], combine="hedge"),
        PassiveAggressiveClassifier(max_iter=3, tol=None, random_state=0).fit(X, y),
    ],
    ids=["kernel", "class weights", "p-norm", "several", "three passes"],
)
def test_runs_without_a_risk(model):
    with pytest.raises(NoTheorem, match="no risk bound covers this run"):
        certify(model, X, y).risk(largest_loss=10.0)
