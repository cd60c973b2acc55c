"""The split of a stream into calls makes no difference, bit for bit."""

from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.streams import Stream, containers, dtypes, parameters, public_state, rules, streams, weights_for


@given(streams(), rules, parameters, dtypes, st.data())
def test_partial_fit_in_pieces(stream, rule, options, dtype, data):
    """This holds also if classes appear during the stream."""
    X = data.draw(containers)(stream.X.astype(dtype))
    weight = data.draw(weights_for(stream, zero=False))
    ends = sorted(data.draw(st.sets(st.integers(0, len(stream.y)))) | {0, len(stream.y)})
    whole, pieces = stream.estimator(rule, **options), stream.estimator(rule, **options)
    whole.partial_fit(X, stream.y, sample_weight=weight)
    for start, stop in pairwise(ends):
        pieces.partial_fit(X[start:stop], stream.y[start:stop], sample_weight=weight[start:stop])
    assert public_state(pieces) == public_state(whole)
    assert pieces.predict(X).tolist() == whole.predict(X).tolist()


def fit_options(stream: Stream, options: dict, **passes: object) -> dict:
    """Return options for `fit`, which needs two classes and refuses weights of unknown ones."""
    assume(stream.task == "regression" or len(set(stream.y)) > 1)
    weights = options["class_weight"]
    if isinstance(weights, dict):
        weights = {label: weight for label, weight in weights.items() if label in stream.y}
    return options | {"max_iter": 1, "tol": None, "shuffle": False, "class_weight": weights} | passes


@given(streams(), rules, parameters, containers, st.integers(1, 3))
def test_passes_of_fit_equal_calls_of_partial_fit(stream, rule, options, container, passes):
    """All classes are known. Balanced weights come from all data in `fit`, from the data so far in `partial_fit`."""
    assume(options["class_weight"] != "balanced")
    X, classes = container(stream.X), stream.classes and {"classes": np.unique(stream.y)}
    fitted = stream.estimator(rule, **fit_options(stream, options, max_iter=passes)).fit(X, stream.y)
    streamed = stream.estimator(rule, **options)
    for _ in range(passes):
        streamed.partial_fit(X, stream.y, **classes)
    assert_same_but_for_counts(fitted, streamed)


@given(streams(), rules, parameters, containers)
def test_warm_start_continues(stream, rule, options, container):
    """Two fits of one pass equal one fit of two passes, averaged or not."""
    X = container(stream.X)
    warm = stream.estimator(rule, **fit_options(stream, options, warm_start=True)).fit(X, stream.y).fit(X, stream.y)
    cold = stream.estimator(rule, **fit_options(stream, options, max_iter=2)).fit(X, stream.y)
    assert_same_but_for_counts(warm, cold)


def assert_same_but_for_counts(one, other) -> None:
    """A fit counts an example once, however many passes it makes."""
    assert {**public_state(one), "class_counts_": ""} == {**public_state(other), "class_counts_": ""}
