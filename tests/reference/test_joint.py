"""The quadratic program of a trial: its optimum is that of cvxpy, and of the closed forms where they exist."""

from dataclasses import dataclass

import cvxpy
import numpy as np
import pytest

from onmargin._core.geometries.trials import Blocks
from onmargin._core.steps.simultaneous import Joint, Largest
from onmargin._core.tasks.trial import Block
from onmargin.learner import Learner, as_rows
from tests.trials import UPDATES, core_step, offsets

# Each row also has its own coordinate, so small that its square is zero: it has no effect and records tau.
MARK = 1e-170


@dataclass(frozen=True)
class Trial:
    X: np.ndarray
    y: np.ndarray
    sets: np.ndarray  # from 1
    start: np.ndarray  # the weights it finds

    def losses(self, w):
        return 1 - self.y * (self.X @ w)

    def in_sets(self, values):
        """Return the values of the nonzero rows; zero rows are left out of the problem."""
        rows = (self.X**2).sum(axis=1) > 0
        return [values[rows & (self.sets == number)] for number in range(1, self.sets.max() + 1)]

    def step(self, step):
        """Return the weights after the trial, tau and the gain of the dual."""
        n, d = self.X.shape
        learner = Learner(Block(), step, Blocks(d + n, 1, np.float64))
        learner.geometry.assign(np.append(self.start, np.zeros(n)), 0.0)
        ends = offsets([n])
        marked = np.column_stack([self.X, MARK * np.eye(n)])
        learner.learn(as_rows(marked), self.y * self.sets, trials=ends, targets=ends)
        w = learner.geometry.weights[0]
        return w[:d], self.y * w[d:] / MARK, learner.totals.dual_value

    def optimum(self, C):
        """Return argmin |w - start|^2 / 2 + C mean(xi), where each margin is at least 1 - xi of its set."""
        n_sets = self.sets.max()
        w, xi = cvxpy.Variable(len(self.start)), cvxpy.Variable(n_sets, nonneg=True)
        objective = cvxpy.sum_squares(w - self.start) / 2 + C / n_sets * cvxpy.sum(xi)
        margins = cvxpy.multiply(self.y, self.X @ w)
        rows = np.flatnonzero((self.X**2).sum(axis=1))
        asked = [margins[rows] >= 1 - xi[self.sets[rows] - 1]]
        problem = cvxpy.Problem(cvxpy.Minimize(objective), asked)
        exact = dict.fromkeys(["tol_gap_abs", "tol_gap_rel", "tol_feas"], 1e-11)
        problem.solve(solver=cvxpy.CLARABEL, **exact)
        return w.value, problem.value


def gaussian(random, n, d):
    return random.standard_normal((n, d)), random.choice([-1.0, 1.0], n)


