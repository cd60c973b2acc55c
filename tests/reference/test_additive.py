"""The compiled quasi-additive geometries equal their NumPy references, which follow the papers."""

from functools import partial
from math import log, sqrt

import numpy as np
import pytest

from onmargin import reference
from onmargin._core.geometries.additive import Balanced, Entropic, PNorm
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.steps.step import Aggressive, Fixed, Optimal, Projection, Proportional
from onmargin._core.tasks.task import Binary, Multiclass, Regression
from onmargin.learner import Learner, as_rows
from tests.streams import CONTAINERS, gaussian, uneven_weights

# The geometry of the core, and its twin.
GEOMETRIES = {
    "entropic": (Entropic, reference.entropic()),
    "balanced": (Balanced, reference.balanced()),
} | {f"p={p:g}": (partial(PNorm, p=p), reference.pnorm(p)) for p in (2.0, 3.0, 7.3, 50.0)}
# The step of the core, and its twin.
STEPS = {
    "fixed": (Fixed, reference.fixed),
    "aggressive": (Aggressive, reference.aggressive),
    "optimal": (Optimal, reference.optimal),
    "bounded": (lambda C: Projection(cap=C), reference.bounded),
}
SCALES = (1e-8, 1.0, 1e8)


def asks(task, margin):
    """Return a task of the reference with a margin other than 1."""

    def asked(scores, y):
        half_spaces, mistake = task(scores, y)
        return [h._replace(loss=h.loss - 1 + margin) for h in half_spaces], mistake

    return asked


def unit(kind, scale):
    """Return the score of rows of a scale with weights of typical size, and the C for such weights."""
    return (1.0, 0.5 / scale**2) if kind.startswith("p") else (scale, 0.5 / scale)


def assert_twins(learner, run, *, dual):
    """Compare with the reference; `dual` is the tolerance of the dual value: potentials on the simplex are about 1."""
    weights = learner.geometry.weights()
    np.testing.assert_allclose(weights, run.weights.T, rtol=1e-7, atol=1e-7 * np.abs(run.weights).max())
    totals = learner.totals
    assert (totals.rounds, totals.mistakes, totals.updates) == (run.rounds, run.mistakes, run.updates)
    assert totals.loss == pytest.approx(run.loss, rel=1e-7, abs=0)
    assert totals.squared_loss == pytest.approx(run.squared_loss, rel=1e-7, abs=0)
    assert totals.dual_value == pytest.approx(run.dual_value, rel=1e-7, abs=dual)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("columns", [1, 4])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", GEOMETRIES)
def test_classification(*, kind, step, columns, container, scale):
    if step == "aggressive" and scale < 1 and not kind.startswith("p"):
        pytest.skip("a step as long as the loss moves weights on the simplex by less than the twin can tell")
    stream = gaussian("binary" if columns == 1 else "multiclass", columns, n_features=9)  # a row of zeros among them
    score, C = unit(kind, scale)
    margin, threshold = 0.2 * score, 0.03 * score
    weight = uneven_weights(len(stream.y))
    build, link = GEOMETRIES[kind]
    task = Binary(margin) if columns == 1 else Multiclass(margin)
    learner = Learner(task, STEPS[step][0](C), build(9, columns, threshold=threshold))
    learner.learn(as_rows(CONTAINERS[container](scale * stream.X)), stream.y, weight)
    run = reference.play_additive(
        scale * stream.X,
        stream.y,
        asks(reference.binary if columns == 1 else reference.multiclass, margin),
        STEPS[step][1],
        link,
        C=C,
        columns=columns,
        threshold=threshold,
        weight=weight,
    )
    assert run.updates >= 10
    assert_twins(learner, run, dual=0 if kind.startswith("p") else 1e-12)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("step", ["proportional", "bounded"])
