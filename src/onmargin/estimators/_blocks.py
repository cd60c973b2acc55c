"""What estimators share whose rounds are trials of several rows over one vector of weights."""

from math import inf
from typing import Any, ClassVar

from onmargin._core.geometries.additive import Entropic
from onmargin._core.geometries.trials import AdditiveBlocks, Blocks
from onmargin._core.steps.step import Step
from onmargin.estimators._simplex import MarginOption
from onmargin.models.rules import NOTHING, Number, Rule, Word
from onmargin.models.updates import SIMPLEX_TRIALS, TRIALS, check_combination


class BlockLearner(MarginOption):
    """An estimator of trials, by the words of `update`; on the simplex there are fewer of them."""

    _geometry = Blocks
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = MarginOption._rules | {
        "geometry": (Word("euclidean", "entropic"),),
        "margin": (Number(0, above=True, below=True), NOTHING),
        "update": (Word(*TRIALS),),
    }

    margin: float | None
    update: str

    def _new_simplex(self, n_columns: int) -> Any:
        return AdditiveBlocks(Entropic(self.n_features_in_, n_columns))

    def _asked(self) -> float:
        return super()._asked() if self.margin is None else float(self.margin)

    def _step(self) -> Step:
        return (TRIALS if self.geometry == "euclidean" else SIMPLEX_TRIALS)[self.update](self.C)

    def _check_combination(self) -> None:
        """What does not go together, and what the simplex has not."""
        finite = inf > self.C
        check_combination(f"update={self.update!r}", {"a finite C": finite or self.update not in {"simperc", "exact"}})
        *words, last = map(repr, SIMPLEX_TRIALS)
        update = f"update={', '.join(words)} or {last}"
        self._check_geometry({update: self.update in SIMPLEX_TRIALS, "a finite C": finite})
