"""The bounds as functions: identities between them, errors, and theorems not covered by tests of estimators."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron, reference, theory
from tests.streams import competitors, streams

sizes = st.floats(0.01, 100)
losses = st.floats(0, 100)


@given(sizes, sizes, sizes, losses)
def test_pd_is_never_above_jmlr(C, R2, norm, loss):
    assert theory.pa1_mistakes(C, R2, norm, loss) <= theory.pa1_mistakes_as_printed(C, R2, norm, loss) * (1 + 1e-12)


@given(sizes, sizes, losses)
def test_perceptron_bound_is_that_of_the_best_c(R2, norm, loss):
    best = theory.perceptron_mistakes(R2, norm, loss)
    grid = [theory.simperc_mistakes(C / R2, R2, norm, loss) for C in np.geomspace(1e-6, 1.999, 4000)]
    assert best <= min(grid) * (1 + 1e-9)
    assert min(grid) <= best * 1.01 + 1e-3


@given(sizes, sizes, st.floats(0.01, 100))
def test_best_c_of_pa2(R2, norm, loss):
    best = theory.pa2_squared_loss(theory.pa2_best_c(R2, norm, loss), R2, norm, loss)
    assert best == pytest.approx((sqrt(R2 * norm) + sqrt(loss)) ** 2)
    assert all(best <= theory.pa2_squared_loss(C, R2, norm, loss) * (1 + 1e-9) for C in np.geomspace(1e-3, 1e3, 50))


@given(sizes, sizes, losses)
def test_two_forms_of_one_theorem(C, size, loss):
    """Climbing steps in Euclidean geometry are PA-I; gains are those of Thm. 3 where R = 1."""
    assert theory.climbing_mistakes(C, 2.0, size, loss) == pytest.approx(theory.pa1_mistakes(C, 2.0, 2 * size, loss))
    assert theory.pa1_loss(C, 1.0, 50, 2 * size, loss) == pytest.approx(50 * theory.mean_loss(C, 50, size, loss))
    assert theory.pa1_cost(10.0, 1.0, 2 * size, loss, 4.0) == pytest.approx(2 * size + 20 * loss)  # [JMLR] Thm. 10


@given(streams("binary", "regression", "multiclass"), st.sampled_from([0.05, 0.5, 5.0]), st.data())
def test_losses_of_pa1(stream, C, data):
    """B6': sum min(C l, l^2 / R^2) <= |u|^2 + 2 C sum l*; and the sum of the losses that follows from it."""
    task, columns = stream.task, stream.columns
    twin = {"binary": reference.binary, "regression": reference.regression(0.1), "multiclass": reference.multiclass}
    charged = []

    def recorded(loss, s, mistaken, weight):
        charged.append(float(loss[0]))
        return reference.pa1(C)(loss, s, mistaken, weight)

    run = reference.play(stream.X, stream.y, twin[task], recorded, columns=columns)
    u = data.draw(competitors(stream))
    R2 = (2 if task == "multiclass" else 1) * run.max_squared_norm
    allowed = theory.pa1_capped_losses(C, (u**2).sum(), stream.losses(u).sum())
    suffered = sum(min(C * loss, loss**2 / R2) for loss in charged if R2 > 0)
    assert suffered <= allowed * (1 + 1e-9) + 1e-9
    total = theory.pa1_loss(C, R2, run.rounds, (u**2).sum(), stream.losses(u).sum())
    assert run.loss <= total * (1 + 1e-9) + 1e-9


@given(streams("binary", "multiclass"), st.data())
def test_mistakes_of_the_perceptron_by_squares(stream, data):
    """[FS]: M <= (R |u| + sqrt(sum l*^2))^2."""
    model = Perceptron(fit_intercept=False)
    labels = [-1, 1] if stream.task == "binary" else list(range(stream.columns))
    totals = model.partial_fit(stream.X, stream.y, classes=labels).totals_
    u = data.draw(competitors(stream))
    R2 = (1 if len(labels) == 2 else 2) * totals.max_squared_norm
    squares = (stream.losses(u) ** 2).sum()
    assert totals.mistakes <= theory.perceptron_mistakes_by_squares(R2, (u**2).sum(), squares) * (1 + 1e-6) + 1e-6


@given(st.floats(0, 50), sizes, st.floats(0, 50))
def test_mitigating_function(loss, C, other):
    """[PD] Fig. 2: mu is convex, mu^-1 undoes it, and both stay within C / 2 of the diagonal."""
    mu, inverse = theory.mitigating, theory.mitigating_inverse
    assert inverse(mu(loss, C), C) == pytest.approx(loss, rel=1e-9, abs=1e-9)
    assert loss - C / 2 - 1e-12 <= mu(loss, C) <= loss
    assert inverse(loss, C) <= loss + C / 2 + 1e-12
    assert mu((loss + other) / 2, C) <= (mu(loss, C) + mu(other, C)) / 2 + 1e-9


