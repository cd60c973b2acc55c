"""Quasi-additive weights: invariants for any input, and numbers that would overflow."""

import pickle
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import (
    ExponentiatedGradientRegressor,
    GradientDescentRegressor,
    Perceptron,
    PNormPerceptron,
    QuasiAdditiveClassifier,
    Winnow,
    reference,
)
from onmargin._core.geometries.additive import Balanced, Entropic, PNorm
from onmargin._core.steps.step import Aggressive, Fixed, Optimal, Projection, Proportional
from onmargin._core.tasks.task import Binary, Multiclass, Regression
from onmargin.learner import Learner, as_rows
from onmargin.models.columns import move_columns
from tests.streams import containers, public_state, streams, weights_for

GEOMETRIES = {"entropic": Entropic, "balanced": Balanced} | {
    f"p={p:g}": partial(PNorm, p=p) for p in (2.0, 3.0, 7.3, 50.0)
}
LINKS = {"entropic": reference.entropic(), "balanced": reference.balanced()} | {
    f"p={p:g}": reference.pnorm(p) for p in (2.0, 3.0, 7.3, 50.0)
}
STEPS = {
    "fixed": Fixed,
    "aggressive": Aggressive,
    "optimal": Optimal,
    "bounded": lambda C: Projection(cap=C),
    "proportional": lambda C: Proportional(0.05 * C),
}


@dataclass(frozen=True)
class Setting:
    """Return a learner before its first round, for streams of one task."""

    kind: str
    step: str
    C: float
    margin: float
    threshold: float

    def learner(self, stream):
        task = {"binary": Binary, "multiclass": Multiclass, "regression": Regression}[stream.task](self.margin)
        geometry = GEOMETRIES[self.kind](stream.X.shape[1], stream.columns, threshold=self.threshold)
        return Learner(task, STEPS[self.step](self.C), geometry)

    def learned(self, stream, weight=None, container=np.ascontiguousarray):
        learner = self.learner(stream)
        learner.learn(as_rows(container(stream.X)), stream.y, weight)
        return learner


settings = st.builds(
    Setting,
    st.sampled_from(list(GEOMETRIES)),
    st.sampled_from(list(STEPS)),
    st.sampled_from([0.02, 0.5, 3.0]),
    st.sampled_from([0.1, 1.0]),
    st.sampled_from([0.0, 0.25]),
)
some_streams = streams("binary", "multiclass", "regression", scales=(-2, 0))


def state(learner):
    """Return the complete state of a learner, for bitwise comparison."""
    geometry = learner.geometry
    return [
        *[np.asarray(part).tolist() for part in geometry.__reduce__()[2].values()],
        geometry.weights().tolist(),
        learner.totals,
    ]


def size(learner):
    """Return the magnitude of theta, for a tolerance."""
    return float(np.abs(learner.geometry.theta).max())


def linked(learner, kind):
    """Return the weights that NumPy computes from theta; balanced ones without cancellation."""
    theta = learner.geometry.theta[:, : learner.geometry.n_columns]
    if kind != "balanced":
        return LINKS[kind].weights(theta.ravel()).reshape(theta.shape).T
    level = np.abs(theta).max()
    high, low = np.exp(theta - level), np.exp(-theta - level)
    return (
        np.where(np.abs(theta) < 1, 2 * np.sinh(np.clip(theta, -1, 1)) * np.exp(-level), high - low)
        / (high + low).sum()
    ).T


# A stream in pieces, copies, and rows that do nothing.


@given(some_streams, settings, containers, st.data())
def test_cuts_copies_and_predictions_make_no_difference(stream, setting, container, data):
    weight = data.draw(weights_for(stream))
    ends = sorted(data.draw(st.sets(st.integers(0, len(stream.y)))) | {0, len(stream.y)})
    whole, pieces = setting.learned(stream, weight, container), setting.learner(stream)
    everything = as_rows(container(stream.X))
    for start, stop in pairwise(ends):
        pieces.learn(as_rows(container(stream.X[start:stop])), stream.y[start:stop], weight[start:stop])
        pieces = pickle.loads(pickle.dumps(pieces)) if data.draw(st.booleans()) else deepcopy(pieces)
        pieces.predict(everything)
        pieces.losses(everything, stream.y)
    assert state(pieces) == state(whole)


ESTIMATORS = [
    QuasiAdditiveClassifier(geometry="entropic", C=0.2),
    QuasiAdditiveClassifier(geometry="entropic", balanced=False, step="aggressive"),
    QuasiAdditiveClassifier(geometry="pnorm", step="optimal"),
    QuasiAdditiveClassifier(fit_intercept=True),
    Perceptron(),
    PNormPerceptron(p=5.0),
    Winnow(),
    Winnow(balanced=True),
    GradientDescentRegressor(rate=0.01),
    ExponentiatedGradientRegressor(rate=0.1),
    ExponentiatedGradientRegressor(rate=0.1, balanced=True),
]


