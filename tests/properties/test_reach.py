"""The optimal step in a p-norm ends at zero loss, for any share of the sum that its row holds."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import reference
from onmargin._core.geometries.additive import PNorm
from onmargin._core.steps.step import Optimal
from onmargin._core.tasks.task import Binary, Multiclass
from onmargin.learner import Learner, as_rows


def rounds_of(p, columns, rows, targets, container):
    """Yield, for each round that moved, theta before, the direction, and how far theta moved along it."""
    geometry = PNorm(rows.shape[1], columns, p)
    learner = Learner(Binary() if columns == 1 else Multiclass(), Optimal(1e300), geometry)
    for x, target in zip(rows, targets, strict=True):
        before = geometry.theta[:, :columns].copy()
        learner.learn(as_rows(container(x[None, :])), np.array([target]))
        moved = geometry.theta[:, :columns] - before
        if moved.any():
            feature, column = np.unravel_index(np.abs(moved).argmax(), moved.shape)
            z = np.outer(x, np.sign(moved[feature]) * np.sign(x[feature]))
            yield before.ravel(), z.ravel(), moved[feature, column] / z[feature, column]


@st.composite
def streams(draw):
    """Draw rows that have some or all of a few features, each with its own scale."""
    n, d, columns = draw(st.integers(2, 8)), draw(st.integers(2, 6)), draw(st.sampled_from([1, 3, 4]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = random.standard_normal((n, d)) * (random.random((n, d)) < draw(st.sampled_from([0.4, 1.0])))
    rows *= 10.0 ** np.array(draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n)))[:, None]
    targets = random.choice([-1.0, 1.0], n) if columns == 1 else random.integers(0, columns, n).astype(float)
    return columns, rows, targets


# The second row cancels nearly all of the first: a 2^50th of the sum is left.
FALLING = 1, np.array([[1.0, 1e-3, 0.0], [1.0, 0.0, 0.1]]), np.array([1.0, -1.0])


@pytest.mark.parametrize("container", [np.ascontiguousarray, sparse.csr_array])
@given(streams(), st.floats(2, 50))
@example(FALLING, 50.0)
@example(FALLING, 20.0)
def test_optimal_step_ends_at_zero_loss(container, stream, p):
    """A slightly shorter step leaves a loss, a slightly longer one does not."""
    link = reference.pnorm(p)
    for theta, z, a in rounds_of(p, *stream, container):
        slack = 1e-9 * a + 1e-14 * np.abs(theta).max() / np.abs(z).max()  # the precision of theta
        left = [1 - z @ link.weights(theta + b * z) for b in (a - slack, a + slack)]
        rounding = 1e-9 + 1e-14 * abs(z @ link.weights(theta))  # the precision of the loss
        assert left[0] >= -rounding
        assert left[1] <= rounding
