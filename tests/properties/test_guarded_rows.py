"""Large X is checked row by row while it is learned, with the same result as checks beforehand."""

import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from onmargin import (
    AROWClassifier,
    AutoClassifier,
    AutoRegressor,
    LabelRanker,
    OnlineRidgeRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PassiveAggressiveUniclass,
    Perceptron,
    QuasiAdditiveClassifier,
    SCWClassifier,
)
from onmargin import learner as learners
from onmargin.estimators import _estimator
from onmargin.learner import Learner, as_rows
from tests.saved import anatomy

N, FEATURES = 60, 7
A_FEW_ROWS = 200  # numbers processed between two checks for signals: threads score pieces of a few rows
MODELS = {
    "two classes": (PassiveAggressiveClassifier(), 2),
    "four classes": (PassiveAggressiveClassifier(average=True), 4),
    "numbers": (PassiveAggressiveRegressor(), None),
    "variances": (AROWClassifier(), 2),
}


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(_estimator, "GUARDED_BYTES", 0)
    monkeypatch.setattr(_estimator, "GUARDED_RATIO", 0)


def examples(classes, *, is_sparse, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(N, FEATURES)) * (rng.random((N, FEATURES)) < 0.7)).astype(dtype)
    y = rng.normal(size=N) if classes is None else rng.integers(classes, size=N)
    return (sparse.csr_array(X) if is_sparse else X), y


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_bits_are_those_of_checks_beforehand(name, is_sparse, monkeypatch):
    model, classes = MODELS[name]
    X, y = examples(classes, is_sparse=is_sparse, dtype=np.float32)
    guarded, plain = deepcopy(model), deepcopy(model)
    for part in slice(0, 40), slice(40, N):
        guarded.partial_fit(X[part], y[part])
    monkeypatch.setattr(_estimator, "GUARDED_BYTES", 1 << 40)
    plain.partial_fit(X, y)
    assert anatomy(vars(guarded)) == anatomy(vars(plain))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_call_with_a_bad_row_changes_nothing(name, is_sparse, bad):
    model, classes = deepcopy(MODELS[name])
    X, y = examples(classes, is_sparse=is_sparse)
    spoiled = X.copy()
    (spoiled.data if is_sparse else spoiled.ravel())[-1] = bad
    with pytest.raises(ValueError, match="contains"):
        model.partial_fit(spoiled, y)
    assert not hasattr(model, "_model")
    model.partial_fit(X, y)
    before, weights = anatomy(deepcopy(vars(model))), model.coef_
    with pytest.raises(ValueError, match="contains"):
        model.partial_fit(spoiled, y)
    assert anatomy(vars(model)) == before
    np.testing.assert_array_equal(weights, model.coef_)  # arrays that were read before have not changed


class Subclass(np.ndarray):
    """An array that scikit-learn converts to a plain one."""


# What scikit-learn refuses, converts or warns about: X and y of a call, from valid ones.
UNUSUAL = {
    "fewer features": lambda X, y: (X[:, :-1], y),
    "no row": lambda X, y: (X[:0], y[:0]),
    "no feature": lambda X, y: (X[:, :0], y),
    "one dimension": lambda X, y: (X[0], y),
    "three dimensions": lambda X, y: (X[None], y),
    "another type": lambda X, y: (X.astype(np.int64), y),
    "another byte order": lambda X, y: (X.astype(X.dtype.newbyteorder()), y),
    "columns first": lambda X, y: (np.asfortranarray(X), y),
    "a list": lambda X, y: (X.tolist(), y.tolist()),
    "a subclass": lambda X, y: (X.view(Subclass), y.view(Subclass)),
    "a frame": lambda X, y: (pd.DataFrame(X).rename(columns=str), pd.Series(y)),
    "sparse, by columns": lambda X, y: (sparse.csc_array(X), y),
    "sparse, one dimension": lambda X, y: (sparse.csr_array(X)[0], y),
    "no target": lambda X, y: (X, None),
    "fewer targets": lambda X, y: (X, y[:-1]),
    "a column of targets": lambda X, y: (X, y[:, None]),
    "two columns of targets": lambda X, y: (X, np.stack([y, y], axis=1)),
    "every other target": lambda X, y: (X, np.repeat(y, 2)[::2]),
    "objects": lambda X, y: (X, y.astype(object)),
    "texts": lambda X, y: (X, y.astype(str)),
    "bytes": lambda X, y: (X, y.astype("S")),
    "complex targets": lambda X, y: (X, y + 0j),
    "float32 targets": lambda X, y: (X, y.astype(np.float32)),
    "a missing target": lambda X, y: (X, np.append(y[:-1], np.nan)),
    "an infinite target": lambda X, y: (X, np.append(y[:-1], -np.inf)),
    "a large target": lambda X, y: (X, np.append(y[:-1], 1e300)),
}


