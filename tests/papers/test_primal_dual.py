"""[PD]: bounds of quasi-additive learners (B23 to B29), and multiplicative PA of [NIPS] (B13, E6)."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onmargin import Perceptron, PNormPerceptron, QuasiAdditiveClassifier, Winnow, reference, theory
from onmargin._core.geometries.additive import Entropic
from onmargin._core.steps.step import Projection
from onmargin._core.tasks.task import Binary, Regression
from onmargin.learner import Learner, as_rows

# Bounds also hold for margins that no weights on the simplex can reach.
pytestmark = pytest.mark.filterwarnings("ignore:margin .* is out of reach:UserWarning")

P = 4.0
# The parameters of the public learner, its twin's link, and the margin that suits it.
GEOMETRIES = {
    "euclidean": ({"geometry": "euclidean"}, reference.pnorm(2.0), 1.0),
    "pnorm": ({"geometry": "pnorm", "p": P}, reference.pnorm(P), 1.0),
    "entropic": ({"geometry": "entropic", "balanced": False}, reference.entropic(), 0.1),
    "balanced": ({"geometry": "entropic", "balanced": True}, reference.balanced(), 0.1),
}
SLACK = 1 + 1e-9


@dataclass
class Game:
    """Rows of curvature at most 1, labels, and competitors given by their theta."""

    kind: str
    X: np.ndarray
    y: np.ndarray | None  # None: the opposite of each prediction
    random: np.random.Generator

    def play(self, **parameters):
        """Return a learner trained on the whole game."""
        model = QuasiAdditiveClassifier(**GEOMETRIES[self.kind][0], **parameters)
        return self.shown(model)

    def shown(self, model):
        """Train a learner on the stream; an adversary labels row by row."""
        if self.y is not None:
            return model.partial_fit(self.X, self.y, classes=[-1, 1])
        labels = []
        for x in self.X:
            score = model.decision_function(x[None, :])[0] if labels else 0.0
            labels.append(1 if score < 0 else -1)
            model.partial_fit(x[None, :], labels[-1:], classes=[-1, 1])
        self.y = np.array(labels)
        return model

    def competitors(self):
        """Return pairs of weights u and F(u) = <u, theta> - G(theta): any, some near a vertex, and good ones."""
        link, n = GEOMETRIES[self.kind][1], self.X.shape[1]
        drawn = [self.random.standard_normal(n) * 10.0 ** self.random.integers(-2, 2) for _ in range(3)]
        vertex = np.eye(n)[self.random.integers(n)] * self.random.choice([-30.0, 30.0])
        model = QuasiAdditiveClassifier(**GEOMETRIES[self.kind][0], step="optimal", C=5.0)
        for _ in range(20):
            model.partial_fit(self.X, self.y, classes=[-1, 1])
        geometry = model._learner.geometry
        good = geometry.weights[0] if self.kind == "euclidean" else geometry.theta[:, 0]
        for theta in [np.zeros(n), *drawn, vertex, good.astype(float)]:
            u = link.weights(theta)
            yield u, max(0.0, float(u @ theta) - link.potential(theta))

    def losses(self, u, margin):
        return np.maximum(0, margin - self.y * (self.X @ u))


@st.composite
def games(draw, *kinds):
    kind = draw(st.sampled_from(kinds or tuple(GEOMETRIES)))
    n_rows, n = draw(st.integers(1, 40)), draw(st.integers(1, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    family = draw(st.sampled_from(["gaussian", "lattice", "repeated", "one each"]))
    X = random.standard_normal((n_rows, n))
    if family == "lattice":
        X = np.round(X)
    elif family == "repeated":
        X = X[random.integers(0, 2, n_rows) % n_rows]
    elif family == "one each":
        X = random.choice([-1.0, 1.0], (n_rows, 1)) * np.eye(n)[random.integers(0, n, n_rows)]
    curvature = np.array([GEOMETRIES[kind][1].curvature(x) for x in X])
    if draw(st.booleans()):
        X[curvature > 0] /= np.sqrt(curvature[curvature > 0])[:, None]
    elif curvature.any():
        X /= np.sqrt(curvature.max())
    X /= max(1.0, np.abs(X).max() if kind in ("entropic", "balanced") else 0.0)
    X *= 1 - 1e-12
    labels = draw(st.sampled_from(["any", "target", "adversary"]))
    y = random.choice([-1, 1], n_rows)
    if labels == "target":
        y = np.where(X @ random.standard_normal(n) < 0, -1, 1)
        y[random.random(n_rows) < 0.1] *= -1
    return Game(kind, X, None if labels == "adversary" else y, random)


factors = st.sampled_from([0.03, 0.3, 1.0, 1.7, 20.0])
steps = st.sampled_from(["fixed", "aggressive", "optimal"])
climbing = st.sampled_from(["aggressive", "optimal"])


@given(games(), steps, factors)
def test_no_competitor_is_below_the_dual(game, step, factor):
    """B23: D <= F(u) + C sum l(u), for any curvature, step and C."""
    margin = GEOMETRIES[game.kind][2]
    game.X *= game.random.choice([0.1, 1.0, 10.0])
    dual = game.play(step=step, C=factor * margin, margin=margin).totals_.dual_value
    for u, F in game.competitors():
        assert dual <= (F + factor * margin * game.losses(u, margin).sum()) * SLACK + 1e-9


@given(games(), st.floats(0.01, 1.9))
def test_mistakes_of_the_fixed_step(game, factor):
    """B24: curvature <= 1 and C < 2 gamma."""
    margin = GEOMETRIES[game.kind][2]
    C = factor * margin
    mistakes = game.play(step="fixed", C=C, margin=margin).totals_.mistakes
    for u, F in game.competitors():
        assert mistakes * (margin * C - C**2 / 2) <= (F + C * game.losses(u, margin).sum()) * SLACK + 1e-9


@given(games(), climbing, factors)
def test_mistakes_of_the_climbing_steps(game, step, factor):
    """B29: lambda = gamma C - C^2 / 2 up to C = gamma, and gamma^2 / 2 from there."""
    margin = GEOMETRIES[game.kind][2]
    C = factor * margin
    mistakes = game.play(step=step, C=C, margin=margin).totals_.mistakes
    gain = margin * min(C, margin) - min(C, margin) ** 2 / 2
    for u, F in game.competitors():
        assert mistakes * gain <= (F + C * game.losses(u, margin).sum()) * SLACK + 1e-9


@given(games(), st.sampled_from([0.1, 1.0]))
def test_mistakes_by_the_progress_of_the_run(game, C):
    """B23: the mean gain of the mistakes is at least what the closed form assumes, and gives a smaller bound."""
    model, margin = QuasiAdditiveClassifier(**GEOMETRIES[game.kind][0], C=C), GEOMETRIES[game.kind][2]
    game.shown(QuasiAdditiveClassifier(**GEOMETRIES[game.kind][0], C=C))  # labels chosen by an adversary
    gains, before = [], (0, 0.0)
    for x, y in zip(game.X, game.y, strict=True):
        totals = model.partial_fit(x[None, :], [y], classes=[-1, 1]).totals_
        if totals.mistakes > before[0]:
            gains.append(totals.dual_value - before[1])
        before = totals.mistakes, totals.dual_value
    assume(gains and min(gains) > 0)  # rows that cannot move the weights are mistakes without a gain
    for u, size in game.competitors():
        loss = game.losses(u, margin).sum()
        allowed = theory.progress_mistakes(np.mean(gains), C, size, loss)
        assert len(gains) <= allowed * (1 + 1e-5)
        assert allowed <= theory.climbing_mistakes(C, 1.0, size, loss, margin) * (1 + 1e-5)


@given(games("euclidean", "pnorm"), st.sampled_from([0.25, 1.0, 64.0]))
def test_mistakes_of_perceptrons(game, C):
    """B25, for any C: M <= L + N / 2 + sqrt(N^2 + 4 L N) / 2, N = 2 F(u)."""
    plain = Perceptron(C=C, fit_intercept=False)
    mistakes = game.shown(plain if game.kind == "euclidean" else PNormPerceptron(p=P, C=C)).totals_.mistakes
    for u, F in game.competitors():
        L, N = game.losses(u, 1.0).sum(), 2 * F
        assert mistakes <= (L + N / 2 + sqrt(N**2 + 4 * L * N) / 2) * SLACK + 1e-9


@given(games("entropic", "balanced"), st.floats(0.02, 1))
def test_mistakes_of_winnow(game, margin):
    """B26: |x|_inf <= 1, C = gamma; ln n, and ln 2 n for weights of either sign."""
    fixed = {"step": "fixed", "C": margin, "margin": margin}
    winnow = Winnow(balanced=True, margin=margin) if game.kind == "balanced" else None
    mistakes = (game.play(**fixed) if winnow is None else game.shown(winnow)).totals_.mistakes
    sides = 1 if winnow is None else 2
    for u, _ in game.competitors():
        assert u.min() >= 0 or sides == 2
        assert np.abs(u).sum() <= 1 + 1e-12
        L = game.losses(u, margin).sum()
        assert mistakes <= 2 * (log(sides * game.X.shape[1]) / margin**2 + L / margin) * SLACK + 1e-9


@given(games(), climbing, factors)
def test_mean_loss(game, step, factor):
    """B27: mean l <= mu^-1(mean l* + F(u) / (C T)), with mu the mitigating function."""
    margin, T = GEOMETRIES[game.kind][2], len(game.X)
    C = factor * margin
    mean = game.play(step=step, C=C, margin=margin).totals_.loss / T
    for u, F in game.competitors():
        right = game.losses(u, margin).mean() + F / (C * T)
        assert mean <= (right + C / 2 if right >= C / 2 else sqrt(2 * C * right)) * SLACK + 1e-9


@given(games(), climbing)
def test_regret_of_the_best_rate(game, step):
    """B28: C = sqrt(2 F(u) / T)."""
    margin, T = GEOMETRIES[game.kind][2], len(game.X)
    game.play(step=step, margin=margin)  # labels chosen by an adversary
    for u, F in game.competitors():
        if F > 1e-6:
            C = sqrt(2 * F / T)
            loss = game.play(step=step, C=C, margin=margin).totals_.loss
            assert (loss - game.losses(u, margin).sum()) / T <= C * SLACK + 1e-9


def test_long_rows_are_outside_the_bounds():
    """The conditions are needed: with curvature 16 the losses of the aggressive step grow, and its dual falls."""
    X, y = np.array([[4.0]] * 30), np.array([1, -1] * 15)
    short, long = (
        QuasiAdditiveClassifier(step="aggressive", C=100.0).partial_fit(rows, y).totals_ for rows in (X / 4, X)
    )
    assert short.loss / 30 <= 1 + 50  # u = 0, by B27
    assert long.loss / 30 > 1 + 50
    once = QuasiAdditiveClassifier(step="aggressive", C=100.0).partial_fit(X[:1], y[:1], classes=[-1, 1])
    assert once.totals_.dual_value == 1 - 4**2 / 2


# Multiplicative PA.


@st.composite
def mixtures(draw):
    """Draw rows, a mixture of their features, and its scores."""
    n_rows, n = draw(st.integers(1, 40)), draw(st.integers(1, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.standard_normal((n_rows, n)) * 10.0 ** draw(st.integers(-3, 3))
    family = draw(st.sampled_from(["gaussian", "positive", "repeated"]))
    X = np.abs(X) if family == "positive" else X[random.integers(0, 2, n_rows) % n_rows] if family == "repeated" else X
    u = random.dirichlet(np.full(n, draw(st.sampled_from([0.05, 1.0]))))
    return X, u, X @ u, random


def divergence(u):
    """KL(u || uniform)."""
    some = u[u > 0]
    return float(some @ np.log(len(u) * some))


def spread(X):
    return float((X.max(axis=1) - X.min(axis=1)).max())


@given(mixtures(), st.floats(0.1, 1))
def test_multiplicative_pa_for_classes(case, part):
    """B13: if u has the margin m* >= m, sum l^2 + 2 (m* - m) sum l <= r^2 KL(u) / 2."""
    X, u, scores, _ = case
    best = np.abs(scores).min()
    assume(best > 1e-6 * np.abs(X).max())
    learner = Learner(Binary(part * best), Projection(), Entropic(X.shape[1], 1))
    for _ in range(3):
        learner.learn(as_rows(X), np.sign(scores))
    totals, right = learner.totals, spread(X) ** 2 * divergence(u) / 2
    assert totals.squared_loss + 2 * (1 - part) * best * totals.loss <= right * SLACK + 1e-9 * np.abs(X).max() ** 2


@given(mixtures(), st.floats(0, 1), st.floats(0, 1))
def test_multiplicative_pa_for_numbers(case, inner, extra):
    """B13: u is within epsilon* of all targets, and epsilon >= epsilon*."""
    X, u, scores, random = case
    size = np.abs(X).max()
    y = scores + random.uniform(-1, 1, len(X)) * inner * size
    nearest = np.abs(y - scores).max()
    learner = Learner(Regression(nearest + extra * size), Projection(), Entropic(X.shape[1], 1))
    for _ in range(3):
        learner.learn(as_rows(X), y)
    totals, right = learner.totals, spread(X) ** 2 * divergence(u) / 2
    assert totals.squared_loss + 2 * extra * size * totals.loss <= right * SLACK + 1e-9 * size**2


def test_e6_signed_rows_need_their_spread():
    """The printed bound |x|_inf^2 KL(u) / 2 is 0.0025 and fails in the first round; r^2 KL(u) / 2 holds."""
    x, u, margin = np.array([[1.0, -1.0]]), np.array([0.55, 0.45]), 0.1
    assert x[0] @ u >= margin - 1e-15
    printed = np.abs(x).max() ** 2 * divergence(u) / 2
    assert printed == pytest.approx(0.0025, abs=1e-5)
    w, squared = np.full(2, 0.5), 0.0
    for _ in range(50):
        loss = max(0.0, margin - x[0] @ w)
        squared += loss**2
        w = w * np.exp(4 * loss / np.abs(x).max() ** 2 * x[0])
        w /= w.sum()
    assert squared > 3 * printed
    learner = Learner(Binary(margin), Projection(), Entropic(2, 1))
    learner.learn(as_rows(np.repeat(x, 50, axis=0)), np.ones(50))
    assert learner.totals.squared_loss > 3 * printed
    assert learner.totals.squared_loss <= spread(x) ** 2 * divergence(u) / 2


def ball_on_the_simplex(x, epsilon, rate, rounds=200):
    """Return sum l and sum l^2 of a center on the simplex that moves by rate(v) l along v = (x - w) / |x - w|."""
    w, total, squared = np.full(len(x), 1 / len(x)), 0.0, 0.0
    for _ in range(rounds):
        distance = np.linalg.norm(x - w)
        loss = max(0.0, distance - epsilon)
        total, squared = total + loss, squared + loss**2
        v = (x - w) / distance
        w = w * np.exp(rate(v) * loss * v)
        w /= w.sum()
    return total, squared


def test_e6_the_constants_of_balls():
    """tau = l / (8 |v|_inf^2) exceeds 16 KL / 2; tau = 4 l / r^2 stays below r^2 KL / 2, with r^2 <= 2."""

    def printed(v):
        return 1 / (8 * np.abs(v).max() ** 2)

    def corrected(v):
        return 4 / (v.max() - v.min()) ** 2

    total, squared = ball_on_the_simplex(np.array([10.0, 0.0]), 9.1, printed)
    assert squared + 2 * 0.1 * total > 8 * log(2)
    total, squared = ball_on_the_simplex(np.array([10.0, 0.0]), 9.1, printed, rounds=5000)
    assert squared + 2 * 0.1 * total == pytest.approx(6.38, abs=0.01)
    total, squared = ball_on_the_simplex(np.array([10.0, 0.0]), 9.1, corrected)
    assert squared + 2 * 0.1 * total <= log(2)
    _, squared = ball_on_the_simplex(np.array([100.0, 0.0]), 99.0, printed, rounds=2000)
    assert squared > 8 * log(2)
    _, squared = ball_on_the_simplex(np.array([100.0, 0.0]), 99.0, corrected)
    assert squared <= log(2)
