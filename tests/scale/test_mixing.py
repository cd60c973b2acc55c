"""Mixing equals the NumPy reference, and its bounds hold."""

from copy import deepcopy
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import (
    AROWClassifier,
    LabelRanker,
    NHERDClassifier,
    OrdinalRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SCWClassifier,
    reference,
    scale,
)
from onmargin.scale import LocalEngine
from onmargin.scale._mixing import MIXINGS
from tests.examples import examples
from tests.shards import Rows, cut

HERE = LocalEngine(1)
seeds = st.integers(0, 2**32 - 1)


def separable(seed, n=40, d=6, margin=0.2):
    """Return rows and labels of both classes, and a u with margin at least 1 on all of them."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    X = np.vstack([u, -u, rng.normal(size=(n - 2, d))])
    y = np.where(X @ u > 0, 1, -1)
    return sparse.csr_matrix(X + np.outer(y * margin, u)), y, u / margin


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_those_of_the_twin(mixing, n_classes):
    rng = np.random.default_rng(0)
    X, y = sparse.csr_matrix(rng.normal(size=(61, 5))), rng.integers(n_classes, size=61)
    parameters = {"C": 0.1, "fit_intercept": False}
    shards = [Rows("long", X[:40], y[:40]), Rows("empty", X[:0], y[:0]), Rows("short", X[40:], y[40:])]
    model = scale.fit(PassiveAggressiveClassifier(**parameters), shards, engine=HERE, epochs=3, mixing=mixing)

    def learn(weights, shard):
        student = PassiveAggressiveClassifier(**parameters)
        if not shard.X.shape[0]:
            return weights, 0.0
        student.partial_fit(X[:1], y[:1], classes=np.arange(n_classes))
        student.coef_ = weights
        before = student.totals_
        student.partial_fit(shard.X, shard.y)
        after = student.totals_
        updates, rounds = after.updates - before.updates, after.rounds - before.rounds
        return student.coef_.copy(), {"uniform": 1.0, "updates": updates, "examples": rounds}[mixing]

    start = np.zeros((1 if n_classes == 2 else n_classes, 5))
    np.testing.assert_allclose(model.coef_, reference.mix_epochs(learn, shards, start, 3), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("make", [AROWClassifier, SCWClassifier, NHERDClassifier])
def test_confidences_are_those_of_the_nearest_gaussian(make):
    rng = np.random.default_rng(1)
    X, y = sparse.csr_matrix(rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.4)), rng.integers(2, size=60)
    shards = cut(X, y, 3)
    model = scale.fit(make(intercept_scaling=1.0), shards, engine=HERE, epochs=1, mixing="examples")
    parts = [make(intercept_scaling=1.0).partial_fit(shard.X, shard.y, classes=[0, 1]) for shard in shards]
    mean, variance = reference.mixed_gaussians(
        [part.coef_ for part in parts], [part.confidence_ for part in parts], [20, 20, 20]
    )
    np.testing.assert_allclose(model.coef_, mean, rtol=1e-12)
    np.testing.assert_allclose(model.confidence_, variance, rtol=1e-12)


def test_nearest_gaussian_is_nearest():
    """No other Gaussian has a smaller mean divergence from the mixed ones."""
    rng = np.random.default_rng(2)
    means, variances, counts = rng.normal(size=(3, 4)), rng.uniform(0.1, 1, size=(3, 4)), [1.0, 2.0, 4.0]

    def divergence(mean, variance):
        each = np.log(variances / variance) + variance / variances + (mean - means) ** 2 / variances - 1
        return counts @ each / 2

    best = divergence(*reference.mixed_gaussians(means, variances, counts))
    for _ in range(20):
        moved = reference.mixed_gaussians(means, variances, counts)
        moved = (moved[0] + 0.1 * rng.normal(size=4), moved[1] * np.exp(0.1 * rng.normal(size=4)))
        assert (divergence(*moved) >= best).all()


@pytest.mark.parametrize("make", [PassiveAggressiveClassifier, AROWClassifier])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_averaged_weights_are_the_mean_over_all_rounds(make, dtype):
    rng = np.random.default_rng(3)
    X, y = sparse.csr_matrix(rng.normal(size=(30, 3)), dtype=dtype), rng.integers(2, size=30)
    shards = [Rows(f"{k}", X[a:b], y[a:b]) for k, (a, b) in enumerate([(0, 5), (5, 17), (17, 30)])]
    plain = [scale.fit(make(fit_intercept=False), shards, engine=HERE, epochs=epochs) for epochs in (1, 2)]
    model = scale.fit(make(fit_intercept=False, average=True), shards, engine=HERE, epochs=2)
    seen = []
    for start in (None, plain[0]):
        for shard in shards:
            student = make(fit_intercept=False) if start is None else deepcopy(start)
            for i in range(shard.X.shape[0]):
                student.partial_fit(shard.X[i], shard.y[i : i + 1], classes=[0, 1])
                seen.append(student.coef_.astype(np.float64))
    assert len(seen) == model.totals_.rounds == 60
    np.testing.assert_allclose(model.coef_, np.mean(seen, axis=0), rtol=1e-12 if dtype == np.float64 else 1e-4)
    model.average = False
    np.testing.assert_array_equal(model._learner.geometry.weights, plain[1].coef_)


@examples(30)
@given(seeds, st.integers(1, 6), st.sampled_from(sorted(MIXINGS)), st.integers(1, 4))
def test_mistake_bound_of_mixing(seed, n_shards, mixing, epochs):
    """[IPM] thm. 3: sum over epochs and shards of mu times the mistakes is at most R^2 |u|^2, if u separates."""
    X, y, u = separable(seed)
    squared_radius = sparse.linalg.norm(X, axis=1).max() ** 2
    for model, what in (
        (Perceptron(fit_intercept=False), "mistakes"),
        (PassiveAggressiveClassifier(C=inf, fit_intercept=False), "squared_loss"),
    ):
        reports = []
        scale.fit(model, cut(X, y, n_shards), engine=HERE, epochs=epochs, mixing=mixing, progress=reports.append)
        suffered = 0.0
        for epoch in range(1, epochs + 1):
            own = [report for report in reports if report.epoch == epoch]
            total = sum(report.weight for report in own)
            suffered += sum(report.weight / total * getattr(report, what) for report in own) if total else 0
        assert suffered <= squared_radius * (u @ u) * (1 + 1e-9)


@examples(20)
@given(seeds, st.integers(1, 4), st.booleans(), st.sampled_from(sorted(MIXINGS)))
def test_every_epoch_moves_nearer_to_a_separator(seed, n_shards, alike, mixing):
    """The lemma of the bound, for unit rows on which u has margin 1; it is tight for equal shards."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 15)), np.array([1, -1] * 6)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = np.linalg.lstsq(X, y, rcond=None)[0]
    model, before = PassiveAggressiveClassifier(C=inf, fit_intercept=False, warm_start=True), np.zeros(15)
    for _ in range(3):
        reports = []
        rows = sparse.csr_matrix(X)
        shards = [Rows(f"{k}", rows, y) for k in range(n_shards)] if alike else cut(rows, y, n_shards)
        scale.fit(model, shards, engine=HERE, epochs=1, mixing=mixing, progress=reports.append)
        after, total = model.coef_[0].copy(), sum(report.weight for report in reports)
        gain = sum(report.weight * report.squared_loss for report in reports) / total
        assert (after - u) @ (after - u) <= (before - u) @ (before - u) - gain + 1e-9
        before = after


