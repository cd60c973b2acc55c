"""Sets, intervals, decisions and samplers are saved with their model, and continue unchanged after loading."""

import copy

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import onmargin
from onmargin import stream
from onmargin.confidence import Decisions, Intervals, PredictionSets, SelectiveSampler
from onmargin.io.model_file import ModelFileError, from_bytes, to_bytes

CASES = {
    "sets": lambda: PredictionSets(stream.AROWClassifier()),
    "sets by class": lambda: PredictionSets(stream.AROWClassifier(), 0.8, by_class=True, nonempty=True),
    "label sets": lambda: PredictionSets(stream.LabelRanker()),
    "intervals": lambda: Intervals(stream.AROWRegressor()),
    "asymmetric intervals": lambda: Intervals(stream.AROWRegressor(), 0.7, rate=0.1, asymmetric=True),
    "decisions": lambda: Decisions(stream.AROWClassifier(), abstain=0.2, cost={"a": {"b": 2.0}, "b": {"a": 1.0}}),
    "sampler": lambda: SelectiveSampler(stream.AROWClassifier(), b=0.5, random_state=7),
}


def examples(wrapper, n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        x = {"u": float(rng.standard_normal()), "v": float(rng.standard_normal())}
        label = "ab"[int(x["u"] + rng.standard_normal() > 0)]
        if isinstance(wrapper, Intervals):
            yield x, x["u"] + float(rng.standard_normal())
        else:
            yield x, {label} if isinstance(wrapper.model, stream.LabelRanker) else label


def learn(wrapper, some):
    for x, y in some:
        if not isinstance(wrapper, SelectiveSampler) or wrapper.query_one(x):
            wrapper.learn_one(x, y)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["file", "bytes", "deepcopy"])
def test_continues_unchanged(case, way, tmp_path):
    wrapper = CASES[case]()
    some = list(examples(wrapper, 120))
    learn(wrapper, some[:60])
    if way == "file":
        onmargin.save(wrapper, tmp_path / "model")
        again = onmargin.load(tmp_path / "model")
    else:
        again = from_bytes(to_bytes(wrapper)) if way == "bytes" else copy.deepcopy(wrapper)
    assert type(again) is type(wrapper)
    assert again.get_params().keys() == wrapper.get_params().keys()
    learn(wrapper, some[60:])
    learn(again, some[60:])
    assert to_bytes(again) == to_bytes(wrapper)
    for name in ("coverage_", "class_coverage_", "report_", "asked"):
        np.testing.assert_equal(getattr(again, name, None), getattr(wrapper, name, None))


@pytest.mark.parametrize("case", CASES)
def test_a_new_one_is_saved(case):
    again = from_bytes(to_bytes(CASES[case]()))
    learn(again, examples(again, 5))


def test_a_model_of_another_library_is_passed_to_load(tmp_path):
    X, y = np.eye(2).repeat(20, axis=0), np.arange(2).repeat(20)
    model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    sets = PredictionSets(model).observe(X, y)
    onmargin.save(sets, tmp_path / "sets")
    with pytest.raises(ModelFileError, match=r"load\(path, parameters=\{'model'"):
        onmargin.load(tmp_path / "sets")
    assert onmargin.load(tmp_path / "sets", parameters={"model": model}).coverage_ == sets.coverage_


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_covered", lambda _: -1),
        ("_rounds", lambda _: 1.5),
        ("_trackers", lambda _: {}),
        ("_trackers", lambda _: {"all": 3}),
        ("_trackers", lambda trackers: {"all": type(trackers["all"])(0.5)}),
        ("_trackers", lambda trackers: trackers | {"more": trackers["all"]}),
    ],
)
def test_a_forged_state_is_refused(name, change):
    sets = PredictionSets(stream.AROWClassifier())
    setattr(sets, name, change(getattr(sets, name)))
    with pytest.raises(ModelFileError):
        from_bytes(to_bytes(sets))


@pytest.mark.parametrize("state", [{"level": 7.0}, {"misses": 2}, {"unit": -1.0}, {"level": float("nan")}])
def test_a_forged_threshold_is_refused(state):
    sets = PredictionSets(stream.AROWClassifier())
    vars(sets._trackers["all"]).update(state)
    with pytest.raises(ModelFileError, match="threshold"):
        from_bytes(to_bytes(sets))
