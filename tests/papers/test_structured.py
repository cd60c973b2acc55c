"""[JMLR] sec. 8 for any structure: the total cost of the predictions is within B9, B10 and B11, and Lemma 1 holds."""

from math import sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onmargin import StructuredPredictor
from tests.structures import Chains, Classes, Matchings

entries = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])
updates = st.sampled_from(["prediction", "max_loss"])
SHAPES = {
    Chains: lambda draw: (draw(st.integers(1, 3)), 2),
    Matchings: lambda draw: (3, 3, 2),
    Classes: lambda draw: (2,),
}


@st.composite
def streams(draw):
    """Draw a model, inputs with right structures, and weights of a competitor."""
    kind = draw(st.sampled_from(list(SHAPES)))
    model = Classes(draw(st.floats(0.1, 4)) * (1 - np.eye(3))) if kind is Classes else kind()
    X = [
        draw(arrays.arrays(float, shape, elements=entries))
        for shape in [SHAPES[kind](draw) for _ in range(draw(st.integers(1, 10)))]
    ]
    Y = [draw(st.sampled_from(list(model.candidates(x)))) for x in X]
    u = draw(arrays.arrays(float, len(model.vector(X[0], Y[0])), elements=st.floats(-2, 2)))
    return model, X, Y, u


def max_losses(model, X, Y, u):
    return np.array([model.max_loss(u, x, y) for x, y in zip(X, Y, strict=True)])


@given(streams(), updates, st.floats(0.05, 10))
def test_pa2_costs_stay_below_the_bound(given_stream, update, C):
    """B11: sum rho <= sum l^2 <= (R^2 + 1/(2C)) (|u|^2 + 2 C sum l_ML(u)^2)."""
    model, X, Y, u = given_stream
    learner = StructuredPredictor(model=model, C=C, loss="squared_hinge", update=update)
    totals = learner.partial_fit(X, Y).totals_
    losses = (max_losses(model, X, Y, u) ** 2).sum()
    bound = (totals.max_squared_norm + 1 / (2 * C)) * (u @ u + 2 * C * losses)
    assert totals.cost <= totals.squared_loss + 1e-9 <= bound * (1 + 1e-9) + 2e-9
    assert totals.dual_value <= (u @ u / 2 + C * losses) * (1 + 1e-9) + 1e-9


@given(streams(), updates)
def test_pa1_costs_stay_below_the_bound(given_stream, update):
    """B10: with R <= 1 and C >= sqrt(rho), sum rho <= |u|^2 + 2 C sum l_ML(u)."""
    model, X, Y, u = given_stream
    longest = max(
        np.linalg.norm(model.vector(x, y) - model.vector(x, z))
        for x, y in zip(X, Y, strict=True)
        for z in model.candidates(x)
    )
    scaled = Scaled(model, 1 / max(longest, 1.0))
    C = sqrt(max(model.cost(y, z) for x, y in zip(X, Y, strict=True) for z in model.candidates(x)))
    totals = StructuredPredictor(model=scaled, C=C, update=update).partial_fit(X, Y).totals_
    losses = max_losses(scaled, X, Y, u).sum()
    assert totals.max_squared_norm <= 1 + 1e-9
    assert totals.cost <= u @ u + 2 * C * losses + 1e-9
    assert totals.dual_value <= (u @ u / 2 + C * losses) * (1 + 1e-9) + 1e-9


class Scaled:
    """A model whose features are multiplied by a factor."""

    def __init__(self, model, factor):
        self.model, self.factor = model, factor

    def __getattr__(self, name):
        return getattr(self.__dict__["model"], name) if "model" in self.__dict__ else super().__getattribute__(name)

    def joint_features(self, x, y):
        return self.factor * self.model.vector(x, y)

    def argmax(self, weights, x):
        return self.model.argmax(self.factor * weights, x)

    def cost_augmented_argmax(self, weights, x, y):
        return self.model.cost_augmented_argmax(self.factor * weights, x, y)

    def max_loss(self, weights, x, y):
        return self.model.max_loss(self.factor * weights, x, y)


@given(streams(), updates, st.floats(1.0, 8.0))
def test_pa_costs_stay_below_the_bound(given_stream, update, scale):
    """B9: if u has no loss, sum rho <= sum l^2 <= R^2 |u|^2. Structures are those that u prefers by enough."""
    model, X, _, u = given_stream
    u = scale * u
    Y = [model.argmax(u, x) for x in X]
    kept = [(x, y) for x, y in zip(X, Y, strict=True) if model.max_loss(u, x, y) <= 1e-12]
    if kept:
        X, Y = zip(*kept, strict=True)
        totals = StructuredPredictor(model=model, C=np.inf, update=update).partial_fit(X, Y).totals_
        assert totals.cost <= totals.squared_loss + 1e-9 <= totals.max_squared_norm * (u @ u) * (1 + 1e-9) + 2e-9


@given(streams(), updates, st.sampled_from(["hinge", "squared_hinge"]), st.floats(0.05, 10))
def test_progress_of_every_round(given_stream, update, loss, C):
    """[JMLR] Lemma 1: tau (2 l - tau s - 2 l_ML(u)) <= |u - w_t|^2 - |u - w_{t+1}|^2."""
    model, X, Y, u = given_stream
    learner = StructuredPredictor(model=model, C=C, loss=loss, update=update)
    w, suffered = np.zeros_like(u), 0.0
    for x, y in zip(X, Y, strict=True):
        learner.learn_one(x, y)
        suffered, lost = learner.totals_.loss, learner.totals_.loss - suffered
        new = learner.coef_.copy()
        move = new - w
        if move.any():
            # tau v = move: the v that moved determines tau.
            taus = [
                tau
                for z in model.candidates(x)
                if (v := model.vector(x, y) - model.vector(x, z)).any()
                and np.allclose(move, (tau := (move @ v) / (v @ v)) * v)
                and np.isclose(sqrt(model.cost(y, z)) - w @ v, lost)
            ]
            assert taus
            tau = taus[0]
            progress = ((u - w) ** 2).sum() - ((u - new) ** 2).sum()
            assert 2 * tau * (lost - model.max_loss(u, x, y)) - move @ move <= progress + 1e-9 * (1 + u @ u + w @ w)
        w = new
