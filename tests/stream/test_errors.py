"""Invalid examples raise an error with the reason, and the model stays as it was."""

import math

import numpy as np
import pytest
from scipy import sparse

from onmargin import ExampleError, ParameterError, stream
from onmargin.features import RecordFeatures
from tests.reading import made
from tests.stream.cases import CASES, MODELS, TASK, Case, learned, state

BAD_EXAMPLES = [
    ({"a": math.inf}, "feature 'a' must be a finite number, got inf"),
    ({"new": 1.0, "a": math.inf}, "feature 'a' must be a finite number"),
    ({"new": 1.0, "a": [1]}, "feature 'a' must be a number"),
    ({"new": 1.0, 3: 1.0}, "names of features must be strings, got 3"),
    (["new", 3], "names of features must be strings, got 3; pass a vector as a NumPy array"),
    (["new", None], "names of features must be strings"),
    (3, "expected a dict of features, a list of their names or a text, got 3"),
    (None, "expected a dict"),
    (b"bytes", "expected a dict"),
    (np.array([1.0, 2.0]), "this model reads features by name; got a vector"),
    (["new", "n0:1e308", "n0:1e308"], "must have a finite sum"),
    (sparse.csr_matrix([[1.0, 2.0]]), "this model reads features by name; got a vector"),
]
BAD_VECTORS = [
    (np.array([1.0, 2.0]), "must have 5 features, as the first vector had; got 2"),
    (np.array([1.0, math.nan, 0, 0, 0]), "x must hold finite numbers"),
    (np.zeros((2, 5)), "one vector, got 2 rows"),
    (np.zeros((1, 1, 5)), "one or two dimensions"),
    (sparse.csr_matrix(np.zeros((1, 6))), "must have 5 features"),
    (sparse.csr_matrix([[0, math.inf, 0, 0, 0]]), "finite"),
    ({"a": 1.0}, "this model learns vectors: x must be"),
    ("text", "this model learns vectors"),
]
TARGET = {"classify": "m", "regress": 1.0, "rank": {"m"}, "ordinal": "low", "novelty": None}


def refused(model, message, *example, **options):
    before = state(model)
    with pytest.raises((TypeError, ValueError), match=message):
        model.learn_one(*example, **options)
    assert state(model) == before


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("x", "message"), BAD_EXAMPLES, ids=lambda value: repr(value)[:40])
@pytest.mark.parametrize("n_features", [None, 2**6])
def test_examples(name, x, message, n_features):
    case = Case(name, "dicts", {"n_features": n_features, "separator": ":"})
    refused(case.half_way(), message, x, TARGET[TASK[name]])
    if "vector" in message:
        return
    new = case.model()
    refused(new, message, x, TARGET[TASK[name]])
    assert state(new) == state(case.model())
    assert state(learned(new, *case.half(0))) == state(case.half_way())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("x", "message"), BAD_VECTORS, ids=lambda value: repr(value)[:40])
def test_vectors(name, x, message):
    refused(Case(name, "vectors").half_way(), message, x, TARGET[TASK[name]])


@pytest.mark.parametrize("name", MODELS)
def test_new_classes_of_a_bad_example_are_removed(name):
    model = Case(name, "dicts").half_way()
    target = {"classify": "brand new", "rank": {"brand new"}}.get(TASK[name], TARGET[TASK[name]])
    refused(model, "finite", {"new": 1.0, "a": math.inf}, target)


BAD_TARGETS = {
    "PassiveAggressiveClassifier": [
        (None, "a label must be a string or a whole number; got None"),
        (math.nan, "a label must be a string or a whole number; got nan. For numbers use PassiveAggressiveRegressor"),
        (0.5, "For numbers use PassiveAggressiveRegressor"),
        (["m"], r"a label must be a string or a whole number; got \['m'\]"),
        ({"m"}, "a label must be"),
        (np.array(1), "a label must be"),
        (("m", "c"), "a label must be"),
        (3, "labels must be all strings or all numbers: 3 is new, and 'c' is known"),
    ],
    "PassiveAggressiveRegressor": [
        (None, "y must be a number; got None"),
        ("1.0", "y must be a number; got '1.0'"),
        (math.nan, "y must be a finite number; got nan"),
        (math.inf, "y must be a finite number"),
        ([1.0], "y must be a number"),
        (10**400, "y must be a number"),
    ],
    "LabelRanker": [
        (None, "y must be a set, list or tuple of labels; got None"),
        ("m", "write {'m'} for one label"),
        ({"m": 1}, "y must be a set"),
        (["m", "m"], "names a label twice"),
        (["m", 1], "all strings or all numbers"),
        ([None], "a label must be a string or a whole number"),
        ([["m"]], "a label must be"),
    ],
    "OrdinalRegressor": [
        (None, "label None is not one of"),
        ("highest", r"label 'highest' is not one of \['low', 'middle', 'high'\]"),
        (["low"], "label"),
    ],
}


