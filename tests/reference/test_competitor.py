"""The best competitor in hindsight against a convex solver: within its stated gap, and its dual value below."""

from itertools import pairwise
from math import inf

import cvxpy as cp
import numpy as np
import pytest

import onmargin
from onmargin.theory import certify

random = np.random.default_rng(0)
X = random.standard_normal((40, 5))
y = random.integers(0, 3, 40)
two = (X @ random.standard_normal(5) + 0.5 * random.standard_normal(40) > 0).astype(int)
z = X @ random.standard_normal(5) + 0.3 * random.standard_normal(40)
ACCURACY = 1e-4


def total(losses, squared):
    """Return the sum over the rounds of the largest of the columns, or of its square."""
    largest = cp.pos(cp.max(losses, axis=1))
    return cp.sum(cp.square(largest) if squared else largest)


def least(size, losses, C, constraints=()):
    problem = cp.Problem(cp.Minimize(size + C * losses), list(constraints))
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-7, tol_gap_rel=1e-7, tol_feas=1e-7)


def binary(C, squared):
    u = cp.Variable(5)
    return least(
        cp.sum_squares(u) / 2, total(cp.reshape(1 - cp.multiply(2 * two - 1, X @ u), (40, 1), "F"), squared), C
    )


def multiclass(C, squared):
    U = cp.Variable((5, 3))
    right = np.eye(3)[y]
    scores = X @ U
    beaten = scores - cp.reshape(cp.sum(cp.multiply(scores, right), axis=1), (40, 1), "F") @ np.ones((1, 3))
    return least(cp.sum_squares(U) / 2, total(beaten + (1 - right) - 1e6 * right, squared), C)


def regression(C, squared):
    u = cp.Variable(5)
    off = cp.reshape(cp.abs(z - X @ u) - 0.1, (40, 1), "F")
    return least(cp.sum_squares(u) / 2, total(off, squared), C)


def ball(C, squared):
    u = cp.Variable(5)
    losses = cp.Variable(39, nonneg=True)
    off = cp.norm(X[1:] - np.ones((39, 1)) @ cp.reshape(u, (1, 5), "C"), axis=1) - 0.5
    suffered = cp.sum_squares(losses) if squared else cp.sum(losses)
    return least(cp.sum_squares(u - X[0]) / 2, suffered, C, [off <= losses])


def ordinal(C, squared):
    w, b = cp.Variable(5), cp.Variable(2)
    sides = np.where(np.arange(2) < y[:, None], 1.0, -1.0)
    scores = cp.reshape(X @ w, (40, 1), "F") @ np.ones((1, 2)) - np.ones((40, 1)) @ cp.reshape(b, (1, 2), "C")
    return least(cp.sum_squares(w) / 2 + cp.sum_squares(b) / 2, total(1 - cp.multiply(sides, scores), squared), C)


def simplex(C, squared):
    u = cp.Variable(5)
    losses = total(cp.reshape(0.1 - cp.multiply(2 * two - 1, X @ u), (40, 1), "F"), squared)
    return least(cp.sum(-cp.entr(u)) + np.log(5), losses, C, [cp.sum(u) == 1, u >= 0])


def pnorm(C, squared):
    u = cp.Variable(5)
    losses = total(cp.reshape(1 - cp.multiply(2 * two - 1, X @ u), (40, 1), "F"), squared)
    return least(cp.square(cp.pnorm(u, 1.5)) / 2, losses, C)


