"""Structured prediction: the user's model finds the rival, and each round is one half-space ([JMLR] sec. 8)."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from onmargin.reference.rounds import Run
from onmargin.reference.step import Step, Vector, pa


def structured(
    X: Sequence[Any],
    Y: Sequence[Any],
    model: Any,
    step: Step = pa,
    *,
    max_loss: bool = False,
    weight: Vector | None = None,
) -> Run:
    """Learn the examples in order: the score of y must exceed that of its rival z by the square root of the cost.

    The model has `joint_features(x, y)` (a vector), `argmax(w, x)`, `cost(y, z)` and, for `max_loss`,
    `cost_augmented_argmax(w, x, y)`, which returns the z with the highest
    ``w @ joint_features(x, z) + sqrt(cost(y, z))``.
    """
    w = np.zeros(len(model.joint_features(X[0], Y[0])))
    run = Run(weights=w, mean=np.zeros_like(w))
    for x, y, scale in zip(X, Y, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        predicted = model.argmax(w, x)
        rival = model.cost_augmented_argmax(w, x, y) if max_loss else predicted
        v = np.subtract(model.joint_features(x, y), model.joint_features(x, rival))
        loss, q, tau = max(sqrt(model.cost(y, rival)) - w @ v, 0.0), v @ v, 0.0
        cost = model.cost(y, predicted)
        if loss > 0 and q > 0:  # aggressive; otherwise passive
            taus, gain = step(np.array([loss]), np.array([q]), np.array([cost > 0]), scale)
            tau = taus[0]
            w += tau * v
            run.dual_value += gain - tau**2 * q / 2
        run.rounds += 1
        run.mistakes += cost > 0
        run.cost += cost
        run.updates += tau > 0
        run.loss += loss
        run.squared_loss += loss**2
        run.max_squared_norm = max(run.max_squared_norm, q)
        run.mean += (w - run.mean) / run.rounds
        run.taus.append([tau])
    return run