@pytest.mark.filterwarnings("ignore:margin .* is out of reach:UserWarning")
@given(st.sampled_from(ESTIMATORS), some_streams, containers, st.data())
def test_estimators_in_pieces(estimator, stream, container, data):
    """Pickled between calls, and asked for predictions."""
    regressor = hasattr(estimator, "rate_") or "Regressor" in type(estimator).__name__
    classes = {} if regressor else {"classes": np.arange(max(stream.columns, 2))}
    y = stream.y if regressor else (stream.y > 0).astype(int) if stream.columns == 1 else stream.y.astype(int)
    X = container(np.abs(stream.X) if isinstance(estimator, Winnow) else stream.X)
    weight = data.draw(weights_for(stream, zero=False))
    ends = sorted(data.draw(st.sets(st.integers(0, len(y)))) | {0, len(y)})
    whole, pieces = deepcopy(estimator), deepcopy(estimator)
    whole.partial_fit(X, y, sample_weight=weight, **classes)
    for start, stop in pairwise(ends):
        pieces.partial_fit(X[start:stop], y[start:stop], sample_weight=weight[start:stop], **classes)
        pieces.predict(X)
        pieces = pickle.loads(pickle.dumps(pieces))
    assert public_state(pieces) == public_state(whole)
    assert pieces.predict(X).tolist() == whole.predict(X).tolist()


@given(some_streams, settings, containers, st.data())
def test_weight_zero_is_not_there(stream, setting, container, data):
    weight = data.draw(weights_for(stream))
    kept = replace(stream, X=stream.X[weight > 0], y=stream.y[weight > 0])
    with_zeros = setting.learned(stream, weight, container)
    assert state(with_zeros) == state(setting.learned(kept, weight[weight > 0], container))


@given(streams("binary", "multiclass", "regression", scales=(-1, 0)), settings)
def test_dense_is_sparse(stream, setting):
    """Compare up to rounding, with rows of few numbers, so that no margin is zero up to rounding."""
    random = np.random.default_rng(0)
    stream = replace(stream, X=stream.X * random.uniform(0.5, 1.5, stream.X.shape))
    dense, csr = setting.learned(stream), setting.learned(stream, container=sparse.csr_array)
    near = {"rtol": 1e-9, "atol": 1e-9 * (1 + size(dense))}
    scores = dense.scores(as_rows(stream.X))
    assume(np.abs(scores).min() > 1e-9 or not stream.X.any())
    np.testing.assert_allclose(dense.geometry.theta, csr.geometry.theta, **near)
    np.testing.assert_allclose(scores, csr.scores(as_rows(sparse.csr_array(stream.X))), **near)
    np.testing.assert_allclose(dense.geometry.weights(), csr.geometry.weights(), **near)


@given(some_streams, settings, st.integers(1, 3))
def test_features_that_no_row_has(stream, setting, more):
    """They change nothing for p-norms; on the simplex they take part of the weight."""
    wider = replace(stream, X=np.column_stack([stream.X, np.zeros((len(stream.X), more))]))
    learner = setting.learned(wider)
    assert not learner.geometry.theta[-more:].any()
    if setting.kind.startswith("p="):
        np.testing.assert_allclose(
            learner.geometry.weights()[:, :-more], setting.learned(stream).geometry.weights(), rtol=1e-9, atol=1e-12
        )
        assert not learner.geometry.weights()[:, -more:].any()
    elif setting.kind == "entropic":
        share = learner.geometry.weights()[:, -more:]
        assert (share >= 0).all()
        assert np.ptp(share) == 0


@given(some_streams, settings, containers)
def test_cached_slopes_are_the_link_of_theta(stream, setting, container):
    """The slopes and their sum are updated incrementally over three passes."""
    learner = setting.learner(stream)
    for _ in range(3):
        learner.learn(as_rows(container(stream.X)), stream.y)
    weights = learner.geometry.weights()
    assume(np.isfinite(learner.geometry.theta).all())
    expected = linked(learner, setting.kind)
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
    fresh = learner.geometry.recombine(move_columns(np.arange(stream.columns), stream.columns)).weights()
    np.testing.assert_allclose(weights, fresh, rtol=1e-9, atol=1e-12 * np.abs(fresh).max())
    if setting.kind == "entropic":
        assert weights.sum() == pytest.approx(1, abs=1e-12)
    if setting.kind == "balanced":
        assert np.abs(weights).sum() <= 1 + 1e-12
    scores = learner.scores(as_rows(container(stream.X)))
    spread = np.abs(stream.X).sum(axis=1, keepdims=True) * np.abs(weights).max()
    assert (np.abs(scores - (stream.X @ weights.T - setting.threshold)) <= 1e-12 * (1 + spread)).all()


