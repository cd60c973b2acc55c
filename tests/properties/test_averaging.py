"""Averaged weights are the plain mean of the weights after each round, at no cost to what is learned."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onmargin.learner import as_rows
from tests.streams import containers, current, dtypes, geometries, rules, streams


@given(streams(), rules, geometries, dtypes, st.data())
def test_mean_of_the_weights_from_a_round_on(stream, rule, geometry, dtype, data):
    """Before that round, the mean is the current weights."""
    stream, start = stream.cast(dtype), data.draw(st.integers(1, 15))
    plain = stream.learner(rule, **geometry | {"average": 0})
    trail = [current(plain) for _ in stream.rounds(plain)]
    tail = trail[start - 1 :] or trail[-1:]
    expected = [np.mean(parts, axis=0, dtype=np.float64) for parts in zip(*tail, strict=True)]
    rows = data.draw(containers)(stream.X)
    averaged = stream.learned(rule, rows=rows, **geometry | {"average": start})
    coef, intercept = averaged.geometry.mean()
    size = max(np.abs(W).max() + np.abs(b).max() for W, b in trail)
    tolerance = 1e3 * np.finfo(dtype).eps * size
    np.testing.assert_allclose(coef, expected[0], atol=tolerance)
    np.testing.assert_allclose(intercept, expected[1], atol=tolerance)
    scores = stream.X @ coef.T + intercept
    np.testing.assert_allclose(averaged.scores(as_rows(rows)), scores, atol=tolerance * (1 + np.abs(stream.X).max()))


@given(streams(), rules, geometries)
def test_averaging_does_not_change_what_is_learned(stream, rule, geometry):
    plain, averaged = stream.learned(rule, **geometry | {"average": 0}), stream.learned(rule, **geometry)
    assert all((a == b).all() for a, b in zip(current(plain), current(averaged), strict=True))
    assert plain.totals == averaged.totals


@given(streams(), rules, geometries, dtypes, st.data())
def test_a_new_mean_starts_from_the_old_one(stream, rule, geometry, dtype, data):
    """A restarted geometry learns like plain weights that begin at the mean; the geometry before stays as it was."""
    stream, start = stream.cast(dtype), data.draw(st.integers(1, 15))
    cut = data.draw(st.integers(0, len(stream.y)))
    rows = data.draw(containers)
    averaged, plain = (stream.learner(rule, **geometry | {"average": a}) for a in (start, 0))
    for learner in (averaged, plain):
        learner.learn(as_rows(rows(stream.X[:cut])), stream.y[:cut])
    before, mean = averaged.geometry, averaged.geometry.mean()
    copies = [part.copy() for part in mean]
    averaged.geometry = before.restarted()
    begun = cut >= start
    if begun:
        plain.geometry.assign(*mean)
    assert all((a == b).all() for a, b in zip(averaged.geometry.mean(), mean, strict=True))
    trail = []
    for i in range(cut, len(stream.y)):
        for learner in (averaged, plain):
            learner.learn(as_rows(rows(stream.X[i : i + 1])), stream.y[i : i + 1])
        trail.append(current(plain))
    assert all((a == b).all() for a, b in zip(current(averaged), current(plain), strict=True))
    assert all((a == b).all() for a, b in zip(before.mean(), copies, strict=True)) or not begun
    if begun and trail:
        size = max(np.abs(W).max() + np.abs(b).max() for W, b in trail)
        for found, parts in zip(averaged.geometry.mean(), zip(*trail, strict=True), strict=True):
            expected = np.mean(parts, axis=0, dtype=np.float64)
            np.testing.assert_allclose(found, expected, atol=1e3 * np.finfo(dtype).eps * size)
