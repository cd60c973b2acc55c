"""A certificate holds for any stream, learner and competitor, but not for a run that was tampered with."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import onmargin
from onmargin._core import rounds
from onmargin.theory import certify
from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore:margin .* is out of reach:UserWarning")

UPDATES = ["max", "simperc", "conproj", "conopt", "exact"]
aggressiveness = st.sampled_from([0.03, 0.4, 3.0])


@st.composite
def rows(draw, most=20):
    """Draw a few rows with few features: on a lattice or of any scale, some repeated, some zero; dense or sparse."""
    n, d = draw(st.integers(1, most)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.standard_normal((n, d))
    family = draw(st.sampled_from(["gaussian", "lattice", "scales", "repeated", "zeros"]))
    if family == "lattice":
        X = np.round(X)
    elif family == "scales":
        X *= 10.0 ** random.integers(-2, 2, (n, 1))
    elif family == "repeated":
        X = X[random.integers(0, min(n, 2), n)]
    elif family == "zeros":
        X[random.random(n) < 0.3] = 0
    return (sparse.csr_matrix(X) if draw(st.booleans()) else X), random


def labels(random, n, k):
    """Draw labels that contain all classes, in any order, independent of the rows."""
    return random.integers(0, k, n)


def checked(model, X, y=None, competitors=(), **given):
    """Check the certificates of the best and of given competitors: each holds or names the condition that fails."""
    certificate = certify(model, X, y, **given)
    unmet = [condition for condition in certificate.conditions if not condition.met]
    assert certificate.holds or unmet, certificate
    assert certificate.along()[-1:] == pytest.approx([certificate.bound], rel=1e-9) or not certificate.along().size
    for competitor in competitors:
        other = certify(model, X, y, competitor, **given)
        assert other.holds or any(not condition.met for condition in other.conditions), other
    return certificate


@given(rows(), st.integers(2, 4), aggressiveness, st.sampled_from([*UPDATES, "perceptron", "mira"]), st.booleans())
def test_classifier(case, k, C, update, intercept):
    X, random = case
    n, d = X.shape
    y = labels(random, n, k)
    model = onmargin.PassiveAggressiveClassifier(C=C, update=update, fit_intercept=intercept)
    columns = 1 if k == 2 else k
    competitor = random.standard_normal((columns, d)), random.standard_normal(columns)
    given = [competitor if intercept else competitor[0]]
    certificate = checked(model, X, y, given, classes=range(k))
    assert certificate.counted == "mistakes"


@given(rows(), st.integers(2, 4), st.sampled_from([0.03, 3.0, inf]), st.booleans())
@examples(30)
def test_squared_and_plain_steps(case, k, C, damped):
    X, random = case
    y = labels(random, X.shape[0], k)
    model = onmargin.PassiveAggressiveClassifier(C=C, loss="squared_hinge" if damped else "hinge", fit_intercept=False)
    checked(model, X, y, [random.standard_normal((1 if k == 2 else k, X.shape[1]))], classes=range(k))


@given(rows(), st.integers(2, 4), st.sampled_from([0.03, 3.0, inf]), st.booleans(), st.booleans())
@examples(30)
def test_costs(case, k, C, damped, max_loss):
    X, random = case
    y = labels(random, X.shape[0], k)
    model = onmargin.PassiveAggressiveClassifier(
        C=C,
        loss="squared_hinge" if damped else "hinge",
        cost=random.uniform(0.1, 9, (k, k)) * (1 - np.eye(k)),
        cost_update="max_loss" if max_loss else "prediction",
    )
    assert checked(model, X, y, classes=range(k)).counted == "cost"


@given(rows(), st.sampled_from([0.03, 3.0, inf]), st.booleans(), st.sampled_from(["euclidean", "entropic"]))
@examples(25)
def test_regressor(case, C, damped, geometry):
    X, random = case
    loss = "squared_epsilon_insensitive" if damped else "epsilon_insensitive"
    model = onmargin.PassiveAggressiveRegressor(C=C, loss=loss, geometry=geometry, fit_intercept=False)
    u = random.standard_normal(X.shape[1])
    u = u if geometry == "euclidean" else random.dirichlet(np.ones(X.shape[1]))
    checked(model, X, random.standard_normal(X.shape[0]), [u])


@given(rows(), st.sampled_from([0.03, 3.0, inf]), st.booleans(), st.booleans(), st.sampled_from(["first", "zero"]))
def test_uniclass(case, C, damped, learned, init):
    X, random = case
    loss = "squared_epsilon_insensitive" if damped else "epsilon_insensitive"
    radius = {"radius": "learn", "max_radius": 2.0} if learned else {"epsilon": 0.5}
    model = onmargin.PassiveAggressiveUniclass(C=C, loss=loss, init=init, **radius)
    center = random.standard_normal(X.shape[1])
    checked(model, X, None, [(center, 1.0) if learned else center])


@given(rows(), st.integers(1, 5), aggressiveness, st.sampled_from(UPDATES), st.booleans())
def test_label_ranker(case, k, C, update, calibrate):
    X, random = case
    Y = random.integers(0, 2, (X.shape[0], k))
    model = onmargin.LabelRanker(C=C, update=update, calibrate=calibrate and update != "exact")
    checked(model, X, Y, [(random.standard_normal((k, X.shape[1])), random.standard_normal(k))])


@given(rows(), st.integers(2, 5), aggressiveness, st.sampled_from(UPDATES))
def test_ordinal(case, k, C, update):
    X, random = case
    model = onmargin.OrdinalRegressor(C=C, update=update)
    competitor = random.standard_normal(X.shape[1]), random.standard_normal(k - 1)
    checked(model, X, labels(random, X.shape[0], k), [competitor], classes=range(k))


@given(rows(), aggressiveness, st.sampled_from(UPDATES), st.booleans(), st.sampled_from([0.5, 1.0]))
def test_blocks(case, C, update, parted, margin):
    X, random = case
    n = X.shape[0]
    groups, sets = np.sort(random.integers(0, n, n)), random.integers(0, 2, n)
    model = onmargin.BlockClassifier(C=C, update=update, margin=margin)
    given = {"groups": groups, "sets": sets} if parted and update != "max" else {"groups": groups}
    checked(model, X, random.choice([-1, 1], n), [random.standard_normal(X.shape[1])], classes=[-1, 1], **given)


GEOMETRIES = st.sampled_from(["euclidean", "pnorm", "entropic"])


@given(rows(), st.integers(2, 3), aggressiveness, GEOMETRIES, st.sampled_from(["fixed", "aggressive", "optimal"]))
def test_quasi_additive(case, k, C, geometry, step):
    X, random = case
    model = onmargin.QuasiAdditiveClassifier(geometry=geometry, step=step, C=C / 10, p=3.0, balanced=C < 1)
    checked(model, X, labels(random, X.shape[0], k), classes=range(k))


@given(rows(), aggressiveness, st.sampled_from([1, 3, None]))
@examples(50)
def test_dual_ascent_of_numbers(case, C, window):
    X, random = case
    model = onmargin.DualAscentRegressor(C=C, window=window, fit_intercept=False)
    checked(model, X, random.standard_normal(X.shape[0]) * 3, [random.standard_normal(X.shape[1])])


@given(rows(), aggressiveness, GEOMETRIES, st.sampled_from([1, 3, None]))
@examples(50)
def test_dual_ascent(case, C, geometry, window):
    X, random = case
    model = onmargin.DualAscentClassifier(geometry=geometry, C=C / 10, p=3.0, window=window)
    checked(model, X, labels(random, X.shape[0], 2), classes=[0, 1])


@given(rows(), st.sampled_from(["Perceptron", "PNormPerceptron", "balanced", "plain"]))
def test_perceptrons_and_winnow(case, name):
    X, random = case
    learners = {"balanced": onmargin.Winnow(balanced=True, margin=0.2), "plain": onmargin.Winnow(margin=0.2)}
    X = abs(X) if name == "plain" else X
    X = X / max(1.0, abs(X).max()) if name in learners else X
    model = learners.get(name) or getattr(onmargin, name)()
    certificate = checked(model, X, labels(random, X.shape[0], 2), classes=[0, 1])
    assert certificate.holds


@given(rows(), st.sampled_from(["GradientDescentRegressor", "ExponentiatedGradientRegressor"]), st.booleans())
def test_gradients(case, name, balanced):
    X, random = case
    simplex = name.startswith("Exp")
    model = getattr(onmargin, name)(**({"balanced": balanced} if simplex else {}))
    u = random.dirichlet(np.ones(X.shape[1])) if simplex else random.standard_normal(X.shape[1])
    certificate = checked(model, X, random.standard_normal(X.shape[0]), [u])
    assert certificate.holds
    with pytest.raises(ValueError, match="no dual value"):
        certificate.floor(1.0)


@given(rows(), st.integers(2, 4), aggressiveness, st.sampled_from(["rbf", "poly"]), st.booleans())
@examples(40)
def test_kernels(case, k, C, kernel, damped):
    X, random = case
    model = onmargin.PassiveAggressiveClassifier(C=C, kernel=kernel, gamma=0.5, coef0=1.0, degree=2)
    model.set_params(loss="squared_hinge" if damped else "hinge")
    n = X.shape[0]
    columns = 1 if k == 2 else k
    checked(model, X, labels(random, n, k), [random.standard_normal((columns, n))], classes=range(k))


@given(rows(), st.integers(3, 4), st.sampled_from([0.03, 3.0, inf]), st.booleans())
@examples(40)
def test_one_vs_rest(case, k, C, damped):
    X, random = case
    loss = {"loss": "squared_hinge"} if damped else {}
    model = onmargin.PassiveAggressiveClassifier(C=C, strategy="ovr", fit_intercept=False, **loss)
    checked(model, X, labels(random, X.shape[0], k), [random.standard_normal((k, X.shape[1]))], classes=range(k))


@given(rows(), st.integers(2, 3), aggressiveness, st.sampled_from(["max", "conproj"]))
@examples(40)
def test_class_weights_and_margins(case, k, C, update):
    X, random = case
    weights, margins = (dict(enumerate(random.choice([0.3, 1.0, 4.0], k).tolist())) for _ in range(2))
    model = onmargin.PassiveAggressiveClassifier(C=C, update=update if k > 2 else "max", class_weight=weights)
    model.set_params(class_margin=margins, fit_intercept=False)
    columns = 1 if k == 2 else k
    checked(model, X, labels(random, X.shape[0], k), [random.standard_normal((columns, X.shape[1]))], classes=range(k))


@given(rows(), aggressiveness, st.sampled_from(["max", "simperc", "conproj"]), st.booleans())
@examples(40)
def test_blocks_on_the_simplex(case, C, update, parted):
    X, random = case
    n, d = X.shape
    model = onmargin.BlockClassifier(C=C / 3, update=update, geometry="entropic", margin=0.2)
    given = {"groups": np.arange(n) // 3}
    given |= {"sets": np.arange(n) % 2} if parted and update != "max" else {}
    u = random.random(d) + 0.01
    checked(model, X, random.choice([-1, 1], n), [u / u.sum()], classes=[-1, 1], **given)


@given(rows(), st.sampled_from([0.03, 3.0, inf]), st.booleans())
@examples(40)
def test_balls_on_the_simplex(case, C, damped):
    X, random = case
    loss = {"loss": "squared_epsilon_insensitive"} if damped else {}
    model = onmargin.PassiveAggressiveUniclass(C=C, geometry="entropic", epsilon=0.3, **loss)
    u = random.random(X.shape[1]) + 0.01
    checked(model, X, None, [u / u.sum()])


@given(rows(), st.integers(2, 4), aggressiveness, st.sampled_from([*UPDATES, "squared"]))
def test_class_features(case, k, C, update):
    X, random = case
    Phi = random.standard_normal((X.shape[0], k, X.shape[1]))
    squared = {"loss": "squared_hinge"} if update == "squared" else {"update": update}
    model = onmargin.ClassFeatureClassifier(C=C, **squared)
    checked(model, Phi, labels(random, X.shape[0], k), [random.standard_normal(X.shape[1])], classes=range(k))


@given(rows(), st.integers(2, 4), aggressiveness, st.sampled_from([*UPDATES, "squared"]))
def test_class_features_of_label_sets(case, k, C, update):
    X, random = case
    Phi = random.standard_normal((X.shape[0], k, X.shape[1]))
    squared = {"loss": "squared_hinge"} if update == "squared" else {"update": update}
    model = onmargin.ClassFeatureClassifier(C=C, **squared)
    checked(model, Phi, random.random((X.shape[0], k)) < 0.5, [random.standard_normal(X.shape[1])])


@given(rows(), st.integers(2, 4), st.sampled_from([0.03, 3.0, inf]), st.booleans(), st.booleans())
def test_class_features_with_costs(case, k, C, damped, max_loss):
    X, random = case
    Phi = random.standard_normal((X.shape[0], k, X.shape[1]))
    cost = random.integers(0, 4, (k, k)) * (1 - np.eye(k))
    options = {"loss": "squared_hinge"} if damped else {}
    options |= {"cost_update": "max_loss"} if max_loss else {}
    model = onmargin.ClassFeatureClassifier(C=C, cost=cost, **options)
    checked(model, Phi, labels(random, X.shape[0], k), [random.standard_normal(X.shape[1])], classes=range(k))


@given(
    st.integers(0, 2**31),
    aggressiveness,
    st.sampled_from(["hinge", "squared_hinge"]),
    st.sampled_from(["hamming", "squared_hamming"]),
    st.sampled_from(["prediction", "max_loss"]),
)
@examples(10)
def test_sequences(seed, C, loss, cost, update):
    random = np.random.default_rng(seed)
    X = [[[f"w{random.integers(0, 4)}"] for _ in range(random.integers(1, 5))] for _ in range(8)]
    y = [[str(random.choice(list("ABC"))) for _ in row] for row in X]
    model = onmargin.SequenceTagger(C=C, loss=loss, cost=cost, update=update)
    certificate = checked(model, X, y, [onmargin.SequenceTagger().fit(X, y)])
    assert certificate.holds
    assert certificate.best.gap <= 0.01


# Tampering.


@st.composite
def runs(draw):
    X, random = draw(rows(most=30))
    y = random.integers(0, 2, X.shape[0])
    model = onmargin.PassiveAggressiveClassifier(C=0.5, fit_intercept=False)
    return model.partial_fit(X, y, classes=[0, 1]), X, y


@given(runs(), st.sampled_from(["mistakes", "loss", "squared_loss", "dual_value", "rounds"]), st.sampled_from([-1, 1]))
def test_altered_totals_are_detected(case, name, change):
    model, X, y = case
    before = certify(model, X, y)
    assert before.holds
    totals = dict(model.totals_)
    totals[name] = totals[name] + change
    altered = rounds.Totals()
    altered.__setstate__(totals)
    model._learner._totals = altered
    after = certify(model, X, y)
    assert not after.holds
    assert name in str(after)


@given(runs())
def test_a_changed_c_is_detected(case):
    model, X, y = case
    updates = model.totals_.updates
    model.set_params(C=1e-6)  # shorter than any step
    assert certify(model, X, y).holds == (updates == 0)


@given(runs())
def test_certifying_changes_nothing(case):
    model, X, y = case
    before = model.totals_, model.coef_.copy()
    certify(model, X, y)
    assert model.totals_ == before[0]
    assert (model.coef_ == before[1]).all()


def test_more_mistakes_than_the_bound_are_refused():
    """If the conditions are met but the totals are wrong, the bound itself fails."""
    X, y = np.eye(3), np.array([0, 1, 0])
    certificate = certify(onmargin.PassiveAggressiveClassifier(C=1.0), X, y)
    assert certificate.holds
    assert not replace(certificate, suffered=certificate.bound + 1).holds
    assert "NOT certified" in replace(certificate, suffered=certificate.bound + 1).summary


@given(
    rows(most=8), st.integers(2, 3), st.sampled_from([0.01, 0.3, 5.0]), st.sampled_from(["ovr", "joint"]), st.booleans()
)
@examples(20)
def test_arow(case, k, r, strategy, intercept):
    X, random = case
    y = labels(random, X.shape[0], k)
    model = onmargin.AROWClassifier(r=r, strategy=strategy, fit_intercept=intercept, intercept_scaling=1.0)
    columns = 1 if k == 2 else k
    u = random.standard_normal((columns, X.shape[1])), random.standard_normal(columns) * intercept
    checked(model, X, y, [u], classes=range(k), accuracy=0.5)
    numbers = 3 * random.standard_normal(X.shape[0])
    checked(onmargin.AROWRegressor(r=r, epsilon=0.1), X, numbers, [u[0][0]], accuracy=0.5)


@given(rows(most=8))
@examples(20)
def test_several_models(case):
    X, random = case
    y = labels(random, X.shape[0], 2)
    checked(onmargin.AutoClassifier(), X, y, classes=[0, 1])
    numbers = random.standard_normal(X.shape[0])
    checked(onmargin.PassiveAggressiveRegressor(C=[0.1, 1.0], combine="hedge"), X, numbers)
    checked(onmargin.AutoRegressor(), X, numbers)