@pytest.mark.parametrize("kind", GEOMETRIES)
def test_regression(*, kind, step, container, scale):
    """Rows of zeros have their own test below."""
    stream = gaussian("regression", n_features=9)
    X, y = stream.X[stream.X.any(axis=1)], stream.y[stream.X.any(axis=1)]
    score, C = unit(kind, scale)
    y, epsilon, rate = 0.2 * score * y, 0.02 * score, 0.2 * C / score
    weight = uneven_weights(len(y))
    build, link = GEOMETRIES[kind]
    core = {"proportional": Proportional(rate), "bounded": Projection(cap=C)}[step]
    twin = {"proportional": reference.proportional, "bounded": reference.bounded}[step]
    learner = Learner(Regression(epsilon), core, build(9, 1))
    learner.learn(as_rows(CONTAINERS[container](scale * X)), y, weight)
    run = reference.play_additive(
        scale * X, y, reference.regression(epsilon), twin, link, C=rate if step == "proportional" else C, weight=weight
    )
    assert run.updates >= 10
    assert_twins(learner, run, dual=0 if kind.startswith("p") else 1e-12)


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_a_row_of_zeros_moves_nothing_and_is_not_an_update(kind):
    """G3, for the step that depends only on the loss."""
    learner = Learner(Regression(0.0), Proportional(0.5), GEOMETRIES[kind][0](2, 1))
    learner.learn(as_rows(np.zeros((1, 2))), np.array([1.0]))
    assert learner.totals.loss == 1
    assert not learner.geometry.theta.any()
    assert learner.totals.updates == 0
    assert learner.totals.dual_value == 0


@pytest.mark.parametrize(
    "step",
    [
        "fixed",
        "aggressive",
        "optimal",
        "bounded",
    ],
)
def test_a_constant_row_moves_nothing_on_the_simplex_and_is_not_an_update(step):
    """8.4: max z = min z."""
    learner = Learner(Binary(2.0), STEPS[step][0](0.5), Entropic(3, 1, threshold=5.0))
    learner.learn(as_rows(np.ones((1, 3))), np.array([1.0]))
    run = reference.play_additive(
        np.ones((1, 3)), np.ones(1), asks(reference.binary, 2.0), STEPS[step][1], reference.entropic(), threshold=5.0
    )
    assert_twins(learner, run, dual=1e-12)


