"""geometry="entropic": multiplicative PA through the drop-in estimators."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor, reference

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 7))
Y = np.sign(X @ RANDOM.standard_normal(7))
THREE = (X @ RANDOM.standard_normal((7, 3))).argmax(axis=1)
T = X[:, 2] + 0.1 * RANDOM.standard_normal(80)
MARGIN = 0.1


def with_margin(task):
    def asked(scores, y):
        (half_space,), mistake = task(scores, y)
        return [half_space._replace(loss=half_space.loss - 1 + MARGIN)], mistake

    return asked


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("C", [0.3, inf])
@pytest.mark.parametrize(
    ("kind", "y", "task", "columns"),
    [
        (PassiveAggressiveClassifier, Y, with_margin(reference.binary), 1),
        (PassiveAggressiveClassifier, THREE, with_margin(reference.multiclass), 3),
        (PassiveAggressiveRegressor, T, reference.regression(0.1), 1),
    ],
    ids=["binary", "multiclass", "regression"],
)
def test_equals_twin(*, kind, y, task, columns, C, container):
    """tau = min(C, 4 l / r^2), r the spread of the direction: the constants of 8.1, put right."""
    classes = {"classes": np.unique(y)} if kind is PassiveAggressiveClassifier else {}
    model = kind(geometry="entropic", C=C).partial_fit(container(X), y, **classes)
    run = reference.play_additive(X, y, task, reference.bounded, reference.entropic(), C=C, columns=columns)
    np.testing.assert_allclose(model.coef_.reshape(columns, 7), run.weights.T, atol=1e-9)
    assert model.totals_.mistakes == run.mistakes
    assert model.totals_.dual_value == pytest.approx(run.dual_value, rel=1e-7)
    assert model.coef_.sum() == pytest.approx(1)
    assert (model.coef_ >= 0).all()
    assert not model.intercept_.any()


@given(st.lists(st.integers(0, 80), max_size=4))
def test_cuts_make_no_difference(cuts):
    """Classes turn up on the way."""
    whole = PassiveAggressiveClassifier(geometry="entropic").partial_fit(X, THREE)
    pieces = PassiveAggressiveClassifier(geometry="entropic")
    ends = sorted({0, 80, *cuts})
    for start, stop in pairwise(ends):
        pieces.partial_fit(X[start:stop], THREE[start:stop])
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.totals_ == whole.totals_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"average": True}, "geometry='entropic' needs average=False"),
        ({"update": "simproj"}, "geometry='entropic' needs update='max'"),
        ({"cost": "absolute"}, "geometry='entropic' needs cost=None"),
        ({"strategy": "ovr"}, "geometry='entropic' needs strategy='joint'"),
        ({"target_loss": 0.5}, "geometry='entropic' needs target_loss=None"),
        ({"geometry": "simplex"}, "geometry must be 'euclidean' or 'entropic'"),
    ],
)
def test_bad_combinations(parameters, message):
    model = PassiveAggressiveClassifier(**{"geometry": "entropic", **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(X, THREE)


def test_what_needs_plain_weights_is_refused():
    model = PassiveAggressiveRegressor(geometry="entropic").partial_fit(X, T)
    before = model.coef_.tolist()
    for refused in (
        model.sparsify,
        lambda: model.fit(X, T, coef_init=np.ones(7)),
        lambda: setattr(model, "coef_", T[:7]),
    ):
        with pytest.raises(ValueError, match="needs geometry='euclidean'"):
            refused()
    with pytest.raises(ValueError, match="geometry cannot change"):
        model.set_params(geometry="euclidean").partial_fit(X, T)
    assert model.coef_.tolist() == before
