"""The result of one step (ALGORITHMS.md section 3), from any state; the intercept is inside the norm."""

from math import inf, isinf

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onmargin.learner import as_rows
from tests.streams import EPSILON, PA, Rule, current, dtypes, geometries, rules, state, streams, weights_for


def loss_left(rule: Rule, loss: float, s: float) -> float:
    """Return the loss after the step: zero for PA, which ends on the boundary."""
    if isinf(rule.C):
        return 0.0
    return loss / (1 + 2 * rule.C * s) if rule.squared else max(loss - rule.C * s, 0.0)


@given(streams(), rules, geometries, dtypes)
def test_step_leaves_the_loss_of_its_closed_form(stream, rule, geometry, dtype):
    stream = stream.cast(dtype)
    for r in stream.rounds(stream.learner(rule, **geometry | {"average": 0})):
        for h in r.violated:
            s = r.squared_length(h)
            left = h.loss - h.direction @ (r.scores[1] - r.scores[0])
            size = 1 + abs(r.y) + max(np.linalg.norm(W) * np.linalg.norm(r.x) for W in r.weights)
            assert abs(left - (loss_left(rule, h.loss, s) if s > 0 else h.loss)) <= 100 * np.finfo(dtype).eps * size


@given(streams(), rules, geometries)
def test_weights_move_if_and_only_if_there_is_loss(stream, rule, geometry):
    learner = stream.learner(rule, **geometry | {"average": 0})
    updates = 0
    for r in stream.rounds(learner):
        updates += bool(r.violated) and r.x.any()
        assert learner.totals.updates == updates
        assert r.violated or (r.weights[0] == r.weights[1]).all()


@given(streams("multiclass", "one_vs_rest"), rules, geometries)
def test_only_the_violating_columns_move(stream, rule, geometry):
    for r in stream.rounds(stream.learner(rule, **geometry | {"average": 0})):
        at_fault = np.any([h.direction for h in r.violated] or [np.zeros(stream.columns)], axis=0)
        assert (r.weights[0] == r.weights[1])[:, ~at_fault].all()


@given(streams("multiclass"), rules, geometries)
def test_what_the_right_class_gains_its_rival_loses(stream, rule, geometry):
    for r in stream.rounds(stream.learner(rule, **geometry | {"average": 0})):
        move = r.weights[1] - r.weights[0]
        assert np.abs(move.sum(axis=1)).max() <= 1e-15 * max(np.abs(W).max() for W in r.weights)


@given(streams(), rules)
def test_zero_row_has_a_loss_and_changes_nothing(stream, rule):
    """There is no projection (G3): no move, no NaN."""
    learner = stream.learned(rule)
    weights, totals = current(learner), learner.totals
    learner.learn(as_rows(np.zeros((1, stream.X.shape[1]))), stream.y[:1])
    assert all((now == before).all() for now, before in zip(current(learner), weights, strict=True))
    losses = [max(abs(stream.y[0]) - EPSILON, 0.0)] if stream.task == "regression" else [1.0]
    losses *= stream.columns if stream.task == "one_vs_rest" else 1
    assert dict(learner.totals) == dict(totals) | {
        "rounds": totals.rounds + 1,
        "mistakes": totals.mistakes + any(losses),
        "loss": totals.loss + sum(losses),
        "squared_loss": totals.squared_loss + sum(loss * loss for loss in losses),
    }


@given(streams(), st.sampled_from([0.25, 4.0]), st.sampled_from([0.01, 0.3, 10.0]), st.booleans(), geometries)
def test_weights_scale_c(stream, weight, C, squared, geometry):
    """They never scale the step: a step that C does not limit is as long as without weights."""
    weighted = stream.learned(Rule(C, squared), weight=np.full(len(stream.y), weight), **geometry)
    scaled = stream.learned(Rule(C * weight, squared), **geometry)
    assert state(weighted) == state(scaled)


@given(streams(), st.booleans(), geometries, st.data())
def test_plain_pa_ignores_weights(stream, squared, geometry, data):
    """C is infinite for any weight above zero."""
    weight = data.draw(weights_for(stream, zero=False))
    weighted = stream.learned(Rule(inf, squared), weight=weight, **geometry)
    assert state(weighted) == state(stream.learned(PA, **geometry))
