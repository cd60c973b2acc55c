"""How the passes of `fit` end: by their loss, by a part of the data held out, or when a target is reached."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows
from onmargin.estimators._batch import BatchConversion
from onmargin.estimators._kernel import KernelOption
from onmargin.estimators._simplex import SimplexOption
from onmargin.estimators._sweep import SweepOption
from onmargin.learner import Offsets, Vector, as_rows
from onmargin.models.rules import FLAG, Number, Rule
from onmargin.models.updates import check_combination


class ValidatedLearner(SweepOption, SimplexOption, KernelOption, BatchConversion):
    """A linear estimator whose `fit` can stop early or at a target.

    A subclass says how the validation part is split off (`_splitter`) and how good scores are (`_quality`).
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        **SimplexOption._rules,
        **KernelOption._rules,
        **BatchConversion._rules,
        **SweepOption._rules,
        "early_stopping": (FLAG,),
        "validation_fraction": (Number(0, 1, above=True, below=True),),
    }

    early_stopping: bool
    validation_fraction: float

    def _splitter(self) -> Any:
        """Splits off the validation part."""
        raise NotImplementedError

    def _quality(self, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
        """How good these scores are; higher is better."""
        raise NotImplementedError

    def _fit(self, X: Any, y: NDArray[Any], rows: Rows, target: Vector, weight: Vector | None) -> None:
        """Pass over the rows, whose targets are y in the terms of the task, until it is enough."""
        if self.target_loss is not None:
            check_combination(
                "target_loss", {"early_stopping=False": not self.early_stopping, "average=False": not self.average}
            )
            self._reach_target(rows, target, weight)
        else:
            train, judge = self._hold_out(X, y)
            self._run_passes(rows, target, weight, train=train, judge=judge)

    def _hold_out(self, X: Any, y: NDArray[Any]) -> tuple[Offsets | None, Callable[[], float] | None]:
        """Which examples to learn (None: all), and with early stopping what judges a pass on the others."""
        if not self.early_stopping:
            return None, None
        try:
            train, held_out = next(self._splitter().split(np.empty(len(y)), y))
        except ValueError as error:
            raise ValueError(
                f"early_stopping=True cannot hold out validation_fraction={self.validation_fraction} of {len(y)} "
                f"examples: {error}"
            ) from error
        rows, truth = as_rows(X[held_out]), y[held_out]
        return train, lambda: self._quality(self._learner.scores(rows), truth)
