"""What a round asks of classes, and how far it goes for it: `update`, `cost`, `strategy` and the margins of classes."""

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import CostSensitive, Task
from onmargin.estimators._checks import check_cost
from onmargin.estimators._prototypes import PrototypeLearner
from onmargin.models.rules import CLASS_MARGINS, NOTHING, Rule, Word
from onmargin.models.updates import RIVALS, check_class_margin, check_combination, class_margins, class_task


class ClassUpdates(PrototypeLearner):
    """An estimator of classes that has a choice of what is asked."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = PrototypeLearner._rules | {
        "strategy": (Word("joint", "ovr"),),
        "update": (Word("max", *RIVALS),),
        "cost_update": (Word("prediction", "max_loss"),),
        "class_margin": (NOTHING, CLASS_MARGINS),
    }

    update: str
    cost: ArrayLike | str | None
    cost_update: str
    class_margin: Mapping[Any, float] | None = None  # where there is none to choose

    def _task(self) -> Task:
        if self.cost is not None and len(self.classes_) >= 2:
            return CostSensitive(check_cost(self.cost, self.classes_), self.cost_update == "max_loss")
        margin = 1 / self.C if self.update == "mira" else self._asked()
        margins = class_margins(self.class_margin, self.classes_.tolist(), margin)
        return class_task(len(self.classes_), update=self.update, strategy=self.strategy, margin=margins)

    def _largest_asked(self) -> float:
        return max([self._asked(), *(self.class_margin or {}).values()])

    def _step(self) -> Step:
        return super()._step() if self.update == "max" else RIVALS[self.update](self.C)

    def _check_combination(self) -> None:
        plain = self.update == "max"
        needs = {"update='max'": plain, "cost=None": self.cost is None, "target_loss=None": self.target_loss is None}
        self._check_sweep(needs)
        check_combination(
            "cost" if plain else f"update={self.update!r}",
            {
                "loss='hinge'": plain or self.loss == "hinge",
                "cost=None": plain or self.cost is None,
                "strategy='joint'": (plain and self.cost is None) or self.strategy == "joint",
                "a finite C": self.update not in {"simperc", "mira"} or inf > self.C,
                "target_loss=None": (plain and self.cost is None) or self.target_loss is None,
            },
        )
        check_class_margin(self.class_margin, self.update, {"cost=None": self.cost is None})
        joint = self.strategy == "joint"
        check_combination("target_loss", {"strategy='joint'": self.target_loss is None or joint})
        others = {"update='max'": plain, "cost=None": self.cost is None, "strategy='joint'": joint}
        self._check_geometry({**others, "target_loss=None": self.target_loss is None})
