"""Columns made of others when new classes appear, without the matrix of that map."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from onmargin._core.geometries.chain import between
from onmargin._core.geometries.geometry import ColumnMap

shapes = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(shape=shapes, factors=st.sampled_from([(0, 1), (-0.5, 0.5), (-2, -1, 0, 1, 2)]), seed=st.integers(0, 1000))
def test_new_columns_are_products(shape, dtype, factors, seed):
    features, known, n = shape
    random = np.random.default_rng(seed)
    column_map = ColumnMap(random.integers(0, known, n), random.choice(np.array(factors, float), n))
    mixing = np.zeros((n, known))
    mixing[np.arange(n), column_map.source] = column_map.factor
    columns = random.integers(-9, 9, (features, known)).astype(dtype)
    made, written = column_map.of(columns), np.zeros((features, n), dtype)
    column_map.write(columns, written)
    assert made.dtype == dtype
    assert_array_equal(made, columns @ mixing.T)
    assert_array_equal(made, written)
    assert not np.signbit(made[made == 0]).any()
    behind = np.hstack([columns + 1, columns])
    assert_array_equal(column_map.behind(known).of(behind), made)
    tables = random.integers(-9, 9, (features, known, known)).astype(float)
    assert_array_equal(between(tables, column_map), mixing @ tables @ mixing.T)
