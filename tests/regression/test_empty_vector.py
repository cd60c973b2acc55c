"""A stream whose first vector had length zero accepted vectors of any length afterwards."""

import numpy as np
import pytest

from onmargin import stream
from tests.stream.cases import state


def test_length_zero_is_a_length():
    model = stream.PassiveAggressiveClassifier().learn_one(np.zeros(0), 1)
    before = state(model)
    with pytest.raises(ValueError, match="must have 0 features, as the first vector had; got 3"):
        model.learn_one(np.ones(3), 2)
    assert state(model) == before