CASES = {
    "binary": (lambda C: onmargin.PassiveAggressiveClassifier(C=C, fit_intercept=False), binary, two, False),
    "binary squared": (
        lambda C: onmargin.PassiveAggressiveClassifier(C=C, loss="squared_hinge", fit_intercept=False),
        binary,
        two,
        True,
    ),
    "multiclass": (lambda C: onmargin.PassiveAggressiveClassifier(C=C, fit_intercept=False), multiclass, y, False),
    "multiclass squared": (
        lambda C: onmargin.PassiveAggressiveClassifier(C=C, loss="squared_hinge", fit_intercept=False),
        multiclass,
        y,
        True,
    ),
    "regression": (lambda C: onmargin.PassiveAggressiveRegressor(C=C, fit_intercept=False), regression, z, False),
    "ball": (lambda C: onmargin.PassiveAggressiveUniclass(C=C, epsilon=0.5), ball, None, False),
    "ball squared": (
        lambda C: onmargin.PassiveAggressiveUniclass(C=C, epsilon=0.5, loss="squared_epsilon_insensitive"),
        ball,
        None,
        True,
    ),
    "ordinal": (lambda C: onmargin.OrdinalRegressor(C=C), ordinal, y, False),
    "simplex": (
        lambda C: onmargin.QuasiAdditiveClassifier(C=C, geometry="entropic", balanced=False),
        simplex,
        two,
        False,
    ),
    "p-norm": (lambda C: onmargin.QuasiAdditiveClassifier(C=C, geometry="pnorm", p=3.0), pnorm, two, False),
}


@pytest.mark.parametrize("C", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("name", CASES)
def test_best_competitor_is_as_good_as_stated(name, C):
    learner, solver, target, squared = CASES[name]
    best = certify(learner(C), X, target, accuracy=ACCURACY).best
    objective = best.size + C * (best.squared_loss if squared else best.loss)
    expected = solver(C, squared)
    assert best.gap <= ACCURACY
    assert objective * (1 - best.gap) <= expected * (1 + 1e-6)
    assert objective >= expected * (1 - 1e-5)
    assert objective <= expected * (1 + 2 * ACCURACY)


def test_best_competitor_without_loss():
    """C = inf: the shortest weights that separate."""
    target = (X @ np.array([1.0, -1, 2, 0, 0.5]) > 0).astype(int)
    u = cp.Variable(5)
    expected = cp.Problem(cp.Minimize(cp.sum_squares(u) / 2), [cp.multiply(2 * target - 1, X @ u) >= 1]).solve(
        solver=cp.CLARABEL
    )
    certificate = certify(onmargin.PassiveAggressiveClassifier(C=inf, fit_intercept=False), X, target, accuracy=0.01)
    assert certificate.holds
    assert certificate.best.loss == 0
    assert expected * (1 - 1e-6) <= certificate.best.size <= expected * 1.01 * (1 + 1e-6)


def test_bound_of_sequences_covers_all_labelings():
    """The bound is compared with a list of all labelings."""
    X = [[["a"], ["b"]], [["b"], ["a"]], [["a"], ["a"]], [["b"]]]
    labels = [["s", "t"], ["t", "t"], ["s", "s"], ["s"]]
    certificate = certify(onmargin.SequenceTagger(C=0.5, fit_intercept=False), X, labels, accuracy=ACCURACY)
    E, T = cp.Variable((2, 2)), cp.Variable((2, 2))
    codes = {"s": 0, "t": 1}

    def score(words, path):
        steps = [T[p, q] for p, q in pairwise(path)]
        return sum([E[label, "ab".index(word[0])] for word, label in zip(words, path, strict=True)] + steps)

    losses = []
    for words, row in zip(X, labels, strict=True):
        right = [codes[label] for label in row]
        paths = [np.atleast_1d(path) for path in np.ndindex(*[2] * len(right))]
        losses.append(
            cp.maximum(
                0, *[score(words, p) - score(words, right) + np.sqrt((p != np.array(right)).sum()) for p in paths]
            )
        )
    expected = least((cp.sum_squares(E) + cp.sum_squares(T)) / 2, sum(losses), 0.5)
    best = certificate.best
    assert best.gap <= ACCURACY
    assert best.size + 0.5 * best.loss == pytest.approx(expected, rel=2 * ACCURACY)
