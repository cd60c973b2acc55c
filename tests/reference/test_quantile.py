"""The quantile loss of the passive-aggressive regressor."""

import cvxpy as cp
import numpy as np
import pytest

import onmargin
from onmargin import reference, stream
from tests.streams import CONTAINERS, gaussian

CASES = pytest.mark.parametrize(("quantile", "epsilon"), [(0.1, 0.0), (0.5, 0.1), (0.9, 0.05)])


@CASES
@pytest.mark.parametrize("C", [0.05, 1.0, np.inf])
@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_twin(quantile, epsilon, C, container, dtype):
    data = gaussian("regression", dtype=dtype)
    model = onmargin.PassiveAggressiveRegressor(
        C=C, loss="quantile", quantile=quantile, epsilon=epsilon, fit_intercept=False
    ).partial_fit(CONTAINERS[container](data.X), data.y)
    run = reference.play(
        data.X.astype(float), data.y, reference.quantile(epsilon, quantile), reference.pa1(C), columns=1
    )
    np.testing.assert_allclose(model.coef_, run.weights[:, 0], atol=1e-4 if dtype == np.float32 else 1e-10)
    totals = model.totals_
    assert (totals.mistakes, totals.updates) == (run.mistakes, run.updates)
    np.testing.assert_allclose((totals.loss, totals.dual_value), (run.loss, run.dual_value), rtol=1e-4)


@CASES
@pytest.mark.parametrize("target", [3.0, -3.0])
def test_step_solves_its_problem(quantile, epsilon, target):
    """min |w - w_t|^2 / 2 + C (q [y - w x - epsilon]_+ + (1 - q) [w x - y - epsilon]_+)."""
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(2, 4)), 0.7
    model = onmargin.PassiveAggressiveRegressor(
        C=C, loss="quantile", quantile=quantile, epsilon=epsilon, fit_intercept=False
    ).partial_fit(X[:1], [0.4])
    before, w = model.coef_.copy(), cp.Variable(4)
    above, below = cp.pos(target - X[1] @ w - epsilon), cp.pos(X[1] @ w - target - epsilon)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w - before) / 2 + C * (quantile * above + (1 - quantile) * below)))
    problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.partial_fit(X[1:], [target]).coef_, w.value, atol=1e-5)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_fraction_below(quantile):
    """The predictions of a stream are above this fraction of the targets."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.gumbel(size=len(X))
    model = onmargin.PassiveAggressiveRegressor(C=0.06, loss="quantile", quantile=quantile, epsilon=0.0, average=3000)
    model.partial_fit(X[:10_000], y[:10_000])
    assert np.mean(y[10_000:] < model.predict(X[10_000:])) == pytest.approx(quantile, abs=0.03)


def test_half_is_half_of_c():
    data = gaussian("regression")
    median = onmargin.PassiveAggressiveRegressor(C=0.2, loss="quantile").partial_fit(data.X, data.y)
    tube = onmargin.PassiveAggressiveRegressor(C=0.1).partial_fit(data.X, data.y)
    np.testing.assert_allclose(median.coef_, tube.coef_, rtol=1e-12)
    assert median.totals_.loss == pytest.approx(tube.totals_.loss / 2)


@pytest.mark.parametrize("options", [{"average": True}, {"geometry": "adaptive"}, {"kernel": "rbf", "gamma": 0.3}])
def test_streams(options):
    data = gaussian("regression", dtype=np.float64)
    given = {"loss": "quantile", "quantile": 0.8, "C": 0.3, **options}
    matrix = onmargin.PassiveAggressiveRegressor(**given).partial_fit(data.X, data.y)
    model = stream.PassiveAggressiveRegressor(**given).learn_many(data.X, data.y)
    np.testing.assert_allclose([model.predict_one(x) for x in data.X], matrix.predict(data.X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantile": 0.9}, "a quantile other than 0.5 needs loss='quantile'"),
        ({"loss": "quantile", "quantile": 1.0}, "quantile must be"),
        ({"loss": "quantile", "C": [0.1, 1.0]}, "loss='quantile' needs one value of C"),
        ({"loss": "quantile", "average": "best"}, "loss='quantile' needs average other than 'best'"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        onmargin.PassiveAggressiveRegressor(**options).partial_fit([[1.0]], [1.0])
