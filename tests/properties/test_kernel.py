"""Invariants of kernel learning for any stream: splits, blocks, copies, bounds, and budgets."""

import copy
import pickle
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from onmargin import LabelRanker, PassiveAggressiveClassifier, PassiveAggressiveUniclass
from onmargin.models import kernel_learner
from tests.streams import PA, TASKS, Rule, Stream, containers, gaussian, rules, streams, weights_for

HOW = {"gamma": 0.5, "coef0": 1.0, "degree": 2}
kernels = st.sampled_from(["linear", "poly", "rbf"])
POLICIES = ["oldest", "smallest", "projection", "forgetron"]
budgets = st.sampled_from([None, 1, 3, 20])


def shown(model):
    return {name: getattr(model, name) for name in ("support_", "dual_coef_", "intercept_")}


def assert_alike(one, other, tolerance=1e-7):
    assert one.support_.tolist() == other.support_.tolist()
    for name, value in shown(one).items():
        assert_allclose(getattr(other, name), value, rtol=tolerance, atol=tolerance)
    assert dict(other.totals_) == pytest.approx(dict(one.totals_), rel=tolerance, abs=tolerance)


CUT = [
    *({"budget": None, "average": average} for average in (False, True)),
    *({"budget": 12, "budget_policy": policy} for policy in POLICIES),
]


@pytest.mark.parametrize("options", CUT, ids=str)
@given(cuts=st.lists(st.integers(0, 150), max_size=6), container=containers, kernel=st.sampled_from(["rbf", "poly"]))
def test_cuts_make_no_difference(options, cuts, container, kernel):
    """Up to rounding; classes appear during the stream, and calls are split anywhere."""
    stream = gaussian("multiclass", 4, n_rows=150, n_features=9)
    X = container(stream.X)
    how = {"kernel": kernel, "gamma": 0.1, "coef0": 1.0, "C": 0.3, **options}
    whole, pieces = (PassiveAggressiveClassifier(**how) for _ in range(2))
    whole.partial_fit(X, stream.y)
    for start, stop in pairwise(sorted({0, 150, *cuts})):
        pieces.partial_fit(X[start:stop], stream.y[start:stop])
    assert_alike(whole, pieces, 1e-4 if options.get("budget_policy") == "forgetron" else 1e-7)


@pytest.mark.parametrize(("block", "tile"), [(1, 1), (3, 7), (64, 1000), (1000, 5)])
@pytest.mark.parametrize("budget", [None, 15])
def test_blocks_make_no_difference(block, tile, budget):
    stream = gaussian("multiclass", 5, n_rows=120, n_features=9)
    models = [PassiveAggressiveClassifier(kernel="rbf", gamma=0.1, budget=budget) for _ in range(2)]
    models[0].partial_fit(stream.X, stream.y)
    with mock.patch.multiple(kernel_learner, BLOCK=block, TILE=tile):
        models[1].partial_fit(stream.X, stream.y)
        scores = models[1].decision_function(stream.X)
    assert_alike(*models)
    assert_allclose(scores, models[0].decision_function(stream.X), atol=1e-9)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@given(stream=streams(), rule=rules, kernel=kernels, budget=budgets, policy=st.sampled_from(POLICIES), X=containers)
def test_copies_continue_alike_and_independently(duplicate, stream, rule, *, kernel, budget, policy, X):
    rows = X(stream.X)
    model = stream.estimator(rule, kernel=kernel, budget=budget, budget_policy=policy, fit_intercept=True, **HOW)
    model.partial_fit(rows, stream.y)
    before = {name: value.tolist() for name, value in shown(model).items()}
    twin = duplicate(model)
    twin.partial_fit(rows, stream.y)
    assert {name: value.tolist() for name, value in shown(model).items()} == before
    model.partial_fit(rows, stream.y)
    assert {name: value.tolist() for name, value in shown(model).items()} == {
        name: value.tolist() for name, value in shown(twin).items()
    }
    assert model.totals_ == twin.totals_