@pytest.mark.parametrize(
    ("name", "y", "message"), [(name, *pair) for name, pairs in BAD_TARGETS.items() for pair in pairs]
)
def test_targets(name, y, message):
    case = Case(name, "dicts")
    refused(case.half_way(), message, {"new": 1.0}, y)
    if "new, and" not in message:
        new = case.model()
        refused(new, message.split(";")[0] if name == "OrdinalRegressor" else message, {"new": 1.0}, y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf, None, "1", [1.0]])
def test_weights(name, weight):
    for model in (Case(name, "dicts").half_way(), Case(name, "dicts").model()):
        refused(model, "weight must be", {"new": 1.0}, TARGET[TASK[name]], weight=weight)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_examples_of_weight_zero_are_ignored(case):
    for model in (case.half_way(), case.model()):
        before = state(model)
        for x, y in zip(*case.half(1), strict=True):
            model.learn_one(x, y, weight=0)
        model.learn_one({"new": 1.0}, "new", 0.0)
        assert state(model) == before


@pytest.mark.parametrize("case", CASES, ids=str)
def test_predictions_change_nothing(case):
    """This includes predictions for examples with unknown names."""
    model, other = case.half_way(), case.half_way()
    for x in case.half(1)[0]:
        model.scores_one(x)
        model.explain(x)
        if case.parameters.get("calibrate", True):
            model.predict_one(x)
    assert model.n_features_ == other.n_features_
    for each in (model, other):
        learned(each, *case.half(1))
    assert state(model) == state(other)


def test_before_anything_was_learned():
    assert stream.PassiveAggressiveClassifier().predict_one({"a": 1}) is None
    assert stream.PassiveAggressiveClassifier().scores_one({"a": 1}) == {}
    assert stream.PassiveAggressiveRegressor().predict_one("text") == 0
    assert stream.LabelRanker().predict_one(["a"]) == set()
    assert stream.OrdinalRegressor(ranks=[1, 2]).predict_one(["a"]) is None
    assert stream.PassiveAggressiveUniclass().predict_one(np.zeros(2)) == 1
    for model in (stream.PassiveAggressiveClassifier(), stream.PassiveAggressiveUniclass()):
        assert model.weights() == model.explain({"a": 1}) == {}
        assert model.totals_.rounds == model.n_features_ == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"C": 0},
            r"C must be a number greater than 0, or .*; got 0. Set it with \w+Classifier\(C=...\)",
        ),
        ({"C": []}, "C must be a number greater than 0, or a sequence"),
        ({"C": [1.0, -1.0]}, "C must be a number greater than 0, or a sequence"),
        ({"C": [0.1, 1.0], "update": "simproj"}, "a sequence of C needs update='max'"),
        ({"combine": "mean"}, "combine must be 'leader' or 'hedge'"),
        ({"n_features": 1000}, "n_features must be None, or a power of two between 2 and 2[*][*]30, such as 2[*][*]18"),
        ({"n_features": 0}, "n_features must be"),
        ({"n_features": 2.0**10}, "n_features must be"),
        ({"separator": "::"}, "separator must be None, or a string of one character"),
        ({"dtype": "float16"}, "dtype must be 'float64' or 'float32'"),
        ({"ngrams": (2, 1)}, "ngrams must be a pair of whole numbers"),
        ({"ngrams": 2}, "ngrams must be a pair"),
        ({"weighting": "idf"}, "weighting must be 'log' or 'tf' or 'binary'"),
        ({"update": "best", "loss": "log"}, "loss must be .*; update must be"),
        ({"update": "simproj", "loss": "squared_hinge", "strategy": "ovr"}, "needs loss='hinge', strategy='joint'"),
        ({"update": "mira", "C": math.inf}, "needs a finite C"),
        ({"update": "mira", "class_margin": {"a": 2.0}}, "class_margin needs update other than 'mira'"),
        ({"class_margin": {"a": 0.0}}, "class_margin must be None, or a dict of class: margin, each a number greater"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        made(stream.PassiveAggressiveClassifier, **parameters)


@pytest.mark.parametrize("ranks", [["low"], "low", 3, ["a", "a"], [2, 1], [1, "a"], [None, 1]])
def test_ranks(ranks):
    with pytest.raises((TypeError, ValueError), match=r"ranks|label"):
        stream.OrdinalRegressor(ranks=ranks)


def test_balls():
    with pytest.raises(ValueError, match="needs a number for max_radius"):
        stream.PassiveAggressiveUniclass(radius="learn")


def test_matrices_of_another_kind():
    model = Case("PassiveAggressiveRegressor", "dicts").half_way()
    with pytest.raises(TypeError, match="example 0: this model reads features by name; got a vector"):
        model.learn_many(np.zeros((2, 3)), [1, 2])


def test_names_that_cannot_be_hashed():
    with pytest.raises(ValueError, match=r"example 0: .*surrogates not allowed"):
        stream.PassiveAggressiveRegressor(features=RecordFeatures(n_features=2**4)).learn_many([{"\ud800": 1.0}], [1])


def test_vectors_have_no_table():
    with pytest.raises(ValueError, match="n_features is the size of a table of names, and vectors have none"):
        stream.PassiveAggressiveClassifier(features=RecordFeatures(n_features=2**8)).learn_one(np.zeros(3), 1)


def test_learn_many_names_the_refused_example():
    model = stream.PassiveAggressiveRegressor()
    with pytest.raises(ValueError, match="example 2: the value of feature 'a' must be a finite number, got inf"):
        model.learn_many([{"a": 1.0}, {"a": 2.0}, {"a": math.inf}, {"a": 3.0}], [1, 2, 3, 4])
    assert model.totals_.rounds == 2
    with pytest.raises(ValueError, match="X and y must have the same number of items"):
        model.learn_many([{"a": 1.0}], [1, 2])
    for wrong in ("text", {"a": 1.0}, 3):
        with pytest.raises(TypeError, match="X must be a list of examples"):
            model.learn_many(wrong, [1])
    pandas = pytest.importorskip("pandas")
    assert model.learn_many(pandas.DataFrame({"a": [1.0]}), [1]).totals_.rounds == 3


def test_invalid_labels_and_tops():
    model = Case("PassiveAggressiveClassifier", "dicts").half_way()
    with pytest.raises(ValueError, match="label 'x' is not one of"):
        model.weights("x")
    with pytest.raises(ValueError, match="give label="):
        model.weights()
    with pytest.raises(ValueError, match="top must be None or an integer at least 0; got -1"):
        model.explain({"n0": 1.0}, top=-1)
    with pytest.raises(ValueError, match="calibrate=False learns to rank"):
        stream.LabelRanker(calibrate=False).predict_one({"a": 1})
    with pytest.raises(TypeError, match="a ball has no intercept"):
        Case("PassiveAggressiveUniclass", "dicts").half_way().intercept()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (stream.Winnow(), "weights on the simplex start at 1 / n_features: hash the names of features"),
        (stream.ExponentiatedGradientRegressor(), "weights on the simplex start at 1 / n_features"),
        (stream.PassiveAggressiveClassifier(geometry="entropic"), "weights on the simplex start at 1 / n_features"),
        (stream.PNormPerceptron(), r"p=None is 2 ln\(n_features\): set p, hash the names"),
        (stream.DualAscentClassifier(geometry="pnorm"), r"p=None is 2 ln\(n_features\)"),
    ],
    ids=repr,
)
def test_names_that_grow_where_the_number_of_features_matters(model, message):
    with pytest.raises(ParameterError, match=message) as error:
        model.learn_one({"a": 1.0}, 1)
    assert error.value.names == ("features",)
    assert not hasattr(model, "_learner")
    model.learn_one(np.array([1.0, 0.0]), 1)  # vectors have a known length
    assert model.n_features_ == 2


