"""An example of weight zero is ignored: in the weights, the totals, the clock and the intercept's scale."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.streams import geometries, parameters, public_state, rules, state, streams, weights_for


@given(streams(), rules, geometries, st.data())
def test_learner_skips_it(stream, rule, geometry, data):
    weight = data.draw(weights_for(stream))
    kept = replace(stream, X=stream.X[weight > 0], y=stream.y[weight > 0])
    with_zeros = stream.learned(rule, weight=weight, **geometry)
    without = kept.learned(rule, weight=weight[weight > 0], **geometry)
    assert state(with_zeros) == state(without)


@given(streams(), rules, geometries)
def test_a_stream_of_weight_zero_changes_nothing(stream, rule, geometry):
    learner = stream.learned(rule, weight=np.zeros(len(stream.y)), **geometry)
    assert state(learner) == state(stream.learner(rule, **geometry))


@given(streams(), rules, parameters, st.data())
def test_partial_fit_skips_it(stream, rule, options, data):
    weight = data.draw(weights_for(stream))
    with_zeros, without = (
        stream.estimator(rule, **options).partial_fit(
            stream.X[rows], stream.y[rows], sample_weight=weight[rows], **stream.classes
        )
        for rows in (slice(None), weight > 0)
    )
    assert public_state(with_zeros) == public_state(without)


@given(streams(), rules, parameters, st.data())
def test_fit_skips_it(stream, rule, options, data):
    """The remaining examples still have all classes."""
    weight = data.draw(weights_for(stream))
    options = options | {"shuffle": False, "max_iter": 2, "tol": None}
    if stream.task != "regression":
        assume(len(set(stream.y)) > 1 and set(stream.y) == set(stream.y[weight > 0]))
        assume(not isinstance(options["class_weight"], dict))
    with_zeros, without = (
        stream.estimator(rule, **options).fit(stream.X[rows], stream.y[rows], sample_weight=weight[rows])
        for rows in (slice(None), weight > 0)
    )
    assert public_state(with_zeros) == public_state(without)
