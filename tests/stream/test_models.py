"""Inspection of stream models: weights, explanations, texts, tables of fixed size."""

import copy
import itertools
import math
import pickle
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import stream
from onmargin.features import RecordFeatures
from tests.examples import examples
from tests.reading import made
from tests.stream.cases import CASES, LABELLED, MODELS, Case, learned, state

every_case = pytest.mark.parametrize("case", CASES, ids=str)


@every_case
def test_explanations_sum_to_scores(case):
    if case.parameters.get("forecast"):
        pytest.skip("forecasts are such sums divided by 1 + x'Ax")
    model = learned(case.model(), *case.data())
    for x in case.data()[0][:20]:
        scores = model.scores_one(x)
        if case.name == "PassiveAggressiveUniclass":
            apart = model.explain(x)
            assert math.sqrt(sum(apart.values())) == pytest.approx(-model.offset_ - scores, abs=1e-6)
            continue
        for label, score in scores.items() if case.name in LABELLED else [(None, scores)]:
            explained = model.explain(x, label)
            assert explained == model.explain(x, label)
            assert sum(explained.values()) + model.intercept(label) == pytest.approx(score, rel=1e-4, abs=1e-5)
            assert list(map(abs, explained.values())) == sorted(map(abs, explained.values()), reverse=True)
            assert list(model.explain(x, label, top=2)) == list(explained)[:2]


