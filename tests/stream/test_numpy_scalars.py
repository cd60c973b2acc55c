"""Scalars of NumPy are values and labels like those of Python, to the same bits."""

import numpy as np
import pytest

from onmargin.stream import PassiveAggressiveClassifier

VALUES = {np.float64: float, np.float32: float, np.int64: int, np.bool_: bool, np.int16: int}
LABELS = {np.int64: int, np.str_: str, np.bool_: bool, np.float64: float}


@pytest.mark.parametrize("kind", VALUES)
def test_values(kind):
    numbers = np.random.default_rng(0).integers(-2, 3, (40, 3)).astype(kind)
    models = [PassiveAggressiveClassifier() for _ in range(2)]
    for k, row in enumerate(numbers):
        models[0].learn_one(dict(zip("abc", row, strict=True)), k % 2)
        models[1].learn_one(dict(zip("abc", map(VALUES[kind], row), strict=True)), k % 2)
    assert models[0].weights() == models[1].weights()


@pytest.mark.parametrize("kind", LABELS)
def test_labels(kind):
    model = PassiveAggressiveClassifier()
    for k in range(20):
        model.learn_one({"a": k - 9.5}, kind(LABELS[kind](k > 9)))
    assert set(map(type, model.classes_)) <= {LABELS[kind], int}
    assert model.predict_one({"a": 5.0}) == LABELS[kind](True)
