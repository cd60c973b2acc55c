"""Both interfaces learn the same: one example at a time, many, or a matrix."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import onmargin
from onmargin import stream
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.text.names import Hashed, Names
from onmargin._core.text.reader import Reader
from onmargin.features import RecordFeatures
from onmargin.models.ensemble import find_members
from tests.stream.cases import BY_ROW, CASES, Case, learned, state

every_case = pytest.mark.parametrize("case", CASES, ids=str)
NO_SCORES = {"PassiveAggressiveUniclass", "LabelRanker"}


def is_matrix(case):
    """Return whether an estimator learns the same from a matrix.

    Weights of words by their frequency so far change with every document: no matrix has them. The Auto
    learners treat dicts, but not sparse rows, as records of a table (see test_tables.py).
    """
    table = case.name.startswith("Auto") and case.kind in {"dicts", "mixed"} and not case.parameters.get("n_features")
    return not case.parameters.get("idf") and not table


every_matrix = pytest.mark.parametrize("case", [case for case in CASES if is_matrix(case)], ids=str)
every_prediction = pytest.mark.parametrize(
    "case", [case for case in CASES if is_matrix(case) and case.name not in NO_SCORES], ids=str
)


def matrix(case, model):
    """Return the examples as a matrix for the estimators."""
    X, _ = case.data()
    if case.kind == "vectors":
        return np.array(X, dtype=model.features_.dtype)
    if case.kind == "sparse_rows":
        return sparse.vstack(X).tocsr().astype(model.features_.dtype)
    text = model.features_._text()
    names = Names() if model.features_.n_features is None else Hashed(model.features_.n_features.bit_length() - 1)
    reader = Reader(names, grow=True, dtype=model.features_.dtype, text=text)
    for x in X:
        reader.read(x)
    return sparse.csr_matrix(reader.arrays(), shape=(len(X), len(names)))


def twin(model):
    kind = getattr(onmargin, type(model).__name__)
    return kind(**{name: value for name, value in model.get_params().items() if name != "features"})


def taught(model, X, y):
    """Return the estimator of a stream model, trained on the same examples."""
    other = twin(model)
    if type(model).__name__ not in BY_ROW:
        classes = {"classes": model.classes_} if isinstance(model, stream.OrdinalRegressor) else {}
        return other.partial_fit(X, y, **classes)
    for i in range(X.shape[0]):
        other.partial_fit(X[i : i + 1], y[i : i + 1])
    return other


def weights(model):
    """Return weights and intercepts, of all models if there are several."""
    learner = model._learner
    if not isinstance(learner.task, ExpertVote):
        return learner.geometry.mean()
    linear = [one for one in find_members(learner.geometry, learner.task.width) if not one.nonlinear]
    return [array for one in linear for array in one.plain(*one.leaf.mean())]


@every_case
def test_many_are_one_after_the_other(case):
    X, y = case.data()
    assert state(case.model().learn_many(X, y)) == state(learned(case.model(), X, y))


@every_matrix
def test_weights_are_those_of_the_estimator(case):
    model = learned(case.model(), *case.data())
    X, y = matrix(case, model), case.data()[1]
    other = taught(model, X, y)
    n = model.n_features_
    assert n == X.shape[1]
    if case.name == "PassiveAggressiveUniclass":  # its first norm is a sum in another order
        mine, its = model._learner.geometry, other._learner.geometry
        np.testing.assert_allclose(mine.center()[:n], its.center(), rtol=1e-12, atol=1e-14)
        assert model.radius_ == pytest.approx(other.radius_, rel=1e-12)
        assert model.predict_many(case.data()[0]) == other.predict(X).tolist()
        return
    for mine, its in zip(weights(model), weights(other), strict=True):
        np.testing.assert_array_equal(mine[:, :n] if mine.ndim == 2 else mine, its)
    assert model.totals_ == other.totals_


@every_prediction
def test_predictions_are_those_of_the_estimator(case):
    model = learned(case.model(), *case.data())
    X, y = matrix(case, model), case.data()[1]
    other = taught(model, X, y)
    predicted = model.predict_many(case.data()[0])
    assert predicted == other.predict(X).tolist()
    assert predicted == [model.predict_one(x) for x in case.data()[0]]


@pytest.mark.parametrize("calibrate", [True, False])
def test_rankings_are_those_of_the_estimator(calibrate):
    case = Case("LabelRanker", "dicts", {"calibrate": calibrate})
    model = learned(case.model(), *case.data())
    X, y = matrix(case, model), case.data()[1]
    other = twin(model).partial_fit(X, y)
    assert other.classes_.tolist() == model.classes_
    scores = other.decision_function(X)
    for i, x in enumerate(case.data()[0]):
        assert list(model.scores_one(x).values()) == scores[i].tolist()
        assert model.rank_one(x) == other.classes_[np.argsort(-scores[i], kind="stable")].tolist()
    if calibrate:
        assert model.predict_many(case.data()[0]) == other.predict(X)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abcde"), st.floats(-3, 3), max_size=4),
            st.sampled_from("uvwx"),
            st.sampled_from([0.0, 0.5, 1.0, 3.0]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_weighted_streams(examples):
    """Weights scale C, and an example of weight 0 is ignored."""
    model, without = stream.PassiveAggressiveClassifier(C=0.3), stream.PassiveAggressiveClassifier(C=0.3)
    model.learn_many(*map(list, zip(*examples, strict=True)))
    for x, y, weight in examples:
        if weight:
            without.learn_one(x, y, weight)
    assert state(model) == state(without)
    if model.n_features_ == 0:
        return  # a matrix needs at least one feature
    X = np.zeros((len(examples), model.n_features_))
    for i, (x, _, weight) in enumerate(examples):
        for name, value in x.items():
            if weight and value:
                X[i, model._names.get(name)] = value
    other = onmargin.PassiveAggressiveClassifier(C=0.3).partial_fit(
        sparse.csr_matrix(X), [y for _, y, _ in examples], sample_weight=[w for _, _, w in examples]
    )
    assert model.totals_ == other.totals_
    np.testing.assert_array_equal(model._learner.geometry.mean()[0][:, : model.n_features_], other.coef_)


def test_names_may_have_any_form():
    """A category is a name, and so is a word."""
    plain = partial(stream.PassiveAggressiveClassifier, features=RecordFeatures(normalize=False))
    forms = [{"red": 1.0}, ["red"], "red", {"red": True}, {"red": np.float32(1)}]
    models = [plain().learn_one({"blue": 1.0}, 0).learn_one(x, 1) for x in forms]
    assert len({str(state(model)) for model in models}) == 1
    one = stream.PassiveAggressiveClassifier().learn_one({"colour": "red"}, 0)
    assert one._names.names == ["colour=red"]
    assert (
        stream.PassiveAggressiveClassifier(features=RecordFeatures(separator=":")).learn_one(["red:2"], 0).n_features_
        == 1
    )


def test_matrices_are_rows_of_vectors():
    X, y = Case("PassiveAggressiveClassifier", "vectors").data()
    one = stream.PassiveAggressiveClassifier().learn_many(X, y)
    assert state(stream.PassiveAggressiveClassifier().learn_many(np.array(X), y)) == state(one)
    assert one.predict_many(np.array(X)) == one.predict_many(X)
    rows = sparse.csr_matrix(np.array(X))
    assert state(stream.PassiveAggressiveClassifier().learn_many(rows, y)) == state(
        stream.PassiveAggressiveClassifier().learn_many([rows[[i]] for i in range(len(y))], y)
    )


@pytest.mark.parametrize("name", ["QuasiAdditiveClassifier", "PNormPerceptron", "DualAscentClassifier"])
def test_a_p_norm_whose_names_grow(name):
    """Weights equal those of the matrix up to rounding: sums are recomputed after a number of updates per feature."""
    options = {"p": 3.0} if name == "PNormPerceptron" else {"p": 3.0, "geometry": "pnorm"}
    options |= {"sweeps": 2} if name == "DualAscentClassifier" else {}  # a joint maximum is nearly flat
    case = Case("QuasiAdditiveClassifier", "dicts")
    model = learned(getattr(stream, name)(**options), *case.data())
    X, y = matrix(case, model), case.data()[1]
    other = taught(model, X, y)
    assert model.n_features_ == X.shape[1] > 10
    np.testing.assert_allclose(weights(model)[0][:, : X.shape[1]], other.coef_, rtol=1e-9, atol=1e-12)
    assert model.totals_.mistakes == other.totals_.mistakes


def test_rates_are_those_of_the_first_row():
    x = {"a": 3.0, "b": 4.0}
    assert stream.GradientDescentRegressor().learn_one(x, 1.0).rate_ == 1 / 50
    model = stream.ExponentiatedGradientRegressor(features=RecordFeatures(n_features=2**4))
    assert model.learn_one(x, 1.0).rate_ == 2 / 4**2
    assert not hasattr(stream.GradientDescentRegressor(), "rate_")
    assert model.learn_one({"a": 30.0}, 1.0).rate_ == 2 / 4**2


VECTORS = {
    "contiguous": np.array,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "backward": lambda x: np.array(x[::-1])[::-1],
    "big-endian": lambda x: x.astype(">f8"),
    "unaligned": lambda x: np.frombuffer(b"." + x.tobytes(), dtype=np.uint8)[1:].view(x.dtype),
    "one row": lambda x: x.reshape(1, -1),
    "frozen": lambda x: np.frombuffer(x.tobytes()),
}


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_memory_layout_of_arrays_makes_no_difference(kind, dtype):
    X = np.random.default_rng(1).normal(size=(30, 5))
    y = (X[:, 0] > 0).astype(int)
    model = stream.PassiveAggressiveClassifier(features=RecordFeatures(dtype=dtype))
    for x, label in zip(X, y.tolist(), strict=True):
        model.learn_one(VECTORS[kind](x), label)
    other = onmargin.PassiveAggressiveClassifier().partial_fit(X.astype(dtype), y)
    np.testing.assert_array_equal(model._learner.geometry.weights, other._learner.geometry.weights)
    assert model.predict_one(VECTORS[kind](X[0])) == other.predict(X[:1].astype(dtype))[0]
