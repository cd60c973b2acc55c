"""Several models on shards: each is mixed as it would be alone, and votes follow from the losses on all shards."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse

from onmargin import (
    AROWClassifier,
    AutoClassifier,
    AutoRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    SequenceTagger,
    scale,
    stream,
)
from onmargin.io.model_file import to_bytes
from onmargin.scale import LocalEngine
from onmargin.scale._mixing import MIXINGS
from tests.sentences import corpus
from tests.shards import Rows, cut

HERE = LocalEngine(1)
SWEEP = (0.01, 0.1, 1.0)

MODELS = {
    "sweep": PassiveAggressiveClassifier(C=SWEEP),
    "sweep, hedge": PassiveAggressiveClassifier(C=SWEEP, combine="hedge"),
    "adaptive sweep": PassiveAggressiveClassifier(C=SWEEP, geometry="adaptive"),
    "regression sweep": PassiveAggressiveRegressor(C=SWEEP, combine="hedge"),
    "with its average": AROWClassifier(average="best"),
    "Auto": AutoClassifier(),
    "Auto, leader": AutoClassifier(combine="leader"),
    "Auto for numbers": AutoRegressor(),
    "records": stream.AutoClassifier(),
    "records of numbers": stream.PassiveAggressiveRegressor(C="auto"),
    "balanced records": stream.PassiveAggressiveClassifier(C=SWEEP, class_weight="balanced"),
}


def data(model, seed, n=60, d=6, n_classes=2):
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7))
    numbers = "Regressor" in type(model).__name__
    rule = X @ rng.normal(size=(d, n_classes)) + 0.3 * rng.normal(size=(n, n_classes))
    return X, rule[:, 0] if numbers else rule.argmax(axis=1)


def learned(model):
    """Return weights and records of all models, and the totals."""
    found = next(getattr(model, name) for name in ("experts_", "grid_", "averages_") if has(model, name))
    numbers = {name: getattr(found, name) for name in ("mistakes", "loss", "squared_loss", "weights")}
    return found, [*found.coef, *found.intercept, *numbers.values()]


def has(model, name):
    try:
        return getattr(model, name) is not None
    except AttributeError:
        return False


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", [name for name in MODELS if name not in {"records", "balanced records"}])
def test_one_shard_is_a_serial_run(name, n_classes):
    """Weights and votes are equal bit for bit. (Classifiers of records cannot know their labels beforehand.)"""
    X, y = data(MODELS[name], 0, n_classes=n_classes)
    model = scale.fit(deepcopy(MODELS[name]), [Rows("none", X[:0], y[:0]), Rows("all", X, y)], engine=HERE, epochs=2)
    serial = deepcopy(MODELS[name])
    for k in range(2):
        first = {"classes": np.arange(n_classes)} if k == 0 and hasattr(model, "classes_") else {}
        (serial.partial_fit if hasattr(serial, "partial_fit") else serial.learn_many)(X, y, **first)
        serial._learner.mark_seen(seen=True)
    found, expected = learned(model), learned(serial)
    for mine, theirs in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert found[0].leader == expected[0].leader
    assert model.totals_ == serial.totals_


@pytest.mark.parametrize("mixing", ["uniform", "examples"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("geometry", ["euclidean", "adaptive", "normalized"])
def test_each_model_of_a_sweep_is_mixed_as_if_it_were_alone(geometry, n_classes, mixing):
    model = PassiveAggressiveClassifier(C=SWEEP, geometry=geometry)
    X, y = data(model, 1, n_classes=n_classes)
    shards = cut(X, y, 3)
    scale.fit(model, shards, engine=HERE, epochs=3, mixing=mixing)
    for C, coef, intercept in zip(SWEEP, model.grid_.coef, model.grid_.intercept, strict=True):
        alone = PassiveAggressiveClassifier(C=C, geometry=geometry)
        scale.fit(alone, shards, engine=HERE, epochs=3, mixing=mixing)
        np.testing.assert_allclose(coef, alone.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(intercept, alone.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_experts_are_mixed_as_if_they_were_alone(n_classes):
    """AROW is one of them: packed with others for two classes, and in its own geometry for three."""
    model = AutoClassifier(intercept_scaling=1.0)
    X, y = data(model, 2, n_classes=n_classes)
    shards = cut(X, y, 3)
    scale.fit(model, shards, engine=HERE, epochs=2, mixing="uniform")
    found = model.experts_
    alone = AROWClassifier(r=1.0, intercept_scaling=1.0)
    scale.fit(alone, shards, engine=HERE, epochs=2, mixing="uniform")
    np.testing.assert_allclose(found.coef[found.names.index("AROW")], alone.coef_, rtol=1e-9, atol=1e-12)


def test_weights_and_their_average_are_those_of_a_model_that_averages():
    X, y = data(None, 3)
    shards = cut(X, y, 4)
    both, mean, plain = (
        scale.fit(AROWClassifier(average=average), shards, engine=HERE, epochs=2, mixing="examples")
        for average in ("best", True, False)
    )
    np.testing.assert_allclose(both.averages_.coef[0], plain.coef_, rtol=1e-12)
    np.testing.assert_allclose(both.averages_.coef[1], mean.coef_, rtol=1e-12)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("name", MODELS)
def test_records_are_sums_and_the_bound_holds(name, mixing):
    X, y = data(MODELS[name], 4, n=90, n_classes=3)
    reports = []
    model = deepcopy(MODELS[name])
    scale.fit(model, cut(X, y, 3), engine=HERE, epochs=2, mixing=mixing, progress=reports.append)
    found, _ = learned(model)
    assert model.totals_.rounds == 180
    assert model.totals_.mistakes == sum(report.mistakes for report in reports)
    lost = np.array([one.lost for one in model.model_outcomes_]) if hasattr(model, "model_outcomes_") else None
    if lost is not None:
        assert found.leader == lost.argmin()
        assert [one.vote for one in model.model_outcomes_] == found.weights.tolist()
    assert found.weights.sum() == pytest.approx(1)
    if not np.isnan(found.regret_bound):
        own = found.loss if "Regressor" in type(model).__name__ else found.mistakes
        assert found.mixed_loss <= own.min() + found.regret_bound + 1e-9
        order = np.argsort(own, kind="stable")
        assert (np.diff(found.weights[order]) <= 1e-12).all()
    assert all(np.isfinite(coef).all() for coef in found.coef)


@pytest.mark.parametrize("name", ["Auto", "records", "sweep, hedge", "balanced records"])
def test_any_number_of_workers_gives_the_same_and_so_does_a_resumed_run(name, tmp_path):
    X, y = data(MODELS[name], 5, n_classes=3)
    shards, path = cut(X, y, 3), tmp_path / "model"
    engine = LocalEngine(2)
    whole = [scale.fit(deepcopy(MODELS[name]), shards, engine=one, epochs=3) for one in (HERE, engine)]
    engine.close()
    scale.fit(deepcopy(MODELS[name]), shards, engine=HERE, epochs=1, checkpoint=path)
    resumed = scale.fit(deepcopy(MODELS[name]), shards, engine=HERE, epochs=3, checkpoint=path, resume=True)
    assert to_bytes(whole[0]) == to_bytes(whole[1]) == to_bytes(resumed)


@pytest.mark.parametrize("combine", ["leader", "hedge"])
def test_taggers(combine):
    X, y = corpus(40)
    model = SequenceTagger(C=SWEEP, combine=combine, average=True)
    shards = cut(X, y, 3)
    scale.fit(model, shards, engine=HERE, epochs=2, mixing="uniform")
    for C, coef in zip(SWEEP, model.grid_.coef, strict=True):
        alone = scale.fit(SequenceTagger(C=C, average=True), shards, engine=HERE, epochs=2, mixing="uniform")
        np.testing.assert_allclose(coef, alone.coef_, rtol=1e-9, atol=1e-12)
    assert model.grid_.cost.sum() == sum(one.lost for one in model.model_outcomes_)
    assert model.score(X, y) > 0.8


def test_class_counts_of_records_are_sums():
    X, y = data(None, 6)
    model = stream.PassiveAggressiveClassifier(class_weight="balanced")
    scale.fit(model, cut(X, y, 3), engine=HERE, epochs=2)
    assert model.class_counts_ == {label: 2 * int((y == label).sum()) for label in (0, 1)}
