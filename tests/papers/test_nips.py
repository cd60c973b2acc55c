"""[NIPS] Crammer et al., Online Passive-Aggressive Algorithms, 2003: bounds for losses with insensitivity; relaxation.

Its classification loss is [-eps - y w.x]_+ with eps = -1 for a margin of 1, and a competitor of margin m does with
eps* = -m; in regression eps is the tube, and a competitor may do with a narrower one.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import reference
from tests.streams import EPSILON, PA, TASKS, Rule, Stream, competitors, gaussian, paper_weights, realizable, streams


def trail(stream: Stream, rule: Rule = PA):
    """Return the learner, and the norms of its weights after each round."""
    learner = stream.learner(rule)
    return learner, [np.linalg.norm(r.weights[1]) for r in stream.rounds(learner)]


def insensitivity_to_spare(stream: Stream, u: np.ndarray) -> float:
    """Return eps - eps*, where eps* is the smallest insensitivity for which u has no loss."""
    scores = (stream.X @ u)[:, 0]
    if stream.task == "binary":
        return (stream.y * scores).min() - 1
    return EPSILON - np.abs(stream.y - scores).max()


@given(realizable("binary", "regression"), st.floats(1, 3))
def test_theorem1(stream_and_u, factor):
    """sum l^2 + 2 (eps - eps*) sum l <= R^2 |w*|^2."""
    stream, u = stream_and_u
    u = u if stream.task == "regression" else factor * u
    learner, _ = trail(stream)
    totals = learner.totals
    left = totals.squared_loss + 2 * insensitivity_to_spare(stream, u) * totals.loss
    right = totals.max_squared_norm * (u**2).sum()
    assert left <= right + 1e-9 * (1 + right)


@given(realizable("binary", "regression"))
def test_lemma2_weights_are_at_most_twice_as_long_as_a_competitors(stream_and_u):
    stream, u = stream_and_u
    _, norms = trail(stream)
    assert max(norms) <= 2 * np.linalg.norm(u) * (1 + 1e-9) + 1e-9


@given(realizable("binary"))
def test_separable_data_cost_at_most_r2_over_e2(stream_and_u):
    """With unit weights of margin e: sum l^2 and the mistakes are at most R^2 / e^2, sum l at most twice that."""
    stream, u = stream_and_u
    e = (stream.y * (stream.X @ u)[:, 0]).min() / np.linalg.norm(u)
    learner, _ = trail(stream)
    bound = learner.totals.max_squared_norm / e**2 * (1 + 1e-9)
    assert learner.totals.squared_loss <= bound
    assert learner.totals.mistakes <= bound
    assert learner.totals.loss <= 2 * bound


@pytest.mark.parametrize("g", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("task", ["binary", "regression", "multiclass"])
def test_relaxation_is_pa2(task, g):
    """tau = l / (s + g) is PA-II with C = 1 / (2 g)."""
    stream = gaussian(task, 4 if task == "multiclass" else 1)
    model = stream.estimator(Rule(1 / (2 * g), squared=True)).partial_fit(stream.X, stream.y, **stream.classes)

    def relaxed(loss, s, mistaken, weight):
        return loss / (s + g), 0.0

    run = reference.play(stream.X, stream.y, TASKS[task][1], relaxed, columns=stream.columns)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), run.weights.T, atol=1e-12)


@given(streams("binary", "regression"), st.sampled_from([0.05, 1.0, 20.0]), st.data())
def test_theorem3_bounds_the_relaxed_losses(stream, g, data):
    """sum l^2 <= (R^2 + g) (|u|^2 + sum l*^2 / g)."""
    learner, _ = trail(stream, Rule(1 / (2 * g), squared=True))
    own = paper_weights(learner)[:-1]
    for u in (np.zeros_like(own), own, data.draw(competitors(stream))):
        right = (learner.totals.max_squared_norm + g) * ((u**2).sum() + (stream.losses(u) ** 2).sum() / g)
        assert learner.totals.squared_loss <= right + 1e-9 * (1 + right)
