"""Bad input raises a helpful error and leaves the estimator exactly as it was."""

from contextlib import contextmanager

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor

KINDS = [PassiveAggressiveClassifier, PassiveAggressiveRegressor]

N, D = 30, 5
X = np.random.default_rng(0).normal(size=(N, D))
Y = np.arange(N) % 3  # classes, and numbers as well

# States of an estimator when bad input arrives.
STAGES = {
    "new": lambda kind: kind(),
    "learned": lambda kind: kind().partial_fit(X, Y),
    "averaged": lambda kind: kind(average=True).partial_fit(X, Y),
    "sparsified": lambda kind: kind().partial_fit(X, Y).sparsify(),
    "of single precision": lambda kind: kind().partial_fit(X.astype(np.float32), Y),
    "fitted, to go on": lambda kind: kind(warm_start=True, max_iter=3, tol=None).fit(X, Y),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_method = pytest.mark.parametrize("method", ["fit", "partial_fit"])


@contextmanager
def refused(model, error, *words):
    """Check that the block raises an error with these words, and that the model does not change, bit for bit."""
    before = joblib.hash(model)
    with pytest.raises(error) as caught:
        yield
    for word in words:
        assert word in str(caught.value)
    assert joblib.hash(model) == before


def assert_refused(kind, method, arguments, error, *words, **parameters):
    """Check that every state of the estimator refuses it."""
    for stage, make in STAGES.items():
        print(stage)  # noqa: T201 (shown where a test fails)
        model = make(kind).set_params(**parameters)
        with refused(model, error, *words):
            getattr(model, method)(**{"X": X, "y": Y} | arguments)


def with_one(value, array=X):
    array = array.copy()
    array[3] = value
    return array


def cases(table):
    return pytest.mark.parametrize("bad", table.values(), ids=table.keys())


# X.

ROWS = {
    "flat": (X[0], ValueError, "2D array", "1D array"),
    "a number": (3.0, ValueError, "2D array", "scalar"),
    "of three dimensions": (X[None], ValueError, "dim 3"),
    "no rows": (X[:0], ValueError, "0 sample(s)"),
    "no features": (X[:, :0], ValueError, "0 feature(s)"),
    "ragged": ([[1.0, 2.0]] * (N - 1) + [[1.0]], ValueError, "inhomogeneous"),
    "text": ([["a"] * D] * N, ValueError, "string", "'a'"),
    "objects": (np.full((N, D), {}), TypeError, "dict"),
    "complex": (X + 1j, ValueError, "Complex data not supported"),
    "np.matrix": (X.view(np.matrix), TypeError, "np.matrix is not supported"),
    "NaN": (with_one(np.nan), ValueError, "X contains NaN"),
    "infinity": (with_one(np.inf), ValueError, "X contains infinity"),
    "sparse NaN": (sparse.csr_matrix(with_one(np.nan)), ValueError, "X contains NaN"),
    "sparse infinity": (sparse.csr_array(with_one(-np.inf)), ValueError, "X contains infinity"),
    "sparse complex": (sparse.csr_matrix(X + 1j), ValueError, "Complex data not supported"),
    "missing value": (pd.DataFrame(with_one(np.nan)).astype("Float64"), ValueError, "X contains NaN"),
    "too many features": (sparse.csr_matrix((N, 2**31)), ValueError, "features"),
}


@every_method
@every_kind
@cases(ROWS)
def test_rows_are_refused(bad, kind, method):
    rows, *error = bad
    assert_refused(kind, method, {"X": rows}, *error)


@pytest.mark.parametrize("width", [D - 1, D + 1])
@every_kind
def test_number_of_features_must_not_change(kind, width):
    model = kind(warm_start=True).partial_fit(X, Y)
    for call in (model.fit, model.partial_fit, lambda rows, _: model.predict(rows)):
        with refused(model, ValueError, f"X has {width} features", f"expecting {D} features"):
            call(np.ones((N, width)), Y)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@every_kind
def test_numbers_must_fit_the_type_of_the_weights(kind):
    model = kind().partial_fit(X.astype(np.float32), Y)
    for call in (model.partial_fit, lambda rows, _: model.predict(rows)):
        with refused(model, ValueError, "X contains infinity or a value too large for dtype('float32')"):
            call(1e60 * X, Y)


# y.

TARGETS = {
    "too short": (Y[1:], ValueError, f"[{N}, {N - 1}]"),
    "of two columns": (np.column_stack([Y, Y]), ValueError, "one target per row", f"({N}, 2)", "onmargin.LabelRanker"),
    "a number": (1, ValueError, "y should be a 1d array"),
    "nothing": (None, ValueError, "requires y"),
    "sparse": (sparse.csr_matrix(Y[:, None]), TypeError, "Sparse data was passed for y"),
    "NaN": (with_one(np.nan, Y.astype(float)), ValueError, "y contains NaN"),
    "infinity": (with_one(np.inf, Y.astype(float)), ValueError, "y contains infinity"),
    "complex": (Y + 1j, ValueError, "Complex data not supported"),
    "missing number": (pd.Series(Y, dtype="Int64").where(Y > 0), ValueError, "y contains NaN"),
}


@every_method
@every_kind
@cases(TARGETS)
def test_targets_are_refused(bad, kind, method):
    y, *error = bad
    assert_refused(kind, method, {"y": y}, *error)


WORDS = np.array(["a", "b", "c"])[Y]
LABELS = {
    "real numbers": (Y + 0.5, ValueError, "continuous", "regression"),
    "bytes": (WORDS.astype(bytes), (TypeError, FutureWarning), "bytes"),  # a warning before scikit-learn 1.7
    "strings and numbers": (np.array([1, "a", 2], dtype=object)[Y], ValueError, "label"),
    "strings and nothing": (np.array([None, "a", "b"], dtype=object)[Y], ValueError, "label"),
    "strings and NaN": (np.array([np.nan, "a", "b"], dtype=object)[Y], ValueError, "NaN"),
}


@every_method
@cases(LABELS)
def test_labels_are_refused(bad, method):
    y, *error = bad
    assert_refused(PassiveAggressiveClassifier, method, {"y": y}, *error)


@pytest.mark.parametrize("container", [np.asarray, list, pd.Series])
@pytest.mark.parametrize(("first", "later"), [(WORDS, Y), (Y, WORDS), (Y > 0, WORDS), (WORDS.astype(object), Y > 0)])
def test_strings_must_not_follow_numbers(first, later, container):
    model = PassiveAggressiveClassifier(warm_start=True).partial_fit(X, first)
    for call in (model.fit, model.partial_fit):
        with refused(model, ValueError, "string", "number"):
            call(X, container(later))


@pytest.mark.parametrize("container", [list, pd.Series, lambda rows: np.array(rows, dtype=object)])
@every_method
@every_kind
def test_texts_and_dicts_are_refused_with_a_remedy(kind, method, container):
    for row, words in ("a text", "got texts"), ({"a": 1.0}, "got dicts"):
        model = kind()
        with refused(model, ValueError, words, "onmargin.stream", "Vectorizer"):
            getattr(model, method)(container([row] * N), Y)


def test_labels_must_not_become_equal():
    model = PassiveAggressiveClassifier().partial_fit(X, 2**60 + Y)
    with refused(model, ValueError, "label"):
        model.partial_fit(X, Y.astype(float))  # 2**60, 2**60 + 1 and 2**60 + 2 are the same float


def test_fit_needs_two_classes():
    for model in (PassiveAggressiveClassifier(), PassiveAggressiveClassifier(warm_start=True).fit(X, Y)):
        with refused(model, ValueError, "at least two classes", "7", "partial_fit"):
            model.fit(X, np.full(N, 7))


@every_method
def test_regressor_refuses_words(method):
    assert_refused(PassiveAggressiveRegressor, method, {"y": WORDS}, ValueError, "y must be", "'a'")


def test_regressor_refuses_targets_beyond_single_precision():
    model = PassiveAggressiveRegressor(C=np.inf).partial_fit(X.astype(np.float32), Y)
    with refused(model, ValueError, "y", "float32"):
        model.partial_fit(X, 1e300 * Y)


CLASSES = {
    "empty": [],
    "a number": 5,
    "of two dimensions": [[0, 1], [2, 3]],
    "NaN": [0, 1, np.nan],
    "infinity": [0, 1, np.inf],
    "real numbers": [0.5, 1.5],
    "complex": [0, 1j],
    "strings and numbers": np.array([0, "a"], dtype=object),
    "nothing": [None, 1],
    "a set": {0, 1, 2},
}


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@cases(CLASSES)
def test_classes_are_refused(bad):
    assert_refused(PassiveAggressiveClassifier, "partial_fit", {"classes": bad}, ValueError, "classes must be")


def test_classes_must_be_strings_if_labels_are():
    words = "string", "number", "'a'"
    assert_refused(PassiveAggressiveClassifier, "partial_fit", {"classes": ["a", "b"]}, ValueError, *words)


# sample_weight, coef_init, intercept_init.

WEIGHTS = {
    "too short": (np.ones(N - 1), ValueError, f"({N},)", f"({N - 1},)"),
    "a column": (np.ones((N, 1)), ValueError, f"({N},)", f"({N}, 1)"),
    "a number": (2.0, ValueError, f"({N},)"),
    "empty": ([], ValueError, f"({N},)", "(0,)"),
    "negative": (with_one(-2.5, np.ones(N)), ValueError, "negative", "-2.5"),
    "all zero": (np.zeros(N), ValueError, "zero for all"),
    "NaN": (with_one(np.nan, np.ones(N)), ValueError, "NaN"),
    "infinity": (with_one(np.inf, np.ones(N)), ValueError, "infinity"),
    "text": (["a"] * N, ValueError, "'a'"),
    "complex": (np.ones(N) + 1j, ValueError, "omplex"),
    "sparse": (sparse.csr_matrix(np.ones((N, 1))), ValueError, "parse"),
}


@every_method
@every_kind
@cases(WEIGHTS)
def test_sample_weights_are_refused(bad, kind, method):
    weight, *error = bad
    assert_refused(kind, method, {"sample_weight": weight}, *error, "sample_weight")


# The classifier below has weights of shape (3, 5) and (3,), the regressor of (5,) and (1,).
STARTS = {
    "coef_init too short": ("coef_init", np.ones(D - 1), ValueError, "shape", f"({D - 1},)"),
    "coef_init too long": ("coef_init", np.ones((4, D)), ValueError, "shape", f"(4, {D})"),
    "coef_init on its side": ("coef_init", np.ones((D, 3)), ValueError, "shape", f"({D}, 3)"),
    "coef_init NaN": ("coef_init", np.full((3, D), np.nan), ValueError, "NaN"),
    "coef_init text": ("coef_init", "zero", ValueError, "'zero'"),
    "intercept_init too long": ("intercept_init", np.ones(4), ValueError, "shape", "(4,)"),
    "intercept_init a column": ("intercept_init", np.ones((3, 1)), ValueError, "shape", "(3, 1)"),
    "intercept_init infinity": ("intercept_init", np.full(3, np.inf), ValueError, "infinity"),
    "intercept_init text": ("intercept_init", "zero", ValueError, "'zero'"),
}


@every_kind
@cases(STARTS)
def test_initial_weights_are_refused(bad, kind):
    name, value, *error = bad
    assert_refused(kind, "fit", {name: value}, *error, name)


@every_kind
def test_initial_weights_must_fit_their_type(kind):
    model = kind()
    with refused(model, ValueError, "coef_init", "float32"):
        model.fit(X.astype(np.float32), Y > 0, coef_init=np.full(D, 1e300))


# Parameters.

PARAMETERS = {
    "C": [0, -1.0, np.nan, "1", None, True, [0.0], 1j],
    "fit_intercept": ["no", 0, None],
    "intercept_scaling": [0, -1.0, np.nan, np.inf, "Auto", None],
    "max_iter": [0, 2.5, np.inf, None, True],
    "tol": [-1e-3, np.nan, "small"],
    "early_stopping": ["yes", 1],
    "validation_fraction": [0, 1, 1.5, np.nan, "a tenth"],
    "n_iter_no_change": [0, 1.5, None],
    "shuffle": ["no", 1, None],
    "verbose": [-1, "loud", 1.5],
    "random_state": [-1, 2**32, "seed", 1.0],
    "warm_start": ["yes", 1],
    "average": [-1, 1.5, "all", 2**63],
    "loss": ["log", "Hinge", "", None, 1, ["hinge"]],
}
OWN = {
    PassiveAggressiveClassifier: {
        "class_weight": ["Balanced", 3, [1, 2]],
        "class_margin": ["balanced", 3, [1, 2], {0: 0.0}, {0: -1.0}, {1: np.nan}, {1: np.inf}, {9: "wide"}, {0: None}],
        "strategy": ["ovo", "JOINT", None, 1],
    },
    PassiveAggressiveRegressor: {"epsilon": [-0.1, np.nan, "wide", None]},
}


@every_method
@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [(kind, name, value) for kind in KINDS for name, values in (PARAMETERS | OWN[kind]).items() for value in values],
)
def test_parameter_is_refused(kind, name, value, *, learned, method):
    model = kind().partial_fit(X, Y) if learned else kind()
    model.set_params(**{name: value})
    with refused(model, ValueError, f"{name} must be", f"got {value!r}", "set_params"):
        getattr(model, method)(X, Y)


