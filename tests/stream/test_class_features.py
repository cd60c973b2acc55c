"""Class features in streams: the weights of the estimator, sources of features, label sets, costs, files and errors."""

import re
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import onmargin
from onmargin import stream
from onmargin.features import ClassTermFeatures, RecordFeatures
from onmargin.models.updates import TRIALS
from tests.stream.cases import learned, state

NAMES = "abcd"
N = 40
UPDATES = [{"update": update, "average": update == "max"} for update in TRIALS] + [{"loss": "squared_hinge"}]
every_update = pytest.mark.parametrize("options", UPDATES, ids=str)


def phi(x, label):
    """Return features that are weakly correlated with the label being right."""
    random = np.random.default_rng([x, ord(label)])
    return (random.standard_normal(5) + (label == NAMES[x % 3])).round(2).tolist()


def by_name(x, label):
    """Return some of these features by name; the first example has all of them."""
    return {f"f{k}": value for k, value in enumerate(phi(x, label)) if x == 0 or (x + k) % 3}


def as_array(x, label):
    return [by_name(x, label).get(f"f{k}", 0.0) for k in range(5)]


class AsRows:
    """A transformer that computes the features of `by_name`, in sparse rows over the names f0 to f4."""

    def __sklearn_clone__(self):
        return AsRows()

    def learn_transform(self, X, y, classes=None, live=None):
        labels = [[label] if isinstance(label, str) else label for label in y]
        blocks, codes = [], []
        for x, own in zip(X[:, 0], labels, strict=True):
            known = sorted({*getattr(self, "classes_", np.array([])).tolist(), *own})
            self.classes_ = np.array(known)
            blocks.append(self.transform(np.array([[x]])))
            codes += [known.index(label) for label in sorted(own)]
        ends = np.cumsum([0, *(block.shape[0] for block in blocks)])
        return sparse.vstack(blocks, format="csr"), ends, np.array(codes)

    def transform(self, X):
        return sparse.csr_matrix(np.array([as_array(int(x), label) for x in X[:, 0] for label in self.classes_]))


def labels(kind):
    if kind == "single":
        return [NAMES[x % 3] for x in range(N)]
    return [{NAMES[x % 3], NAMES[x * x % 4]} if x % 5 else set() for x in range(1, N + 1)]


def same(model, other, places=slice(None)):
    assert_array_equal(model._model.mean()[0][0][places], other.coef_)
    assert model.totals_ == other.totals_
    assert model.totals_.updates > 0
    assert model.classes_ == other.classes_.tolist()


@pytest.mark.parametrize("kind", ["single", "sets"])
@every_update
def test_weights_are_those_of_the_estimator(options, kind):
    """Weights from vectors of a function are equal bit for bit, also if classes appear during the stream."""
    y = labels(kind)
    model = learned(stream.ClassFeatureClassifier(phi=phi, C=0.3, **options), range(N), y)
    other = onmargin.ClassFeatureClassifier(phi=phi, C=0.3, **options).partial_fit(list(range(N)), y)
    same(model, other)
    assert model.predict_many(range(N)) == other.predict(range(N)).tolist()
    assert_array_equal([list(model.scores_one(x).values()) for x in range(N)], other.decision_function(range(N)))
    ranks = other.rank(range(N))
    assert [model.rank_one(x) for x in range(N)] == [other.classes_[np.argsort(row)].tolist() for row in ranks]


@pytest.mark.parametrize("kind", ["single", "sets"])
@every_update
def test_named_features_are_sparse_rows(options, kind):
    y = labels(kind)
    model = learned(stream.ClassFeatureClassifier(phi=by_name, C=0.3, **options), range(N), y)
    other = onmargin.ClassFeatureClassifier(phi=AsRows(), C=0.3, **options)
    other.partial_fit(np.arange(N)[:, None], y if kind == "single" else [sorted(one) for one in y])
    assert model.feature_names_ == [f"f{k}" for k in range(5)]
    same(model, other, slice(5))


