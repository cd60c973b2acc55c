"""On the simplex, a first block of examples of weight zero has no rows, and its margin could not be checked."""

import numpy as np

from onmargin import ClassFeatureClassifier
from onmargin.features import ClassTermFeatures


def test_a_stream_that_begins_with_nothing_to_learn():
    """A transformer gives no rows for examples of weight 0, here for all examples of the first block."""
    random = np.random.default_rng(0)
    words, folders = (random.random((300, 5)) < 0.5).astype(float), random.integers(0, 3, 300)
    weight = (np.arange(300) >= 280).astype(float)
    model = ClassFeatureClassifier(geometry="entropic", C=0.3, phi=ClassTermFeatures(kind="multiplicative"))
    model.partial_fit(words, folders, sample_weight=weight)
    assert model.totals_.rounds == 20