@pytest.mark.parametrize("name", ["C", "tol", "intercept_scaling"])
@every_kind
def test_number_beyond_floats_is_refused(kind, name):
    model = kind(**{name: 10**400})
    with refused(model, ValueError, f"{name} must be"):
        model.fit(X, Y)


@every_method
@every_kind
def test_all_wrong_parameters_are_named_at_once(kind, method):
    model = kind(C=-1.0, loss="log", max_iter=0)
    with refused(model, ValueError, "C must be", "loss must be", "max_iter must be", "C=..., ", "loss=..."):
        getattr(model, method)(X, Y)


FACTORS = {
    "negative": {0: 1.0, 1: -1.0},
    "NaN": {0: np.nan},
    "infinite": {2: np.inf},
    "text": {1: "heavy"},
    "nothing": {0: None},
    "text for a label that comes late": {9: "heavy"},
}


@every_method
@cases(FACTORS)
def test_class_weights_are_refused(bad, method):
    y = np.append(Y[:-1], 9)
    assert_refused(PassiveAggressiveClassifier, method, {"y": y}, ValueError, "class_weight must be", class_weight=bad)


@pytest.mark.parametrize("factors", [{0: 1.0, 9: 2.0}, {"0": 1.0}], ids=str)
def test_class_weights_of_other_labels_are_refused_by_fit(factors):
    model = PassiveAggressiveClassifier(class_weight=factors)
    with refused(model, ValueError, "class_weight", repr(list(factors)[-1])):
        model.fit(X, Y)
    if all(isinstance(label, int) for label in factors):
        assert model.partial_fit(X, Y).classes_.tolist() == [0, 1, 2]  # in a stream the others may still appear
    else:
        with refused(model, ValueError, "labels must be all strings or all numbers: class_weight names '0'"):
            model.partial_fit(X, Y)


