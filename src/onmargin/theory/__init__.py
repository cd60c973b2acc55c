"""Mistake, loss and regret bounds, and certificates that a run satisfies them."""

from typing import TYPE_CHECKING

from onmargin._lazy import lazy_names
from onmargin.theory.gradients import (
    exponentiated_gradient_loss,
    gradient_descent_loss,
    logistic_loss,
    perceptron_margin2_mistakes,
    winnow_half_mistakes,
    winnow_half_mistakes_by_misses,
)
from onmargin.theory.passive_aggressive import (
    ball_squared_distance,
    batch_updates,
    direction,
    pa1_capped_losses,
    pa1_cost,
    pa1_loss,
    pa1_mistakes,
    pa1_mistakes_as_printed,
    pa2_best_c,
    pa2_cost,
    pa2_squared_loss,
    pa_cost,
    pa_distance,
    pa_separable,
    pa_squared_loss,
    pa_unit_squared_loss,
    simplex_pa_squared_loss,
)
from onmargin.theory.primal_dual import (
    climbing_mistakes,
    dual_gap,
    fixed_mistakes,
    floor,
    mean_loss,
    mitigating,
    mitigating_inverse,
    perceptron_mistakes,
    perceptron_mistakes_by_squares,
    progress_mistakes,
    regret,
    set_errors,
    simperc_mistakes,
    simplex_mistakes,
    winnow_mistakes,
)
from onmargin.theory.ridge import ridge_squared_loss
from onmargin.theory.risk import batch_risk, online_to_batch_risk
from onmargin.theory.second_order import arow_mistakes, arow_squared_loss

if TYPE_CHECKING:
    from onmargin.theory._certify import certify
    from onmargin.theory.certificate import Certificate, Competitor, Condition, NoTheorem, Risk

# Bounds are plain arithmetic. Certificates need scikit-learn and all estimators, so they are imported on first access
# (PEP 562).
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Certificate": "onmargin.theory.certificate",
        "Competitor": "onmargin.theory.certificate",
        "Condition": "onmargin.theory.certificate",
        "NoTheorem": "onmargin.theory.certificate",
        "Risk": "onmargin.theory.certificate",
        "certify": "onmargin.theory._certify",
    },
)

__all__ = [
    "Certificate",
    "Competitor",
    "Condition",
    "NoTheorem",
    "Risk",
    "arow_mistakes",
    "arow_squared_loss",
    "ball_squared_distance",
    "batch_risk",
    "batch_updates",
    "certify",
    "climbing_mistakes",
    "direction",
    "dual_gap",
    "exponentiated_gradient_loss",
    "fixed_mistakes",
    "floor",
    "gradient_descent_loss",
    "logistic_loss",
    "mean_loss",
    "mitigating",
    "mitigating_inverse",
    "online_to_batch_risk",
    "pa1_capped_losses",
    "pa1_cost",
    "pa1_loss",
    "pa1_mistakes",
    "pa1_mistakes_as_printed",
    "pa2_best_c",
    "pa2_cost",
    "pa2_squared_loss",
    "pa_cost",
    "pa_distance",
    "pa_separable",
    "pa_squared_loss",
    "pa_unit_squared_loss",
    "perceptron_margin2_mistakes",
    "perceptron_mistakes",
    "perceptron_mistakes_by_squares",
    "progress_mistakes",
    "regret",
    "ridge_squared_loss",
    "set_errors",
    "simperc_mistakes",
    "simplex_mistakes",
    "simplex_pa_squared_loss",
    "winnow_half_mistakes",
    "winnow_half_mistakes_by_misses",
    "winnow_mistakes",
]
