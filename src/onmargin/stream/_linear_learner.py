"""Learners of streams over a linear model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from onmargin.errors import ParameterError
from onmargin.learner import Learner
from onmargin.models.options import check_options, option
from onmargin.models.plan import Model, Plan, Shape
from onmargin.models.rules import FLAG, NOTHING, Character, Word
from onmargin.models.several import Standing
from onmargin.stream._model import PowerOfTwo, Span, StreamModel


@dataclass(kw_only=True, eq=False, repr=False)
class LinearLearner(StreamModel):
    """A learner of one example at a time over a `Model`.

    A subclass inherits the options of a family, whose `plan` says how they learn.

    Parameters
    ----------
    n_features : int or None, default=None
        None: names of features are kept, and weights grow with them. A power of two, such as ``2**18``: names are
        hashed to so many places, and memory stays what it is; names that share a place share a weight.
    separator : str or None, default=None
        The character between name and value in a list of names, such as ":" for ``["length:3"]``. None: names stand for
        themselves.
    dtype : {"float64", "float32"}, default="float64"
        Type of the weights.
    lowercase : bool, default=True
        Whether texts are taken in lower case.
    ngrams : tuple of int, default=(1, 1)
        The shortest and the longest run of words of a text that is a feature.
    weighting : {"tf", "binary", "log"}, default="tf"
        What a feature of a text counts: how often it occurs, 1, or one plus the logarithm of how often.
    normalize : bool, default=True
        Whether texts have length 1.
    idf : bool, default=False
        Whether a feature of a text counts by one plus the logarithm of n / d, of the d among the n texts learned so far
        that have it, each plus one.
    """

    n_features: int | None = option(None, NOTHING, PowerOfTwo())
    separator: str | None = option(None, NOTHING, Character())
    dtype: str = option("float64", Word("float64", "float32"))
    lowercase: bool = option(True, FLAG)
    ngrams: tuple[int, int] = option((1, 1), Span())
    weighting: str = option("tf", Word("tf", "binary", "log"))
    normalize: bool = option(True, FLAG)
    idf: bool = option(False, FLAG)

    plan: ClassVar[Callable[..., Plan]]  # of the options: how they learn

    def __post_init__(self) -> None:
        self._ready()

    def _check_parameters(self) -> None:
        check_options(self)
        plan = self.plan()
        if plan.learner is not None:
            raise ParameterError(
                f"kernel needs the rows of a matrix: use onmargin.{type(self).__name__}, or kernel=None", ["kernel"]
            )
        if self.dtype not in {str(dtype) for dtype in plan.dtypes}:
            raise ParameterError(f"geometry={self.geometry!r} needs dtype='float64'", ["geometry", "dtype"])  # type: ignore[attr-defined]

    @property
    def _learner(self) -> Learner[Any]:  # type: ignore[override]
        return self._model.learner

    def _start(self, n_features: int, *, sparse: bool) -> None:
        plan = self.plan()
        self._model = Model.begin(plan, Shape(n_features, self.dtype, sparse))
        self._model.arrange(getattr(self, "classes_", ()))

    def _vectors_of_weights(self) -> Any:
        return self._model.mean()[0]

    def _called(self) -> list[str]:
        """What models that learn side by side are called; before an example is seen those for named features."""
        plan = self.plan()
        if "_model" in vars(self):
            return [expert.name for expert in self._model.experts(plan)]
        return [] if plan.ensemble is None else [expert.name for expert in plan.ensemble.sparse]

    def _standing(self) -> Standing:
        if "_model" not in vars(self):
            several = self.plan().ensemble is not None
            raise AttributeError("nothing was learned yet" if several else "there is one model only")
        found = self._model.standing(self.plan())
        return replace(found, coef=[weights[:, : self.n_features_] for weights in found.coef])
