"""Totals equal sums over rounds, and the dual value is a lower bound on the objective of any weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.streams import (
    EPSILON,
    Rule,
    Stream,
    competitors,
    geometries,
    paper_weights,
    rules,
    streams,
    weights_for,
)

finite_rules = st.builds(Rule, st.sampled_from([0.01, 0.3, 1.0, 10.0]), st.booleans())


def damping(rule: Rule, weight: float) -> float:
    return 1 / (2 * rule.C * weight) if rule.squared else 0.0


@given(streams(), rules, geometries, st.data())
def test_totals_add_up(stream, rule, geometry, data):
    weight = data.draw(weights_for(stream))
    learner = stream.learner(rule, **geometry | {"average": 0})
    rounds = [r for r in stream.rounds(learner, weight=weight) if r.sample_weight > 0]
    violated = [(r, h, r.tau(h)) for r in rounds for h in r.violated]
    totals = learner.totals
    assert totals.rounds == np.count_nonzero(weight)
    assert totals.mistakes == sum(r.mistake for r in rounds)
    assert totals.updates == sum(bool(r.violated) and r.x.any() for r in rounds)
    assert totals.loss == pytest.approx(sum(h.loss for _, h, _ in violated))
    assert totals.squared_loss == pytest.approx(sum(h.loss**2 for _, h, _ in violated))
    assert totals.max_squared_norm == pytest.approx(max(r.x @ r.x for r in rounds))


@given(streams(), rules, geometries, st.data())
def test_dual_value_is_that_of_the_steps(stream, rule, geometry, data):
    """It is sum_t tau_t b_t - |sum_t tau_t v_t|^2 / 2 for half-spaces <w, v_t> >= b_t; PA-II subtracts tau_t^2 / 4C."""
    weight = data.draw(weights_for(stream, zero=False))
    learner = stream.learner(rule, **geometry | {"average": 0})
    gained, taken = 0.0, 0.0
    for r in stream.rounds(learner, weight=weight):
        for h in r.violated:
            tau = r.tau(h)
            gained += tau * (h.direction[0] * r.y - EPSILON if stream.task == "regression" else 1.0)
            taken += tau**2 * damping(rule, r.sample_weight) / 2
    taken += (paper_weights(learner) ** 2).sum() / 2
    assert learner.totals.dual_value == pytest.approx(gained - taken, rel=1e-9, abs=1e-9 * (1 + abs(gained) + taken))


@given(streams(), rules, geometries, st.data())
def test_dual_value_never_falls(stream, rule, geometry, data):
    weight = data.draw(weights_for(stream))
    learner = stream.learner(rule, **geometry | {"average": 0})
    values = [learner.totals.dual_value for _ in stream.rounds(learner, weight=weight)]
    assert (np.diff([0.0, *values]) >= 0).all()


def primal(stream: Stream, rule: Rule, u: np.ndarray, weight: np.ndarray) -> float:
    """Return 1/2 |u|^2 + C sum_t weight_t loss_t(u), with squared losses for PA-II."""
    losses = stream.losses(u) ** (2 if rule.squared else 1)
    return float((u**2).sum() / 2 + rule.C * (weight @ losses.sum(axis=1)))


@given(streams(), finite_rules, st.data())
def test_dual_value_is_below_the_primal_of_any_weights(stream, rule, data):
    """Weak duality: the bound holds for any weights chosen in hindsight."""
    weight = data.draw(weights_for(stream))
    learner = stream.learned(rule, weight=weight)
    own = paper_weights(learner)[:-1]
    for u in (np.zeros_like(own), own, own / 2, data.draw(competitors(stream))):
        bound = primal(stream, rule, u, weight)
        assert learner.totals.dual_value <= bound + 1e-9 * (1 + bound)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("regression", 1), ("multiclass", 2), ("one_vs_rest", 3)])
def test_one_pass_over_orthogonal_rows_closes_the_gap(task, columns, C, squared):
    """No later row undoes an earlier one, so the weights solve the batch problem and the certificate is exact."""
    random = np.random.default_rng(0)
    X = np.diag([0.5, 1.0, 2.0, 3.0]) @ np.linalg.qr(random.standard_normal((6, 6)))[0][:4]
    y = {"binary": [1.0, -1.0, -1.0, 1.0], "regression": [3.0, -1.0, 0.05, 2.0]}.get(task, [0.0, 1.0, 1.0, 0.0])
    stream, rule = Stream(task, X, np.array(y), columns), Rule(C, squared)
    learner = stream.learned(rule)
    best = primal(stream, rule, paper_weights(learner)[:-1], np.ones(4))
    assert learner.totals.dual_value == pytest.approx(best)