@pytest.mark.parametrize("margins", [{0: 1.0, 9: 2.0}, {"0": 1.0}], ids=str)
def test_class_margins_of_other_labels_are_refused_by_fit(margins):
    model = PassiveAggressiveClassifier(class_margin=margins)
    with refused(model, ValueError, "class_margin", repr(list(margins)[-1])):
        model.fit(X, Y)


def test_class_margins_of_labels_of_another_kind_are_refused_in_a_stream():
    """Other labels may still appear, but no string among numbers."""
    assert PassiveAggressiveClassifier(class_margin={9: 2.0}).partial_fit(X, Y).classes_.tolist() == [0, 1, 2]
    model = PassiveAggressiveClassifier(class_margin={"0": 1.0})
    with refused(model, ValueError, "class_margin", "'0'", "all strings or all numbers"):
        model.partial_fit(X, Y)


def test_class_weights_must_leave_something_to_fit():
    model = PassiveAggressiveClassifier(class_weight={0: 0.0, 1: 0.0, 2: 0.0})
    with refused(model, ValueError, "class_weight", "nothing to learn"):
        model.fit(X, Y)


# Late failures.


@every_kind
def test_early_stopping_needs_enough_to_hold_out(kind):
    model = kind(warm_start=True).fit(X, Y).set_params(early_stopping=True)
    start = {"coef_init": np.ones_like(model.coef_), "intercept_init": np.ones_like(model.intercept_)}
    few = np.r_[0, 1, 2] if kind is PassiveAggressiveClassifier else np.r_[0:1]
    with refused(model, ValueError, "early_stopping", "validation_fraction"):
        model.fit(X[few], Y[few], **start)


