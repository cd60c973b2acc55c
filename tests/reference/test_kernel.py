"""Kernel learning equals its NumPy reference, and with the linear kernel it equals plain weights."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel

from onmargin import (
    LabelRanker,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PassiveAggressiveUniclass,
    reference,
)
from onmargin._core.geometries.kernel import expand, raise_to_power, squared_norms
from tests.streams import CONTAINERS, RULES, TASKS, Rule, gaussian, uneven_weights

COLUMNS = {"multiclass": 7, "one_vs_rest": 7}
KERNELS = {
    "poly": polynomial_kernel,
    "rbf": lambda X, gamma, **_: rbf_kernel(X, gamma=gamma),
    "sigmoid": lambda X, gamma, coef0, **_: sigmoid_kernel(X, gamma=gamma, coef0=coef0),
}
SHAPE = {"gamma": 0.1, "degree": 3, "coef0": 0.5}
POLICIES = {
    "oldest": reference.oldest,
    "smallest": reference.smallest,
    "projection": reference.projection,
    "forgetron": reference.forgetron,
}


def stream_of(task, n_rows, **options):
    """Return a stream without zero rows, whose kernel values with all others are equal, so scores would nearly tie."""
    stream = gaussian(task, COLUMNS.get(task, 1), n_rows=2 * n_rows, **options)
    live = np.flatnonzero(stream.X.any(axis=1))[:n_rows]
    return replace(stream, X=stream.X[live], y=stream.y[live])


def assert_same(model, run, squared_bias=0.0, tolerance=1e-9):
    assert model.support_.tolist() == run.supports
    assert_allclose(model.dual_coef_.T, run.coef[run.supports], atol=tolerance)
    assert_allclose(model.intercept_, squared_bias * run.coef.sum(axis=0), atol=tolerance)
    for name in ("rounds", "mistakes", "updates"):
        assert getattr(model.totals_, name) == getattr(run, name)
    for name in ("loss", "squared_loss", "dual_value", "max_squared_norm"):
        assert getattr(model.totals_, name) == pytest.approx(getattr(run, name), rel=max(tolerance, 1e-8))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("degree", [0, 1, 2, 5, 12, 63])
def test_powers(degree, dtype):
    products = np.random.default_rng(0).uniform(-1, 1, (7, 23)).astype(dtype)
    expected = (0.7 * products.astype(np.float64) + 0.4) ** degree
    raise_to_power(products, 0.7, 0.4, degree)
    assert products.dtype == dtype
    assert_allclose(products, expected, rtol=1e-12 if dtype == np.float64 else 1e-4, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squared_norms(dtype):
    for width in (1, 15, 16, 50):
        rows = np.random.default_rng(0).standard_normal((5, width)).astype(dtype)
        assert_allclose(squared_norms(rows), (rows.astype(np.float64) ** 2).sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("density", [0.2, 0.4, 1.0])
@pytest.mark.parametrize("columns", [1, 2, 3, 10])
@pytest.mark.parametrize("rows", [1, 31, 32, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_expansions_are_sums_in_order(dtype, rows, columns, density):
    """However they are cut, to the last bit, and whether or not most coefficients are zero."""
    random = np.random.default_rng(0)
    values = random.standard_normal((150, rows)).astype(dtype)
    coef = np.zeros((150, columns + 2))
    coef[:, :columns] = np.where(random.random((150, columns)) < density, random.standard_normal((150, columns)), 0)
    sums = random.standard_normal((columns, rows))
    expected = sums + coef[:, :columns].T @ values
    one_by_one = sums.copy()
    for i in range(150):
        assert expand(values[i : i + 1], coef[i : i + 1], one_by_one)
    for start, stop in ((0, 3), (3, 140), (140, 150)):
        assert expand(values[start:stop], coef[start:stop], sums)
    assert_allclose(sums, expected, atol=1e-12)
    assert_array_equal(sums, one_by_one)
    coef[50, 0] = 1
    values[50, rows // 2] = np.nan
    assert not expand(values, coef, sums)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("task", TASKS)
def test_twin(task, kernel, rule, weighted):
    stream = stream_of(task, 300, n_features=11)
    weight = uneven_weights(300) if weighted else None
    model = stream.estimator(rule, kernel=kernel, fit_intercept=True, **SHAPE)
    model.partial_fit(stream.X, stream.y, sample_weight=weight, **stream.classes)
    squared_bias = model.intercept_scaling_**2
    K = KERNELS[kernel](stream.X, **SHAPE) + squared_bias
    asked, targets = TASKS[task][1], stream.y
    if weighted and task != "regression":  # weights of classifiers act on the margin, too
        asked, targets = reference.with_weights(asked), list(zip(stream.y.tolist(), weight.tolist(), strict=True))
    run = reference.play_kernel(K, targets, asked, rule.twin, columns=stream.columns, weight=weight)
    assert len(run.supports) > 30
    assert_same(model, run, squared_bias)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("task", ["binary", "regression", "multiclass"])
@pytest.mark.parametrize("policy", POLICIES)
def test_budget(policy, task, intercept, C):
    stream = stream_of(task, 900, n_features=11)
    how = {"kernel": "rbf", "gamma": 0.1, "intercept_scaling": 0.5, "fit_intercept": intercept}
    model = stream.estimator(Rule(C), budget=20, budget_policy=policy, **how)
    model.partial_fit(stream.X, stream.y, **stream.classes)
    squared_bias = 0.25 if intercept else 0.0
    run = reference.play_kernel(
        rbf_kernel(stream.X, gamma=0.1) + squared_bias,
        stream.y,
        TASKS[task][1],
        reference.pa1(C),
        columns=stream.columns,
        budget=20,
        policy=POLICIES[policy],
    )
    assert len(run.supports) == 20
    assert run.updates > 300
    # A shrinking factor is a quotient of small differences, and its errors accumulate.
    assert_same(model, run, squared_bias, 1e-4 if policy == "forgetron" else 1e-8)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_inputs(task, kernel, dtype, container):
    stream = stream_of(task, 300, dtype=dtype)
    model = stream.estimator(Rule(0.1), kernel=kernel, **SHAPE)
    model.partial_fit(CONTAINERS[container](stream.X), stream.y, **stream.classes)
    K = KERNELS[kernel](stream.X.astype(np.float64), **SHAPE)
    run = reference.play_kernel(K, stream.y, TASKS[task][1], reference.pa1(0.1), columns=stream.columns)
    assert model.support_vectors_.dtype == dtype
    assert_allclose(model.dual_coef_.T, run.coef[run.supports], atol=1e-9 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("average", [False, True, 15])
@pytest.mark.parametrize(
    "options",
    [
        *({"update": update} for update in ("max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact")),
        *({"update": update} for update in ("perceptron", "mira")),
        {"loss": "squared_hinge"},
        {"C": inf},
        {"strategy": "ovr"},
        {"cost": "squared"},
        {"cost": "absolute", "cost_update": "max_loss"},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_linear_kernel_is_the_linear_classifier(options, average):
    stream = gaussian("multiclass", 5, n_rows=400, n_features=11)
    plain, expanded = (
        PassiveAggressiveClassifier(kernel=kernel, average=average, **{"C": 0.3} | options)
        for kernel in (None, "linear")
    )
    assert_equal_weights(plain, expanded, stream.X, stream.y)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_kernel_is_the_linear_regressor(loss):
    stream = gaussian("regression", n_rows=400, n_features=11)
    plain, expanded = (PassiveAggressiveRegressor(kernel=kernel, loss=loss, C=0.1) for kernel in (None, "linear"))
    assert_equal_weights(plain, expanded, stream.X, stream.y)


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("update", ["max", "simperc", "conproj", "simproj", "simopt", "conopt"])
def test_linear_kernel_is_the_linear_ranker(update, calibrate):
    stream = gaussian("multiclass", 5, n_rows=400, n_features=11)
    Y = (stream.X @ np.random.default_rng(1).standard_normal((11, 5)) > 1).astype(int)
    plain, expanded = (
        LabelRanker(kernel=kernel, update=update, calibrate=calibrate, C=0.1) for kernel in (None, "linear")
    )
    assert_equal_weights(plain, expanded, stream.X, Y)
    assert_allclose(expanded.dual_coef_ @ expanded.support_vectors_, plain.coef_, atol=1e-10)


def assert_equal_weights(plain, expanded, X, y):
    for part in (slice(150), slice(150, None)):
        plain.partial_fit(X[part], y[part])
        expanded.partial_fit(X[part], y[part])
    assert_allclose(expanded.coef_, plain.coef_, atol=1e-10)
    assert_allclose(expanded.intercept_, plain.intercept_, atol=1e-10)
    score = "predict" if isinstance(plain, PassiveAggressiveRegressor) else "decision_function"
    assert_allclose(getattr(expanded, score)(X), getattr(plain, score)(X), atol=1e-9)
    assert dict(expanded.totals_) == pytest.approx(dict(plain.totals_))


@pytest.mark.parametrize("options", [{"target_loss": 0.05}, {"target_loss": 0.05, "selection": "largest"}], ids=str)
def test_batch_conversion(options):
    stream = gaussian("regression", n_rows=60, n_features=80)
    plain, expanded = (
        PassiveAggressiveRegressor(kernel=kernel, shuffle=False, **options).fit(stream.X[1:], stream.y[1:])
        for kernel in (None, "linear")
    )
    assert expanded.converged_
    assert_allclose(expanded.coef_, plain.coef_, atol=1e-10)
    assert expanded.totals_.updates == plain.totals_.updates > expanded.n_support_  # rows that moved twice count once


UNICLASS = [
    {"init": init, "loss": loss, "C": C, "radius": radius, "max_radius": 1.5 if radius == "learn" else None}
    for init in ("first", "zero")
    for loss, C in (("epsilon_insensitive", 0.1), ("epsilon_insensitive", inf), ("squared_epsilon_insensitive", 0.5))
    for radius in ("fixed", "learn")
]


@pytest.mark.parametrize("options", UNICLASS, ids=str)
def test_uniclass(options):
    X = np.random.default_rng(0).normal(loc=1.0, size=(300, 5))
    rule = Rule(options["C"], options["loss"].startswith("squared"))
    limit, learned = options["max_radius"] or 0.1, options["radius"] == "learn"
    plain, expanded, rbf = (
        PassiveAggressiveUniclass(kernel=kernel, gamma=0.2, **options).partial_fit(X)
        for kernel in (None, "linear", "rbf")
    )
    assert_allclose(expanded.center_, plain.center_, atol=1e-10)
    assert expanded.radius_ == pytest.approx(plain.radius_)
    assert_allclose(expanded.score_samples(X), plain.score_samples(X), atol=1e-7)
    totals = dict(plain.totals_)
    assert dict(expanded.totals_) == pytest.approx(totals)
    K = rbf_kernel(X, gamma=0.2)
    start = 0 if options["init"] == "first" else None
    coef, radius, losses = reference.uniclass_kernel(K, limit, rule.twin, learn_radius=learned, start=start)
    assert_allclose(rbf.dual_coef_[0], coef[rbf.support_], atol=1e-10)
    assert rbf.radius_ == pytest.approx(radius)
    assert rbf.totals_.loss == pytest.approx(losses.sum())
    distances = np.sqrt(np.maximum(1 - 2 * K @ coef + coef @ K @ coef, 0))
    assert_allclose(-rbf.score_samples(X), distances, atol=1e-7)


@pytest.mark.parametrize("budget", [10, 20])
@pytest.mark.parametrize("policy", ["oldest", "smallest", "projection"])
@pytest.mark.parametrize("options", UNICLASS, ids=str)
def test_uniclass_on_a_budget(options, policy, budget):
    X = np.random.default_rng(0).normal(loc=1.0, size=(400, 5))
    rule = Rule(options["C"], options["loss"].startswith("squared"))
    limit, learned = options["max_radius"] or 0.1, options["radius"] == "learn"
    model = PassiveAggressiveUniclass(kernel="rbf", gamma=0.2, budget=budget, budget_policy=policy, **options)
    for part in (slice(150), slice(150, 151), slice(151, None)):
        model.partial_fit(X[part])
    K = rbf_kernel(X, gamma=0.2)
    coef, radius, losses = reference.uniclass_kernel(
        K,
        limit,
        rule.twin,
        learn_radius=learned,
        start=0 if options["init"] == "first" else None,
        budget=budget,
        policy=POLICIES[policy],
    )
    assert model.support_.tolist() == np.flatnonzero(coef).tolist()
    assert_allclose(model.dual_coef_[0], coef[model.support_], atol=1e-9)
    assert model.radius_ == pytest.approx(radius)
    assert model.totals_.loss == pytest.approx(losses.sum())
    assert model._learner.geometry.squared_norm == pytest.approx(coef @ K @ coef)
    if policy != "projection" and options["init"] == "first":
        assert coef.sum() == pytest.approx(1)
