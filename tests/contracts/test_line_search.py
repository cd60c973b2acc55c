"""Bregman projections onto tubes and balls ([NIPS] sec. 6): results of the line search, and its bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

import onmargin
from onmargin import ParameterError, PassiveAggressiveRegressor, PassiveAggressiveUniclass, reference, river, stream
from onmargin.theory import certify
from tests.examples import examples

LINKS = {"entropic": reference.entropic(), "pnorm": reference.pnorm(3.0)}
INVERSES = {  # F, whose divergence is the distance of the projection
    "entropic": lambda w: float((w * np.log(np.maximum(w, 1e-300))).sum()),
    "pnorm": lambda w: float(np.linalg.norm(w, 1.5)) ** 2 / 2,
}


def model(geometry, **options):
    p = {"p": 3.0} if geometry == "pnorm" else {}
    return PassiveAggressiveRegressor(geometry=geometry, line_search=True, fit_intercept=False, **p, **options)


def stream_of(seed, n=12, d=4):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, X @ random.dirichlet(np.ones(d)) + 0.3 * random.standard_normal(n)


@given(st.integers(0, 1000), st.sampled_from(list(LINKS)), st.sampled_from([0.2, 5.0, np.inf]), st.booleans())
@examples(30)
def test_compiled_is_the_twin(seed, geometry, C, rows_are_sparse):
    X, y = stream_of(seed)
    run = reference.play_additive(X, y, reference.regression(0.1), reference.optimal, LINKS[geometry], C=min(C, 1e6))
    fitted = model(geometry, C=min(C, 1e6), epsilon=0.1).partial_fit(sparse.csr_matrix(X) if rows_are_sparse else X, y)
    np.testing.assert_allclose(fitted.coef_, run.weights.ravel(), rtol=1e-6, atol=1e-9)
    assert fitted.totals_.loss == pytest.approx(run.loss, rel=1e-6)
    assert fitted.totals_.dual_value == pytest.approx(run.dual_value, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("geometry", LINKS)
@pytest.mark.parametrize("C", [0.1, 50.0])
def test_step_solves_its_problem(geometry, C):
    """A convex solver with slack finds argmin B_F(w || w_t) + C [|y - w.x| - epsilon]_+."""
    X, y = stream_of(3)
    fitted = model(geometry, C=C, epsilon=0.1).partial_fit(X[:5], y[:5])
    w, F = fitted.coef_.copy(), INVERSES[geometry]
    slope = np.log(np.maximum(w, 1e-300)) + 1 if geometry == "entropic" else grad_of_half_square(w, 1.5)
    x, target = X[5], (X[5] @ w) + 0.6
    moved = fitted.partial_fit(x[None], [target]).coef_

    def objective(v):
        return F(v[:-1]) - F(w) - slope @ (v[:-1] - w) + C * v[-1]

    inside = {"type": "ineq", "fun": lambda v: v[-1] + 0.1 - np.abs(target - v[:-1] @ x)}
    on_simplex = [{"type": "eq", "fun": lambda v: v[:-1].sum() - 1}] if geometry == "entropic" else []
    bounds = [(1e-9, 1) if geometry == "entropic" else (None, None)] * len(w) + [(0, None)]
    start = np.append(moved, max(abs(target - moved @ x) - 0.1, 0))
    found = minimize(objective, start * 0.9 + 0.1 * np.append(w, 0.5), bounds=bounds, constraints=[inside, *on_simplex])
    assert objective(start) <= found.fun + 1e-6
    np.testing.assert_allclose(moved, found.x[:-1], atol=2e-3)


def grad_of_half_square(w, q):
    """Return the gradient of |w|_q^2 / 2."""
    length = np.linalg.norm(w, q)
    return np.sign(w) * np.abs(w) ** (q - 1) * length ** (2 - q) if length > 0 else np.zeros_like(w)


@pytest.mark.parametrize("geometry", LINKS)
def test_uncapped_step_reaches_the_tube_and_a_capped_one_does_not(geometry):
    X, y = stream_of(1)
    searched = model(geometry, C=np.inf).partial_fit(X[:1], y[:1] * 0.3)
    bounded = model(geometry, C=np.inf).set_params(line_search=False).partial_fit(X[:1], y[:1] * 0.3)
    left = [abs(float(X[0] @ one.coef_) - 0.3 * y[0]) for one in (searched, bounded)]
    assert left[0] == pytest.approx(0.1, abs=1e-9) or left[0] < 0.1
    assert left[1] >= left[0] - 1e-12
    assert searched.totals_.dual_value >= bounded.totals_.dual_value - 1e-12


@given(st.integers(0, 1000), st.sampled_from(list(LINKS)), st.sampled_from([0.1, 1.0, np.inf]), st.booleans())
@examples(20)
def test_certificates_hold(seed, geometry, C, searched):
    X, y = stream_of(seed)
    certificate = certify(model(geometry, C=C).set_params(line_search=searched), X, y, accuracy=0.1)
    assert certificate.holds or not all(condition.met for condition in certificate.conditions)


def test_streams_and_river_learn_the_same():
    X, y = stream_of(0)
    whole = model("pnorm").partial_fit(X, y)
    options = {"geometry": "pnorm", "p": 3.0, "line_search": True, "fit_intercept": False}
    single = stream.PassiveAggressiveRegressor(**options)
    theirs = river.PassiveAggressiveRegressor(**options)
    for x, target in zip(X, y.tolist(), strict=True):
        single.learn_one(x, target)
        theirs.learn_one(dict(enumerate(x.tolist())), target)
    assert single.predict_one(X[0]) == whole.predict(X[:1])[0]
    assert theirs.predict_one(dict(enumerate(X[0].tolist()))) == pytest.approx(whole.predict(X[:1])[0])


@pytest.mark.parametrize(
    "options",
    [
        {"line_search": True},
        {"line_search": True, "geometry": "entropic", "loss": "squared_epsilon_insensitive", "fit_intercept": False},
        {"geometry": "pnorm", "average": True, "fit_intercept": False},
        {"geometry": "pnorm", "C": "auto", "fit_intercept": False},
    ],
)
def test_refusals(options):
    X, y = stream_of(0)
    with pytest.raises(ParameterError):
        PassiveAggressiveRegressor(**options).partial_fit(X, y)


def ball(geometry, **options):
    p = {"p": 3.0} if geometry == "pnorm" else {}
    return PassiveAggressiveUniclass(geometry=geometry, **{"line_search": True, "init": "zero", **p, **options})


def points_of(seed, geometry, n=12, d=4):
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(d), n) if geometry == "entropic" else random.standard_normal((n, d)) * 2


@given(
    st.integers(0, 1000),
    st.sampled_from(list(LINKS)),
    st.sampled_from([0.05, 100.0]),
    st.booleans(),
    st.sampled_from([(False, "zero"), (True, "zero"), (False, "first")]),
)
@examples(30)
def test_compiled_ball_is_the_twin(seed, geometry, C, search, given_as):
    X, (rows_are_sparse, init) = points_of(seed, geometry), given_as
    first = init == "first" and geometry == "pnorm"
    rows, start = (X[1:], X[0]) if first else (X, None)
    run = reference.linked_uniclass(rows, 0.2, LINKS[geometry], C=C, search=search, start=start)
    fitted = ball(geometry, C=C, epsilon=0.2, line_search=search, init=init)
    fitted.partial_fit(sparse.csr_matrix(X) if rows_are_sparse else X)
    np.testing.assert_allclose(fitted.center_, run.center, rtol=1e-6, atol=1e-8)
    assert fitted.totals_.loss == pytest.approx(run.loss, rel=1e-6)
    assert fitted.totals_.dual_value == pytest.approx(run.dual_value, rel=1e-6, abs=1e-9)


def test_p_of_2_is_a_plain_ball():
    X = points_of(0, "pnorm")
    plain = PassiveAggressiveUniclass(C=0.3).partial_fit(X)
    for search in (False, True):
        same = PassiveAggressiveUniclass(C=0.3, geometry="pnorm", p=2.0, line_search=search).partial_fit(X)
        np.testing.assert_allclose(same.center_, plain.center_, atol=1e-12)


@pytest.mark.parametrize("geometry", LINKS)
def test_step_of_a_ball_solves_its_problem(geometry):
    """argmin B_F(w || w_t) under <v, w - w_t> >= loss, the half-space that holds the ball around the example."""
    X, F = points_of(2, geometry), INVERSES[geometry]
    fitted = ball(geometry, C=100.0, epsilon=0.3).partial_fit(X[:4])
    w = fitted.center_.copy()
    slope = np.log(w) + 1 if geometry == "entropic" else grad_of_half_square(w, 1.5)
    x = np.eye(4)[0] if geometry == "entropic" else X[5]
    distance = np.linalg.norm(x - w)
    v, loss = (x - w) / distance, distance - 0.3
    moved = fitted.partial_fit(x[None]).center_

    def objective(u):
        return F(u) - F(w) - slope @ (u - w)

    inside = {"type": "ineq", "fun": lambda u: v @ (u - w) - loss}
    on_simplex = [{"type": "eq", "fun": lambda u: u.sum() - 1}] if geometry == "entropic" else []
    bounds = [(1e-9, 1) if geometry == "entropic" else (None, None)] * 4
    found = minimize(objective, 0.9 * moved + 0.1 * x, bounds=bounds, constraints=[inside, *on_simplex])
    assert v @ (moved - w) == pytest.approx(loss, rel=1e-9)
    assert objective(moved) <= found.fun + 1e-6
    np.testing.assert_allclose(moved, found.x, atol=2e-3)


@given(st.integers(0, 1000), st.sampled_from(list(LINKS)), st.sampled_from([0.1, 1.0, np.inf]), st.booleans())
@examples(20)
def test_certificates_of_balls_hold(seed, geometry, C, searched):
    X = points_of(seed, geometry)
    certificate = certify(ball(geometry, C=C, epsilon=0.3, line_search=searched), X, accuracy=0.1)
    assert certificate.holds or not all(condition.met for condition in certificate.conditions)


def test_zero_rows_move_a_ball():
    model = ball("pnorm", C=1.0, epsilon=0.1, init="first").partial_fit(np.array([[1.0, 2.0], [0.0, 0.0]]))
    assert model.totals_.updates == 1


@pytest.mark.parametrize("geometry", LINKS)
def test_saved_balls_continue(geometry, tmp_path):
    X = points_of(1, geometry)
    model = ball(geometry, epsilon=0.1).partial_fit(X[:6])
    onmargin.save(model, tmp_path / "ball")
    again = onmargin.load(tmp_path / "ball")
    assert again.partial_fit(X[6:]).center_.tolist() == model.partial_fit(X[6:]).center_.tolist()


def test_streams_train_a_ball():
    X = points_of(1, "pnorm")
    whole = ball("pnorm", init="first", epsilon=0.1).partial_fit(X)
    single = stream.PassiveAggressiveUniclass(geometry="pnorm", p=3.0, line_search=True, epsilon=0.1)
    for x in X:
        single.learn_one(x)
    by_name = stream.PassiveAggressiveUniclass(geometry="pnorm", p=3.0, line_search=True, epsilon=0.1)
    for x in X:
        by_name.learn_one(dict(zip("abcd", x.tolist(), strict=True)))
    assert by_name.totals_.loss == pytest.approx(whole.totals_.loss)
    assert single.totals_.loss == pytest.approx(whole.totals_.loss)


@pytest.mark.parametrize(
    "options",
    [
        {"line_search": True},
        {"line_search": True, "geometry": "pnorm", "loss": "squared_epsilon_insensitive"},
        {"geometry": "pnorm", "radius": "learn", "max_radius": 1.0},
        {"geometry": "pnorm", "kernel": "rbf"},
    ],
)
def test_refusals_of_balls(options):
    with pytest.raises(ParameterError):
        PassiveAggressiveUniclass(**options).partial_fit(points_of(0, "pnorm"))