@given(streams("multiclass"), st.sampled_from(list(GEOMETRIES)), containers)
def test_classes_with_equal_updates_tie(stream, kind, container):
    """Columns that were never updated have the same scores bit for bit, and the first of them wins."""
    columns = stream.columns + 3
    learner = Learner(Multiclass(0.5), Fixed(0.3), GEOMETRIES[kind](stream.X.shape[1], columns))
    learner.learn(as_rows(container(stream.X)), stream.y)
    untouched = np.flatnonzero(~learner.geometry.theta[:, :columns].any(axis=0))
    scores = learner.scores(as_rows(container(stream.X)))[:, untouched]
    assert (scores == scores[:, :1]).all()


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_opposite_examples_tie(kind):
    """+x and -x cancel: the weights are back at the start, exactly, and the next score of zero is a mistake again."""
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
    learner = Learner(Binary(), Fixed(0.5), GEOMETRIES[kind](2, 1))
    learner.learn(as_rows(X[:1]), np.array([1.0]))
    assert learner.totals.mistakes == 1
    learner.learn(as_rows(X[:1]), np.array([-1.0]))
    assert not learner.geometry.theta.any()
    learner.learn(as_rows(X[2:]), np.array([1.0]))
    assert learner.totals.mistakes == 3


# The dual.


@given(some_streams, st.sampled_from(list(GEOMETRIES)), st.data())
def test_the_dual_never_falls(stream, kind, data):
    """This holds always for "optimal" and the bounded step, and for "aggressive" if the curvature is at most 1."""
    step = data.draw(st.sampled_from(["aggressive", "bounded"] + ["optimal"] * (stream.task != "regression")))
    if step == "aggressive":
        blocks = {"regression": 1, "binary": 1, "multiclass": 2}[stream.task]
        directions = [np.concatenate([x, -x] if blocks == 2 else [x]) for x in stream.X]
        most = max([LINKS[kind].curvature(z) for z in directions] + [np.abs(stream.X).max() ** 2])
        stream = replace(stream, X=stream.X / max(1.0, np.sqrt(most)))
    setting = Setting(kind, step, data.draw(st.sampled_from([0.02, 0.5, 10.0])), 0.3, 0.0)
    learner, before = setting.learner(stream), 0.0
    for x, y in zip(stream.X, stream.y, strict=True):
        learner.learn(as_rows(x[None, :]), np.array([y]))
        dual = learner.totals.dual_value
        assert dual >= before - 1e-12 * (1 + abs(before) + size(learner))
        before = dual


@given(streams("binary"), st.sampled_from(list(GEOMETRIES)), st.sampled_from([0.05, 1.0, 20.0]))
def test_no_step_gains_more_than_the_optimal_one(stream, kind, C):
    """The steps are compared on the first row with a loss."""
    rows, y = as_rows(stream.X[:1]), stream.y[:1]
    learners = {step: Learner(Binary(0.3), STEPS[step](C), GEOMETRIES[kind](stream.X.shape[1], 1)) for step in STEPS}
    for step, learner in learners.items():
        if step != "proportional":
            learner.learn(rows, y)
    best = learners["optimal"].totals.dual_value
    # A constant row moves theta but not the weights on the simplex, so its step is arbitrary.
    assume(kind != "entropic" or np.ptp(stream.X[0]) > 0)
    for learner in learners.values():
        assert learner.totals.dual_value <= best + 1e-12 * (1 + size(learner))


# Numbers that would overflow.


