"""A copy continues like the original and independently of it; so do weights that were made sparse in between."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from onmargin.learner import as_rows
from tests.streams import containers, dtypes, geometries, parameters, public_state, rules, state, streams

COPIES = {"pickle": lambda model: pickle.loads(pickle.dumps(model)), "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@given(stream=streams(), rule=rules, geometry=geometries, dtype=dtypes)
def test_learner(duplicate, stream, rule, geometry, dtype):
    stream = stream.cast(dtype)
    learner = stream.learned(rule, **geometry)
    before = state(learner)
    twin = duplicate(learner)
    assert state(twin) == before
    twin.learn(as_rows(stream.X), stream.y)
    assert state(learner) == before
    learner.learn(as_rows(stream.X), stream.y)
    assert state(twin) == state(learner)


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@given(stream=streams(), rule=rules, options=parameters, container=containers)
def test_estimator(duplicate, stream, rule, options, container):
    X = container(stream.X)
    model = stream.estimator(rule, **options).partial_fit(X, stream.y)
    before = public_state(model)
    twin = duplicate(model)
    assert public_state(twin) == before
    twin.partial_fit(X, stream.y)
    assert public_state(model) == before
    model.partial_fit(X, stream.y)
    assert public_state(twin) == public_state(model)


@given(streams(), rules, parameters, containers)
def test_sparse_weights_predict_and_continue_alike(stream, rule, options, container):
    """Only averaged weights are kept, so training continues unchanged only without averaging."""
    X = container(stream.X)
    dense, thinned = (stream.estimator(rule, **options).partial_fit(X, stream.y, **stream.classes) for _ in range(2))
    thinned.sparsify().sparsify()
    assert sparse.issparse(thinned.coef_)
    np.testing.assert_array_equal(thinned.coef_.toarray(), np.atleast_2d(dense.coef_))
    score = "predict" if stream.task == "regression" else "decision_function"
    size = 1 + np.abs(dense.coef_).max() * np.abs(stream.X).max()
    np.testing.assert_allclose(getattr(thinned, score)(X), getattr(dense, score)(X), atol=1e-12 * size)
    assert public_state(thinned.densify().densify()) == public_state(dense)
    if not options["average"]:
        for model in (dense, thinned.sparsify()):
            model.partial_fit(X, stream.y)
        assert public_state(thinned) == public_state(dense)
