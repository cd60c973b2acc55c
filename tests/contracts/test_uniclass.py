"""Public API of PassiveAggressiveUniclass: scikit-learn's outlier detector, streams, sparse rows, errors."""

import itertools
import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from onmargin import PassiveAggressiveUniclass, river, stream

EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "a weight scales C in one round: an example of weight 2 is not two examples",
)
X = np.random.default_rng(0).normal(loc=2.0, size=(60, 4))


@parametrize_with_checks(
    [
        PassiveAggressiveUniclass(),
        PassiveAggressiveUniclass(init="zero", epsilon=1.0, loss="squared_epsilon_insensitive"),
        PassiveAggressiveUniclass(radius="learn", max_radius=3.0, shuffle=False),
        PassiveAggressiveUniclass(geometry="entropic", epsilon=2.0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@given(st.lists(st.integers(0, 60), max_size=5), st.booleans(), st.sampled_from(["fixed", "learn"]))
def test_cuts_make_no_difference(cuts, as_sparse, radius):
    rows = sparse.csr_array(X * (X > 2)) if as_sparse else X
    settings = {"radius": radius, "max_radius": 2.0 if radius == "learn" else None}
    whole = PassiveAggressiveUniclass(**settings).partial_fit(rows)
    pieces = PassiveAggressiveUniclass(**settings)
    ends = sorted({0, len(X), *cuts})
    for start, stop in itertools.pairwise(ends):
        pieces.partial_fit(rows[start:stop])
        pieces = pickle.loads(pickle.dumps(pieces))
        pieces.score_samples(rows)  # which changes nothing
    assert pieces.center_.tolist() == whole.center_.tolist()
    assert pieces.totals_ == whole.totals_


def test_contamination_is_the_part_of_outliers():
    model = PassiveAggressiveUniclass(contamination=0.25)
    assert (model.fit_predict(X) == -1).mean() == 0.25
    assert model.offset_ != -model.radius_
    assert (model.decision_function(X) == model.score_samples(X) - model.offset_).all()


def test_without_contamination_outliers_are_outside_the_ball():
    model = PassiveAggressiveUniclass(epsilon=2.5).fit(X)
    assert model.offset_ == -2.5 == -model.radius_
    outside = np.linalg.norm(X - model.center_, axis=1) > 2.5
    assert outside.any()
    assert ((model.predict(X) == -1) == outside).all()


def test_weight_zero_is_never_the_first_example():
    weight = np.ones(60)
    weight[:3] = 0
    model = PassiveAggressiveUniclass().partial_fit(X, sample_weight=weight)
    assert model.center_.tolist() == PassiveAggressiveUniclass().partial_fit(X[3:]).center_.tolist()
    assert model.totals_.rounds == 56


def test_sparse_rows_touch_only_their_features():
    """A round does not visit all of a million features: absent ones are scaled, not written."""
    n_features = 10**6
    rows = sparse.random_array((300, n_features), density=2e-5, rng=np.random.default_rng(0), format="csr")
    model = PassiveAggressiveUniclass(C=0.1).partial_fit(rows)
    geometry = model._learner.geometry
    assert geometry.scale < 1
    touched = np.unique(rows.indices)
    assert set(np.flatnonzero(geometry.vector)) <= set(touched)
    assert geometry.squared_norm == pytest.approx(model.center_ @ model.center_)
    small = PassiveAggressiveUniclass(C=0.1).partial_fit(rows[:, touched].toarray())
    np.testing.assert_allclose(model.center_[touched], small.center_, atol=1e-12)


def test_float32_rows_are_learned_in_float64():
    model = PassiveAggressiveUniclass().partial_fit(X.astype(np.float32))
    assert model.center_.dtype == np.float64
    np.testing.assert_allclose(model.center_, PassiveAggressiveUniclass().partial_fit(X).center_, atol=1e-5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"radius": "learn"}, "radius='learn' needs a number for max_radius"),
        ({"max_radius": 2.0}, "max_radius needs radius='learn'"),
        ({"radius": "grow"}, "radius must be 'fixed' or 'learn'"),
        ({"epsilon": -1.0}, "epsilon must be a number at least 0"),
        ({"epsilon": np.inf}, "epsilon must be a number at least 0"),
        ({"init": "mean"}, "init must be 'first' or 'zero'"),
        ({"contamination": 0.7}, "contamination must be 'auto', or a number"),
        ({"loss": "hinge"}, "loss must be 'epsilon_insensitive'"),
        ({"target_loss": 0.0}, "target_loss must be a number greater than 0"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters(method, parameters, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        getattr(PassiveAggressiveUniclass(**parameters), method)(X)


def test_streams_have_no_contamination():
    with pytest.raises(ValueError, match="partial_fit needs contamination='auto'"):
        PassiveAggressiveUniclass(contamination=0.1).partial_fit(X)


@pytest.mark.parametrize("bad", [np.full((2, 4), np.nan), np.ones((2, 3)), np.ones(4)])
def test_bad_rows_change_nothing(bad):
    model = PassiveAggressiveUniclass().partial_fit(X)
    before = deepcopy(model)
    with pytest.raises(ValueError, match=r"NaN|features|1D|dimension"):
        model.partial_fit(bad)
    assert model.center_.tolist() == before.center_.tolist()
    assert model.totals_ == before.totals_


def test_nothing_learned_yet():
    with pytest.raises(AttributeError, match="has not learned anything yet"):
        _ = PassiveAggressiveUniclass().center_


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_the_default_holds_most_of_what_it_was_fitted_to(scale):
    """A ball of radius 0.1 contains no row of standardized data: every row was an outlier."""
    X = scale * np.random.default_rng(0).normal(size=(400, 8))
    model = PassiveAggressiveUniclass().fit(X)
    assert (model.predict(X) == 1).mean() == 0.9
    assert (model.predict(X + 20 * scale) == -1).all()
    # A ball of a suitable size needs no other threshold.
    suits = PassiveAggressiveUniclass(epsilon=4 * scale).fit(X)
    assert suits.offset_ == -suits.radius_


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("C", [1.0, 0.01])
@pytest.mark.parametrize("start", [0.0, 50.0])
def test_the_default_holds_most_of_a_stream(scale, C, start):
    """A ball of radius 0.1 contains no row of standardized data, and partial_fit and streams used it."""
    X = scale * (start + np.random.default_rng(0).normal(size=(400, 8)))
    model = PassiveAggressiveUniclass(C=C * scale).partial_fit(X)
    assert (model.predict(X) == 1).mean() >= 0.8
    assert (model.predict(X + 20 * scale) == -1).all()
    one_by_one = stream.PassiveAggressiveUniclass(C=C * scale).learn_many(X)
    assert one_by_one.offset_ == pytest.approx(model.offset_)
    assert [one_by_one.predict_one(x) for x in X] == model.predict(X).tolist()
    in_river = river.PassiveAggressiveUniclass(C=C * scale)
    for x in X:
        in_river.learn_one(dict(enumerate(x)))
    radius = -model.offset_
    distance = radius - model.decision_function(X[:1])[0]
    score = distance**2 / (distance**2 + radius**2)
    assert in_river.score_one(dict(enumerate(X[0]))) == pytest.approx(score)


def test_a_ball_of_suitable_size_is_the_threshold():
    X = np.random.default_rng(0).normal(size=(400, 8))
    for parameters in {"epsilon": 4.0}, {"radius": "learn", "max_radius": 6.0}:
        assert (model := PassiveAggressiveUniclass(**parameters).partial_fit(X)).offset_ == -model.radius_


@pytest.mark.parametrize("parameters", [{}, {"radius": "learn", "max_radius": 0.5}, {"geometry": "entropic"}])
@given(rows=arrays(float, (30, 3), elements=st.floats(-1e3, 1e3)))
@example(rows=np.eye(30, 3) * [6e-8, 0.0, 0.0])  # whose losses differ by less than their squares can tell
def test_at_most_a_fifth_of_a_stream_is_outside_before_learning(parameters, rows):
    """By Cantelli's inequality, for any stream if the ball contains less than half of it."""
    model = PassiveAggressiveUniclass(init="zero", **parameters)
    total, losses = 0.0, []
    for row in rows:
        total, before = model.partial_fit(row[None]).totals_.loss, total
        losses.append(total - before)
    if 2 * model.totals_.mistakes > len(rows):
        learner = model._learner
        limit = np.hypot(model.offset_, learner.geometry.height) - learner.task.radius
        assert np.mean(np.array(losses) > limit * (1 + 1e-9)) <= 0.2
