"""The type, order and time of appearance of class labels change nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.streams import Stream, public_state, rules, streams

NAMES = np.array(["ash", "birch", "elm", "fir", "oak"])


@given(streams("multiclass", "one_vs_rest"), rules)
def test_strings_and_numbers_are_equivalent(stream, rule):
    columns = np.arange(stream.columns)
    numbers = stream.estimator(rule).partial_fit(stream.X, stream.y.astype(int), classes=columns)
    strings = stream.estimator(rule).partial_fit(stream.X, NAMES[stream.y.astype(int)], classes=NAMES[columns])
    shown = public_state(numbers), public_state(strings)
    assert {**shown[0], "classes_": ""} == {**shown[1], "classes_": ""}
    assert (strings.predict(stream.X) == NAMES[numbers.predict(stream.X)]).all()


@given(streams("multiclass", "one_vs_rest"), rules, st.randoms(use_true_random=False))
def test_classes_are_sorted(stream, rule, random):
    names = NAMES[: stream.columns].tolist()
    y = NAMES[stream.y.astype(int)]
    expected = stream.estimator(rule).partial_fit(stream.X, y, classes=names)
    random.shuffle(names)
    shuffled = stream.estimator(rule).partial_fit(stream.X, y, classes=names)
    assert public_state(shuffled) == public_state(expected)


@given(streams("one_vs_rest"), rules, st.randoms(use_true_random=False))
def test_one_vs_rest_is_symmetric_in_its_classes(stream, rule, random):
    place = list(range(stream.columns))
    random.shuffle(place)
    expected = stream.learned(rule)
    permuted = Stream("one_vs_rest", stream.X, np.array(place, float)[stream.y.astype(int)], stream.columns).learned(
        rule
    )
    np.testing.assert_allclose(permuted.geometry.weights[place], expected.geometry.weights, rtol=1e-9, atol=1e-9)
    assert permuted.totals.loss == pytest.approx(expected.totals.loss)


@given(streams("multiclass", "one_vs_rest"), rules, st.sampled_from(["aspen", "cedar", "yew"]), st.booleans())
def test_meeting_a_class_keeps_every_margin_between_the_others(stream, rule, newcomer, average):
    """The new class may sort before, between or after them; two classes share one column until then."""
    y, known = NAMES[stream.y.astype(int)], NAMES[: stream.columns]
    scores = []
    for classes in (known, [*known, newcomer]):
        model = stream.estimator(rule, average=average).partial_fit(stream.X, y, classes=known)
        model.partial_fit(np.zeros_like(stream.X[:1]), y[:1], classes=classes)  # a row without effect on the weights
        scores.append(model.decision_function(stream.X))
    assert model.classes_.tolist() == sorted([*known, newcomer])
    place = np.searchsorted(model.classes_, known)
    before, after, unseen = scores[0], scores[1][:, place], np.delete(scores[1], place, axis=1)
    if stream.columns == 2:  # the column was the difference of two prototypes, or each class against the other
        after = (after[:, 1] - after[:, 0]) / (2 if stream.task == "one_vs_rest" else 1)
    np.testing.assert_allclose(after, before, atol=1e-12 * (1 + np.abs(before).max()))
    assert not unseen.any()