@pytest.mark.parametrize("budget", [None, 30])
def test_shallow_copies_do_not_share_later_changes(budget):
    stream = gaussian("multiclass", 3, n_rows=300, n_features=5)
    parts = [(stream.X[start : start + 100], stream.y[start : start + 100]) for start in (0, 100, 200)]
    model = PassiveAggressiveClassifier(kernel="rbf", budget=budget).partial_fit(*parts[0])
    model.partial_fit(stream.X[:5], stream.y[:5])  # into memory with unused space
    other, alone = copy.copy(model), copy.deepcopy(model)
    model.partial_fit(*parts[1])
    other.partial_fit(*parts[2])
    alone.partial_fit(*parts[1])
    assert_allclose(model.decision_function(stream.X), alone.decision_function(stream.X), atol=1e-9)
    assert model.support_vectors_.tolist() == alone.support_vectors_.tolist()


@given(streams(), rules, kernels, containers, st.data())
def test_scores_are_the_expansion(stream, rule, kernel, container, data):
    weight = data.draw(weights_for(stream))
    model = stream.estimator(rule, kernel=kernel, fit_intercept=True, **HOW)
    model.partial_fit(container(stream.X), stream.y, sample_weight=weight, **stream.classes)
    assert model.n_support_ == len(set(model.support_)) == model.totals_.updates
    assert (weight[model.support_] > 0).all()
    assert_allclose(as_dense(model.support_vectors_), stream.X[model.support_])
    K = {
        "linear": stream.X @ stream.X.T,
        "poly": polynomial_kernel(stream.X, **HOW),
        "rbf": rbf_kernel(stream.X, gamma=0.5),
    }
    expected = K[kernel][:, model.support_] @ model.dual_coef_.T + model.intercept_
    scores = model.predict(stream.X) if stream.task == "regression" else model.decision_function(stream.X)
    assert_allclose(scores.reshape(expected.shape), expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max()))
    bias = np.nan_to_num(model.intercept_scaling_)
    assert_allclose(model.intercept_, bias**2 * model.dual_coef_.sum(axis=1), rtol=1e-9, atol=1e-9)


def as_dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


@given(streams("binary", "regression"), kernels)
def test_margin_is_restored(stream, kernel):
    """An uncapped step leaves no loss on its row: the intercept is inside the norm of the feature space."""
    model = stream.estimator(PA, kernel=kernel, fit_intercept=True, **HOW)
    for i, y in enumerate(stream.y):
        x, updates = stream.X[i : i + 1], model.totals_.updates if i else 0
        model.partial_fit(x, stream.y[i : i + 1], **stream.classes)
        if model.totals_.updates > updates:
            score = model._scores(x)[0]
            loss = TASKS[stream.task][1](score, y)[0][0].loss
            assert loss <= 1e-7 * (1 + abs(score[0]) + abs(y))


@given(streams("binary", "multiclass"), st.sampled_from([0.1, 1.0, 10.0]), kernels, st.data())
def test_mistake_bounds_with_the_largest_k(stream, C, kernel, data):
    """[JMLR] Thm. 4 and 5, against any expansion over the rows, with R^2 = max K(x, x)."""
    K = {
        "linear": stream.X @ stream.X.T,
        "poly": polynomial_kernel(stream.X, **HOW),
        "rbf": rbf_kernel(stream.X, gamma=0.5),
    }[kernel]
    seed = data.draw(st.integers(0, 2**32 - 1))
    u = np.random.default_rng(seed).standard_normal((len(K), stream.columns)) * data.draw(
        st.sampled_from([0.0, 0.1, 3.0])
    )
    theirs = Stream(stream.task, K, stream.y, stream.columns).losses(u)
    norm = np.trace(u.T @ K @ u)
    radius2 = stream.blocks * K.diagonal().max()
    for squared in (False, True):
        model = stream.estimator(Rule(C, squared), kernel=kernel, **HOW)
        model.partial_fit(stream.X, stream.y, **stream.classes)
        totals = model.totals_
        assert totals.max_squared_norm == pytest.approx(K.diagonal().max())
        if squared:
            left, right = totals.squared_loss, (radius2 + 1 / (2 * C)) * (norm + 2 * C * (theirs**2).sum())
        else:
            left, right = totals.mistakes, max(radius2, 1 / C) * (norm + 2 * C * theirs.sum())
        assert left <= right * (1 + 1e-6) + 1e-6


