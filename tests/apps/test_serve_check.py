"""Checked examples can be learned, rejected ones change nothing, and a check learns nothing."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.apps.serve.json_learner import JsonLearner, NotYetError, Room
from onmargin.apps.serve.problems import BadExampleError, ProblemError
from onmargin.apps.serve.schema import Example, Learn
from tests.examples import examples

PARAMETERS = {
    "classify": {},
    "regress": {"dtype": "float32"},
    "rank": {"separator": ":"},
    "ordinal": {"ranks": [1, 2, 3]},
    "novelty": {},
    "tag": {},
}
NUMBERS = st.sampled_from([0.0, 1.0, -2.5, 1e100, -1e100, 1e-320, 1e15, 4e38])
NAMES = st.sampled_from(["a", "b", "c", "a:1e308", "a:x", "", "ü", "colour=red"])
DICTS = st.dictionaries(NAMES, NUMBERS | st.sampled_from(["red", ""]), max_size=4)
TOKENS = DICTS | st.lists(NAMES, max_size=4)
XS = (
    st.sampled_from(["", "some words", "Words\x00 and more words"])
    | DICTS
    | st.lists(NUMBERS, max_size=3)
    | st.lists(NAMES, max_size=4)
    | st.lists(TOKENS, max_size=3)
    | st.just([1.0, "a"])
)
LABELS = st.sampled_from(["x", "y", "", 1, 2, 2**62])
YS = st.none() | LABELS | NUMBERS | st.lists(LABELS, max_size=3)
EXAMPLES = st.builds(Example, XS, YS, st.sampled_from([1.0, 0.0, 0.5, 1e100]))
# Compatible examples, so that a model is trained before another kind of example arrives.
WORDS = st.sampled_from(["x", "y", "z"])
GOOD = {
    "classify": st.builds(Example, DICTS, WORDS),
    "regress": st.builds(Example, st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=2, max_size=2), NUMBERS),
    "rank": st.builds(Example, DICTS, st.lists(WORDS, unique=True)),
    "ordinal": st.builds(Example, DICTS, st.sampled_from([1, 2, 3])),
    "novelty": st.builds(Example, DICTS),
    "tag": st.lists(st.tuples(TOKENS, WORDS), min_size=1, max_size=3).map(
        lambda pairs: Example([token for token, _ in pairs], [label for _, label in pairs])
    ),
}


def state(learner):
    model = learner.model
    if not learner.begun:
        return None
    labels = learner.classes if len(learner.classes) > 2 or learner.task in {"tag", "rank"} else [None]
    return model.totals_, learner.classes, learner.features, [model.weights(label) for label in labels]


@pytest.mark.parametrize("task", PARAMETERS)
@examples(40)
@given(data=st.data())
def test_checked_examples_can_be_learned(task, data):
    good = st.lists(GOOD[task], min_size=1, max_size=3)
    any_ = st.lists(GOOD[task] | EXAMPLES, min_size=1, max_size=2)
    requests = data.draw(st.lists(good | any_, max_size=8))
    learner = JsonLearner.begin(None, task, PARAMETERS[task], Room(features=12, classes=4, weights=40))
    waiting = []

    def learn():
        for example in waiting:
            learner.learn(example)  # raises if the check missed something
        waiting.clear()

    for request in requests:
        before = state(learner)
        try:
            try:
                alone = learner.check(request)
            except NotYetError:
                assert waiting
                learn()
                before = state(learner)
                alone = learner.check(request)
        except BadExampleError:
            assert state(learner) == before
            continue
        assert state(learner) == before
        waiting += request
        if alone:
            learn()
    learn()
    assert learner.features <= 12 or learner.task not in {"classify", "tag"}
    assert len(learner.classes) <= 4


@pytest.mark.parametrize(
    ("task", "parameters", "words"),
    [
        ("classify", {"D": 1}, "no parameter D"),
        ("classify", {"C": -1}, "C must be"),
        ("classify", {"n_features": 3}, "power of two"),
        ("ordinal", {}, "ranks"),
        ("tag", {"cost": "none"}, "cost"),
        ("classify", {"ngrams": 3}, "ngrams"),
        ("classify", {"n_features": 2**20}, "at most"),
    ],
)
def test_parameters_that_no_model_has(task, parameters, words):
    with pytest.raises(ProblemError, match=words):
        JsonLearner.begin(None, task, parameters, Room(weights=1000))


@pytest.mark.parametrize(
    "text",
    [
        '{"examples": [{"x": {"a": NaN}, "y": "b"}]}',
        '{"examples": [{"x": {"a": Infinity}, "y": "b"}]}',
        '{"examples": [{"x": {"a": 1e999}, "y": "b"}]}',
        '{"examples": [{"x": {"a": 1e101}, "y": "b"}]}',
        '{"examples": [{"x": [null], "y": "b"}]}',
        '{"examples": [{"x": null, "y": "b"}]}',
        '{"examples": [{"x": {"a": {"b": 1}}, "y": "b"}]}',
        '{"examples": [{"x": ' + "[" * 100_000 + "]" * 100_000 + "}]}",
        '{"examples": [{"x": "a", "y": 1e400}]}',
        '{"examples": [{"x": "a", "y": 99999999999999999999}]}',
        '{"examples": [{"x": "a", "y": "b", "weight": -1}]}',
        '{"examples": [{"x": "a", "y": "b", "other": 1}]}',
        '{"examples": []}',
        '{"examples": [{"x": "\\ud800", "y": "b"}]}',
        '{"examples": [{"x": "\xff", "y": "b"}]}',
        "[]",
        "",
    ],
)
def test_json_that_is_refused(text):
    with pytest.raises((msgspec.DecodeError, ValueError)):
        msgspec.json.decode(text.encode("latin-1"), type=Learn)


@pytest.mark.parametrize("cost", ["auto", {"a": {"b": -1}}, {"a": {"b": "x"}}, {"a": {"a": 1}}])
def test_costs_that_no_example_can_have_are_refused_at_once(cost):
    """They were known to be wrong with the second class only, and the service skipped all examples from then on."""
    with pytest.raises(ProblemError, match="cost must be"):
        JsonLearner.begin("PassiveAggressiveClassifier", None, {"cost": cost}, Room())
