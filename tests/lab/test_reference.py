"""The experiments against an independent implementation in plain NumPy (ALGORITHMS.md section 15)."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onmargin import lab
from onmargin.lab.blocks import blocks
from onmargin.lab.jmlr import BEST, least_error, plane
from onmargin.lab.table import error_of

# Error of the best fixed line, then error of PA, PA-I and PA-II with C = 0.001, and their mean hinge loss.
NOISE = {
    ("instance-noise", 0.0): [0.0095, (0.0243, 0.0313, 0.0190), (0.1061, 0.2034, 0.2145)],
    ("instance-noise", 1.0): [0.1400, (0.2431, 0.1492, 0.1438), (0.8961, 0.4049, 0.4567)],
    ("instance-noise", 4.0): [0.2628, (0.3884, 0.2669, 0.2673), (1.3585, 0.6249, 0.7160)],
    ("instance-noise", 10.0): [0.3347, (0.4425, 0.3407, 0.3445), (1.5115, 0.7608, 0.8506)],
    ("label-noise", 0.05): [0.0566, (0.1244, 0.0761, 0.0646), (0.4557, 0.3091, 0.3638)],
    ("label-noise", 0.1): [0.1065, (0.2072, 0.1242, 0.1133), (0.6895, 0.4143, 0.5017)],
    ("label-noise", 0.2): [0.2060, (0.3404, 0.2217, 0.2123), (1.0266, 0.6063, 0.7248)],
    ("label-noise", 0.3): [0.3049, (0.4299, 0.3186, 0.3104), (1.2403, 0.7733, 0.8790)],
}
# A tenth of the labels flipped: error and loss of PA-I, then of PA-II.
AGGRESSIVENESS = {
    1e-5: [(0.1652, 0.9740), (0.1632, 0.9520)],
    1e-3: [(0.1216, 0.4090), (0.1110, 0.4959)],
    1e-2: [(0.1078, 0.3252), (0.1092, 0.4448)],
    1e-1: [(0.1131, 0.3398), (0.1368, 0.4423)],
    1.0: [(0.1714, 0.4901), (0.1837, 0.4972)],
    100.0: [(0.2019, 0.6539), (0.2019, 0.6422)],
}
# Imperfect trials in blocks, each learner with its best C and margin.
BLOCKS = {
    1: (40, 104, 104, 40, 40, 13, 54, 48, 13),
    5: (72, 136, 140, 30, 29, 32, 58, 54, 20),
}
REPETITIONS = 20


def table(name, repetitions=REPETITIONS, **changes):
    with lab.workers(1) as workers:
        return lab.run(lab.EXPERIMENTS[name], workers, repetitions=repetitions, **changes).table


def assert_agree(row, measure, reference, repetitions):
    """Check that two means, ours and the reference's, differ by less than four standard errors of their difference."""
    error = row[error_of(measure)] * sqrt(1 + REPETITIONS / repetitions)
    assert abs(row[measure] - reference) < 4 * error


@pytest.mark.parametrize("name", ["instance-noise", pytest.param("label-noise", marks=pytest.mark.full)])
def test_noise(name):
    amounts = [amount for kind, amount in NOISE if kind == name]
    found = table(name, noise=amounts)
    for amount in amounts:
        best, errors, losses = NOISE[name, amount]
        (row,) = found.where(noise=amount, learner=BEST)
        assert_agree(row, "error", best, 10)
        for rule, error, loss in zip(("PA", "PA-I", "PA-II"), errors, losses, strict=True):
            (row,) = found.where(noise=amount, learner=rule)
            assert_agree(row, "error", error, 10)
            assert_agree(row, "loss", loss, 10)


@pytest.mark.full
def test_aggressiveness():
    found = table("aggressiveness", noise=[0.1], C=list(AGGRESSIVENESS))
    for C, of_rules in AGGRESSIVENESS.items():
        for rule, (error, loss) in zip(("PA-I", "PA-II"), of_rules, strict=True):
            (row,) = found.where(learner=rule, C=C)
            assert_agree(row, "error", error, 4)
            assert_agree(row, "loss", loss, 4)


def test_blocks():
    """The best C and margins are used, and 600 trials: by then all except SimPerc and ConProj have converged."""
    found = table("block-size", 2, sizes=list(BLOCKS), trials=600, C=[0.03125, 0.5, 1.0], margins=[0.5, 1.0])
    for size, expected in BLOCKS.items():
        learners = found.where(size=size)
        assert learners["imperfect"] == pytest.approx(expected, rel=0.35), learners["learner"]


@given(arrays.arrays(float, (6, 2), elements=st.sampled_from([-2.0, -1.0, -0.5, 0.0, 1.0])), st.integers(0, 63))
def test_the_sweep_finds_the_best_line(X, signs):
    """It is as good as the best of many directions."""
    y = np.array([1 if signs >> i & 1 else -1 for i in range(6)])
    angles = np.linspace(0, 2 * np.pi, 7201)
    errors = (y[:, None] * (X @ [np.cos(angles), np.sin(angles)]) <= 1e-12).mean(axis=0)
    assert least_error(X, y) == pytest.approx(errors.min())


def test_noise_does_not_change_the_points():
    X, y = plane(np.random.default_rng(3), 1000)
    noisy, flipped = plane(np.random.default_rng(3), 1000, label_noise=0.2)
    assert (noisy == X).all()
    assert (y != flipped).mean() == pytest.approx(0.2, abs=0.05)


def test_blocks_keep_their_margin_and_are_contaminated_as_a_whole():
    clean = blocks(np.random.default_rng(0), 400, 5)
    noisy = blocks(np.random.default_rng(0), 400, 5, contaminated=0.25)
    assert set(np.unique(clean.X)) == {-1, 0, 1}
    assert (clean.X == 0).mean() == pytest.approx(0.5, abs=0.01)
    wrong = (clean.y != noisy.y).reshape(400, 5)
    assert wrong.any(axis=1).mean() == pytest.approx(0.25 * (1 - 0.6**5), abs=0.06)
    assert wrong[wrong.any(axis=1)].mean() == pytest.approx(0.4 / (1 - 0.6**5), abs=0.06)


@pytest.mark.parametrize("zeros", [0.5, 0.9, 0.97])
def test_blocks_have_the_asked_fraction_of_zeros(zeros):
    drawn = blocks(np.random.default_rng(0), 400, 5, zeros=zeros)
    assert (drawn.X == 0).mean() == pytest.approx(zeros, abs=0.01)
    assert (drawn.X == 1).mean() == pytest.approx((drawn.X == -1).mean(), abs=0.003)