@pytest.mark.parametrize("policy", POLICIES)
@given(stream=streams(), rule=rules, budget=st.integers(1, 6), cut=st.integers(1, 4))
def test_budget_is_never_exceeded(policy, stream, rule, budget, cut):
    model = stream.estimator(rule, kernel="rbf", gamma=0.5, budget=budget, budget_policy=policy, fit_intercept=True)
    for start in range(0, len(stream.y), cut):
        model.partial_fit(stream.X[start : start + cut], stream.y[start : start + cut], **stream.classes)
        assert model.n_support_ <= budget
        assert model.dual_coef_.shape[1] == model.n_support_ == model.support_vectors_.shape[0]
        assert np.isfinite(model.dual_coef_).all()
    assert_allclose(model.support_vectors_, stream.X[model.support_])
    sums = np.nan_to_num(model.intercept_scaling_) ** 2 * model.dual_coef_.sum(axis=1)
    assert_allclose(model.intercept_, sums, atol=1e-7 * (1 + np.abs(model.dual_coef_).sum()))


@pytest.mark.parametrize("policy", POLICIES)
def test_memory_is_bounded(policy):
    """The size of a model does not grow after the first rounds, for any stream."""
    random = np.random.default_rng(0)
    model = PassiveAggressiveClassifier(kernel="rbf", budget=30, budget_policy=policy)
    sizes = []
    for _ in range(30):
        X = random.standard_normal((300, 8))
        model.partial_fit(X, random.integers(3, size=300), classes=[0, 1, 2])
        learner = model._learner
        sizes.append(len(learner.supports._memory) + learner.geometry.n_slots)
    assert model.totals_.updates > 5000
    assert max(sizes) <= 2 * (30 + 64 + 2 * kernel_learner.BLOCK)
    assert len(pickle.dumps(model)) < 100_000


@given(cuts=st.lists(st.integers(0, 60), max_size=5), kernel=kernels)
def test_ball_cuts(cuts, kernel):
    X = np.random.default_rng(0).normal(loc=1.0, size=(60, 4))
    whole, pieces = (PassiveAggressiveUniclass(kernel=kernel, C=0.1, **HOW) for _ in range(2))
    whole.partial_fit(X)
    for start, stop in pairwise(sorted({0, 60, *cuts})):
        pieces.partial_fit(X[start:stop])
        pieces = pickle.loads(pickle.dumps(pieces))
    assert pieces.support_.tolist() == whole.support_.tolist()
    assert_allclose(pieces.dual_coef_, whole.dual_coef_, atol=1e-10)
    geometry = whole._learner.geometry
    K = {"linear": X @ X.T, "poly": polynomial_kernel(X, **HOW), "rbf": rbf_kernel(X, gamma=0.5)}[kernel]
    c = np.zeros(60)
    c[whole.support_] = whole.dual_coef_[0]
    assert geometry.squared_norm == pytest.approx(c @ K @ c)


BALL_POLICIES = ["oldest", "smallest", "projection"]


