"""Public API of StructuredPredictor: any inputs and structures, new names at any time, inexact models, errors."""

import itertools
import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from onmargin import StructuredPredictor
from tests.structures import FORMS, KINDS, Classes, InForm, stream

MODEL, X, Y, WIDTH = stream("chains", n=30)
NAMED = InForm(MODEL, "dict", WIDTH)


class Words:
    """Chains over words; new words bring new features at any time."""

    tags = ("noun", "verb")

    def joint_features(self, words, tags):
        features = {}
        for name in [*zip(words, tags, strict=True), *itertools.pairwise(tags)]:
            features[name] = features.get(name, 0) + 1
        return features

    def argmax(self, weights, words):
        return max(
            itertools.product(self.tags, repeat=len(words)),
            key=lambda tags: weights.score(self.joint_features(words, tags)),
        )

    def cost(self, tags, guess):
        return sum(a != b for a, b in zip(tags, guess, strict=True))


SENTENCES = [s.split() for s in ["dogs bark", "birds sing songs", "cats chase birds", "songs end", "dogs sing"] * 4]
TAGS = [("noun", "verb", "noun")[: len(words)] for words in SENTENCES]


def words(**parameters):
    return StructuredPredictor(model=Words(), **parameters)


def test_names_appear_in_the_middle_of_a_stream():
    model = words().partial_fit(SENTENCES[:1], TAGS[:1])
    known = model.feature_names_
    assert not any("birds" in name for name in known)
    model.partial_fit(SENTENCES[1:], TAGS[1:])
    assert model.feature_names_[: len(known)] == known
    assert len(model.feature_names_) == len(model.coef_) == len(set(model.feature_names_))
    assert model.predict(SENTENCES) == TAGS
    assert model.weights_["no such", "name"] == 0.0
    assert model.weights_ == dict(zip(model.feature_names_, model.coef_.tolist(), strict=True))
    assert model.score_of(*EXAMPLE) == model.weights_.score(Words().joint_features(*EXAMPLE))


EXAMPLE = (["dogs", "unheard"], ("noun", "verb"))


def test_name_that_cancels_out_takes_no_memory():
    model = words().learn_one(["dogs", "bark"], ("noun", "verb"))  # where it predicts two nouns
    assert ("bark", "noun") in model.feature_names_
    assert ("dogs", "noun") not in model.feature_names_


@given(st.lists(st.integers(0, 30), max_size=4), st.sampled_from(["vector", "dict"]), st.booleans())
def test_cuts_make_no_difference(cuts, form, average):
    source = InForm(MODEL, form, WIDTH)
    whole = StructuredPredictor(model=source, average=average).partial_fit(X, Y)
    pieces = StructuredPredictor(model=source, average=average)
    for start, stop in itertools.pairwise(sorted({0, 30, *cuts})):
        pieces.partial_fit(X[start:stop], Y[start:stop])
        pieces = pickle.loads(pickle.dumps(pieces))
        pieces.predict(X[:2])
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.totals_ == whole.totals_
    assert pieces.predict(X) == whole.predict(X)


@pytest.mark.parametrize("form", ["vector", "dict"])
def test_learn_one_counts_what_is_predicted(form):
    source = InForm(MODEL, form, WIDTH)
    whole = StructuredPredictor(model=source).partial_fit(X, Y)
    one_by_one = StructuredPredictor(model=source)
    answers = [MODEL.argmax(np.zeros(WIDTH), X[0])]
    assert one_by_one.learn_one(X[0], Y[0]) is one_by_one
    for x, y in zip(X[1:], Y[1:], strict=True):
        answers.append(one_by_one.predict_one(x))
        one_by_one.learn_one(x, y)
    assert one_by_one.coef_.tolist() == whole.coef_.tolist()
    assert one_by_one.totals_ == whole.totals_
    assert one_by_one.totals_.mistakes == sum(y != z for y, z in zip(Y, answers, strict=True))
    assert one_by_one.totals_.cost == sum(MODEL.cost(y, z) for y, z in zip(Y, answers, strict=True))
    assert one_by_one.t_ == 31


@pytest.mark.parametrize("kind", KINDS)
def test_uncapped_step_leaves_the_required_margin(kind):
    structures, X, Y, _ = stream(kind)
    model = StructuredPredictor(model=structures, C=np.inf, check_rounds=0).learn_one(X[0], Y[0])
    for x, y in zip(X[1:], Y[1:], strict=True):
        rival = model.predict_one(x)
        model.learn_one(x, y)
        if structures.cost(y, rival):
            margin = model.score_of(x, y) - model.score_of(x, rival)
            np.testing.assert_allclose(margin, np.sqrt(structures.cost(y, rival)), rtol=1e-9)


@pytest.mark.parametrize("form", ["vector", "dict"])
def test_average_predicts_with_the_mean(form):
    source = InForm(MODEL, form, WIDTH)
    model, last = (StructuredPredictor(model=source, average=average) for average in (True, False))
    coefs = []
    for x, y in zip(X, Y, strict=True):
        model.learn_one(x, y)
        coef = last.partial_fit([x], [y]).coef_
        coefs.append(np.pad(coef, (0, WIDTH - len(coef))))
    mean = np.mean(coefs, axis=0)[: len(model.coef_)]
    np.testing.assert_allclose(model.coef_, mean, atol=1e-12)
    weights = model.weights_
    assert np.array(list(weights.values()) if form == "dict" else weights).tolist() == model.coef_.tolist()
    assert model.predict(X) == [source.argmax(weights, x) for x in X]
    assert model.predict_one(X[0]) == source.argmax(weights, X[0])
    assert model.totals_ == last.totals_


