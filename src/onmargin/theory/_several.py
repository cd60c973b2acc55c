"""Regret of several models, trained in one pass, with respect to the best of them ([ADAHEDGE] Thm. 8)."""

from collections.abc import Iterable
from math import nan
from typing import Any

import numpy as np

from onmargin._core.several.sequences import SequenceVote
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.tasks.task import Binary, Multiclass, OneVsRest, Regression
from onmargin.learner import Learner, Totals
from onmargin.reference.hedge import tempered
from onmargin.theory.certificate import Certificate, Competitor, Condition, NoTheorem

JUDGES = (Binary, Multiclass, OneVsRest, Regression)  # tasks whose mistakes or losses the combination bounds


def check_several(run: Any) -> None:
    """Raise NoTheorem for several models whose combination has no regret bound of this kind."""
    learner, task = run._learner, run._learner.task
    if isinstance(task, SequenceVote):
        raise NoTheorem("certify has no theorem for several taggers at once: their regret_bound is in grid_")
    if type(learner) is not Learner or type(task) is not ExpertVote or type(task.judge) not in JUDGES:
        kinds = ", ".join(type(part).__name__ for part in (learner, task, task.judge))
        raise NoTheorem(f"no theorem covers {type(run).__name__}: none is known for {kinds}")
    if not task.hedge:
        raise NoTheorem(
            'following the leader of several models has no regret bound: set combine="hedge", which has regret_bound, '
            "or certify one model"
        )
    if getattr(run, "class_weight", None) is not None:
        raise NoTheorem(
            "class_weight multiplies the mistakes by which several models are compared, and certify counts mistakes: "
            "regret_bound is the bound for weighted mistakes"
        )


def _no_outliers(task: ExpertVote, y: Any) -> list[Condition]:
    """Return the condition of no outliers, if the task clips them: the bound covers the clipped targets only."""
    if not task.tempered:
        return []
    target = np.asarray(y, dtype=np.float64)
    off = int((~np.isclose(tempered(target[1:], float(target[0])), target[1:])).sum())
    return [Condition("no outliers among the targets", f"{off} were moved closer before they were learned", off == 0)]


def certify_several(
    run: Any, y: Any, totals: Totals, conditions: tuple[Condition, ...], copies: Iterable[Any]
) -> Certificate:
    """Compare a run with the best of its models; `copies` is a copy of it after each row of the stream.

    The weighted loss of the models exceeds that of the best model by at most the regret bound, which includes the cost
    of shares. A vote is wrong only if
    models with at least half the weight are wrong, and the loss of a weighted mean is at most the weighted mean of the
    losses. Classes are predicted by the vote or by the mean of scaled scores, with at most ten more mistakes.
    """
    task = run._model.combined
    counted, factor, more, column = ("loss", 1.0, 0, 1) if task.by_loss else ("mistakes", 2.0, 10, 0)
    sums = np.array([copy._model.combined.state()["outcomes"][:, column] for copy in copies])
    regret, best = float(task.regret_bound()), int(sums[-1].argmin())
    chosen = Competitor(np.zeros(0), nan, np.diff(sums[:, best], prepend=0.0))

    def bound_of(size: float, loss: float, squared_loss: float, rounds: int) -> float:
        return factor * (loss + regret) + more

    bound = bound_of(nan, chosen.loss, nan, len(sums))
    those = "that" if task.by_loss else "10 and twice the sum of those"
    return Certificate(
        learner=type(run).__name__,
        theorem="[ADAHEDGE] Thm. 8",
        statement=f"{counted} <= {those} of the best of {sums.shape[1]} models and the regret bound, {regret:.4g}",
        counted=counted,
        suffered=float(totals[counted]),
        bound=bound,
        conditions=(*conditions, *_no_outliers(task, y)),
        competitor=chosen,
        best=chosen,
        best_bound=bound,
        totals=totals,
        C=nan,
        largest_size=nan,
        has_dual=False,
        tolerance=1e-9,
        _bound_of=bound_of,
        compared_with=f"the best of its models, {run._model.expert_results(run.plan()).names[best]}",
    )
