"""Batch conversion: plain PA steps over a finite set until no example loses more than a target ([NIPS], E5)."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from onmargin._core.rows import Rows
from onmargin._core.steps.step import TargetLoss
from onmargin.estimators._online import OnlineLearner, warn_caller
from onmargin.learner import Vector
from onmargin.models.rules import NOTHING, Number, Rule, Word


class BatchConversion(OnlineLearner):
    """An estimator that `fit` can run until every loss is at most `target_loss`."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = OnlineLearner._rules | {
        "target_loss": (Number(0, above=True, below=True), NOTHING),
        "selection": (Word("cyclic", "largest"),),
        "max_updates": (Number(1, 2**63 - 1, whole=True),),
    }

    target_loss: float | None
    selection: str
    max_updates: int

    converged_: bool

    def _reach_target(self, rows: Rows, target: Vector, weight: Vector | None) -> None:
        """Steps on examples that lose more than `target_loss`, until there are none or `max_updates` were made."""
        learner = self._learner
        learner.step = step = TargetLoss(float(self.target_loss or 0), self.max_updates)
        live: NDArray[np.bool_] = np.ones(rows.n_rows, bool) if weight is None else weight > 0
        (self._sweep if self.selection == "cyclic" else self._take_the_worst)(rows, target, live, step)
        self.converged_ = bool((learner.losses(rows, target)[live] <= step.target).all())
        if not self.converged_:
            warn_caller(
                f"{self.max_updates - step.left} updates did not bring every loss down to target_loss="
                f"{self.target_loss}: raise target_loss, or max_updates={self.max_updates} if they were all made.",
                ConvergenceWarning,
            )

    def _sweep(self, rows: Rows, target: Vector, live: NDArray[np.bool_], step: TargetLoss) -> None:
        """Pass after pass, until one changes nothing."""
        random = check_random_state(self.random_state)
        order = np.flatnonzero(live)
        left, self.n_iter_ = -1, 0
        while step.left != left and step.left > 0:
            left = step.left
            self.n_iter_ += 1
            self._learner.learn(rows, target, None, random.permutation(order) if self.shuffle else order)

    def _take_the_worst(self, rows: Rows, target: Vector, live: NDArray[np.bool_], step: TargetLoss) -> None:
        """The example of largest loss, again and again; one that cannot be projected onto is left out."""
        live = live.copy()
        self.n_iter_ = 0
        while step.left > 0 and live.any():
            self.n_iter_ += 1
            losses = np.where(live, self._learner.losses(rows, target), -1.0)
            worst = losses.argmax()
            if losses[worst] <= step.target:
                return
            left = step.left
            self._learner.learn(rows, target, None, np.array([worst], dtype=np.intp))
            live[worst] = step.left != left
