"""Passive-aggressive label ranking ([JMLR] sec. 7; [SIMPROJ] sec. 3 and 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from onmargin._core.tasks.trial import Ranking
from onmargin.models import options as shared
from onmargin.models.columns import label_columns
from onmargin.models.options import option
from onmargin.models.plan import ClassRules, Plan
from onmargin.models.rules import FLAG, Number, Word
from onmargin.models.updates import PAIRS, projection
from onmargin.models.weights import budget, budget_policy, coef0, degree, gamma, kernel, space


@dataclass(kw_only=True, eq=False, repr=False)
class LabelRankerOptions:
    """Options of the label ranker, shared by all interfaces.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the largest step (PA-I), the sum of all steps of a round (other updates) or the price
        of squared slack (PA-II). Smaller values are more cautious and better under noise; ``inf`` gives plain PA.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" gives PA-I; "squared_hinge" gives PA-II, which requires ``update="max"``.
    update : str, default="max"
        Which pairs of labels a round moves. "max" moves the most violated pair only. "simproj", "simopt" and "exact"
        move all violated pairs: "simproj" averages their projections, "simopt" weights them, and "exact" solves the
        joint problem (Sopopo). "simperc", "conproj" and "conopt" move only the pairs in the wrong order. **"simproj"
        and "simopt" have no mistake bound**; "conopt" has one for small C only. "simperc" requires a finite C, and
        "exact" requires ``calibrate=False``.
    calibrate : bool, default=True
        Whether to also learn a calibration label, which decides how many labels are relevant. If False, this is the
        algorithm of the paper, which ranks labels and cannot predict sets. It cannot change after training has started.
    """

    C: float = option(1.0, Number(0, above=True))
    loss: str = option("hinge", Word("hinge", "squared_hinge"))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int = shared.average()
    update: str = option("max", Word("max", *PAIRS))
    calibrate: bool = option(True, FLAG)
    kernel: str | Callable[[Any, Any], Any] | None = kernel()
    gamma: float | str = gamma()
    degree: int = degree()
    coef0: float = coef0()
    budget: int | None = budget()
    budget_policy: str = budget_policy()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        calibrated = bool(self.calibrate)
        every = self.update != "max"
        weights = space(self, PAIRS[self.update](self.C) if every else projection(self.C, self.loss), by_loss=False)
        weights["fixed"]["calibrate"] = calibrated
        return Plan(
            task=lambda labels: Ranking(every=every, calibrated=calibrated),
            classes=ClassRules(partial(label_columns, calibrated=calibrated)),
            **weights,
        )
