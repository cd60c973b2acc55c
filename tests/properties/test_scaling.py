"""Invariants of scaling by running sizes, for any rows."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import MaxAbsScaler

from onmargin.features import RunningScaler
from tests.streams import containers, dtypes, integers, matrices

sizes = st.sampled_from(["rms", "max"])


def values(X):
    return X.toarray() if sparse.issparse(X) else X


def state(scaler):
    return scaler.scale_.tolist(), scaler.n_samples_seen_


@given(matrices(), sizes, dtypes, containers, st.integers(0, 10))
def test_cuts_make_no_difference(X, by, dtype, container, cut):
    X = X.astype(dtype)
    whole, parts, silent = (RunningScaler(by=by) for _ in range(3))
    expected = values(whole.learn_transform(container(X)))
    pieces = [piece for piece in (X[:cut], X[cut:]) if len(piece)]
    np.testing.assert_array_equal(np.vstack([values(parts.learn_transform(container(p))) for p in pieces]), expected)
    for piece in pieces:
        silent.partial_fit(container(piece))
    assert state(whole) == state(parts) == state(silent) == state(RunningScaler(by=by).fit(container(X)))


@given(matrices((-30, 30)), sizes, containers, st.data())
def test_units_make_no_difference(X, by, container, data):
    """Each feature may have its own unit; results are equal bit for bit if units are powers of two."""
    units = 2.0 ** (data.draw(integers(X.shape[1], "i1")) * 2)
    one, other = RunningScaler(by=by), RunningScaler(by=by)
    np.testing.assert_array_equal(
        values(one.learn_transform(container(X))), values(other.learn_transform(container(X * units)))
    )
    np.testing.assert_array_equal(values(one.transform(container(X))), values(other.transform(container(X * units))))


@given(matrices(), sizes, dtypes)
def test_containers_agree_and_zeros_stay(X, by, dtype):
    X = X.astype(dtype)
    full, thin = (RunningScaler(by=by).learn_transform(make(X)) for make in (np.ascontiguousarray, sparse.csr_array))
    np.testing.assert_array_equal(full, thin.toarray())
    np.testing.assert_array_equal(full == 0, X == 0)
    assert thin.nnz == np.count_nonzero(X)


@given(matrices(), sizes)
def test_row_is_scaled_by_itself_and_earlier_rows(X, by):
    scaled = RunningScaler(by=by).learn_transform(X)
    for t in range(len(X)):
        np.testing.assert_array_equal(RunningScaler(by=by).fit(X[: t + 1]).transform(X[t : t + 1])[0], scaled[t])
    assert np.abs(scaled).max() <= (np.sqrt(len(X)) if by == "rms" else 1) * (1 + 1e-12)


@given(matrices())
def test_largest_is_that_of_scikit_learn(X):
    ours, theirs = RunningScaler(by="max").fit(X), MaxAbsScaler().fit(X)
    np.testing.assert_array_equal(ours.scale_, np.where(theirs.max_abs_ > 0, theirs.max_abs_, 1.0))
    np.testing.assert_allclose((RunningScaler().fit_transform(X) ** 2).mean(axis=0), X.any(axis=0), atol=1e-12)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e200, 1.7e308])
@pytest.mark.parametrize("by", ["rms", "max"])
def test_squares_may_overflow(by, size):
    scaler = RunningScaler(by=by)
    scaled = scaler.learn_transform([[size, 1.0], [-size, 0.0], [size, 1.0]])
    np.testing.assert_allclose(scaled[:, 0], [1, -1, 1])
    assert np.isfinite(scaler.transform([[size, 1.0]])).all()


@given(matrices(), sizes, containers)
def test_copies_continue_alike(X, by, container):
    scaler = RunningScaler(by=by).partial_fit(container(X))
    twins = [deepcopy(scaler), pickle.loads(pickle.dumps(scaler))]
    expected = values(scaler.learn_transform(container(2 * X)))
    for twin in twins:
        np.testing.assert_array_equal(values(twin.learn_transform(container(2 * X))), expected)
    assert clone(scaler).get_params() == {"by": by}
