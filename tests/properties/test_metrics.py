"""Invariants of learners with per-weight rates, for any stream."""

import copy
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from onmargin import (
    AROWClassifier,
    AROWRegressor,
    NHERDClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    SCWClassifier,
)
from onmargin.learner import as_rows
from onmargin.models.columns import move_columns
from tests.metrics import EVERYWHERE, RULES, VARIANCES
from tests.streams import (
    Stream,
    competitors,
    dtypes,
    geometries,
    integers,
    parameters,
    public_state,
    state,
    streams,
    weights_for,
)

CLASSIFIERS = {
    "adaptive": lambda **options: PassiveAggressiveClassifier(geometry="adaptive", **options),
    "normalized": lambda **options: PassiveAggressiveClassifier(geometry="normalized", **options),
    "AROW": AROWClassifier,
    "forgetful": lambda **options: AROWClassifier(forgetting=0.2, **options),
    "NHERD": NHERDClassifier,
    "SCW-I": SCWClassifier,
    "SCW-II": lambda **options: SCWClassifier(variant="II", **options),
}
REGRESSORS = {
    "adaptive": lambda **options: PassiveAggressiveRegressor(geometry="adaptive", **options),
    "normalized": lambda **options: PassiveAggressiveRegressor(geometry="normalized", **options),
    "AROW": AROWRegressor,
}
every_rule = pytest.mark.parametrize("rule", EVERYWHERE)
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)
strategies = st.sampled_from(["joint", "ovr"])


def everything(learner):
    """Return the complete state of a learner, for bitwise comparison."""
    beside = {name: array.tolist() for name, array in learner.geometry.arrays().items()}
    return [*state(learner), beside]


def shown(model):
    """Return the public and private state of an estimator."""
    beside = {name: array.tolist() for name, array in model._learner.geometry.arrays().items()}
    return public_state(model) | {"beside": beside}


@pytest.mark.parametrize("rule", ["adaptive, PA", "normalized, PA"])
@given(stream=streams(), geometry=geometries)
def test_an_uncapped_step_is_tight(rule, stream, geometry):
    """A nonzero row with a loss has no loss after the step, in any metric."""
    learner = RULES[rule].learner(stream, **geometry)
    for r in stream.rounds(learner):
        size = np.abs(r.x) @ np.abs(r.weights[1])
        for h in r.violated if r.x.any() and not geometry["average"] else []:
            gained = float((r.scores[1] - r.scores[0]) @ h.direction)
            assert gained == pytest.approx(h.loss, rel=1e-9, abs=1e-11 * (1 + size.max()))


@given(streams(), geometries, st.data())
def test_normalized_scores_do_not_depend_on_units(stream, geometry, data):
    """Scores are equal bit for bit if units differ by powers of two and there is no intercept."""
    factors = 2.0 ** (data.draw(integers(stream.X.shape[1])) % 17 - 8)
    for rule in "normalized, PA", "normalized, PA-I":
        scaled = replace(stream, X=stream.X * factors)
        learners = [(s, RULES[rule].learned(s, **geometry | {"bias": 0.0})) for s in (stream, scaled)]
        one, other = (learner.scores(as_rows(s.X)).tolist() for s, learner in learners)
        assert one == other


@pytest.mark.parametrize("kind", [PassiveAggressiveClassifier, PassiveAggressiveRegressor])
def test_normalized_predictions_do_not_depend_on_units(kind):
    """Predictions are equal up to rounding with any factors; those of plain weights are not."""
    random = np.random.default_rng(0)
    X, factors = random.standard_normal((200, 6)), np.array([1e-3, 0.3, 1.0, 7.0, 1e2, 1e4])
    y = X @ random.standard_normal(6) + 1
    y = y if kind is PassiveAggressiveRegressor else np.digitize(y, [-1.5, 1.5])
    score = "predict" if kind is PassiveAggressiveRegressor else "decision_function"

    def scores(geometry, X):
        return getattr(kind(geometry=geometry).partial_fit(X, y), score)(X)

    assert_allclose(scores("normalized", X * factors), scores("normalized", X), rtol=1e-7, atol=1e-9)
    assert not np.allclose(scores("adaptive", X * factors), scores("adaptive", X), rtol=0.1)


@pytest.mark.parametrize("rule", VARIANCES)
@given(stream=streams("binary", "multiclass", "one_vs_rest", scales=(-6, 6)), dtype=dtypes, geometry=geometries)
def test_variances_are_positive_and_never_grow(rule, stream, dtype, geometry):
    stream = stream.cast(dtype)
    learner = RULES[rule].learner(stream, **geometry)
    before = [np.ones_like(learner.geometry.metric), np.ones(stream.columns)]
    for i in range(len(stream.y)):
        learner.learn(as_rows(stream.X[i : i + 1]), stream.y[i : i + 1])
        after = [learner.geometry.metric.copy(), learner.geometry.metric_intercept.copy()]
        for old, new in zip(before, after, strict=True):
            assert (new > 0).all()
            assert (new <= (old if rule != "AROW, forgetting" else 1)).all()
        before = after


@every_rule
@given(stream=streams(), geometry=geometries, data=st.data())
def test_examples_of_weight_zero_are_ignored(rule, stream, geometry, data):
    weight = data.draw(weights_for(stream))
    kept = replace(stream, X=stream.X[weight > 0], y=stream.y[weight > 0])
    with_zeros = RULES[rule].learned(stream, weight=weight, **geometry)
    without = RULES[rule].learned(kept, weight=weight[weight > 0], **geometry)
    assert everything(with_zeros) == everything(without)


