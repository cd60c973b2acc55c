"""Early stopping: a held-out part of the data rates each pass."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.learner import Offsets, as_rows


def hold_out(
    estimator: Any, splitter: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64] | None
) -> tuple[Offsets | None, Callable[[], float] | None]:
    """Return the examples to learn (None for all) and, with `early_stopping`, a function that rates a pass.

    `estimator._quality` rates scores for targets, with the weights of the examples; higher is better.
    """
    if not estimator.early_stopping:
        return None, None
    split = splitter(test_size=estimator.validation_fraction, random_state=estimator.random_state)
    try:
        train, held_out = next(split.split(np.empty(len(y)), y))
    except ValueError as error:
        raise ValueError(
            f"early_stopping=True cannot hold out validation_fraction={estimator.validation_fraction} of {len(y)} "
            f"examples: {error}"
        ) from error
    rows, truth = as_rows(X[held_out]), y[held_out]
    counts = None if weight is None or not weight[held_out].any() else weight[held_out]
    return train, lambda: estimator._quality(estimator._model.scores(rows), truth, counts)