@every_kind
def test_warning_turned_into_an_error_leaves_the_estimator(kind):
    model = kind(warm_start=True).partial_fit(X, Y).set_params(max_iter=2)
    with refused(model, ConvergenceWarning, "max_iter=2"):
        model.fit(X, Y)


@every_kind
def test_interrupted_fit_leaves_the_estimator(kind, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    model = kind(warm_start=True, verbose=1).partial_fit(X, Y)
    monkeypatch.setattr("builtins.print", interrupt)
    with refused(model, KeyboardInterrupt):
        model.fit(X, Y)


# Before anything is learned.


@pytest.mark.parametrize("method", ["predict", "decision_function", "sparsify", "densify"])
@every_kind
def test_method_needs_a_fitted_estimator(kind, method):
    if hasattr(kind, method):
        model, rows = kind(), () if method.endswith("ify") else (X,)
        with refused(model, NotFittedError, "not fitted"):
            getattr(model, method)(*rows)


@pytest.mark.parametrize("name", ["coef_", "intercept_", "intercept_scaling_", "totals_", "t_", "n_iter_", "classes_"])
@every_kind
def test_attributes_need_a_fitted_estimator(kind, name):
    model = kind()
    with refused(model, AttributeError):
        getattr(model, name)
    assert not hasattr(clone(model.partial_fit(X, Y)), name)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_tables_with_text_are_refused_with_a_remedy(frame):
    """The message was "could not convert string to float: 'Ulm'"."""
    X = frame({"age": [31.0, 62.0], "town": ["Ulm", "Bonn"]})
    with pytest.raises(ValueError, match=r"text in 'town': encode it.*OneHotEncoder.*onmargin\.stream"):
        PassiveAggressiveClassifier().fit(X, [0, 1])


@pytest.mark.parametrize("form", [np.array, pd.DataFrame, sparse.csr_array], ids=["array", "frame", "sparse"])
def test_missing_values_are_refused_with_a_remedy(form):
    """The message recommended another library's learners."""
    X = form([[1.0, np.nan], [0.0, 1.0]])
    for call in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=r"X contains NaN.*SimpleImputer.*onmargin\.stream") as caught:
            getattr(PassiveAggressiveRegressor(), call)(X, [0.0, 1.0])
        assert "HistGradientBoosting" not in str(caught.value)
