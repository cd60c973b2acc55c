"""Files saved with predict_only=True: the same predictions, less room, and no learning, in every interface."""

import numpy as np
import pytest

import onmargin
from onmargin import AutoClassifier, AutoRegressor, SequenceTagger, confidence, stream
from onmargin.features import RecordFeatures
from onmargin.io.model_file import from_bytes, to_bytes
from tests.apps.program import onmargin as run
from tests.apps.program import report
from tests.saved import CASES, anatomy, answers

CANNOT = "this model can only predict: it was saved with predict_only=True"
# Weights are rounded to single precision, and scores may be sums over all features.
ROUNDING = 1e-5


ROWS = [case for case in CASES if case.sparse == (case.dtype is np.float32) and case.name != "StructuredPredictor"]


def returned(model, path, given=None):
    onmargin.save(model, path, predict_only=True)
    return onmargin.load(path, parameters=given)


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_estimators_predict_the_same_and_do_not_learn(case, tmp_path):
    model = case.half_way()
    before, (X, _) = anatomy(model), case.data()
    twin = returned(model, tmp_path / "m", case.given)
    assert anatomy(model) == before
    if case.name in {"AutoClassifier", "AutoRegressor"}:  # without the models of few votes
        np.testing.assert_allclose(twin.predict(X), model.predict(X), rtol=0.01, atol=0.01)
    else:
        np.testing.assert_allclose(answers(twin, X), answers(model, X), rtol=ROUNDING, atol=ROUNDING)
    before = anatomy(twin)
    with pytest.raises(ValueError, match=CANNOT):
        twin.partial_fit(*case.half(1))
    assert anatomy(twin) == before
    twin = returned(twin, tmp_path / "m", case.given)
    assert anatomy(twin) == before


def test_structures_are_saved_whole(tmp_path):
    model = next(case for case in CASES if case.name == "StructuredPredictor").half_way()
    with pytest.raises(TypeError, match="not for StructuredPredictor"):
        onmargin.save(model, tmp_path / "m", predict_only=True)


RECORDS = [({"size": float(k % 7), f"word {k % 5}": 1.0}, "ab"[k % 7 > 3], float(k % 7)) for k in range(60)]
STREAMS = {
    "AROWClassifier": (lambda x, label, number: (x, label)),
    "AutoClassifier": (lambda x, label, number: (x, label)),
    "AutoRegressor": (lambda x, label, number: (x, number)),
    "LabelRanker": (lambda x, label, number: (x, {label})),
    "OrdinalRegressor": (lambda x, label, number: (x, "ab".index(label))),
    "PassiveAggressiveClassifier": (lambda x, label, number: (x, label)),
    "PassiveAggressiveRegressor": (lambda x, label, number: (x, number)),
    "PassiveAggressiveUniclass": (lambda x, label, number: (x, None)),
}


def trained(name, **parameters):
    ranks = {"ranks": [0, 1]} if name == "OrdinalRegressor" else {}
    model = getattr(stream, name)(**ranks, **parameters)
    for record in RECORDS:
        model.learn_one(*STREAMS[name](*record))
    return model


@pytest.mark.parametrize("name", STREAMS)
def test_streams_predict_the_same_and_do_not_learn(name, tmp_path):
    model = trained(name)
    twin = returned(model, tmp_path / "m")
    X = [x for x, _, _ in RECORDS] + [{"new": 1.0}]
    for x in X:
        one, other = twin.predict_one(x), model.predict_one(x)
        assert one == (pytest.approx(other, rel=0.01, abs=0.01) if isinstance(other, float) else other)
    before = to_bytes(twin)
    example = STREAMS[name]({"new": 1.0}, "c", 1.0) if name != "OrdinalRegressor" else ({"new": 1.0}, 1)
    calls = (
        lambda: twin.learn_one(*example),
        lambda: twin.learn_one(*STREAMS[name](*RECORDS[0])),
        lambda: twin.learn_many(*map(list, zip(example, strict=True))),
        lambda: twin.learn_many(*map(list, zip(STREAMS[name](*RECORDS[0]), strict=True))),
        lambda: twin.check_one(*example),
    )
    for call in calls:
        with pytest.raises(ValueError, match=CANNOT):
            call()
    assert to_bytes(twin) == before


@pytest.mark.parametrize("name", ["PassiveAggressiveClassifier", "AutoRegressor"])
def test_vectors_in_matrices_are_not_learned(name, tmp_path):
    X, y = np.eye(5), np.arange(5) % 2
    twin = returned(getattr(stream, name)().learn_many(X, y), tmp_path / "m")
    before = to_bytes(twin)
    with pytest.raises(ValueError, match=CANNOT):
        twin.learn_many(X, y)
    assert to_bytes(twin) == before


