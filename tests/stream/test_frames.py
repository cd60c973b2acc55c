"""Data frames of every library are learned like dicts, and what cannot be learned is refused with the remedy."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import onmargin
from onmargin import evaluate, river, stream
from onmargin.apps.serve import client

RANDOM = np.random.default_rng(1)
LENGTHS = RANDOM.normal(size=60)
TABLE = {"length": [None, *LENGTHS[1:]], "town": [*RANDOM.choice(["Ulm", "Bonn"], 59), None]}
LABELS = np.where(LENGTHS > 0, "long", "short").tolist()
PANDAS = pd.DataFrame(TABLE)
FRAMES = {
    "pandas": PANDAS,
    "nullable": PANDAS.astype({"length": "Float64", "town": "category"}),
    "pandas of arrow": PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(TABLE),
    "polars, categories": pl.DataFrame(TABLE).cast({"town": pl.Categorical}),
    "arrow": pa.table(TABLE),
    "arrow, categories": pa.table({"length": TABLE["length"], "town": pa.array(TABLE["town"]).dictionary_encode()}),
}
RECORDS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
MULTIPLE = PANDAS.set_axis(pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), axis=1)


def learner():
    return stream.PassiveAggressiveClassifier(C=0.1)


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_learned_like_dicts(name):
    frame, dicts = FRAMES[name], learner().learn_many(RECORDS, LABELS)
    model = learner().learn_many(frame, LABELS)
    assert model.weights() == dicts.weights()
    assert model.predict_many(frame) == dicts.predict_many(RECORDS)
    assert model.predict_proba_many(frame) == dicts.predict_proba_many(RECORDS)
    assert client._examples(frame) == [{"x": record} for record in RECORDS]


@pytest.mark.parametrize("name", FRAMES)
def test_river_answers_in_the_library_of_the_frame(name):
    frame, model = FRAMES[name], river.PassiveAggressiveClassifier(C=0.1)
    model.learn_many(frame, pd.Series(LABELS))
    predicted, shares = model.predict_many(frame), model.predict_proba_many(frame)
    assert type(predicted).__module__.split(".")[0] == type(frame).__module__.split(".")[0]
    assert type(shares) is type(frame)
    values = predicted.to_pylist() if name.startswith("arrow") else predicted.to_list()
    assert values == learner().learn_many(RECORDS, LABELS).predict_many(RECORDS)


@pytest.mark.parametrize("model", [learner(), river.PassiveAggressiveClassifier(C=0.1)], ids=["stream", "river"])
@pytest.mark.parametrize("name", FRAMES)
def test_progressive_passes_the_rows_as_dicts(name, model):
    curve = evaluate.progressive(model, FRAMES[name], LABELS)
    assert curve.error[-1] == evaluate.progressive(learner(), zip(RECORDS, LABELS, strict=True)).error[-1]


@pytest.mark.parametrize("y", [pd.DataFrame({"y": LABELS}), pa.array(LABELS), pl.DataFrame({"y": LABELS})])
def test_targets_may_be_a_column(y):
    assert learner().learn_many(PANDAS, y).weights() == learner().learn_many(RECORDS, LABELS).weights()
    numbers = PANDAS[["length"]].fillna(0)
    assert evaluate.progressive(onmargin.Perceptron(), numbers, y).rounds[-1] == 60


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (FRAMES["polars"].lazy(), LABELS, r"X is a LazyFrame.*collect\(\)"),
        (MULTIPLE, LABELS, "several levels.*join"),
        (pd.concat([PANDAS, PANDAS], axis=1), LABELS, "several columns named 'length', 'town': rename"),
        (LABELS, PANDAS, "y must be one column.*swapped"),
        (PANDAS, LABELS[1:], "X and y must have the same number of items"),
    ],
    ids=["lazy", "levels", "same names", "swapped", "lengths"],
)
def test_a_wrong_frame_is_refused_with_the_remedy(X, y, words):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Polars warns where columns of a lazy frame are computed
        with pytest.raises((TypeError, ValueError), match=words):
            learner().learn_many(X, y)


NUMBERS = {"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 0.0]}
DATES = [dt.datetime(2026, 1, day) for day in (1, 2, 3)]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["x", "y", "z"], "X has text in 'c'.*OneHotEncoder"),
        (DATES, "X has dates or times in 'c'.*hour"),
        ([1.0, None, 2.0], "missing value.*SimpleImputer"),
    ],
    ids=["text", "dates", "missing"],
)
def test_estimators_say_what_to_do_about_a_column(library, column, words):
    with pytest.raises(ValueError, match=words):
        onmargin.PassiveAggressiveClassifier().fit(library(NUMBERS | {"c": column}), [0, 1, 0])


def test_estimators_refuse_lazy_frames_and_equal_names():
    with pytest.raises(ValueError, match=r"pass X.collect\(\)"):
        onmargin.Perceptron().fit(pl.DataFrame(NUMBERS).lazy(), [0, 1, 0])
    twice = pd.DataFrame(np.eye(3), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="several columns named 'a': rename"):
        onmargin.Perceptron().fit(twice, [0, 1, 0])


def test_missing_columns_are_named():
    model = learner().learn_many(PANDAS, LABELS)
    for frame, name in [(PANDAS.rename(columns={"length": "size"}), "length"), (PANDAS[["length"]], "town")]:
        for predict in (model.predict_many, model.predict_proba_many):
            with pytest.warns(UserWarning, match=f"X has no columns '{name}', which the model has learned") as found:
                predict(frame)
            assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_many(PANDAS.assign(more=1))
        learner().predict_many(PANDAS)


def test_missing_columns_of_inner_names_crosses_and_texts():
    reading = onmargin.features.RecordFeatures(cross=[("a", "b")])
    model = stream.PassiveAggressiveRegressor(features=reading)
    model.learn_one({"a": 1.0, "b": "x", "c:d": {"e=f": 2.0}}, 1.0)
    assert model.missing_columns(["a", "b", "c:d"]) == []
    assert model.missing_columns(["a"]) == ["b", "c"]
    texts = stream.PassiveAggressiveRegressor(features=onmargin.features.RecordFeatures(text="body"))
    assert texts.missing_columns(["a"]) == []
    assert texts.learn_one({"body": "some words"}, 1.0).missing_columns(["a"]) == ["body"]


TIMES = [DATES[0], DATES[0].date(), dt.time(12), np.datetime64("2026-01-01", "ns"), pd.Timestamp("2026-01-01")]


@pytest.mark.parametrize("value", TIMES, ids=lambda value: type(value).__name__)
def test_dates_and_times_are_left_out_with_one_warning(value):
    model = learner().learn_one({"size": 1.0}, "a")
    with pytest.warns(UserWarning, match="'when' are dates or times.*hour") as found:
        model.learn_many([{"size": 2.0, "when": value}] * 2, ["a", "b"])
    assert len(found) == 1
    assert model.feature_names_ == ["size"]


@pytest.mark.parametrize("value", [dt.timedelta(minutes=1), np.timedelta64(60, "s"), pd.Timedelta("1min")])
def test_durations_are_seconds(value):
    models = [learner().learn_many([{"a": 1.0}, {"lasted": one}], ["a", "b"]) for one in (60.0, value)]
    assert models[0].weights() == models[1].weights()


def test_the_client_reads_times_as_the_models_do():
    with pytest.warns(UserWarning, match="dates and times.*left out") as found:
        sent = client._examples([{"at": DATES[0], "lasted": dt.timedelta(minutes=1)}])
    assert sent == [{"x": {"at": None, "lasted": 60.0}}]
    assert found[0].filename == __file__
    with pytest.raises(ValueError, match="X and y must have the same length; got 60 and 3"):
        client._examples(PANDAS, y=[1, 2, 3])