@examples(30)
@given(seeds, st.integers(1, 5), st.sampled_from(sorted(MIXINGS)))
def test_dual_value_is_below_every_primal_value(seed, n_shards, mixing):
    """The mix of feasible dual variables is feasible, and the dual is concave."""
    rng = np.random.default_rng(seed)
    X, y = sparse.csr_matrix(rng.normal(size=(30, 4))), rng.choice([-1, 1], size=30)
    y[:2] = -1, 1
    model = PassiveAggressiveClassifier(C=0.5, fit_intercept=False)
    scale.fit(model, cut(X, y, n_shards), engine=HERE, epochs=2, mixing=mixing)
    for u in (model.coef_[0], np.zeros(4), rng.normal(size=4), np.linalg.lstsq(X.toarray(), y, rcond=None)[0]):
        primal = u @ u / 2 + 0.5 * 2 * np.maximum(1 - y * (X @ u), 0).sum()  # each example was learned twice
        assert model.totals_.dual_value <= primal + 1e-9


@pytest.mark.parametrize("mixing", MIXINGS)
def test_separable_shards_are_learned_in_the_end(mixing):
    X, y, _ = separable(0, margin=0.5)
    reports = []
    model = Perceptron(fit_intercept=False)
    scale.fit(model, cut(X, y, 4), engine=HERE, epochs=30, mixing=mixing, progress=reports.append)
    assert sum(report.mistakes for report in reports if report.epoch == 30) == 0