def test_models_without_votes_are_left_out():
    X = np.random.default_rng(0).standard_normal((400, 5))
    model = AutoClassifier().partial_fit(X, X[:, 0] > 0)
    twin = from_bytes(to_bytes(model._for_prediction()))
    votes = {outcome.name: outcome.vote for outcome in model.model_outcomes_}
    kept = [outcome.name for outcome in twin.model_outcomes_]
    assert 0 < len(kept) < len(votes)
    assert sum(votes[name] for name in kept) >= 0.999
    assert [one.name for one in twin.model_outcomes_ if one.leads] == [
        one.name for one in model.model_outcomes_ if one.leads
    ]
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    np.testing.assert_allclose(twin.predict_proba(X), model.predict_proba(X), atol=0.01)


def test_variances_and_averages_take_no_room(tmp_path):
    random = np.random.default_rng(0)
    X = [[[f"w={random.integers(3000)}"] for _ in range(9)] for _ in range(300)]
    y = [[str(random.integers(9)) for _ in range(9)] for _ in range(300)]
    tagger = SequenceTagger(average=True, max_iter=2).fit(X, y)
    for predict_only in (True, False):
        onmargin.save(tagger, tmp_path / str(predict_only), predict_only=predict_only)
    assert (tmp_path / "True").stat().st_size < 0.6 * (tmp_path / "False").stat().st_size
    twin = onmargin.load(tmp_path / "True")
    assert twin.predict(X) == tagger.predict(X)
    assert twin.predict_one([["never seen"], X[0][0]]) == tagger.predict_one([["never seen"], X[0][0]])


def test_names_without_weights_are_left_out(tmp_path):
    tagger = SequenceTagger(average=True).fit([[["x"], ["y"]], [["x"], ["y"], ["z"]]], [["A", "B"], ["A", "B", "A"]])
    tagger.learn_one([["x"], ["y", "only in sequences without mistakes"]], ["A", "B"])
    twin = returned(tagger, tmp_path / "m")
    assert set(twin.feature_names_) < set(tagger.feature_names_)
    assert twin.n_features_in_ == len(twin.feature_names_) == twin.coef_.shape[1]
    X = [[["x"], ["y"], ["z"], ["only in sequences without mistakes"]]]
    assert twin.predict(X) == tagger.predict(X)


def test_a_new_fit_begins_a_model_that_learns(tmp_path):
    X, y = np.eye(4), np.arange(4) % 2
    twin = returned(AutoRegressor().fit(X, y), tmp_path / "m")
    twin.fit(X, y).partial_fit(X, y)
    assert twin.totals_.rounds > 4


def test_warm_starts_are_refused(tmp_path):
    X, y = np.eye(4), np.arange(4) % 2
    twin = returned(onmargin.PassiveAggressiveClassifier(warm_start=True).fit(X, y), tmp_path / "m")
    with pytest.raises(ValueError, match=CANNOT):
        twin.fit(X, y)


def test_prediction_sets_around_a_model(tmp_path):
    wrapper = confidence.PredictionSets(trained("PassiveAggressiveClassifier"), coverage=0.8)
    twin = returned(wrapper, tmp_path / "m")
    assert twin.predict_set_one(RECORDS[0][0]) == wrapper.predict_set_one(RECORDS[0][0])
    before = to_bytes(twin)
    with pytest.raises(ValueError, match=CANNOT):
        twin.learn_one(*STREAMS["PassiveAggressiveClassifier"](*RECORDS[0]))
    assert to_bytes(twin) == before


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (onmargin.PassiveAggressiveClassifier(), ValueError, "fit it first"),
        (stream.AutoClassifier(), ValueError, "fit it first"),
        (RecordFeatures(), TypeError, "got a RecordFeatures"),
    ],
)
def test_what_cannot_predict_is_refused(model, error, message, tmp_path):
    with pytest.raises(error, match=message):
        onmargin.save(model, tmp_path / "m", predict_only=True)
    assert not (tmp_path / "m").exists()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size,word,label\n" + "".join(f"{k % 7},w{k % 5},{'ab'[k % 7 > 3]}\n" for k in range(70)))
    return path


def test_the_command_line(tmp_path, table):
    small, whole = tmp_path / "small", tmp_path / "whole"
    run("train", table, "-o", whole, "-q")
    run("train", table, "-o", small, "-q", "--predict-only")
    assert small.stat().st_size < whole.stat().st_size
    assert run("predict", small, table) == run("predict", whole, table)
    assert run("evaluate", small, table).splitlines()[1:] == run("evaluate", whole, table).splitlines()[1:]
    assert report("inspect", small)["predict_only"] is True
    assert "predict_only" not in report("inspect", whole)
    for more in (["--from", small, "-o", tmp_path / "new"], ["--resume", "-o", small, "--predict-only"]):
        result = run("train", table, "-q", *more, code=1)
        assert f"{small}: {CANNOT}" in result
