"""Batch training to a target loss: plain PA steps until no example has a larger loss ([NIPS], E5)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from onmargin._core.rows import Rows
from onmargin._core.steps.step import TargetLoss
from onmargin._warnings import warn_caller
from onmargin.learner import Vector


def reach_target(estimator: Any, rows: Rows, target: Vector, weight: Vector | None) -> None:
    """Update on examples whose loss exceeds `target_loss`, until there are none or `max_updates` updates were made."""
    learner, most = estimator._learner, estimator.max_updates
    learner.step = step = TargetLoss(float(estimator.target_loss or 0), most)
    live: NDArray[np.bool_] = np.ones(rows.n_rows, bool) if weight is None else weight > 0
    (_cycle if estimator.selection == "cyclic" else _take_largest)(estimator, rows, target, live, step)
    estimator.converged_ = bool((learner.losses(rows, target)[live] <= step.target).all())
    if not estimator.converged_:
        warn_caller(
            f"{most - step.left} updates did not bring every loss down to target_loss={estimator.target_loss}: raise "
            f"target_loss, or max_updates={most} if they were all made.",
            ConvergenceWarning,
        )


def _cycle(estimator: Any, rows: Rows, target: Vector, live: NDArray[np.bool_], step: TargetLoss) -> None:
    """Make passes until one changes nothing."""
    random = check_random_state(estimator.random_state)
    order = np.flatnonzero(live)
    left, estimator.n_iter_ = -1, 0
    while step.left != left and step.left > 0:
        left = step.left
        estimator.n_iter_ += 1
        order_now = random.permutation(order) if estimator.shuffle else order
        estimator._learner.learn(rows, target, None, order_now, interruptible=True)
        estimator._learner.mark_seen(seen=True)


def _take_largest(estimator: Any, rows: Rows, target: Vector, live: NDArray[np.bool_], step: TargetLoss) -> None:
    """Learn the example of largest loss repeatedly; leave out an example that cannot be projected onto."""
    live = live.copy()
    estimator.n_iter_ = 0
    estimator._learner.calibrate(on=False)  # the worst examples are not representative
    while step.left > 0 and live.any():
        estimator.n_iter_ += 1
        losses = np.where(live, estimator._learner.losses(rows, target), -1.0)
        worst = losses.argmax()
        if losses[worst] <= step.target:
            return
        left = step.left
        estimator._learner.learn(rows, target, None, np.array([worst], dtype=np.intp))
        live[worst] = step.left != left
