"""The updates of AROW, SCW and NHERD are those of their papers: minimizers, and one affine map."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from onmargin._core.geometries.diagonal import Confidence
from onmargin._core.steps.step import Confident, Herding, Regularized
from onmargin._core.tasks.task import Binary
from onmargin.learner import Learner, as_rows
from onmargin.theory import arow_mistakes

X = np.random.default_rng(0).standard_normal((30, 3))
Y = np.sign(X @ [1.0, -0.5, 0.3] + 0.3 * np.random.default_rng(1).standard_normal(30))


def gaussian(steps, step):
    """Return the mean and variances of a learner after some rounds."""
    learner = Learner(Binary(eager=True), step, Confidence(3, 1, np.float64))
    learner.learn(as_rows(X[:steps]), Y[:steps])
    return learner, learner.geometry.weights[0].copy(), learner.geometry.metric[0].copy()


def moves(learner, mean, variances, x, y):
    """Return how far the mean moves along V x, and the beta of the variances."""
    learner.learn(as_rows(x[None]), np.array([y]))
    a = (learner.geometry.weights[0] - mean) @ x / (variances * x @ x) * y
    fallen = variances - learner.geometry.metric[0]
    j = np.abs(x).argmax()
    return a, fallen[j] / (variances[j] * x[j]) ** 2


def divergence(a, b, v):
    """Return the KL divergence of N(mu + a V x, V - b V x x' V) from N(mu, V)."""
    return (-np.log(1 - b * v) - b * v + a * a * v) / 2


def argmin_of(objective, v):
    """Minimize over a and 0 <= b < 1 / v, the latter by its logit."""

    def shaped(z):
        return objective(z[0], 1 / (1 + np.exp(-z[1])) / v)

    found = min(
        (
            minimize(shaped, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000})
            for start in ([0.1, -2.0], [0.5, 0.0], [0.01, -5.0])
        ),
        key=lambda result: result.fun,
    )
    return found.x[0], 1 / (1 + np.exp(-found.x[1])) / v


rounds = st.integers(0, 29)


@given(rounds, st.sampled_from([0.1, 1.0, 5.0]))
def test_arow_minimizes_its_objective(i, r):
    """KL + (loss^2 + x'Vx) / (2 r)."""
    learner, mean, variances = gaussian(i, Regularized(r))
    x, y = X[i], Y[i]
    m, v = y * (mean @ x), variances * x @ x
    a, b = moves(learner, mean, variances, x, y)
    if m >= 1:
        assert a == 0
        return
    best = argmin_of(lambda a, b: divergence(a, b, v) + (max(1 - m - a * v, 0) ** 2 + v - b * v * v) / (2 * r), v)
    assert (a, b) == pytest.approx(best, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("squared", [False, True])
@given(i=rounds, C=st.sampled_from([0.05, 0.5, 5.0]), phi=st.sampled_from([0.3, 1.3]))
def test_scw_minimizes_its_objective(squared, i, C, phi):
    """KL + C slack, or C slack^2, with slack = [phi sqrt(x'Vx) - m]_+."""
    learner, mean, variances = gaussian(i, Confident(C, phi, squared))
    x, y = X[i], Y[i]
    m, v = y * (mean @ x), variances * x @ x
    a, b = moves(learner, mean, variances, x, y)
    if m >= phi * np.sqrt(v):
        assert (a, b) == (0, 0)
        return

    def objective(a, b):
        slack = max(phi * np.sqrt(v - b * v * v) - m - a * v, 0)
        return divergence(a, b, v) + C * (slack**2 if squared else slack)

    assert objective(a, b) <= objective(*argmin_of(objective, v)) + 1e-7


@given(rounds, st.sampled_from([0.1, 1.0, 10.0]))
def test_nherd_moves_the_distribution_as_one(i, C):
    """The map is w -> A w + b, A = I - C / (1 + C v) V x x'; only the diagonal of A V A' is kept."""
    learner, mean, variances = gaussian(i, Herding(1 / C))
    x, y = X[i], Y[i]
    v, m = variances * x @ x, y * (mean @ x)
    learner.learn(as_rows(x[None]), np.array([y]))
    if m >= 1:
        assert learner.geometry.weights[0].tolist() == mean.tolist()
        return
    A = np.eye(3) - C / (1 + C * v) * np.outer(variances * x, x)
    np.testing.assert_allclose(learner.geometry.metric[0], np.diag(A @ np.diag(variances) @ A.T), atol=1e-12)
    np.testing.assert_allclose(learner.geometry.weights[0], A @ mean + C / (1 + C * v) * y * variances * x, atol=1e-12)


@given(st.integers(0, 2**31), st.sampled_from([0.01, 0.3, 2.0, 20.0]), st.floats(0, 1))
def test_mistakes_of_arow_with_a_full_covariance(seed, r, noise):
    """[AROW]: M <= sqrt(r |u|^2 + u'Xu) sqrt(ln det(I + X / r) + U) + loss of u - U, sums over updates."""
    random = np.random.default_rng(seed)
    n, d = random.integers(1, 60), random.integers(1, 5)
    X = random.standard_normal((n, d)) * 10.0 ** random.integers(-1, 2, d)
    truth = random.standard_normal(d)
    y = np.where(random.random(n) < noise / 2, -1, 1) * np.where(X @ truth > 0, 1, -1)
    w, S, updated, mistakes = np.zeros(d), np.eye(d), [], 0
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        margin, Sx = label * (w @ x), S @ x
        mistakes += margin <= 0
        if margin < 1:
            beta = 1 / (x @ Sx + r)
            w, S = w + (1 - margin) * beta * label * Sx, S - beta * np.outer(Sx, Sx)
            updated.append(i)
    rows, signs = X[updated], y[updated]
    timid = len(updated) - mistakes
    volume = np.linalg.slogdet(np.eye(d) + rows.T @ rows / r)[1]
    for u in (truth, np.zeros(d), w, random.standard_normal(d) / 10):
        loss = np.maximum(1 - signs * (rows @ u), 0).sum()
        scores = ((rows @ u) ** 2).sum()
        bound = arow_mistakes(
            r,
            max(volume, 0),
            timid,
            competitor_squared_norm=u @ u,
            competitor_squared_scores=scores,
            competitor_loss=loss,
        )
        assert mistakes <= bound + 1e-9
