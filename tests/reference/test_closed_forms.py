"""Each step is the minimizer that its paper defines: a convex solver finds the same weights."""

import cvxpy as cp
import numpy as np
import pytest

from onmargin.learner import as_rows
from tests.streams import PA, TASKS, Rule, Stream, paper_weights

BIAS = 0.7


def minimizer(half_space, x, W, rule: Rule) -> np.ndarray:
    """Return argmin 1/2 |W - W_t|^2 + C xi (PA-I), C xi^2 (PA-II), or with xi = 0 (PA), with the loss at most xi."""
    new, xi = cp.Variable(W.shape), cp.Variable(nonneg=True)
    gained = (x @ (new - W)) @ half_space.direction
    price = 0 if rule == PA else rule.C * (cp.square(xi) if rule.squared else xi)
    constraints = [half_space.loss - gained <= xi] + ([xi == 0] if rule == PA else [])
    cp.Problem(cp.Minimize(cp.sum_squares(new - W) / 2 + price), constraints).solve(solver=cp.CLARABEL)
    return new.value


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "rule", [PA, Rule(0.02), Rule(2.0), Rule(0.02, squared=True), Rule(2.0, squared=True)], ids=str
)
@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("regression", 1), ("multiclass", 2), ("multiclass", 4)])
def test_step_solves_its_problem(task, columns, rule, seed):
    """In multiclass rounds, the right class is compared with its best rival at the current weights ([JMLR] sec. 7)."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(5)
    y = {"binary": random.choice([-1.0, 1.0]), "regression": 3.0}.get(task, float(random.integers(columns)))
    stream = Stream(task, x[None, :], np.array([y]), columns)
    learner = stream.learner(rule, bias=BIAS)
    learner.geometry.assign(0.2 * random.standard_normal((columns, 5)), 0.2 * random.standard_normal(columns))
    W, x1 = paper_weights(learner), np.append(x, BIAS)
    (half_space,) = TASKS[task][1](x1 @ W, y)[0]
    learner.learn(as_rows(stream.X), stream.y)
    np.testing.assert_allclose(paper_weights(learner), minimizer(half_space, x1, W, rule), atol=2e-5)
