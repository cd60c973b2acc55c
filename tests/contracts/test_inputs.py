"""The same numbers are learned the same way in any container, and nothing large is copied."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor

KINDS = [PassiveAggressiveClassifier, PassiveAggressiveRegressor]

# Integers that every type holds exactly, a third of them zero.
X = np.random.default_rng(0).integers(-100, 101, size=(60, 5)) * np.random.default_rng(1).choice(
    [0.0, 1.0, 1.0], (60, 5)
)
Y = np.digitize(X @ [1, -1, 2, 0, 1], [-50, 50]) - 1
NAMES = list("abcde")


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def wide_indices(matrix):
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def unsorted(matrix):
    """Return CSR with the entries of each row reversed."""
    rows = [matrix[[i]] for i in range(matrix.shape[0])]
    data, indices = (np.concatenate([getattr(row, part)[::-1] for row in rows]) for part in ("data", "indices"))
    return sparse.csr_matrix((data, indices, matrix.indptr), shape=matrix.shape)


def repeated(matrix):
    """Return CSR that stores each entry as the sum of two."""
    halves = np.repeat(matrix.data / 2, 2), np.repeat(matrix.indices, 2), 2 * matrix.indptr
    return sparse.csr_matrix(halves, shape=matrix.shape)


CONTAINERS = {
    "Fortran order": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "big-endian": lambda X: X.astype(">f8"),
    "object": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "bsr_array": sparse.bsr_array,
    "dia_array": sparse.dia_array,
    "dok_array": sparse.dok_array,
    "lil_array": sparse.lil_array,
    "csr of int32": lambda X: sparse.csr_array(X.astype(np.int32)),
    "csr with int64 indices": lambda X: wide_indices(sparse.csr_matrix(X)),
    "csr with unsorted indices": lambda X: unsorted(sparse.csr_matrix(X)),
    "csr with repeated indices": lambda X: repeated(sparse.csr_matrix(X)),
    "csr with zeros stored": lambda X: sparse.csr_matrix((X.ravel(), np.tile(np.arange(5), 60), 5 * np.arange(61))),
    "pandas": pd.DataFrame,
    "pandas nullable": lambda X: pd.DataFrame(X).astype("Float64"),
    "pandas sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)),
    "pandas of mixed types": lambda X: pd.DataFrame(X).astype({0: "int8", 1: "float32"}),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


def assert_learns_the_same(model, rows, other, other_rows, **tolerance):
    for _ in range(2):
        model.partial_fit(rows, Y)
        other.partial_fit(other_rows, Y)
    assert_allclose(model.coef_, other.coef_, **tolerance)
    assert_allclose(model.intercept_, other.intercept_, **tolerance)
    assert other.totals_.updates > 0
    assert_allclose(model.predict(rows), other.predict(other_rows), **tolerance)


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("kind", KINDS)
def test_container_makes_no_difference(kind, container):
    assert_learns_the_same(kind(), container(X), kind(), X, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_map_is_learned(kind, tmp_path):
    np.save(tmp_path / "X.npy", X)
    assert_learns_the_same(kind(), np.load(tmp_path / "X.npy", mmap_mode="r"), kind(), X, rtol=0)


def test_unsorted_indices_of_the_caller_do_not_change():
    rows = unsorted(sparse.csr_matrix(X))
    indices = rows.indices.copy()
    PassiveAggressiveClassifier().partial_fit(rows, Y).predict(rows)
    assert_array_equal(rows.indices, indices)


# Types of numbers.


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_have_the_type_of_the_rows_seen_first(kind, container):
    single, double = container(X.astype(np.float32)), container(X)
    assert kind().partial_fit(single, Y).partial_fit(double, Y).coef_.dtype == np.float32
    assert kind().partial_fit(double, Y).partial_fit(single, Y).coef_.dtype == np.float64
    assert kind().partial_fit(container(X.astype(np.int32)), Y).coef_.dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_learns_the_same_to_rounding(kind):
    rows = X + np.random.default_rng(1).normal(size=X.shape)  # no ties for rounding to break
    single, double = kind(), kind()
    for seen_as in (np.float32, np.float64):
        assert_learns_the_same(single, rows.astype(seen_as), double, rows, rtol=1e-4, atol=1e-5)


# No copies.

ROWS, COLUMNS = 20_000, 50


def with_wide_indptr(rows):
    matrix = sparse.csr_matrix(rows)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [read_only, sparse.csr_matrix, sparse.csr_array, with_wide_indptr])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_not_copied(kind, container, dtype):
    rows = container(np.ones((ROWS, COLUMNS), dtype=dtype))
    model = kind(max_iter=2, tol=None, average=True)
    target = np.arange(ROWS) % 2
    calls = {
        "fit": lambda: model.fit(rows, target),
        "partial_fit": lambda: model.partial_fit(rows, target),
        "predict": lambda: model.predict(rows),
    }
    for name, call in calls.items():
        tracemalloc.start()
        call()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < ROWS * COLUMNS * rows.dtype.itemsize / 4, name


# Names of features.

FRAMES = {"pandas": lambda X, names: pd.DataFrame(X, columns=names), "polars": pl.DataFrame}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_feature_names_are_kept_and_checked(kind, frame):
    model = kind().partial_fit(frame(X, NAMES), Y)
    assert model.feature_names_in_.tolist() == NAMES
    for names in (NAMES[::-1], [*NAMES[:-1], "new"]):
        wrong = frame(X, names)
        with pytest.raises(ValueError, match="feature names should match"):
            model.partial_fit(wrong, Y)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(wrong)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_early_stopping_accepts_feature_names(kind, frame):
    with_names = kind(early_stopping=True, random_state=0).fit(frame(X, NAMES), Y)
    assert_array_equal(with_names.coef_, kind(early_stopping=True, random_state=0).fit(X, Y).coef_)


# Labels.

LABELS = {
    "strings": np.array(["no", "perhaps", "yes"]),
    "strings as objects": np.array(["no", "perhaps", "yes"], dtype=object),
    "integers": np.array([-7, 0, 2**40]),
    "unsigned integers": np.array([0, 1, 255], dtype=np.uint8),
    "whole floats": np.array([-1.0, 0.0, 3.0]),
}
TARGETS = {
    "list": lambda y: y.tolist(),
    "pandas": pd.Series,
    "pandas categories": lambda y: pd.Series(pd.Categorical(y)),
    "pandas with another index": lambda y: pd.Series(y, index=range(len(y), 0, -1)),
    "polars": lambda y: pl.Series(y.tolist()),
    "not contiguous": lambda y: np.repeat(y, 2)[::2],
    "read-only": read_only,
}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_are_returned_in_their_type(labels, target, method):
    model, coded = (PassiveAggressiveClassifier(C=0.01, random_state=0) for _ in range(2))
    getattr(coded, method)(X, Y + 1)
    getattr(model, method)(X, target(labels[Y + 1]))
    assert_array_equal(model.classes_, labels)
    assert_array_equal(model.coef_, coded.coef_)
    assert_array_equal(model.predict(X), labels[coded.predict(X)])
    assert model.score(X, target(labels[Y + 1])) == coded.score(X, Y + 1)


@pytest.mark.parametrize("target", [np.asarray, list, pd.Series, pl.Series])
def test_booleans_are_labels(target):
    model = PassiveAggressiveClassifier().fit(X, target(Y > 0))
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool


@pytest.mark.parametrize(
    ("first", "later", "classes"),
    [
        (["a", "b"], ["b", "a much longer label"], ["a", "a much longer label", "b"]),
        (np.array(["a", "b"], dtype=object), ["c", "a"], ["a", "b", "c"]),
        (["a", "b"], np.array(["c", "a"], dtype=object), ["a", "b", "c"]),
        (np.array([0, 1], dtype=np.int8), [1000, 0], [0, 1, 1000]),
        ([0, 1], [2.0, 1.0], [0, 1, 2]),
        ([False, True], [2, 1], [0, 1, 2]),
        ([5], [3], [3, 5]),
    ],
    ids=str,
)
def test_late_labels_keep_their_value(first, later, classes):
    rows = np.eye(4)
    model = PassiveAggressiveClassifier(C=np.inf, fit_intercept=False)
    model.partial_fit(rows[: len(first)], first).partial_fit(rows[2 : 2 + len(later)], later)
    assert model.classes_.tolist() == classes
    assert model.predict(rows[2 : 2 + len(later)]).tolist() == list(later)


@pytest.mark.parametrize("dtype", [int, str, object])
def test_many_classes_in_a_small_batch_do_not_warn(dtype):
    labels = np.arange(30).astype(str).astype(dtype)
    assert PassiveAggressiveClassifier().partial_fit(np.eye(30), labels).score(np.eye(30), labels) > 0


# The smallest and the largest inputs.


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_zeros_change_nothing(kind, container):
    zeros = container(np.zeros((4, 3)))
    model = kind().partial_fit(zeros, [0, 1, 0, 1])
    assert_array_equal(model.coef_.ravel(), np.zeros(3))
    assert_array_equal(model.intercept_, [0])
    assert (model.totals_.rounds, model.totals_.updates) == (4, 0)
    assert np.isfinite(model.predict(zeros)).all()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_one_row_of_one_feature(container):
    row = container([[2.0]])
    assert PassiveAggressiveClassifier().partial_fit(row, ["only"]).predict(row).tolist() == ["only"]
    model = PassiveAggressiveRegressor(C=np.inf, epsilon=0.0, fit_intercept=False).partial_fit(row, [3.0])
    assert_allclose(model.coef_, [1.5])
    assert_allclose(model.predict(row), [3.0])


@pytest.mark.parametrize("kind", KINDS)
def test_row_whose_norm_overflows_is_skipped(kind):
    model = kind().partial_fit(np.full((1, 5), 1e200), Y[:1])
    assert_learns_the_same(model, X, kind().partial_fit(np.zeros((1, 5)), Y[:1]), X, rtol=0)
