"""Records of a table: the Auto learners on dicts."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import onmargin
from onmargin import river, stream
from onmargin.features import RecordFeatures
from onmargin.models.experts import MOST_CORRELATED, MOST_NONLINEAR, MOST_OF_TABLE

RANDOM = np.random.default_rng(5)
X = np.round(RANDOM.normal(loc=[30, -2, 0, 5], scale=[9, 0.1, 1, 2], size=(400, 4)), 2)
X[RANDOM.uniform(size=X.shape) < 0.1] = 0
NAMES = ["age", "rate", "gain", "size"]
LABELS = np.where(X[:, 0] + 30 * X[:, 1] + X[:, 3] ** 2 > 0, "yes", "no")
THREE = np.digitize(X[:, 0] + 3 * X[:, 2], [25, 34])
NUMBERS = X @ [1.0, 20, 3, -1] + 100


def records(rows):
    return [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("name", "y"),
    [("AutoClassifier", LABELS), ("AutoClassifier", THREE), ("AutoRegressor", NUMBERS)],
    ids=["two", "three", "numbers"],
)
def test_an_expert_learns_the_same_from_dicts_and_arrays(name, y, dtype):
    of_dicts = getattr(stream, name)(features=RecordFeatures(dtype=dtype)).learn_many(records(X), y.tolist())
    of_rows = getattr(onmargin, name)().partial_fit(X.astype(dtype), y)
    one, other = of_dicts.experts_, of_rows.experts_
    shared = [expert for expert in other.names if "standardized" in expert or "curved" in expert]
    assert len(shared) >= 9
    for expert in shared:
        m, k = one.names.index(expert), other.names.index(expert)
        if name == "AutoClassifier":
            assert abs(one.mistakes[m] - other.mistakes[k]) <= (1 if dtype == "float32" else 0), expert
        else:
            tolerance = 1e-6 if dtype == "float64" else 1e-2
            assert one.loss[m] == pytest.approx(other.loss[k], rel=tolerance), expert
    lost = "loss" if name == "AutoRegressor" else "mistakes"
    assert of_dicts.totals_[lost] <= 1.15 * of_rows.totals_[lost]


def test_linear_experts_learn_from_categories_as_from_columns_of_indicators():
    codes = (4 * np.random.default_rng(0).random((600, 8)) ** 2).astype(int)  # some categories are frequent
    indicators = (codes[:, :, None] == np.arange(4)).reshape(600, 32).astype(float)
    labels = indicators @ np.random.default_rng(2).normal(size=32) > 0.5
    values = [{f"column {j}": f"category {code}" for j, code in enumerate(row)} for row in codes]
    of_dicts = stream.AutoClassifier(experts="linear").learn_many(values, labels.astype(int).tolist())
    of_rows = onmargin.AutoClassifier(experts="linear").partial_fit(indicators, labels)
    both = (model.experts_ for model in (of_dicts, of_rows))
    one, other = (dict(zip(results.names, results.mistakes, strict=True)) for results in both)
    standardized = [name for name in other if "standardized" in name]
    assert sum(map(one.get, standardized)) <= 1.1 * sum(map(other.get, standardized))
    assert of_dicts.totals_.mistakes <= 1.05 * of_rows.totals_.mistakes


def test_river_equals_streams():
    model = river.AutoClassifier()
    for x, y in zip(records(X), LABELS.tolist(), strict=True):
        model.learn_one(x, y)
    other = stream.AutoClassifier().learn_many(records(X), LABELS.tolist())
    assert [model.predict_one(x) for x in records(X)] == other.predict_many(records(X))


def test_missing_values_are_not_zero():
    """Half of the ages are missing, and none is near 0: then only the gain is informative."""
    known = RANDOM.uniform(size=len(X)) < 0.5
    rows = records(X)
    y = np.where((X[:, 0] - 30) / 9 + X[:, 2] > 0, "yes", "no").tolist()
    gaps = [row if there else {**row, "age": None} for row, there in zip(rows, known, strict=True)]
    zeros = [row if there else {**row, "age": 0.0} for row, there in zip(rows, known, strict=True)]
    lost = [stream.AutoClassifier(experts="linear").learn_many(some, y).totals_.mistakes for some in (gaps, zeros)]
    assert lost[0] < 0.9 * lost[1]


@pytest.mark.parametrize("nothing", [None, math.nan, np.float32("nan")])
def test_absent_none_and_nan_are_the_same(nothing):
    absent = [{k: v for k, v in row.items() if v != 0} for row in records(X)]
    given = [{k: v if v != 0 else nothing for k, v in row.items()} for row in records(X)]
    for name in ("AutoClassifier", "PassiveAggressiveClassifier"):
        one, other = (getattr(stream, name)().learn_many(some, LABELS.tolist()) for some in (absent, given))
        assert one.totals_ == other.totals_
        assert one.scores_one(given[0]) == other.scores_one(absent[0])


def test_explanations_use_the_mean_for_missing_values():
    rows = [{k: v for k, v in row.items() if i % 3 or k != "age"} for i, row in enumerate(records(X))]
    model = stream.AutoClassifier(combine="leader", experts="linear").learn_many(rows, LABELS.tolist())
    assert "standardized" in model.experts_.names[model.experts_.leader]
    for x in rows[-10:]:
        explained = model.explain(x, "yes")
        assert sum(explained.values()) + model.intercept("yes") == pytest.approx(model.scores_one(x)["yes"], abs=1e-9)
        assert x.get("age") == 0 or explained["age"] != 0


def grown(n, model=None, start=0):
    model = model or stream.AutoClassifier()
    for i in range(start, n):
        model.learn_one({"age": float(i % 7), f"word{i}": 1.0}, "ab"[i % 2])
    return model


def standardized(model):
    return [name for name in model.models_ if "standardized" in name or "curved" in name]


def test_experts_of_tables_are_dropped_when_names_become_many():
    model = grown(MOST_CORRELATED - 1)
    assert "ridge, standardized" in model.models_
    grown(MOST_CORRELATED + 1, model, MOST_CORRELATED - 1)
    assert "ridge, standardized" not in model.models_
    assert "ridge, curved 1" in model.models_
    grown(MOST_NONLINEAR + 1, model, MOST_CORRELATED + 1)
    assert not any("curved" in name for name in model.models_)
    assert standardized(model)
    wide = {f"n{j}": 1.0 for j in range(MOST_OF_TABLE)}
    rounds = model.totals_.rounds
    model.learn_one(wide, "a")
    assert standardized(model) == []
    sparse = stream.AutoClassifier().learn_many(["some words"], ["a"])
    assert model.models_ == sparse.models_
    assert model.totals_.rounds == rounds + 1
    assert model.experts_.weights.sum() == pytest.approx(1)
    model.learn_one({"age": 1.0}, "b")


def test_dropping_experts_does_not_change_the_others():
    """Experts for sparse rows have the same weights with and without experts for tables."""
    rows = [{**row, f"word{i}": 1.0} for i, row in enumerate(records(X))]
    model = stream.AutoClassifier().learn_many(rows, LABELS.tolist())
    lists = [[f"{name}:{value!r}" for name, value in row.items()] for row in rows]
    alone = stream.AutoClassifier(features=RecordFeatures(separator=":")).learn_many(lists, LABELS.tolist())
    one, other = model.experts_, alone.experts_
    names = model.feature_names_
    for m, expert in enumerate(other.names):
        k = one.names.index(expert)
        assert one.mistakes[k] == other.mistakes[m], expert
        weights = dict(zip(names, one.coef[k][0], strict=True))
        expected = dict(zip(alone.feature_names_, other.coef[m][0], strict=True))
        assert {name: weights[name] for name in expected} == pytest.approx(expected, rel=1e-12)


def test_the_last_expert_stays():
    model = grown(20)
    while len(model.models_) > 1:
        model.retire(1)
    kept = model.models_
    grown(200, model, 20)
    assert model.models_ == kept


@pytest.mark.parametrize("cut", [1, 70, 150, 320])
def test_saved_and_loaded(tmp_path, cut):
    rows = [{**row, f"word{i}": 1.0} for i, row in enumerate(records(X))]
    y = LABELS.tolist()
    whole = stream.AutoClassifier().learn_many(rows, y)
    model = stream.AutoClassifier().learn_many(rows[:cut], y[:cut])
    onmargin.save(model, tmp_path / "model")
    model = onmargin.load(tmp_path / "model").learn_many(rows[cut:], y[cut:])
    assert model.totals_ == whole.totals_
    assert model.models_ == whole.models_
    assert model.scores_one(rows[0]) == whole.scores_one(rows[0])


def test_a_bad_record_changes_nothing():
    """The experts do not change either, even if the record has too many names for them."""
    model = grown(MOST_CORRELATED - 5)
    before = model.models_, model.totals_, model.n_features_, model.scores_one({"age": 1.0})
    bad = {f"n{j}": 1.0 for j in range(100)} | {"age": math.inf}
    with pytest.raises(ValueError, match="finite"):
        model.learn_one(bad, "a")
    with pytest.raises((TypeError, ValueError)):
        model.learn_one({f"n{j}": 1.0 for j in range(100)}, 7)
    assert (model.models_, model.totals_, model.n_features_, model.scores_one({"age": 1.0})) == before


@pytest.mark.parametrize("x", ["age size", ["age", "size"], np.ones(3)], ids=["text", "names", "array"])
def test_values_that_are_not_records_are_not_tables(x):
    model = stream.AutoClassifier().learn_one(x, "a")
    assert not model._model.is_table
    hashed = stream.AutoClassifier(features=RecordFeatures(n_features=64)).learn_one({"age": 1.0}, "a")
    assert not hashed._model.is_table
    assert stream.AutoRegressor().learn_one({"age": 1.0}, 2.0)._model.is_table


def test_names_of_an_example_are_those_that_are_learned():
    for model in (stream.AutoClassifier(), stream.AutoClassifier().learn_one({"a": 1.0}, "b")):
        assert model.names_one({"age": 0, "town": "Ulm", "gone": None}) == ["age", "town=Ulm"]
    assert stream.PassiveAggressiveClassifier().names_one({"age": 0, "town": "Ulm"}) == ["town=Ulm"]


def test_fewer_experts_without_the_curved_ones():
    model = stream.AutoRegressor(experts="linear").learn_many(records(X), NUMBERS.tolist())
    assert "ridge, standardized" in model.models_
    assert not any("curved" in name for name in model.models_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_rows_of_a_frame_are_records(frame):
    """Frames were refused before."""
    rows = [{"age": 31.0, "town": "Ulm"}, {"age": None, "town": "Bonn"}, {"age": 47.5, "town": None}] * 5
    labels = ["yes", "no", "yes"] * 5
    of_frame = stream.AutoClassifier().learn_many(frame(rows), labels)
    of_dicts = stream.AutoClassifier().learn_many(rows, labels)
    assert of_frame.predict_many(frame(rows)) == of_dicts.predict_many(rows)
    assert of_frame.scores_one(rows[0]) == of_dicts.scores_one(rows[0])


def test_nullable_and_categorical_columns_of_pandas():
    rows = pd.DataFrame({"age": pd.array([31, None, 47], dtype="Int64"), "town": pd.Categorical(["Ulm", "Bonn", None])})
    model = stream.PassiveAggressiveClassifier().learn_many(pd.concat([rows, rows]), pd.Series([1, 0, 1] * 2))
    assert set(model.weights()) == {"age", "town=Ulm", "town=Bonn"}
    assert model.classes_ == [0, 1]