@pytest.mark.parametrize("columns", [1, 4])
@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("step", STEPS)
def test_p_of_two_is_euclidean(step, container, columns):
    stream = gaussian("binary" if columns == 1 else "multiclass", columns, n_features=9)
    task, rows = Binary() if columns == 1 else Multiclass(), as_rows(CONTAINERS[container](stream.X))
    weight = uneven_weights(len(stream.y))
    curved, plain = (
        Learner(task, STEPS[step][0](0.3), geometry)
        for geometry in (PNorm(9, columns, 2.0), Euclidean(9, columns, np.float64))
    )
    curved.learn(rows, stream.y, weight)
    plain.learn(rows, stream.y, weight)
    np.testing.assert_allclose(curved.geometry.weights(), plain.geometry.weights, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(curved.scores(rows), plain.scores(rows), rtol=1e-12, atol=1e-12)
    for name in "rounds", "mistakes", "updates":
        assert curved.totals[name] == plain.totals[name]
    for name in "loss", "squared_loss", "dual_value":
        assert curved.totals[name] == pytest.approx(plain.totals[name], rel=1e-12)


def test_p_of_two_is_euclidean_for_regression():
    stream = gaussian("regression", n_features=9)
    learners = [
        Learner(Regression(0.0), Proportional(0.05), geometry)
        for geometry in (PNorm(9, 1, 2.0), Euclidean(9, 1, float))
    ]
    for learner in learners:
        learner.learn(as_rows(stream.X), stream.y)
    curved, plain = learners
    np.testing.assert_allclose(curved.geometry.weights(), plain.geometry.weights, rtol=1e-12, atol=1e-12)
    assert curved.totals.squared_loss == pytest.approx(plain.totals.squared_loss, rel=1e-12)


# Links and potentials.

THETAS = [
    np.array([1.0, 2.0]),
    np.array([-0.3, 0.0, 4.0, -2.5, 1e-3]),
    np.random.default_rng(5).normal(scale=3.0, size=20),
]


def weights_at(kind, theta):
    """Return the weights of the core at theta, which one mistake sets."""
    learner = Learner(Binary(), Fixed(1.0), GEOMETRIES[kind][0](len(theta), 1, threshold=1e6))
    learner.learn(as_rows(theta[None, :]), np.array([1.0]))
    assert learner.geometry.theta[:, 0].tolist() == theta.tolist()
    return learner.geometry.weights()[0]


@pytest.mark.parametrize("theta", THETAS, ids=len)
@pytest.mark.parametrize("kind", GEOMETRIES)
def test_the_link_is_the_gradient_of_the_potential(kind, theta):
    link, step = GEOMETRIES[kind][1], 1e-5 * np.abs(theta).max()
    slopes = [
        (link.potential(theta + step * axis) - link.potential(theta - step * axis)) / (2 * step)
        for axis in np.eye(len(theta))
    ]
    np.testing.assert_allclose(link.weights(theta), slopes, atol=1e-7 * np.abs(slopes).max())
    np.testing.assert_allclose(weights_at(kind, theta), slopes, atol=1e-7 * np.abs(slopes).max())


def conjugate(kind, theta):
    """Return F of the weights of the core at theta, as in section 2."""
    if kind.startswith("p="):
        p = float(kind[2:])
        return float(np.linalg.norm(weights_at(kind, theta), p / (p - 1)) ** 2 / 2)
    w = weights_at("entropic", theta if kind == "entropic" else np.concatenate([theta, -theta]))
    if kind == "balanced":
        np.testing.assert_allclose(weights_at(kind, theta), w[: len(theta)] - w[len(theta) :], rtol=1e-12, atol=1e-15)
    w, n = w[w > 0], len(w)
    return float(w @ np.log(n * w))


@pytest.mark.parametrize("theta", THETAS, ids=len)
@pytest.mark.parametrize("kind", GEOMETRIES)
def test_equality_of_fenchel(kind, theta):
    """F(g(theta)) + G(theta) = <g(theta), theta>."""
    w, G = weights_at(kind, theta), GEOMETRIES[kind][1].potential(theta)
    assert conjugate(kind, theta) + G == pytest.approx(w @ theta, rel=1e-12)


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_the_curvature_is_a_bound(kind):
    """<z, Hess G z>, by second differences, never exceeds it, and comes near it except for p-norms with p > 2."""
    link, random, largest = GEOMETRIES[kind][1], np.random.default_rng(0), 0.0
    for _ in range(400):
        z = random.choice([-1.0, 0.0, 1.0], 3)
        theta = random.normal(size=3) * random.choice([0.1, 1.0, 3.0]) + 2 * np.abs(z) * random.integers(0, 2)
        along = z @ (link.weights(theta + 1e-5 * z) - link.weights(theta - 1e-5 * z)) / 2e-5
        if link.curvature(z) > 0:
            largest = max(largest, along / link.curvature(z))
    assert 0.5 < largest <= 1 + 1e-6


def test_golden_link_of_p_4():
    """Section 15: p = 4, theta = (1, 2)."""
    learner = Learner(Binary(), Fixed(1.0), PNorm(2, 1, 4.0))
    learner.learn(as_rows(np.array([[1.0, 2.0]])), np.array([1.0]))
    np.testing.assert_allclose(learner.geometry.weights()[0], np.array([1, 8]) / sqrt(17), rtol=1e-15)
    np.testing.assert_allclose(reference.pnorm(4.0).weights(np.array([1.0, 2.0])), np.array([1, 8]) / sqrt(17))


# The optimal step in closed form.


def closed_form(w, z, gamma, C):
    """Return alpha of section 8.4, for z of -1, 0 and 1."""
    up, down = w[z == 1].sum(), w[z == -1].sum()
    if up - down >= gamma or z.max() == z.min():
        return 0.0
    if gamma >= 1 or up == 0:
        return C
    rest = 1 - up - down
    beta = gamma * rest + sqrt(gamma**2 * rest**2 + 4 * (1 - gamma**2) * up * down)
    return min(C, log(beta / (2 * (1 - gamma) * up)))


def test_golden_alpha():
    """Section 15: W+ = W- = 1/2, gamma = 0.1."""
    learner = Learner(Binary(0.1), Optimal(1.0), Entropic(2, 1))
    learner.learn(as_rows(np.array([[1.0, -1.0]])), np.array([1.0]))
    alpha = log(sqrt(1.1 / 0.9))
    assert alpha == pytest.approx(0.1003, abs=5e-5)
    np.testing.assert_allclose(learner.geometry.theta[:, 0], [alpha, -alpha], rtol=1e-14)
    assert learner.scores(as_rows(np.array([[1.0, -1.0]])))[0, 0] == pytest.approx(0.1)


@pytest.mark.parametrize("gamma", [0.05, 0.4, 0.95, 0.999, 1.5])
@pytest.mark.parametrize("C", [0.02, 0.5, 40.0])
@pytest.mark.parametrize("container", ["dense", "csr_array"])
def test_optimal_step_on_the_simplex(container, C, gamma):
    random = np.random.default_rng(1)
    X, y = random.choice([-1.0, 0.0, 1.0], (60, 6)), random.choice([-1.0, 1.0], 60)
    X[:6] = [[1] * 6, [-1] * 6, [0] * 6, [1, 0, 0, 0, 0, 0], [-1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1]]
    learner = Learner(Binary(gamma), Optimal(C), Entropic(6, 1))
    for x, label in zip(X, y, strict=True):
        w, before = learner.geometry.weights()[0], learner.geometry.theta[:, 0].copy()
        learner.learn(as_rows(CONTAINERS[container](x[None, :])), np.array([label]))
        move = learner.geometry.theta[:, 0] - before
        alpha = closed_form(w, label * x, gamma, C)
        # Weights as small as exp(-40) lose precision in sums.
        np.testing.assert_allclose(move, alpha * label * x, rtol=1e-7, atol=1e-12 * max(1.0, np.abs(before).max()))


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_uncapped_optimal_step_leaves_no_loss(kind):
    """If some weights have no loss, the round has none after the step: the half-space is tight."""
    stream = gaussian("binary", n_features=9, n_rows=200)
    margin = 1e-3 if kind in ("entropic", "balanced") else 1.0
    learner = Learner(Binary(margin), Optimal(1e9), GEOMETRIES[kind][0](9, 1))
    steps = 0
    for x, label in zip(stream.X, stream.y, strict=True):
        row, y = as_rows(x[None, :]), np.array([label])
        if (kind == "entropic" and (label * x).max() < 0.1) or not x.any():
            continue
        steps += learner.losses(row, y)[0] > 0
        learner.learn(row, y)
        assert learner.losses(row, y)[0] <= 1e-9
    assert steps > 10


def best_step(kind, theta, x, y, *, epsilon=0.05, C=1.0):
    """Return the steps of core and reference from theta, in regression, where steps may cross theta = 0."""
    build, link = GEOMETRIES[kind]
    learner = Learner(Binary(), Fixed(1.0), build(1, 1))
    learner.learn(as_rows(np.array([[theta]])), np.ones(1))
    learner.task, learner.step = Regression(epsilon), Optimal(C)
    learner.learn(as_rows(np.array([[x]])), np.array([y]))
    score = float(link.weights(np.array([theta]))[0] * x)
    z = np.sign(y - score) * np.array([x])
    half_space = reference.HalfSpace(np.ones(1), abs(y - score) - epsilon)
    far = reference.optimal(link, np.array([theta]), z, half_space, C)
    return (learner.geometry.theta[0, 0] - theta) / z[0], far


@pytest.mark.parametrize(
    ("kind", "theta", "x", "y"),
    [
        ("p=2", 1.0, 1.0, 0.47),
        ("p=3", -1.0, 1.0, -0.2),
        ("p=7.3", 0.54, 0.58, 0.14),
        ("p=50", -1.04, -1.27, 0.21),
        ("balanced", 3.0, 1.0, 0.2),
        ("balanced", 1.0, 1.0, -0.3),
    ],
)
def test_optimal_step_past_zero(kind, theta, x, y):
    """Near theta = 0 the sum is almost zero."""
    core, twin = best_step(kind, theta, x, y)
    assert core == pytest.approx(twin, rel=1e-6, abs=0)


def test_optimal_step_below_a_threshold():
    """With y = -1, threshold 1/2 and margin 0.1, w.x must fall from 0.5 to 0.4, so alpha = ln 1.5."""
    learner = Learner(Binary(0.1), Optimal(10.0), Entropic(2, 1, threshold=0.5))
    learner.learn(as_rows(np.array([[1.0, 0.0]])), np.array([-1.0]))
    np.testing.assert_allclose(learner.geometry.theta[:, 0], [-log(1.5), 0.0])


def test_rows_of_the_wrong_type_are_refused():
    learner = Learner(Binary(), Fixed(1.0), Entropic(2, 1))
    with pytest.raises(ValueError, match="do not fit weights for 2 features in float64"):
        learner.learn(as_rows(np.ones((1, 2), np.float32)), np.ones(1))
