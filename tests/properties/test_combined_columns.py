"""Columns combined from others when new classes appear: by a matrix product, or its shortcut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from onmargin._core.geometries.chain import between
from onmargin._core.geometries.geometry import combined

shapes = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(shape=shapes, kind=st.sampled_from(["places", "halves", "any"]), seed=st.integers(0, 1000))
def test_combinations_are_products(shape, dtype, kind, seed):
    features, known, n = shape
    random = np.random.default_rng(seed)
    mixing = random.integers(-2, 3, (n, known)).astype(float)
    if kind != "any":
        mixing[:] = 0
        mixing[random.permutation(n)[:known], np.arange(known)[:n]] = 1 if kind == "places" else -0.5
    columns = random.integers(-9, 9, (features, known)).astype(dtype)
    made = combined(columns, mixing)
    assert made.dtype == dtype
    assert_array_equal(made, columns @ mixing.T)
    assert not np.signbit(made[made == 0]).any()
    tables = random.integers(-9, 9, (features, known, known)).astype(float)
    assert_array_equal(between(tables, mixing), mixing @ tables @ mixing.T)
