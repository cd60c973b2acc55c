"""Online logistic regression: the core equals the NumPy reference, and its loss is within the bound."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin import OnlineLogisticClassifier, reference, stream
from onmargin.theory import NoTheorem, certify, logistic_loss
from tests.streams import CONTAINERS, gaussian, uneven_weights

softmax = partial(reference.softmax, smallest=0.0)


@pytest.mark.parametrize("container", ["dense", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("geometry", ["euclidean", "adaptive"])
@pytest.mark.parametrize(("task", "columns"), [("binary", 1), ("multiclass", 4)])
def test_core_equals_twin(task, columns, geometry, dtype, container):
    data = gaussian(task, columns, dtype=dtype)
    weight = uneven_weights(len(data.y))
    model = OnlineLogisticClassifier(geometry=geometry, rate=0.2, fit_intercept=False)
    model.partial_fit(CONTAINERS[container](data.X), data.y.astype(int), **data.classes, sample_weight=weight)
    X = data.X.astype(np.float64)
    if geometry == "euclidean":
        run = reference.play(
            X, data.y, softmax, reference.descent(0.2), columns=columns, weight=weight, charge=reference.log_loss
        )
        weights = run.weights
        assert model.totals_.loss == pytest.approx(run.loss, rel=1e-5)
    else:
        metric = reference.GradientAdaptive(X.shape[1], columns)
        run = reference.play_metric(
            X, data.y, softmax, reference.in_metric(reference.descent(0.2)), metric, columns=columns, weight=weight
        )
        weights = run.weights
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(model.coef_, weights.T, atol=tolerance * np.abs(weights).max())


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 5]), st.floats(0.01, 1.0))
def test_the_loss_is_within_the_bound(seed, classes, share):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 4)) * random.exponential(size=(60, 1))
    y, u = random.integers(classes, size=60), random.normal(size=(1 if classes == 2 else classes, 4))
    curvature = float((X**2).sum(axis=1).max()) * (1 if classes == 2 else 2)
    rate = 3.9 * share / curvature
    model = OnlineLogisticClassifier(geometry="euclidean", rate=rate, fit_intercept=False)
    totals = model.partial_fit(X, y, classes=range(classes)).totals_
    scores = X @ u.T
    targets = 2 * y - 1 if classes == 2 else y
    loss = sum(map(reference.log_loss, scores, targets.tolist()))
    assert totals.loss <= logistic_loss(rate, curvature, float((u**2).sum()), loss) * (1 + 1e-9)


def test_the_proved_rate_comes_from_the_rows_of_the_first_call():
    X = np.array([[3.0, 4.0], [1.0, 0.0]])
    model = OnlineLogisticClassifier(geometry="euclidean").partial_fit(X, [0, 1])
    assert model.rate_ == 1 / 25
    assert stream.OnlineLogisticClassifier(geometry="euclidean").learn_one({"a": 3.0, "b": 4.0}, 1).rate_ == 1 / 25
    assert OnlineLogisticClassifier().partial_fit(X, [0, 1]).rate_ == 0.3


def test_a_third_class_continues_from_the_same_probabilities():
    """Two classes share one column, whose softmax is that of -w/2 and w/2."""
    model = OnlineLogisticClassifier().partial_fit([[1.0, 2.0], [2.0, -1.0]], ["a", "b"])
    before = model.decision_function([[1.0, 1.0]])[0]
    scores = model.partial_fit([[0.0, 0.0]], ["c"]).decision_function([[1.0, 1.0]])[0]
    assert scores[1] - scores[0] == pytest.approx(before, abs=0.2)


def test_certify_refuses_it():
    X = np.eye(2)
    with pytest.raises(NoTheorem):
        certify(OnlineLogisticClassifier(geometry="euclidean", rate=0.5), X, [0, 1])
