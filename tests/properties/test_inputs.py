"""The memory layout of the numbers makes no difference."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from scipy import sparse

from onmargin.learner import as_rows
from tests.examples import examples
from tests.streams import (
    CONTAINERS,
    Stream,
    current,
    dtypes,
    geometries,
    public_state,
    rules,
    streams,
    wide_indices,
)


def unsorted(X):
    X = sparse.csr_array(X)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:stop] = X.indices[start:stop][::-1].copy()
        X.data[start:stop] = X.data[start:stop][::-1].copy()
    X.has_sorted_indices = False
    return X


def halved(X):
    """Return a matrix that stores every value twice, as two halves."""
    X = sparse.csr_array(X)
    return sparse.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape)


def roomy(X):
    """Return a CSR matrix in arrays that are longer than its data."""
    X = sparse.csr_array(X)
    X.data, X.indices = np.append(X.data, np.ones(9, X.dtype)), np.append(X.indices, np.zeros(9, X.indices.dtype))
    return X


def wide_indptr(X):
    X = sparse.csr_array(X)
    X.indptr = X.indptr.astype(np.int64)
    return X


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


DENSE = {"fortran": np.asfortranarray, "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2], "read-only": read_only}
SPARSE = {name: container for name, container in CONTAINERS.items() if name != "dense"}
SPARSE |= {"unsorted": unsorted, "duplicates": halved, "roomy": roomy, "indptr_int64": wide_indptr}


def raw(X):
    """Return the stored numbers."""
    return [part.tolist() for part in ([X.data, X.indices, X.indptr] if sparse.issparse(X) else [X])]


@pytest.mark.parametrize("container", DENSE | SPARSE)
@examples(25)
@given(stream=streams(), rule=rules, dtype=dtypes)
def test_container_makes_no_difference_bit_for_bit(container, stream, rule, dtype):
    X = stream.X.astype(dtype)
    plain, other = X if container in DENSE else sparse.csr_array(X), (DENSE | SPARSE)[container](X)
    stored = raw(other)
    expected, actual = (
        stream.estimator(rule, fit_intercept=True, average=2).partial_fit(rows, stream.y, **stream.classes)
        for rows in (plain, other)
    )
    assert public_state(actual) == public_state(expected)
    assert actual.predict(other).tolist() == expected.predict(plain).tolist()
    assert raw(other) == stored, "the caller's data changed"


def explicit_zeros(X):
    """Return a CSR matrix that stores every entry, also zeros."""
    n_rows, n = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(n), n_rows), n * np.arange(n_rows + 1)), X.shape)


# X with its columns moved: the new matrix, and the new place of each old column.
ORDERS = {
    "csr": lambda X: (sparse.csr_array(X), np.arange(X.shape[1])),
    "explicit zeros": lambda X: (explicit_zeros(X), np.arange(X.shape[1])),
    "permuted": lambda X: (np.ascontiguousarray(X[:, ::-1]), np.arange(X.shape[1])[::-1]),
    "padded": lambda X: (np.hstack([np.zeros((len(X), 3)), X, np.zeros((len(X), 30))]), 3 + np.arange(X.shape[1])),
    "spread": lambda X: (np.kron(X, [[0.0] * 4 + [1.0]]), 4 + 5 * np.arange(X.shape[1])),
}


@pytest.mark.parametrize("order", ORDERS)
@examples(50)
@given(stream=streams(), rule=rules, geometry=geometries)
def test_order_of_columns_makes_no_difference(order, stream, rule, geometry):
    """Weights agree up to rounding: projections never move two sequences of weights apart, except after a tie."""
    size = largest_weight(stream, rule, geometry)
    X, place = ORDERS[order](stream.X)
    expected, actual = stream.learned(rule, **geometry), replace(stream, X=X).learned(rule, **geometry)
    (W, b), (coef, intercept) = current(expected), current(actual)
    np.testing.assert_allclose(coef[:, place], W, atol=1e-12 * size)
    np.testing.assert_allclose(intercept, b, atol=1e-12 * size)
    assert not np.delete(coef, place, axis=1).any()
    assert actual.totals.loss == pytest.approx(expected.totals.loss)
    assert actual.totals.dual_value == pytest.approx(expected.totals.dual_value)


@given(stream=streams(), rule=rules)
def test_single_precision_agrees_with_double(stream, rule):
    stream = stream.cast(np.float32)
    size = largest_weight(stream.cast(np.float64), rule, {})
    single, double = (current(stream.cast(dtype).learned(rule))[0] for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(single, double, atol=1e-5 * size)


def largest_weight(stream: Stream, rule, geometry) -> float:
    """Return the largest weight of all rounds, which rounding is relative to; skip streams whose rivals nearly tie."""
    size = 0.0
    for r in stream.rounds(stream.learner(rule, **geometry | {"average": 0})):
        best = np.sort(np.delete(r.scores[0], int(r.y)))[-2:] if stream.task == "multiclass" else r.scores[0][:1]
        assume(len(best) == 1 or not best.any() or np.ptp(best) > 1e-5 * (1 + size * np.abs(r.x).sum()))
        size = max(size, np.abs(r.weights[1]).max())
    return size


@pytest.mark.parametrize("index", [-1, 3, 2**32 + 1])
def test_index_out_of_range_is_refused(index):
    """This includes an index that would be in range if its upper half were cut off."""
    X = wide_indices(np.eye(3))
    X.indices[1] = index
    with pytest.raises(ValueError, match="indices"):
        as_rows(X)