def test_simplex_cannot_widen():
    rows = sparse.csr_matrix(np.eye(3))
    model = stream.Winnow().learn_many(rows, ["a", "b", "a"])
    with pytest.raises(ValueError, match="their number cannot change: they are for 3 features; got 5"):
        model.learn_many(sparse.csr_matrix(np.eye(5)), ["a", "b", "a", "b", "a"])


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix, list])
def test_winnow_refuses_negative_numbers(kind):
    """Negative numbers are refused in any form, and earlier examples are kept."""
    good, bad = np.eye(4), np.diag([1.0, 1.0, -2.0, 1.0])
    if kind is list:
        good, bad = ([{f"n{i}": row[i]} for i in range(4)] for row_set in (good, bad) for row in [row_set.diagonal()])
        model = stream.Winnow(features=RecordFeatures(n_features=2**4))
    else:
        good, bad = kind(good), kind(bad)
        model = stream.Winnow()
    model.learn_many(good, ["a", "b", "a", "b"])
    with pytest.raises(ExampleError, match=r"not negative; got -2\. Set balanced=True") as error:
        model.learn_many(bad, ["a", "b", "a", "b"])
    assert error.value.index == 2
    assert model.totals_.rounds == 6
    model.learn_many(bad, ["a", "b", "a", "b"], [1.0, 1.0, 0.0, 1.0])
    assert model.totals_.rounds == 9


def test_third_class_on_the_simplex():
    model = stream.Winnow(features=RecordFeatures(n_features=2**4)).learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    refused(model, "cannot become three", {"a": 1.0}, "z")


def test_dual_ascent_has_no_kernel():
    with pytest.raises(ParameterError, match="a kernel over a window of examples needs a matrix"):
        stream.DualAscentClassifier(kernel="rbf")


@pytest.mark.parametrize("kind", [stream.Perceptron, stream.GradientDescentRegressor, stream.Winnow])
def test_weights_are_float64(kind):
    with pytest.raises(ParameterError, match="need weights of double precision"):
        kind(features=RecordFeatures(dtype="float32"))
