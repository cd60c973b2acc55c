"""Columns that only move, as those of known classes do when a new one comes, are copied as any combination is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin._core.geometries.diagonal import Confidence, GradientAdaptive
from onmargin._core.geometries.geometry import Euclidean, column_runs, combined


@given(places=st.sets(st.integers(0, 9), min_size=1), data=st.data())
def test_runs_cover_the_columns_that_move(places, data):
    order = data.draw(st.permutations(sorted(places)))
    mixing = np.zeros((10, len(order)))
    mixing[order, np.arange(len(order))] = 1
    columns = np.arange(1.0, 1 + 3 * len(order)).reshape(3, -1)
    found = np.zeros((3, 10))
    for new, old in column_runs(mixing):
        found[:, new] = columns[:, old]
    np.testing.assert_array_equal(found, combined(columns, mixing))


@pytest.mark.parametrize("mixing", [[[-0.5], [0.5]], [[1, 1], [0, 1]], [[2, 0], [0, 1]]])
def test_combined_columns_have_no_runs(mixing):
    assert column_runs(np.array(mixing, float)) is None


@pytest.mark.parametrize("kind", [Euclidean, GradientAdaptive, Confidence])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_new_column_leaves_the_others_as_they_are(kind, sparse):
    rng = np.random.default_rng(0)
    geometry = kind(5, 4, np.float64, sparse=sparse, bias=1.0)
    state = {name: rng.random(array.shape) for name, array in geometry.arrays().items()}
    geometry.__setstate__({"clock": 1, **state})
    places = [0, 1, 3, 4]
    grown = geometry.recombine(np.eye(5)[:, places])
    for name, array in grown.arrays().items():
        np.testing.assert_array_equal(array[places], state[name])
        np.testing.assert_array_equal(array[2], kind(5, 1, np.float64, bias=1.0).arrays()[name][0])