@every_rule
@pytest.mark.parametrize("duplicate", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy])
@given(stream=streams(), geometry=geometries, dtype=dtypes)
def test_a_copy_continues_independently(rule, duplicate, stream, geometry, dtype):
    stream = stream.cast(dtype)
    learner = RULES[rule].learned(stream, **geometry)
    before, twin = everything(learner), duplicate(learner)
    assert everything(twin) == before
    twin.learn(as_rows(stream.X), stream.y)
    assert everything(learner) == before
    learner.learn(as_rows(stream.X), stream.y)
    assert everything(twin) == everything(learner)


@every_classifier
@given(
    stream=streams("binary", "multiclass"), strategy=strategies, options=parameters, cuts=st.sets(st.integers(0, 10))
)
def test_cuts_make_no_difference(kind, stream, strategy, options, cuts):
    """Classes appear during the stream."""
    whole, pieces = (CLASSIFIERS[kind](strategy=strategy, **options) for _ in range(2))
    whole.partial_fit(stream.X, stream.y)
    for start, stop in pairwise(sorted({0, len(stream.y), *(cut for cut in cuts if cut < len(stream.y))})):
        pieces.partial_fit(stream.X[start:stop], stream.y[start:stop])
    assert shown(pieces) == shown(whole)


@pytest.mark.parametrize("kind", REGRESSORS)
@given(stream=streams("regression"), cut=st.integers(0, 10))
def test_cuts_make_no_difference_to_numbers(kind, stream, cut):
    whole, pieces = (REGRESSORS[kind]() for _ in range(2))
    whole.partial_fit(stream.X, stream.y)
    for part in slice(None, cut), slice(cut, None):
        if len(stream.y[part]):
            pieces.partial_fit(stream.X[part], stream.y[part])
    assert shown(pieces) == shown(whole)


@every_classifier
@given(
    stream=streams("binary", "multiclass"),
    strategy=strategies,
    container=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_sparse_weights_keep_their_metric(kind, stream, strategy, container):
    X = container(stream.X)
    dense, thinned = (CLASSIFIERS[kind](strategy=strategy).partial_fit(X, stream.y, **stream.classes) for _ in range(2))
    thinned.sparsify().sparsify()
    if hasattr(dense, "confidence_"):
        assert thinned.confidence_.tolist() == dense.confidence_.tolist()
    assert_allclose(thinned.decision_function(X), dense.decision_function(X), rtol=1e-7, atol=1e-9)
    for model in dense, thinned:
        model.partial_fit(X, stream.y)
    assert shown(thinned) == shown(dense)


@given(streams("binary"), st.sampled_from([0.01, 0.3, 1.0]), st.data())
def test_gain_of_adaptive_steps_is_bounded(stream, C, data):
    """2 D <= max_t |w_t - u|_inf^2 tr(H) + 2 C sum_t loss_t(u), H the roots of the sums of squares in the end."""
    u = data.draw(competitors(stream))
    rule = RULES["adaptive, PA-I"]
    learner = replace(rule, core_step=type(rule.core_step)(cap=C)).learner(stream)
    apart = 0.0
    for r in stream.rounds(learner):
        apart = max(apart, np.abs(r.weights[0][:-1] - u).max())
    allowed = apart**2 * learner.geometry.metric.sum() + 2 * C * stream.losses(u).sum()
    assert 2 * learner.totals.dual_value <= allowed * (1 + 1e-9) + 1e-12


@every_rule
@given(stream=streams("multiclass"), geometry=geometries)
def test_columns_and_features_keep_their_metric(rule, stream, geometry):
    """The metric is kept when columns are added, a new one first, and when features are added or removed."""
    learned = RULES[rule].learned(stream, **geometry).geometry
    wider = learned.recombine(move_columns(np.arange(1, stream.columns + 1), stream.columns + 1))
    assert_array_equal(wider.metric[1:], learned.metric)
    assert_array_equal(wider.metric_intercept[1:], learned.metric_intercept)
    assert (wider.metric[0] == learned.start).all()
    longer = learned.resize(stream.X.shape[1] + 2)
    assert (longer.metric[:, -2:] == learned.start).all()
    for other in wider, longer.resize(stream.X.shape[1]):
        for name in {*learned.by_feature(), *learned.others()} - {"metric", "metric_intercept"}:
            assert_array_equal(getattr(other, name), getattr(learned, name))
    assert_array_equal(longer.resize(stream.X.shape[1]).metric, learned.metric)


@pytest.mark.parametrize("rule", VARIANCES)
def test_a_certain_weight_stays_finite(rule):
    """Rows are so large that a step reduces the variance to zero up to rounding."""
    stream = Stream("binary", np.full((4, 1), 1e15, np.float32), np.array([1.0, -1.0, 1.0, -1.0]))
    geometry = RULES[rule].learned(stream).geometry
    assert (geometry.metric > 0).all()
    assert np.isfinite(geometry.weights).all()


@every_rule
@given(stream=streams(scales=(-12, 12)), geometry=geometries, dtype=dtypes)
def test_weights_stay_finite(rule, stream, geometry, dtype):
    learned = RULES[rule].learned(stream.cast(dtype), **geometry).geometry
    for array in (*learned.arrays().values(), *learned.mean()):
        assert np.isfinite(array).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-160, 1e-155, 1e155, 1e160, 1e200, 1e308])
def test_rows_whose_squares_overflow_do_no_harm(size, rule):
    """The row may be ignored, but nothing becomes infinite, and the next one is learned."""
    stream = Stream("binary", np.array([[size, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]))
    learner = RULES[rule].learned(stream)
    assert np.isfinite(learner.geometry.weights).all()
    assert np.isfinite(learner.geometry.metric).all()
    assert learner.geometry.weights[0, 1] < 0
    assert np.isfinite(learner.totals.dual_value)
