"""The scaler in one compiled pass equals the NumPy reference on all rows so far, for every container and type."""

import numpy as np
import pytest

from onmargin.features import RunningScaler
from onmargin.reference import running_scale, sizes
from tests.streams import CONTAINERS, gaussian

every_size = pytest.mark.parametrize("by", ["rms", "max"])


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_size
def test_pass_equals_twin(by, dtype, container):
    stream = gaussian("binary", dtype=dtype)
    X = CONTAINERS[container](stream.X)
    scaler = RunningScaler(by=by)
    scaled = scaler.learn_transform(X)
    assert scaled.dtype == dtype
    assert type(scaled) is type(X)
    rows, tolerance = stream.X.astype(np.float64), 1e-6 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(dense(scaled), running_scale(rows, largest=by == "max"), rtol=tolerance)
    np.testing.assert_allclose(scaler.scale_, sizes(rows, largest=by == "max"), rtol=1e-12)
    np.testing.assert_allclose(dense(scaler.transform(X)), rows / scaler.scale_, rtol=tolerance)
    assert scaler.n_samples_seen_ == len(rows)
    np.testing.assert_array_equal(dense(X), stream.X)
