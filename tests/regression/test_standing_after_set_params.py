"""`grid_` raised IndexError when C was set to one number after several had been learned."""

import numpy as np

from onmargin import PassiveAggressiveClassifier

X = np.random.default_rng(0).normal(size=(30, 3))


def test_models_that_learned_keep_their_names():
    model = PassiveAggressiveClassifier(C=[0.1, 1.0]).partial_fit(X, X[:, 0] > 0)
    before = model.grid_.names
    assert model.set_params(C=1.0).grid_.names == before == ["C=0.1", "C=1"]
