"""The label of an example of weight zero became a class, although the example is not learned."""

import numpy as np
import pytest

from onmargin import PassiveAggressiveClassifier
from tests.streams import public_state


@pytest.mark.parametrize("class_weight", [None, "balanced", {"c": 2.0}], ids=str)
@pytest.mark.parametrize("place", [0, 2, 4])
def test_its_label_does_not_become_a_class(place, class_weight):
    X, y = np.eye(4), np.array(["a", "b", "a", "b"])
    models = [PassiveAggressiveClassifier(class_weight=class_weight) for _ in range(2)]
    models[0].partial_fit(X, y)
    models[1].partial_fit(np.insert(X, place, 1.0, axis=0), np.insert(y, place, "c"), None, np.arange(5) != place)
    assert models[1].classes_.tolist() == ["a", "b"]
    assert public_state(models[0]) == public_state(models[1])