def test_fit_makes_passes_and_continues():
    model = words(random_state=0, warm_start=True).fit(SENTENCES, TAGS)
    assert 1 < model.n_iter_ < 20
    assert model.score(SENTENCES, TAGS) == 1.0
    rounds = model.totals_.rounds
    assert rounds == 20 * model.n_iter_
    model.fit(SENTENCES, TAGS)
    assert model.totals_.rounds == rounds + 20 * model.n_iter_
    assert clone(model).fit(SENTENCES, TAGS).totals_.rounds == rounds
    one = words(max_iter=1, tol=None, shuffle=False).fit(SENTENCES, TAGS)
    assert one.coef_.tolist() == words().partial_fit(SENTENCES, TAGS).coef_.tolist()


def test_score_is_one_less_the_mean_cost():
    model = words().partial_fit(SENTENCES[:2], TAGS[:2])
    costs = [Words().cost(y, z) for y, z in zip(TAGS, model.predict(SENTENCES), strict=True)]
    weight = np.arange(20.0)
    assert model.score(SENTENCES, TAGS) == 1 - np.mean(costs)
    assert model.score(SENTENCES, TAGS, sample_weight=weight) == 1 - np.average(costs, weights=weight)


def test_weight_zero_is_a_no_op():
    weight = np.ones(20)
    weight[[0, 5, 6]] = 0
    model = words().partial_fit([None, *SENTENCES[1:]], TAGS, sample_weight=weight)
    rest = np.flatnonzero(weight)
    expected = words().partial_fit([SENTENCES[i] for i in rest], [TAGS[i] for i in rest])
    assert model.coef_.tolist() == expected.coef_.tolist()
    assert model.totals_ == expected.totals_


def test_works_in_grid_searches():
    assert cross_val_score(words(), SENTENCES, TAGS, cv=4).mean() > 0.5
    search = GridSearchCV(words(random_state=0), {"C": [0.01, 1.0]}, cv=2).fit(SENTENCES, TAGS)
    assert search.predict(SENTENCES) == TAGS
    assert search.best_estimator_.get_params()["C"] == search.best_params_["C"]


def test_clone_has_the_parameters_and_is_untrained():
    fitted = words(C=0.25, average=7).partial_fit(SENTENCES, TAGS)
    twin = clone(fitted)
    assert vars(twin).keys() == twin.get_params().keys()
    assert {**twin.get_params(), "model": None} == {**fitted.get_params(), "model": None}


def test_model_cannot_change_the_weights():
    model = words().partial_fit(SENTENCES, TAGS)
    weights = model.weights_
    for change in (
        lambda: weights.update(a=1.0),
        lambda: weights.__setitem__("a", 1.0),
        lambda: weights.pop("a"),
        weights.clear,
    ):
        with pytest.raises(TypeError, match=r"read-only: dict\(weights\)"):
            change()
    assert deepcopy(weights) == weights
    assert type(pickle.loads(pickle.dumps(weights))) is type(weights)
    with pytest.raises(ValueError, match="read-only"):
        StructuredPredictor(model=MODEL).partial_fit(X, Y).weights_[0] = 1.0


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({"C": 0}, (X, Y), "C must be a number greater than 0"),
        ({"loss": "log"}, (X, Y), "loss must be 'hinge'"),
        ({"update": "max"}, (X, Y), "update must be 'prediction' or 'max_loss'"),
        ({"check_rounds": -1}, (X, Y), "check_rounds must be an integer at least 0"),
        ({"model": None}, (X, Y), r"NoneType has no joint_features\(x, y\), no argmax\(weights, x\), no cost\(y, z\)"),
        ({"model": Classes}, (X, Y), r"must be an object, not a class: give model=Classes\(\)"),
        ({"model": Words(), "update": "max_loss"}, (SENTENCES, TAGS), "cost_augmented_argmax.* Words has none"),
        ({}, (X, Y[:-1]), "the same number of examples; got 30 and 29"),
        ({}, ([], []), "no examples"),
        ({}, (X, Y, [1.0]), "sample_weight must have shape"),
        ({}, (X, Y, np.zeros(30)), "sample_weight is zero for all"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_input(method, parameters, arguments, message):
    model = StructuredPredictor(**{"model": MODEL, **parameters})
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(*arguments)
    assert vars(model).keys() == model.get_params().keys()


def test_nothing_learned():
    model = words()
    for call in (model.predict, model.predict_one):
        with pytest.raises(NotFittedError):
            call(SENTENCES[0])
    for call in (model.score, model.score_of):
        with pytest.raises(NotFittedError):
            call(SENTENCES[0], TAGS[0])
    for name in ("coef_", "weights_", "totals_", "t_", "feature_names_"):
        assert not hasattr(model, name)
    assert not hasattr(StructuredPredictor(model=MODEL).partial_fit(X, Y), "feature_names_")


@pytest.mark.parametrize("form", FORMS)
def test_stored_model_continues_unchanged(form):
    source = InForm(MODEL, form, WIDTH)
    model = StructuredPredictor(model=source, average=True).partial_fit(X[:15], Y[:15])
    stored = pickle.loads(pickle.dumps(model))
    assert stored.predict(X) == model.predict(X)
    for learner in (stored, model):
        learner.partial_fit(X[15:], Y[15:])
    assert stored.coef_.tolist() == model.coef_.tolist()
    assert stored.totals_ == model.totals_


def test_inputs_and_structures_may_be_arrays():
    structures, inputs, matchings, _ = stream("matchings")
    model = StructuredPredictor(model=structures).partial_fit(np.array(inputs), np.array(matchings))
    assert model.coef_.tolist() == StructuredPredictor(model=structures).partial_fit(inputs, matchings).coef_.tolist()
