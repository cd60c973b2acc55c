"""Columns that only move, as those of known classes do when a new one comes, are copied as any combination is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin._core.geometries.diagonal import Confidence, GradientAdaptive
from onmargin._core.geometries.geometry import ColumnMap, Euclidean
from onmargin.models.columns import class_columns, move_columns


@given(places=st.sets(st.integers(0, 9), min_size=1), data=st.data())
def test_runs_cover_the_columns_that_move(places, data):
    order = data.draw(st.permutations(sorted(places)))
    column_map = move_columns(order, 10)
    columns = np.arange(1.0, 1 + 3 * len(order)).reshape(3, -1)
    found = np.zeros((3, 10))
    for new, old in column_map.runs:
        found[:, new] = columns[:, old]
    np.testing.assert_array_equal(found, column_map.of(columns))
    matrix = np.zeros((10, len(order)))
    matrix[order, np.arange(len(order))] = 1
    np.testing.assert_array_equal(found, columns @ matrix.T)


@pytest.mark.parametrize("factor", [[-0.5, 0.5], [2, 1], [1, -1]])
def test_scaled_columns_have_no_runs(factor):
    column_map = ColumnMap(np.array([0, 1]), np.array(factor, float))
    found, columns = np.zeros((3, 2)), np.arange(6.0).reshape(3, 2)
    assert column_map.runs is None
    column_map.write(columns, found)
    np.testing.assert_array_equal(found, columns * factor)


def test_a_new_class_takes_memory_for_the_classes_only():
    """A matrix of classes by classes for each new class made the cost of classes cubic."""
    assert sum(array.nbytes for array in vars(class_columns(np.arange(4999), 5000, None)).values()) == 16 * 5000


@pytest.mark.parametrize("kind", [Euclidean, GradientAdaptive, Confidence])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_new_column_leaves_the_others_as_they_are(kind, sparse):
    rng = np.random.default_rng(0)
    geometry = kind(5, 4, np.float64, sparse=sparse, bias=1.0)
    state = {name: rng.random(array.shape) for name, array in geometry.arrays().items()}
    geometry.__setstate__({"clock": 1, **state})
    places = [0, 1, 3, 4]
    grown = geometry.recombine(move_columns(places, 5))
    for name, array in grown.arrays().items():
        np.testing.assert_array_equal(array[places], state[name])
        np.testing.assert_array_equal(array[2], kind(5, 1, np.float64, bias=1.0).arrays()[name][0])