@pytest.mark.parametrize("policy", BALL_POLICIES)
@given(
    seed=st.integers(0, 2**32 - 1),
    budget=st.integers(1, 6),
    cuts=st.lists(st.integers(0, 60), max_size=4),
    kernel=kernels,
    init=st.sampled_from(["first", "zero"]),
)
def test_budget_of_a_ball_is_never_exceeded(policy, seed, budget, *, cuts, kernel, init):
    """Its stored norm is that of the center, however the stream is split. Some rows are zero."""
    X = np.random.default_rng(seed).integers(-1, 2, (60, 3)).astype(float)
    how = {"kernel": kernel, "budget": budget, "budget_policy": policy, "init": init, "C": 0.3, **HOW}
    whole, pieces = PassiveAggressiveUniclass(**how).partial_fit(X), PassiveAggressiveUniclass(**how)
    for start, stop in pairwise(sorted({0, 60, *cuts})):
        pieces.partial_fit(X[start:stop])
        pieces = pickle.loads(pickle.dumps(pieces))
        assert (init == "first") <= pieces.n_support_ <= budget  # rows of zeros leave the origin where it is
        assert_allclose(pieces.support_vectors_, X[pieces.support_])
    assert pieces.support_.tolist() == whole.support_.tolist()
    assert_allclose(pieces.dual_coef_, whole.dual_coef_, atol=1e-7)
    K = {"linear": X @ X.T, "poly": polynomial_kernel(X, **HOW), "rbf": rbf_kernel(X, gamma=0.5)}[kernel]
    c = np.zeros(60)
    c[whole.support_] = whole.dual_coef_[0]
    assert whole._learner.geometry.squared_norm == pytest.approx(c @ K @ c, rel=1e-7, abs=1e-7)
    if policy != "projection" and init == "first":
        assert c.sum() == pytest.approx(1)


@pytest.mark.parametrize("policy", BALL_POLICIES)
def test_memory_of_a_ball_is_bounded(policy):
    random = np.random.default_rng(0)
    model = PassiveAggressiveUniclass(kernel="rbf", C=0.1, budget=30, budget_policy=policy)
    sizes = []
    for _ in range(20):
        model.partial_fit(random.standard_normal((300, 8)))
        learner = model._learner
        sizes.append(len(learner.supports._memory) + learner.geometry.n_slots)
    assert model.totals_.updates > 4000
    assert max(sizes) <= 2 * (30 + 64 + 2 * kernel_learner.BLOCK)
    assert len(pickle.dumps(model)) < 100_000


@pytest.mark.parametrize("policy", BALL_POLICIES)
def test_norm_of_a_ball_stays_right(policy):
    """Steps are short, so that redistributed coefficients grow, and with them the rounding errors of the norm."""
    X = np.random.default_rng(0).standard_normal((2000, 4))
    model = PassiveAggressiveUniclass(kernel="rbf", C=0.03, budget=10, budget_policy=policy, gamma=0.2).partial_fit(X)
    c, K = model.dual_coef_[0], rbf_kernel(model.support_vectors_, gamma=0.2)
    assert model._learner.geometry.squared_norm == pytest.approx(c @ K @ c, rel=1e-9)


def test_ball_on_a_budget_moves_with_its_rows():
    """With a linear kernel far from the origin, removals leave the center among the rows, "projection" nearly so."""
    X = np.random.default_rng(0).normal(size=(500, 3)) + 1000
    for policy in BALL_POLICIES:
        model = PassiveAggressiveUniclass(kernel="linear", C=0.1, budget=10, budget_policy=policy).partial_fit(X)
        assert np.linalg.norm(model.center_ - 1000) < 2


def test_ranker_learns_new_labels():
    X = np.random.default_rng(0).standard_normal((200, 3))
    Y = [{"in"} if x @ x < 1 else {"out", "far"} if x @ x > 4 else {"out"} for x in X]
    model = LabelRanker(kernel="rbf", C=10.0).partial_fit(X, Y)
    assert model.dual_coef_.shape == (3, model.n_support_)
    assert np.mean([found == right for found, right in zip(model.predict(X), Y, strict=True)]) > 0.8
