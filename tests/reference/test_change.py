"""The window in buckets equals the full window: changes, widths and means are those of the NumPy reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin._core.alarm import AdaptiveWindow
from onmargin.reference import adaptive_window
from onmargin.reference.change import best_cut

deltas = st.sampled_from([0.002, 0.05, 0.5])


@st.composite
def losses(draw):
    """Draw losses whose level changes abruptly, either 0 or 1 or values between."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.lists(st.tuples(st.sampled_from([0.0, 0.05, 0.5, 0.9, 1.0]), st.integers(1, 60)), max_size=5))
    mean = np.concatenate([np.zeros(0), *(np.full(n, level) for level, n in levels)])
    return (random.random(len(mean)) < mean) * (1.0 if draw(st.booleans()) else random.random(len(mean)))


def assert_same(stream, delta, buckets, twin):
    window = AdaptiveWindow(delta, buckets)
    for loss, change, kept in zip(stream, *twin, strict=True):
        assert window.update(loss) == pytest.approx(change, rel=1e-9, abs=1e-12)
        assert window.width == len(kept)
        assert window.mean == pytest.approx(np.mean(kept), rel=1e-12)


@given(losses(), deltas, st.integers(1, 7))
def test_buckets_are_those_of_the_twin(stream, delta, buckets):
    assert_same(stream, delta, buckets, adaptive_window(stream, delta, buckets))


@given(losses(), deltas)
def test_enough_buckets_equal_the_full_window(stream, delta):
    assert_same(stream, delta, len(stream) + 1, adaptive_window(stream, delta))


@given(losses(), deltas, st.integers(1, 7))
def test_nothing_is_forgotten_that_no_cut_tells_apart(stream, delta, buckets):
    """If the buckets detect a change, the full window does too."""
    window, kept = AdaptiveWindow(delta, buckets), []
    for loss in stream:
        kept.append(loss)
        if window.update(loss):
            assert best_cut(kept, range(1, len(kept)), delta)[0] > 0
            kept = kept[-window.width :]
        assert window.width == len(kept)


def test_memory_is_logarithmic():
    """There are at most this many buckets per size, and each size is twice the last."""
    window, random = AdaptiveWindow(1e-6, 5), np.random.default_rng(0)
    for loss in random.random(20_000):
        window.update(loss)
    counts = window.__reduce__()[2]["counts"]
    assert window.width == 20_000 == sum(n << k for k, n in enumerate(counts))
    assert max(counts) <= 5
    assert np.count_nonzero(counts) <= np.log2(20_000)
