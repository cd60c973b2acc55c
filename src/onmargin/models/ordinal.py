"""Ordinal regression: one score, and thresholds that cut it into ranks ([SIMPROJ] sec. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from onmargin._core.geometries.geometry import Geometry
from onmargin._core.geometries.trials import Thresholds
from onmargin._core.tasks.trial import Ordinal
from onmargin.errors import ParameterError
from onmargin.models import options as shared
from onmargin.models.compatible import TRIALS
from onmargin.models.ensemble import Kind, first_averaged
from onmargin.models.options import option, optional
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import DistinctLabels, Number, Word
from onmargin.models.updates import TRIALS as UPDATES

Rank = str | int | float


@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalRegressorOptions:
    """Options of ordinal regression, shared by all interfaces.

    Parameters
    ----------
    ranks : sequence of str or int, or None, default=None
        The ranks from low to high, at least two. If None, they are the ranks of the first call; only for matrices.
    C : float, default=1.0
        Aggressiveness, above 0: the sum of a round's steps is at most C. Smaller values are more cautious and better
        under noise.
    update : {"max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact"}, default="max"
        Which thresholds a round moves, and how far. "max" moves the most violated one. "simperc" and "conproj" move all
        thresholds on the wrong side of the score, by a fixed step or by the mean of their projections. "simproj" takes
        the mean of the projections over all thresholds that violate the margin; "simopt" solves the problem without its
        cross terms; neither has a mistake bound. "conopt" is "simopt" for the thresholds on the wrong side, and has a
        bound for small C. "exact" solves the problem itself.
    """

    round_of: ClassVar[str] = TRIALS  # updates of thresholds

    ranks: Sequence[Rank] | None = optional(None, DistinctLabels())
    C: float = option(1.0, Number(0, above=True))
    update: str = option("max", Word(*UPDATES))
    average: bool | int = shared.average()

    def plan(self) -> Plan:
        """Return how these options learn; there is a threshold between any two ranks."""
        average = first_averaged(self.average)

        def thresholds(shape: Shape, kind: Kind | None, n_columns: int) -> Geometry:
            # A threshold is a coordinate of value -1.
            return Thresholds(shape.n_features, n_columns, shape.dtype, sparse=shape.sparse, bias=1.0, average=average)

        return Plan(task=lambda labels: Ordinal(), step=UPDATES[self.update](self.C), weights=thresholds)


def check_ranks(ranks: Sequence[Rank]) -> list[Rank]:
    """Return the ranks from low to high: at least two, each named once, and numbers in their order."""
    found = list(ranks)
    if len(set(found)) < max(len(found), 2):
        raise ParameterError(
            f"ranks must be at least two, from low to high, each named once; got {ranks!r:.100}", ["ranks"]
        )
    if not isinstance(found[0], str) and found != sorted(found):
        raise ParameterError(f"ranks that are numbers must go from low to high; got {ranks!r:.100}", ["ranks"])
    return found