def repeated(random, n, d):
    X, y = gaussian(random, n, d)
    again = random.integers(0, n // 3 + 1, n)
    return X[again], y[again]


def nearly_equal(random, n, d):
    X, y = repeated(random, n, d)
    return X + 1e-4 * random.standard_normal((n, d)), y


def opposite(random, n, d):
    """Return rows that occur twice, with both labels."""
    X, y = gaussian(random, n, d)
    half = n // 2
    X[half : 2 * half], y[half : 2 * half] = X[:half], -y[:half]
    return X, y


def lattice(random, n, d):
    """Return rows with many equal numbers, and zero rows."""
    X = random.integers(-1, 2, (n, d)) * (random.random((n, 1)) < 0.7)
    return X.astype(np.float64), random.choice([-1.0, 1.0], n)


def uneven(random, n, d):
    X, y = gaussian(random, n, d)
    return X * 10.0 ** random.integers(-2, 2, (n, 1)), y


KINDS = [gaussian, repeated, nearly_equal, opposite, lattice, uneven]
SHAPES = [(1, 3), (5, 3), (20, 50), (60, 8)]


def some_trial(kind, n, d, most_sets, seed):
    random = np.random.default_rng([seed, n, d, most_sets])
    X, y = kind(random, n, d)
    sets = np.unique(random.integers(0, most_sets, n), return_inverse=True)[1] + 1
    return Trial(X, y, sets, random.standard_normal(d))


def assert_optimal(trial, C, w, tau, tolerance=1e-9):
    """Check the Karush-Kuhn-Tucker conditions, in units of the largest loss and of a set's share of C."""
    share, scale = C / trial.sets.max(), max(1.0, np.abs(trial.losses(trial.start)).max())
    np.testing.assert_allclose(w, trial.start + (tau * trial.y) @ trial.X, rtol=0, atol=1e-12 * (1 + C) * scale)
    assert (tau >= -1e-15 * share).all()
    for gradient, of_set in zip(trial.in_sets(trial.losses(w)), trial.in_sets(tau), strict=True):
        price = gradient.max(initial=0.0)
        assert of_set.sum() <= share * (1 + tolerance)
        assert price <= tolerance * scale or of_set.sum() >= share * (1 - tolerance)
        used = of_set > 1e-9 * share
        assert (gradient[used] >= price - tolerance * scale).all()


@pytest.mark.parametrize("C", [0.001, 0.1, 1.0, 100.0, 10_000.0])
@pytest.mark.parametrize("sets", [1, 4])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_optimum_is_that_of_cvxpy(kind, shape, sets, C):
    trial = some_trial(kind, *shape, sets, seed=0)
    w, tau, gain = trial.step(Joint(C))
    assert_optimal(trial, C, w, tau)
    best, objective = trial.optimum(C)
    assert gain == pytest.approx(objective, rel=1e-7, abs=1e-7)
    np.testing.assert_allclose(w, best, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [0.01, 0.5, 100.0])
def test_orthogonal_instances_make_the_separable_problem_the_exact_one(C, seed):
    random = np.random.default_rng(seed)
    X = np.linalg.qr(random.standard_normal((8, 6)))[0].T * random.uniform(0.3, 2, (6, 1))
    trial = Trial(X, random.choice([-1.0, 1.0], 6), np.ones(6, int), random.standard_normal(8))
    (w, tau, gain), (same, same_tau, same_gain) = trial.step(core_step("simopt", C)), trial.step(Joint(C))
    np.testing.assert_allclose(w, same, atol=1e-9)
    np.testing.assert_allclose(tau, same_tau, atol=1e-9)
    assert gain == pytest.approx(same_gain, rel=1e-9)


@pytest.mark.parametrize("C", [0.01, 0.5, 100.0])
def test_identical_mistakes_are_one_mistake(C):
    """This holds for SimProj, ConProj and MaxPA; SimOpt counts each of them."""
    x = np.array([0.6, -1.2, 0.3])
    trial = Trial(np.tile(x, (4, 1)), -np.ones(4), np.ones(4, int), 0.5 * x)
    alone = Trial(x[None], -np.ones(1), np.ones(1, int), 0.5 * x).step(Largest(C))[0]
    for update in "max", "simproj", "conproj", "exact":
        np.testing.assert_allclose(trial.step(core_step(update, C))[0], alone, atol=1e-14)
    assert C < 1 or not np.allclose(trial.step(core_step("simopt", C))[0], alone)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [0.01, 0.5, 100.0])
def test_trial_of_one_instance_is_a_round_of_pa1(C, seed):
    trial = some_trial(gaussian, 1, 5, 1, seed)
    loss = trial.losses(trial.start)[0]
    tau = min(C, max(loss, 0) / (trial.X**2).sum())
    after = trial.start + tau * trial.y[0] * trial.X[0]
    for update in "max", "simproj", "simopt", "exact":
        np.testing.assert_allclose(trial.step(core_step(update, C))[0], after, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("update", ["max", "exact"])
def test_dual_never_falls(update, kind):
    for seed in range(40):
        C = 10.0 ** (seed % 4 - 2)
        trial = some_trial(kind, 1 + seed % 12, 4, 1, seed)
        assert trial.step(core_step(update, C))[2] >= 0


@pytest.mark.parametrize("sets", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_no_feasible_step_gains_more_than_the_exact_one(kind, sets):
    for seed in range(40):
        C = 10.0 ** (seed % 4 - 2)
        trial = some_trial(kind, 1 + seed % 12, 4, sets, seed)
        gains = [trial.step(core_step(update, C))[2] for update in UPDATES]
        assert max(gains) <= gains[UPDATES.index("exact")] * (1 + 1e-9) + 1e-12
