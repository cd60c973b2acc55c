"""Invariants of per-class margins, for any stream."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from onmargin import PassiveAggressiveClassifier
from onmargin.stream import PassiveAggressiveClassifier as OneByOne
from tests.streams import PA, Rule, containers, dtypes, parameters, public_state, rules, streams

CLASSES = streams("binary", "multiclass", "one_vs_rest")
# Powers of two scale without rounding.
POWERS = st.sampled_from([2.0**-30, 0.5, 4.0, 2.0**30])
margins = st.lists(st.sampled_from([0.125, 0.75, 1.0, 3.0, 50.0]), min_size=5, max_size=5)


def labelled(stream, values):
    return dict(zip([-1, 1] if stream.task == "binary" else range(5), values, strict=False))


@given(CLASSES, rules, parameters, dtypes, containers)
def test_margins_of_one_equal_no_margins(stream, rule, options, dtype, container):
    """Bit for bit."""
    X, y = container(stream.X.astype(dtype)), stream.y.astype(int)
    plain, ones = (
        stream.estimator(rule, class_margin=given, **options).partial_fit(X, y)
        for given in (None, labelled(stream, np.ones(5)))
    )
    assert public_state(plain) == public_state(ones)


@given(streams("multiclass"), st.sampled_from(["conproj", "simproj", "simopt", "conopt", "exact"]))
def test_margins_of_one_equal_no_margins_for_all_rivals(stream, update):
    plain, ones = (
        PassiveAggressiveClassifier(update=update, class_margin=given).partial_fit(stream.X, stream.y.astype(int))
        for given in (None, dict.fromkeys(range(5), 1.0))
    )
    assert public_state(plain) == public_state(ones)


@given(CLASSES, margins, st.sampled_from([0.0, 0.7]), dtypes)
def test_step_without_cap_leaves_exactly_the_margin(stream, values, bias, dtype):
    margin = labelled(stream, values)
    model = stream.estimator(PA, class_margin=margin, fit_intercept=bias > 0, intercept_scaling=bias or "auto")
    model.partial_fit(np.zeros((1, stream.X.shape[1]), dtype), stream.y[:1].astype(int), **stream.classes)
    for x, label in zip(stream.X.astype(dtype), stream.y.astype(int).tolist(), strict=True):
        before, updates = model.decision_function(x[None])[0], model.totals_.updates
        model.partial_fit(x[None], [label])
        if model.totals_.updates > updates:
            after = model.decision_function(x[None])[0]
            size = np.linalg.norm(model.coef_) * np.linalg.norm(x) + np.linalg.norm(model.intercept_)
            slack = 100 * np.finfo(dtype).eps * (margin[label] + size + np.abs(before).max())
            assert abs(won_by(stream, before, after, label) - margin[label]) <= slack


def won_by(stream, before, after, label):
    """Return the margin of an example after its update: over its rival, or the smallest one in one-vs-rest."""
    if np.ndim(after) == 0:
        return after if label == 1 else -after
    others = np.arange(len(after)) != label
    if stream.task == "one_vs_rest":
        return min(after[label], -after[others].max())
    return after[label] - after[np.where(others, before, -np.inf).argmax()]


@given(CLASSES, margins, POWERS, st.sampled_from([0.3, np.inf]), st.booleans())
def test_margins_in_other_units_are_weights_in_other_units(stream, values, unit, C, squared):
    """The cap has the same units; the price of squared slack has none."""
    models = [
        stream.estimator(
            Rule(C if squared else C * scale, squared), class_margin=labelled(stream, scale * np.array(values))
        ).partial_fit(stream.X, stream.y.astype(int), **stream.classes)
        for scale in (1.0, unit)
    ]
    np.testing.assert_array_equal(unit * models[0].coef_, models[1].coef_)
    assert models[0].totals_.mistakes == models[1].totals_.mistakes


@given(CLASSES, margins, rules, st.booleans())
def test_streams_have_the_same_weights(stream, values, rule, average):
    """Examples are learned one at a time, and classes appear during the stream."""
    assume(len(np.unique(stream.y)) > 1)
    margin, options = labelled(stream, values), {"average": average, "fit_intercept": False}
    matrix = stream.estimator(rule, class_margin=margin, **options).partial_fit(stream.X, stream.y.astype(int))
    options |= {"C": rule.C, "loss": matrix.loss, "strategy": matrix.strategy, "class_margin": margin}
    single = OneByOne(**options)
    for x, label in zip(stream.X, stream.y.astype(int).tolist(), strict=True):
        single.learn_one(x, label)
    assert single.totals_ == matrix.totals_
    scores = [list(single.scores_one(x).values()) for x in stream.X]
    expected = matrix.decision_function(stream.X)
    np.testing.assert_array_equal(scores, expected if expected.ndim > 1 else np.column_stack([-expected, expected]))