def test_online_to_batch():
    """For a finite distribution with known risks, at most a fraction delta of the runs exceeds the bound."""
    random = np.random.default_rng(0)
    points, labels = random.standard_normal((30, 3)), random.choice([-1, 1], 30)
    points /= np.linalg.norm(points, axis=1)[:, None]
    labels[:20] = np.sign(points[:20, 0])
    delta, T, exceeded = 0.5, 50, {"averaged weights": 0, "a predictor of the run": 0}
    for _ in range(100):
        drawn = random.integers(0, 30, T)
        W, w = [], np.zeros(3)  # descent in the unit ball: hinge losses from 0 to 2
        for x, y in zip(points[drawn], labels[drawn], strict=True):
            W.append(w)
            w = w + 0.3 * y * x * (y * (w @ x) < 1)
            w = w / max(1.0, np.linalg.norm(w))
        margins = labels * (np.array(W) @ points.T)
        played = margins[np.arange(T), drawn]
        risk = np.maximum(0, 1 - labels * (points @ np.mean(W, axis=0))).mean() / 2
        suffered = np.maximum(0, 1 - played).sum() / 2
        exceeded["averaged weights"] += risk > theory.online_to_batch_risk(suffered, T, delta)
        of_the_run = theory.online_to_batch_risk((played <= 0).sum(), T, delta)
        exceeded["a predictor of the run"] += (margins <= 0).mean() > of_the_run
    assert max(exceeded.values()) <= 100 * delta, exceeded


def test_golden_numbers_of_the_errata():
    """E7: corrected 1.0017 for one instance (1, -1); E8: the factor 4."""
    u = np.array([0.55, 0.45])
    divergence = float((u * np.log(2 * u)).sum())
    bound = theory.simplex_mistakes(0.1, 0.1, 1.0, divergence, 0.0)
    assert bound == pytest.approx(1.0017, abs=5e-5)
    assert theory.perceptron_mistakes(1.0, 0.01, 0.9) >= 1
    assert theory.winnow_mistakes(0.1, 1.0, 10, 2.0) == pytest.approx(2 * (log(10) / 0.01 + 20))


REFUSED = {
    "pa_unit_squared_loss": ((1.0, 0.0), {"min_squared_norm": 0.5}, "length 1"),
    "simperc_mistakes": ((2.0, 1.0, 1.0, 0.0), {}, "C < 2"),
    "set_errors": ((3.0, 1.0, 1.0, 0.0), {}, "C < 2"),
    "fixed_mistakes": ((0.3, 1.0, 1.0, 0.0), {"margin": 0.1}, "C < 2"),
    "simplex_mistakes": ((0.3, 0.1, 1.0, 1.0, 0.0), {}, "C < 2"),
    "winnow_mistakes": ((0.1, 1.5, 10, 0.0), {}, "at most 1"),
    "mean_loss": ((1.0, 10, 1.0, 0.0), {"max_curvature": 2.0}, "at most 1"),
    "gradient_descent_loss": ((1.0, 1.0, 1.0, 0.0), {}, "rate"),
    "exponentiated_gradient_loss": ((3.0, 1.0, 1.0, 0.0), {}, "rate"),
    "logistic_loss": ((4.0, 1.0, 1.0, 0.0), {}, "rate < 4"),
    "winnow_half_mistakes": ((0.8, 0.1, 1.0, 1.0, 0.0), {}, "rate"),
    "winnow_half_mistakes_by_misses": ((0.1, 1.5, 1.0, 0), {}, "at most 1"),
    "ball_squared_distance": ((1.0, 3.0, 2.0), {}, "max_radius"),
    "pa1_mistakes": ((0.0, 1.0, 1.0, 0.0), {}, "C must be above 0"),
    "pa2_squared_loss": ((1.0, 1.0, -1.0, 0.0), {}, "must not be negative"),
    "pa_separable": ((1.0, 0.0), {}, "margin must be above 0"),
    "batch_updates": ((1.0, 1.0, 0.0), {}, "target_loss"),
    "regret": ((0, 1.0), {}, "rounds"),
    "mitigating": ((-1.0, 1.0), {}, "loss"),
    "mitigating_inverse": ((1.0, 0.0), {}, "C must be above 0"),
    "progress_mistakes": ((0.0, 1.0, 1.0, 0.0), {}, "progress"),
    "perceptron_mistakes_by_squares": ((1.0, 1.0, -1.0), {}, "squared_loss"),
    "online_to_batch_risk": ((11.0, 10), {}, "between 0 and 1"),
    "batch_risk": ((1.0, 1.0, 0.1, 10), {"delta": 1.0}, "0 < delta < 1"),
    "pa_distance": ((float("nan"),), {}, "distance"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_conditions_that_fail_are_refused(name):
    arguments, named, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        getattr(theory, name)(*arguments, **named)


@given(streams("binary"), st.sampled_from([0.1, 1.0]), st.floats(0, 3))
def test_no_weights_are_below_the_floor(stream, C, norm):
    """The floor comes from the totals alone; random weights of that norm and good ones are above it."""
    model = PassiveAggressiveClassifier(C=C, fit_intercept=False)
    model.partial_fit(stream.X, stream.y, classes=[-1, 1])
    floor = theory.floor(model.totals_, C, norm)
    random = np.random.default_rng(0)
    for u in [*random.standard_normal((20, stream.X.shape[1])), model.coef_[0].astype(float)]:
        length = np.linalg.norm(u)
        scaled = u * (norm / length if length > 0 else 0)
        loss = np.maximum(0, 1 - stream.y * (stream.X @ scaled)).sum()
        assert loss >= floor * (1 - 1e-6) - 1e-6


def test_floor_without_a_cap_is_zero():
    model = PassiveAggressiveRegressor(C=inf).partial_fit([[1.0]], [2.0])
    assert theory.floor(model.totals_, inf, 1.0) == 0