@pytest.mark.parametrize("cost", [{"a": {"b": 3.0}, "c": {"a": 0.5}}, "absolute"], ids=["by name", "absolute"])
@pytest.mark.parametrize("cost_update", ["prediction", "max_loss"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_costs(cost, cost_update, loss):
    options = {"cost": cost, "cost_update": cost_update, "loss": loss, "phi": phi}
    model, other = stream.ClassFeatureClassifier(**options), onmargin.ClassFeatureClassifier(**options)
    for x, y in enumerate(labels("single")):
        model.learn_one(x, y)
        other.partial_fit([x], [y])
    same(model, other)
    assert model.totals_.cost > 0
    with pytest.raises(ValueError, match="needs one label per example"):
        model.learn_one(0, {"a"})


def test_costs_of_a_matrix():
    """Its classes exist from the first example on."""
    cost = [[0, 1, 2], [1, 0, 4], [1, 1, 0]]

    def distance(x, label):
        return [abs(x - label), (x + label) % 2]

    model = stream.ClassFeatureClassifier(phi=distance, cost=cost)
    other = onmargin.ClassFeatureClassifier(phi=distance, cost=cost)
    for x in (0, 1, 2, 1, 0):
        model.learn_one(x, x)
        other.partial_fit([x], [x], classes=[0, 1, 2])
    assert_array_equal(model._model.mean()[0][0], other.coef_)
    with pytest.raises(ValueError, match="for the classes 0 to 2; got the label 3"):
        model.learn_one(1, 3)


def test_candidates_are_those_of_the_example():
    """Without phi, only the classes that an example contains compete."""
    model, w = stream.ClassFeatureClassifier(C=0.5), np.zeros(5)
    for x, y in [({"a": 0, "b": 1}, "b"), ({"c": 2, "a": 3}, "a"), ({"b": 4, "c": 5, "d": 6}, "b")]:
        model.learn_one({label: by_name(k, label) for label, k in x.items()}, y)
        scores = {label: w @ as_array(x[label], label) for label in sorted(x)}
        rival = max(scores.keys() - {y}, key=lambda label: scores[label])
        move = np.subtract(as_array(x[y], y), as_array(x[rival], rival))
        w += min(0.5, max(1 - scores[y] + scores[rival], 0) / (move @ move)) * move
    assert model.classes_ == ["a", "b", "c", "d"]
    assert list(model.scores_one({"d": {"f1": 1.0}, "a": {"f2": 1.0}})) == ["a", "d"]
    weights = model.weights()
    np.testing.assert_allclose([weights.get(f"f{k}", 0.0) for k in range(5)], w, atol=1e-15)


def test_costs_by_place_need_all_classes():
    model = stream.ClassFeatureClassifier(cost="absolute").learn_one({"a": {"f": 1.0}, "b": {"g": 1.0}}, "a")
    with pytest.raises(ValueError, match="no features of class 'a': this cost is one of all classes"):
        model.learn_one({"b": {"f": 1.0}, "c": {"g": 1.0}}, "b")
    by_name_of_class = stream.ClassFeatureClassifier(cost={"a": {"b": 2.0}})
    by_name_of_class.learn_one({"a": {"f": 1.0}, "b": {"g": 1.0}}, "a").learn_one({"c": {}, "b": {"g": 1.0}}, "b")
    assert by_name_of_class.totals_.rounds == 2


@pytest.mark.parametrize("features", [None, RecordFeatures(n_features=64)], ids=["names", "hashed"])
def test_words_of_messages(features):
    """New words and folders may appear at any time."""
    mail = [
        "meeting on monday",
        "party on friday",
        "monday meeting moved",
        "agenda of the meeting",
        "friday party",
    ] * 3
    folders = ["work", "home", "work", "work", "home"] * 3
    model = stream.ClassFeatureClassifier(phi=ClassTermFeatures(), features=features).learn_many(mail, folders)
    assert [model.predict_one(text) for text in ("a meeting", "party")] == ["work", "home"]
    model.learn_one("flight to rome", "travel").learn_one("flight to oslo", "travel")
    assert model.predict_one("a flight to rome") == "travel"
    score = model.scores_one("a meeting on friday")["work"]
    assert sum(model.explain("a meeting on friday", "work").values()) == pytest.approx(score)


FORMS = {
    "function": ({"phi": phi}, list(range(N))),
    "words": ({"phi": ClassTermFeatures(kind="tfidf")}, [[f"w{x % 7}", f"w{x % 5}"] for x in range(N)]),
    "dicts": ({}, [{label: by_name(x, label) for label in NAMES} for x in range(N)]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["single", "sets"])
def test_saved_models_continue(form, kind, tmp_path):
    (options, X), y = FORMS[form], labels(kind)
    model = learned(stream.ClassFeatureClassifier(**options), X[:20], y[:20])
    onmargin.save(model, tmp_path / "model")
    loaded = onmargin.load(tmp_path / "model", **({"parameters": {"phi": phi}} if form == "function" else {}))
    assert state(loaded) == state(model)
    assert state(learned(loaded, X[20:], y[20:])) == state(learned(model, X[20:], y[20:]))


REFUSED = {
    "no dict": ({}, "sport", "a", "x must be a dict of the features of each class"),
    "no class": ({}, {}, "a", "x must be a dict of the features of each class"),
    "label without features": ({}, {"b": {"f": 1.0}, "c": {"f": 2.0}}, "a", "x has no features of class 'a'"),
    "class of another kind": ({}, {1: {"f": 1.0}, "a": {"f": 2.0}}, "a", "all strings or all numbers"),
    "infinite": ({}, {"a": {"f": np.inf}, "b": {"f": 2.0}}, "a", "finite"),
    "no label": ({"phi": by_name}, 0, set(), "y has no label, and no class is known yet"),
    "label twice": ({"phi": by_name}, 0, ["a", "a"], "y names a label twice"),
    "features": ({"phi": lambda x, label: 3}, 0, "a", "expected a dict of features"),
    "simplex": ({"phi": by_name, "geometry": "entropic"}, 0, "a", "RecordFeatures(n_features="),
    "transformer": ({"phi": AsRows()}, {"f": 1.0}, "a", "AsRows has no method widen"),
}


@pytest.mark.parametrize(("options", "x", "y", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_examples_change_nothing(options, x, y, message):
    model = stream.ClassFeatureClassifier(**options)
    before = state(model)
    for call in (model.learn_one, model.check_one):
        with pytest.raises((TypeError, ValueError), match=re.escape(message)):
            call(x, y)
        assert state(model) == before


def test_refused_messages_are_not_counted():
    model = stream.ClassFeatureClassifier(phi=ClassTermFeatures()).learn_many([["a", "b"], ["b", "c"]], ["x", "y"])
    before = state(model)
    for x, y in (([["nested"]], "x"), (["a", "new"], 3), (3.0, "x"), (["a", "new"], ["x", 3])):
        for call in (model.learn_one, model.check_one):
            with pytest.raises((TypeError, ValueError)):
                call(x, y)
            assert state(model) == before
    model.learn_one(["a", "new"], "z", 0.0)
    assert state(model) == before


def test_a_transformer_may_have_its_own_features():
    """It may have at most as many as there are weights."""
    with pytest.raises(ValueError, match="at most as many features as examples have, 2; got 5"):
        stream.ClassFeatureClassifier(phi=AsRows()).learn_one(np.array([3.0, 0.0]), "a")
    vectors = stream.ClassFeatureClassifier(phi=AsRows())
    other = onmargin.ClassFeatureClassifier(phi=AsRows())
    X, y = np.column_stack([np.arange(N), np.zeros((N, 5))]), labels("single")
    for x, label in zip(X, y, strict=True):
        vectors.learn_one(x, label)
    other.partial_fit(X[:, :1], y)
    same(vectors, other, slice(5))


def test_an_untrained_model_answers():
    model = stream.ClassFeatureClassifier(phi=by_name)
    assert model.predict_one(1) is None
    assert not any((model.scores_one(1), model.rank_one(1), model.explain(1), model.weights(), model.names_one(1)))
    copied = deepcopy(model.learn_one(1, "a").learn_one(2, "b"))
    assert copied.names_one(1) == sorted({*by_name(1, "a"), *by_name(1, "b")})
    assert copied.knows("f1")
    assert state(copied) == state(model)