MODELS = {
    "binary": PassiveAggressiveClassifier(C=0.1),
    "averaged": PassiveAggressiveClassifier(C=0.1, average=True),
    "late average": PassiveAggressiveClassifier(C=0.1, average=20),
    "multiclass": PassiveAggressiveClassifier(C=0.1, update="simproj"),
    "balanced": PassiveAggressiveClassifier(C=0.1, class_weight="balanced"),
    "costs": PassiveAggressiveClassifier(cost="absolute"),
    "adaptive": PassiveAggressiveClassifier(geometry="adaptive", average=True),
    "normalized": PassiveAggressiveRegressor(geometry="normalized"),
    "regression": PassiveAggressiveRegressor(average=True),
    "AROW": AROWClassifier(average=True),
    "SCW": SCWClassifier(),
    "ordinal": OrdinalRegressor(C=0.1),
    "ranking": LabelRanker(C=0.1, average=True),
}


def targets(name, rng, n):
    if name in {"regression", "normalized"}:
        return rng.normal(size=n)
    if name == "ranking":
        return [tuple(np.flatnonzero(row)) for row in rng.random((n, 4)) < 0.4]
    return rng.integers(2 if name in {"binary", "averaged"} else 4, size=n)


@pytest.mark.parametrize("name", MODELS)
def test_one_shard_is_a_serial_run(name):
    """Weights are equal bit for bit, also if only one of several shards has updates."""
    rng = np.random.default_rng(4)
    X, y = sparse.csr_matrix(rng.normal(size=(50, 6))), targets(name, rng, 50)
    shards = [Rows("none", X[:0], y[:0]), Rows("all", X, y)]
    model = scale.fit(deepcopy(MODELS[name]), shards, engine=HERE, epochs=2)
    classes = {"classes": model.classes_} if hasattr(model, "classes_") else {}
    serial = deepcopy(MODELS[name]).partial_fit(X, y, **classes).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, serial.coef_)
    np.testing.assert_array_equal(model.intercept_, serial.intercept_)
    assert model.totals_ == serial.totals_


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_from_several_shards(name):
    rng = np.random.default_rng(5)
    X, y = sparse.csr_matrix(rng.normal(size=(50, 6))), targets(name, rng, 50)
    model = scale.fit(deepcopy(MODELS[name]), cut(X, y, 3), engine=HERE, epochs=2)
    assert np.isfinite(model.coef_).all()
    assert model.coef_.any()
    assert model.totals_.rounds == 100
    assert model.n_iter_ == 2


def test_shards_without_updates_do_not_change_the_weights():
    """The weights are equal bit for bit, although they are averaged."""
    X, y, u = separable(6, margin=0.5)
    model = PassiveAggressiveClassifier(C=inf, fit_intercept=False, warm_start=True).partial_fit(X, y)
    model.coef_ = u[None] * 3
    before = model.coef_.copy()
    scale.fit(model, cut(X, y, 3), engine=HERE, epochs=2)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.totals_.rounds == 3 * 40