@pytest.mark.parametrize("step", ["fixed", "optimal"])
@pytest.mark.parametrize("kind", ["entropic", "balanced"])
def test_a_million_rounds(kind, step):
    """The sum is updated by differences in every round."""
    random = np.random.default_rng(0)
    X = random.standard_normal((1000, 4))
    y = random.choice([-1.0, 1.0], 1000)
    learner = Learner(Binary(0.1), STEPS[step](0.05), GEOMETRIES[kind](4, 1))
    rows = as_rows(X)
    for _ in range(1000 if step == "fixed" else 100):
        learner.learn(rows, y)
    weights = learner.geometry.weights()
    assert np.isfinite(learner.geometry.theta).all()
    assert learner.totals.updates > 10_000
    if kind == "entropic":
        assert weights.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(weights, linked(learner, kind), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("container", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("kind", list(GEOMETRIES))
def test_theta_swings(kind, container, columns):
    """Theta moves by 2000 up and down, where exponentials overflow: weights that underflowed recover."""
    task = Binary(1e9) if columns == 1 else Multiclass(1e9)
    geometry = GEOMETRIES[kind](4, columns, threshold=0.0)
    learner = Learner(task, Aggressive(1.0), geometry)
    random, largest = np.random.default_rng(2), 0.0
    for t in range(300):
        x = np.zeros((1, 4))
        x[0, random.integers(4)] = random.choice([-2000.0, 2000.0, 1.0, 1e-3, 700.0, -650.0])
        if t % 10 == 9:  # and back, so that the weights are comparable again
            x[0] = -geometry.theta[:, 0] * random.integers(0, 2) + random.normal(size=4)
        y = np.array([1.0 if columns == 1 else 0.0])
        learner.learn(as_rows(container(x)), y)
        weights = geometry.weights()
        assert np.isfinite(weights).all()
        np.testing.assert_allclose(weights, linked(learner, kind), rtol=1e-8, atol=1e-12 * np.abs(weights).max())
        largest = max(largest, size(learner))
    assert largest > 2000
    assert np.isfinite(learner.totals.dual_value)


@pytest.mark.parametrize("step", ["fixed", "optimal", "bounded"])
@pytest.mark.parametrize("kind", GEOMETRIES)
def test_rows_of_all_sizes(kind, step):
    """One stream has rows of size 1e8 and 1e-8."""
    random = np.random.default_rng(3)
    X = random.standard_normal((200, 5)) * 10.0 ** random.choice([-8.0, 0.0, 8.0], (200, 1))
    learner = Learner(Binary(1.0), STEPS[step](1.0), GEOMETRIES[kind](5, 1))
    for x, y in zip(X, random.choice([-1.0, 1.0], 200), strict=True):
        learner.learn(as_rows(x[None, :]), np.array([y]))
        weights = learner.geometry.weights()
        assert np.isfinite(weights).all()
        np.testing.assert_allclose(weights, linked(learner, kind), rtol=1e-8, atol=1e-9 * np.abs(weights).max())
    assert np.isfinite(learner.totals.dual_value)


@pytest.mark.parametrize("kind", ["p=2", "p=3", "p=7.3", "p=50"])
@given(data=st.data())
def test_p_norms_do_not_see_a_power_of_two(kind, data):
    """Predictions of the fixed step do not depend on C, and the weights are in proportion (section 7)."""
    stream = data.draw(streams("binary", scales=(-1, 1)))
    factor = 2.0 ** data.draw(st.integers(-2 if kind == "p=50" else -60, 60))
    # A score that is zero up to rounding may have either sign, since powers are rounded differently at each level.
    X = stream.X + 1e-3 * np.random.default_rng(0).standard_normal(stream.X.shape)
    one, other = (Learner(Binary(), Fixed(C), GEOMETRIES[kind](X.shape[1], 1)) for C in (1.0, factor))
    for learner in (one, other):
        learner.learn(as_rows(X), stream.y)
    assert one.totals.mistakes == other.totals.mistakes
    assert (factor * one.geometry.theta).tolist() == other.geometry.theta.tolist()
    # Subnormal numbers have fewer digits: a factor does not change them exactly.
    least = np.finfo(np.float64).tiny
    np.testing.assert_allclose(factor * one.geometry.weights(), other.geometry.weights(), rtol=1e-9, atol=least)


@pytest.mark.parametrize(
    "x",
    [
        3.5e-7,
        4.7e-7,
        1e-8,
        1e-6,
    ],
)
def test_small_numbers_and_a_large_p(x):
    """With one feature w = theta for any p. The level is 1 at the start."""
    learner = Learner(Binary(), Fixed(1.0), PNorm(1, 1, 50.0))
    learner.learn(as_rows(np.array([[x]])), np.array([1.0]))
    assert learner.geometry.weights()[0, 0] == pytest.approx(x, rel=1e-10, abs=0)


@pytest.mark.parametrize("p", [100.0, 500.0])
def test_the_largest_p(p):
    learner = Learner(Binary(), Fixed(1.0), PNorm(2, 1, p))
    learner.learn(as_rows(np.array([[0.6, 0.3]])), np.array([1.0]))
    np.testing.assert_allclose(learner.geometry.weights(), [[0.6, 0.0]], rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("size", [299, 301, 354, 356, 599, 601, 2000])
def test_balanced_weights_of_one_large_number(size):
    """The number is just below the threshold for a new level."""
    learner = Learner(Binary(), Fixed(1.0), Balanced(2, 1))
    learner.learn(as_rows(np.array([[float(size), 0.0]])), np.array([1.0]))
    np.testing.assert_allclose(learner.geometry.weights(), [[1.0, 0.0]])
    assert learner.totals.dual_value == pytest.approx(1 - size + np.log(4))


def test_one_feature_alone():
    """The simplex in one dimension is a single point."""
    learner = Learner(Binary(0.1), Fixed(1.0), Entropic(1, 1))
    learner.learn(as_rows(np.array([[-3.0], [5.0], [-700.0]])), np.array([1.0, -1.0, 1.0]))
    assert learner.geometry.weights().tolist() == [[1.0]]