def test_contributions_to_a_vote_are_shapley_values():
    """Explanations of votes were those of the best linear expert, and contradicted predictions."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    model = stream.AutoClassifier().learn_many(X, np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "yes", "no").tolist())
    typical = X.mean(axis=0)

    def value(x, features):
        return model.scores_one(np.where(np.isin(range(3), features), x, typical))["yes"]

    for x in X[:5]:
        expected = np.zeros(3)
        for order in itertools.permutations(range(3)):
            for k, feature in enumerate(order):
                expected[feature] += (value(x, order[: k + 1]) - value(x, order[:k])) / 6
        explained = model.explain(x, "yes")
        assert model.intercept("yes") == pytest.approx(value(x, ()), abs=1e-9)
        assert sum(explained.values()) + model.intercept("yes") == pytest.approx(value(x, range(3)), abs=1e-9)
        assert [explained[j] for j in range(3)] == pytest.approx(expected, abs=0.5)  # by sixteen random orders
        label = model.predict_one(x)
        assert sum(model.explain(x).values()) + model.intercept(label) > 0


LEVELS = {"last value", "last label", "running mean", "majority class"}


@every_case
def test_weights_by_feature(case):
    model = learned(case.model(), *case.data())
    label = model.classes_[1] if case.name in LABELLED else None
    results = getattr(model, "experts_", None)
    if results is not None and results.coef[results.leader] is None:
        with pytest.raises(
            ValueError, match=f"{results.names[results.leader]}, has no weights by feature: use explain"
        ):
            model.weights(label)
        return
    weights = model.weights(label)
    if results is not None and results.names[results.leader] in LEVELS:  # which use no features
        assert weights == {}
        return
    assert 0 < len(weights) <= model.n_features_
    assert list(map(abs, weights.values())) == sorted(map(abs, weights.values()), reverse=True)
    assert list(model.weights(label, top=3).items()) == list(weights.items())[:3]
    by_name = case.kind not in {"vectors", "sparse_rows"} and model.features_.n_features is None
    assert {type(name) for name in weights} == {str if by_name else int}


def test_explained_by_hand():
    model = stream.PassiveAggressiveClassifier(fit_intercept=False)
    model.learn_one({"a": 1.0}, "no").learn_one({"b": 2.0}, "yes").learn_one({"a": 1.0}, "no")
    assert model.weights() == {"a": -1.0, "b": 0.5}
    assert model.weights("no") == {"a": 1.0, "b": -0.5}
    assert model.explain({"a": 3, "b": 1, "c": 5}) == {"a": 3.0, "b": -0.5}  # for "no", the prediction
    assert model.scores_one({"a": 3, "b": 1}) == {"no": 2.5, "yes": -2.5}


@every_case
def test_copies_are_independent(case):
    model = case.half_way()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        before = state(model)
        assert state(other) == before
        learned(other, *case.half(1))
        assert state(model) == before
        assert state(other) == state(learned(case.half_way(), *case.half(1)))


@pytest.mark.parametrize("name", MODELS)
def test_parameters_make_the_same_model(name):
    number = next(option for option in ("r", "rate", "alpha", "C") if hasattr(MODELS[name], option) or option == "C")
    parameters = {"combine": "leader"} if name.startswith("Auto") else {number: 0.5}
    needed = {"ranks": ["low", "middle", "high"]} if name == "OrdinalRegressor" else {}
    model = made(MODELS[name], **needed, **parameters, ngrams=(1, 2))
    twin = MODELS[name](**model.get_params())
    assert twin.get_params() == model.get_params()
    ranks = "ranks=['low', 'middle', 'high'], " if name == "OrdinalRegressor" else ""
    shown = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    assert repr(twin) == f"{name}({ranks}{shown}, features=RecordFeatures(ngrams=(1, 2)))"


letters = st.text("abC_ 1éß.,\n", max_size=30)


@examples(300)
@given(
    st.lists(letters, min_size=1, max_size=6),
    st.sampled_from([None, 2**5, 2**18]),
    st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 3), (1, 5), (4, 6), (100, 100)]),
    st.sampled_from(["tf", "binary", "log"]),
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
)
def test_texts_are_those_of_a_plain_reading(texts, n_features, ngrams, weighting, flags):
    lowercase, normalize, idf, symbols = flags
    options = {"lowercase": lowercase, "normalize": normalize, "idf": idf, "symbols": symbols, "weighting": weighting}
    reading = RecordFeatures(n_features=n_features, ngrams=ngrams, **options)
    model = stream.PassiveAggressiveRegressor(features=reading, fit_intercept=False)
    seen = Counter()
    for n_texts, text in enumerate(texts, start=1):
        words = re.findall(r"\w+|[^\w\s]" if symbols else r"\w\w+", text.lower() if lowercase else text)
        model.learn_one(text, 1.0)
        grams = Counter(
            model._names.get(" ".join(words[i : i + n]))
            for n in range(ngrams[0], ngrams[1] + 1)
            for i in range(len(words) - n + 1)
        )
        seen.update(grams.keys())
        value = {"tf": float, "binary": lambda count: 1.0, "log": lambda count: 1 + math.log(count)}[weighting]
        expected = {
            gram: value(count) * (1 + math.log((1 + n_texts) / (1 + seen[gram])) if idf else 1)
            for gram, count in grams.items()
        }
        length = math.sqrt(sum(x * x for x in expected.values())) if normalize else 1.0
        found = dict(zip(*model._get_loop().features(text), strict=True))
        assert found == pytest.approx({gram: x / (length or 1.0) for gram, x in expected.items()})


SHORT_TEXTS = ["", " ", "a", "word", "Wörter", "two words", "three short words", "\ud800", "a b c"]


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("weighting", ["tf", "binary", "log"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("idf", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_texts_shorter_than_an_ngram_have_no_such_ngrams(lowercase, weighting, normalize, idf, dtype):
    options = {"lowercase": lowercase, "weighting": weighting, "normalize": normalize, "idf": idf, "dtype": dtype}
    for n_features in (None, 2, 2**10):
        for ngrams in itertools.combinations_with_replacement((1, 2, 3, 4, 9, 100), 2):
            reading = RecordFeatures(n_features=n_features, ngrams=ngrams, **options)
            one, many = (stream.PassiveAggressiveClassifier(features=reading) for _ in range(2))
            labels = [i % 2 for i in range(len(SHORT_TEXTS))]
            for text, label in zip(SHORT_TEXTS, labels, strict=True):
                one.learn_one(text, label)
            many.learn_many(SHORT_TEXTS, labels)
            assert state(one) == state(many)
            assert one.predict_many(SHORT_TEXTS) == many.predict_many(SHORT_TEXTS)
            fewest = ngrams[0]
            assert [bool(one._get_loop().features(text)[0]) for text in SHORT_TEXTS] == [
                len(re.findall(r"\w+|[!-/]", text)) >= fewest for text in SHORT_TEXTS
            ]


def test_document_frequencies_are_learned_not_looked_up():
    model = stream.PassiveAggressiveClassifier(features=RecordFeatures(idf=True)).learn_many(
        ["common rare", "common word", "common thing"], [0, 1, 0]
    )
    before = state(model)
    model.predict_one("common")
    model.learn_one("common", 1, weight=0)
    assert state(model) == before
    assert model._frequencies.documents == 3
    _, values = model._get_loop().features("common rare")
    assert values[1] > values[0]


def test_tables_do_not_grow():
    model = stream.PassiveAggressiveClassifier(features=RecordFeatures(n_features=2**6))
    for i in range(1000):
        model.learn_one({f"name{i}": 1.0}, i % 2)
    assert model.n_features_ == 64
    assert model._learner.geometry.n_features == 64
    assert set(model.weights()) <= set(range(64))


def test_names_grow_and_keep_their_weights():
    model = stream.PassiveAggressiveRegressor(fit_intercept=False, C=math.inf, epsilon=0)
    for i in range(5000):
        model.learn_one({f"name{i}": 1.0}, float(i))
    assert model.n_features_ == 5000
    assert [model.predict_one([f"name{i}"]) for i in range(0, 5000, 99)] == list(range(0, 5000, 99))


def test_a_ball_counts_unknown_features():
    model = stream.PassiveAggressiveUniclass(epsilon=1.0).learn_one({"a": 1.0}).learn_one({"a": 1.0})
    assert model.scores_one({"a": 1.0}) == 1.0
    assert model.scores_one({"a": 1.0, "b": 3.0}) == -2.0
    assert model.predict_one(["b", "b", "b"]) == -1
    assert model.n_features_ == 1
    assert model.weights() == {"a": 1.0}


def test_labels():
    for labels in ([True, False], [np.bool_(True), np.bool_(False)], [3, 1, 2], [2.0, 1.0], np.array(["b", "a"])):
        model = stream.PassiveAggressiveClassifier().learn_many([{"a": i + 1.0} for i in range(len(labels))], labels)
        assert model.classes_ == sorted(model.classes_)
        assert {type(label) for label in model.classes_} <= {bool, int, float, str}
        assert model.predict_one({"a": 1.0}) in list(labels)


def test_streams_of_anything():
    """Examples may be iterators, generators and mappings other than dicts."""
    model = stream.PassiveAggressiveClassifier()
    model.learn_one((name for name in ("a", "b")), 0)
    model.learn_one({"b", "c"}, 1)
    model.learn_one(Counter("abc"), 0)
    assert model.n_features_ == 3
    assert stream.PassiveAggressiveUniclass().learn_one(iter(["a", "b"])).weights() == {"a": 1.0, "b": 1.0}
    assert (
        stream.PassiveAggressiveRegressor().learn_many(({"a": i} for i in range(5)), iter(range(5))).totals_.rounds == 5
    )


def test_thresholds():
    model = Case("OrdinalRegressor", "dicts").half_way()
    thresholds = list(model.thresholds_.values())
    assert list(model.thresholds_) == ["low", "middle"]
    for x in Case("OrdinalRegressor", "dicts").half(1)[0]:
        above = [model.scores_one(x) >= threshold for threshold in thresholds]
        rank = above.index(False) if False in above else 2
        assert model.predict_one(x) == ["low", "middle", "high"][rank]