def outcome(model, X, y):
    """Return the error and the warnings of a call, and the model after it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = None
        try:
            model.partial_fit(X, y)
            model.predict(X)
        except (TypeError, ValueError) as raised:
            error = type(raised), str(raised)
    return error, [(kind.category, str(kind.message)) for kind in caught], anatomy(vars(model))


@pytest.mark.parametrize("named", [None, False, True], ids=["first", "later", "later, with names"])
@pytest.mark.parametrize("name", ["two classes", "numbers"])
@pytest.mark.parametrize("unusual", UNUSUAL)
def test_nothing_unusual_skips_the_validation(unusual, name, named, monkeypatch):
    model, classes = deepcopy(MODELS[name])
    X, y = examples(classes, is_sparse=False, dtype=np.float32)
    if named is not None:
        model.partial_fit(pd.DataFrame(X).rename(columns=str) if named else X, y)
    given = UNUSUAL[unusual](X, y)
    copy = deepcopy(model)
    found = outcome(model, *given)
    monkeypatch.setattr(_estimator, "GUARDED_BYTES", 1 << 40)
    assert found == outcome(copy, *given)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_what_scikit_learn_would_not_change_skips_it(name, is_sparse, monkeypatch):
    model, classes = deepcopy(MODELS[name])
    X, y = examples(classes, is_sparse=is_sparse)
    if name != "variances":  # whose rows are checked beforehand
        monkeypatch.delattr(_estimator, "validate_data")
    for _ in range(2):
        model.partial_fit(X, y)
        assert model.n_features_in_ == FEATURES
    model.predict(X)


def test_unsorted_indices_are_sorted():
    X, y = examples(2, is_sparse=True)
    mixed = X.copy()
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        mixed.indices[start:stop], mixed.data[start:stop] = X.indices[start:stop][::-1], X.data[start:stop][::-1]
    mixed.has_sorted_indices = False
    expected = PassiveAggressiveClassifier().partial_fit(X, y)
    np.testing.assert_array_equal(PassiveAggressiveClassifier().partial_fit(mixed, y).coef_, expected.coef_)


@pytest.mark.parametrize("index", [-1, FEATURES, 2**31 - 1])
def test_indices_outside_the_features_are_refused(index):
    X, y = examples(2, is_sparse=True)
    model = PassiveAggressiveClassifier().partial_fit(X, y)
    before = anatomy(deepcopy(vars(model)))
    X.indices[-1] = index
    with pytest.raises(ValueError, match="not a valid CSR matrix"):
        model.partial_fit(X, y)
    assert anatomy(vars(model)) == before


def test_decreasing_offsets_are_refused():
    X, y = examples(2, is_sparse=True)
    X.indptr[5] = X.indptr[-1] + 7
    with pytest.raises(ValueError, match="not a valid CSR matrix"):
        PassiveAggressiveClassifier().partial_fit(X, y)


def test_numbers_whose_squares_overflow_are_accepted():
    X, y = examples(None, is_sparse=False)
    X[3] = 1e200
    model = PassiveAggressiveRegressor().partial_fit(X, y)
    assert model.totals_.rounds == N
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_threads_score_to_the_same_bits(classes, is_sparse, n_jobs, monkeypatch):
    X, y = examples(classes, is_sparse=is_sparse)
    model = PassiveAggressiveClassifier(n_jobs=n_jobs, average=True).partial_fit(X, y)
    found = model.decision_function(X)
    monkeypatch.setattr(learners, "STRETCH", A_FEW_ROWS)
    np.testing.assert_array_equal(model.decision_function(X), found)
    monkeypatch.setattr(_estimator, "GUARDED_BYTES", 1 << 40)
    np.testing.assert_array_equal(model.decision_function(X), found)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        AROWClassifier(average=True),
        SCWClassifier(),
        Perceptron(),
        QuasiAdditiveClassifier(),
        PassiveAggressiveClassifier(C="auto", combine="hedge"),
        PassiveAggressiveClassifier(average="best"),
        PassiveAggressiveClassifier(kernel="rbf"),
        AutoClassifier(),
        AutoRegressor(),
        OnlineRidgeRegressor(),
        LabelRanker(),
    ],
    ids=repr,
)
def test_threads_of_every_learner_predict_to_the_same_bits(model, is_sparse, monkeypatch):
    X, y = examples(4, is_sparse=is_sparse)
    if isinstance(model, LabelRanker):
        y = np.eye(4)[y.astype(int)]
    model = clone(model).partial_fit(X, y)
    methods = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(model, name)]
    found = [getattr(model.set_params(n_jobs=1), name)(X) for name in methods]
    monkeypatch.setattr(learners, "STRETCH", A_FEW_ROWS)
    for name, expected in zip(methods, found, strict=True):
        np.testing.assert_array_equal(getattr(model.set_params(n_jobs=3), name)(X), expected, strict=True)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("kind", [PassiveAggressiveRegressor, PassiveAggressiveUniclass])
def test_threads_predict_numbers_to_the_same_bits(kind, is_sparse, monkeypatch):
    X, y = examples(2, is_sparse=is_sparse)
    model = kind(n_jobs=1).partial_fit(X, y)
    scores = model.predict if kind is PassiveAggressiveRegressor else model.score_samples
    found = scores(X)
    monkeypatch.setattr(learners, "STRETCH", A_FEW_ROWS)
    model.n_jobs = 3
    np.testing.assert_array_equal(scores(X), found)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("names", [["a", "long"], [3, 8]])
def test_threads_predict_labels_of_every_type(names, n_jobs, monkeypatch):
    monkeypatch.setattr(learners, "STRETCH", A_FEW_ROWS)
    X, y = examples(2, is_sparse=False)
    model = PassiveAggressiveClassifier(n_jobs=n_jobs).partial_fit(X, np.array(names)[y.astype(int)])
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert (predicted == model.classes_[(model.decision_function(X) >= 0).astype(int)]).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
@pytest.mark.parametrize(
    "model",
    [
        PassiveAggressiveClassifier(),
        PassiveAggressiveClassifier(geometry="adaptive"),
        PassiveAggressiveClassifier(geometry="normalized"),
        AROWClassifier(average=True),
        SCWClassifier(),
    ],
    ids=repr,
)
def test_a_bad_row_is_not_scored(model, bad, is_sparse, n_jobs, monkeypatch):
    monkeypatch.setattr(learners, "STRETCH", A_FEW_ROWS)
    X, y = examples(4, is_sparse=is_sparse)
    model = clone(model).set_params(n_jobs=n_jobs).partial_fit(X, y)
    assert model._learner.geometry.guards
    (X.data if is_sparse else X.ravel())[0] = bad
    with pytest.raises(ValueError, match="contains"):
        model.predict(X)
    if is_sparse:
        X.data[0], X.indices[-1] = 1, FEATURES
        with pytest.raises(ValueError, match="not a valid CSR matrix"):
            model.predict(X)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("failing", [1, 4])
def test_an_error_in_one_thread_stops_all(failing, n_jobs, monkeypatch):
    X, y = examples(2, is_sparse=False)
    model = PassiveAggressiveClassifier(n_jobs=n_jobs).partial_fit(X, y)
    monkeypatch.setattr(learners, "STRETCH", A_FEW_ROWS)
    calls = []

    def decode(scores):
        calls.append(len(scores))
        if len(calls) > failing:  # the first call asks for the type of the results
            raise KeyboardInterrupt
        return scores[:, 0]

    with pytest.raises(KeyboardInterrupt):
        model._learner.scores(as_rows(X), n_jobs=n_jobs, decode=decode)
    assert len(calls) <= failing + n_jobs < N / max(calls)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e200])
def test_a_ball_refuses_bad_rows_only(bad, is_sparse, monkeypatch):
    X, _ = examples(2, is_sparse=is_sparse)
    model = PassiveAggressiveUniclass(n_jobs=2).partial_fit(X)
    (X.data if is_sparse else X.ravel())[0] = bad
    monkeypatch.setattr(learners, "STRETCH", A_FEW_ROWS)
    if np.isfinite(bad):  # its distance overflows
        assert model.predict(X)[0] == -1
    else:
        with pytest.raises(ValueError, match="contains"):
            model.predict(X)
    if is_sparse:
        X.data[0], X.indices[-1] = 1, FEATURES
        with pytest.raises(ValueError, match="not a valid CSR matrix"):
            model.predict(X)


@pytest.mark.parametrize("average", [0, 1, 9])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(("cap", "damping"), [(1.0, 0.0), (np.inf, 0.0), (np.inf, 0.5)])
@pytest.mark.parametrize("task", ["Binary", "Regression"])
def test_the_short_round_is_the_round(task, cap, damping, is_sparse, average):
    from onmargin._core.geometries.geometry import Euclidean
    from onmargin._core.steps.step import Projection
    from onmargin._core.tasks import task as tasks

    known = getattr(tasks, task)

    class OtherStep(Projection):
        """The same step, for which there is no short round."""

    class OtherTask(known):
        """The same task, which the round calls like any other."""

    X, y = examples(None, is_sparse=is_sparse)
    target = np.sign(y) if task == "Binary" else y
    weight = np.random.default_rng(1).uniform(0.1, 2, N)
    found = []
    for kind, step in (known, Projection), (known, OtherStep), (OtherTask, Projection), (OtherTask, OtherStep):
        asked = kind() if task == "Binary" else kind(0.1)
        geometry = Euclidean(FEATURES, 1, np.float64, sparse=is_sparse, bias=np.nan, average=average)
        learner = Learner(asked, step(cap, damping), geometry)
        learner.learn(as_rows(X), target, weight)
        found.append((learner.totals, geometry.clock, *(array.tolist() for array in geometry.arrays().values())))
    assert found == 4 * [found[0]]
