"""Online ridge regression: least squares over all rounds so far, by rank-one updates ([PD] sec. 3; [AW])."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from onmargin._core.geometries.ridge import Ridge
from onmargin._core.steps.step import Residual
from onmargin._core.tasks.task import Regression
from onmargin.models import options as shared
from onmargin.models.linear import weights
from onmargin.models.options import option
from onmargin.models.plan import Plan, RowRules
from onmargin.models.rules import FLAG, Number, Word


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRidgeOptions:
    r"""Options of online ridge regression, shared by all interfaces.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty on the squared norm of the weights, intercept included; above 0. Larger values keep the weights smaller.
    forgetting : float, default=0.0
        Rate at which earlier rounds lose weight: a round has weight :math:`(1 - forgetting)^s` after s others. At least
        0 and below 1. A value of about 0.003 follows a drifting target, at some cost in accuracy where the target does
        not drift.
    intercept_scaling : float or "auto", default=1.0
        Value of the intercept coordinate, above 0. The larger it is, the less the intercept is penalized. If "auto", it
        is 0.3 times the norm of the first non-zero row, then fixed.
    forecast : bool, default=False
        Whether to predict an example as if it had already been learned with a target of 0, as the forecaster of Vovk
        and of Azoury and Warmuth does: the prediction is :math:`w \cdot x / (1 + x^\top A x)`. The regret is then
        bounded in terms of the targets alone, at some cost in accuracy where targets are far from 0. If False, the
        prediction is :math:`w \cdot x`.
    """

    alpha: float = option(1.0, Number(0, above=True, below=True))
    forgetting: float = option(0.0, Number(0, 1, below=True))
    forecast: bool = option(False, FLAG)
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = option(1.0, Number(0, above=True, below=True), Word("auto"))

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        settings: dict[str, Any] = {"forgetting": float(self.forgetting), "forecast": bool(self.forecast)}

        def adjust(geometry: Any) -> None:
            for name, value in settings.items():
                setattr(geometry, name, value)

        return Plan(
            task=lambda labels: Regression(0.0),
            step=Residual(),
            weights=weights(self, partial(Ridge, alpha=float(self.alpha), **settings)),
            rows=RowRules((np.dtype(np.float64),)),
            fixed={"alpha": float(self.alpha)},
            adjust=adjust,
        )
