"""The values of `update`: which half-spaces of a round move the weights, and how far."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onmargin._core.steps.pairs import EvenPairs, SeparablePairs, SopopoPairs
from onmargin._core.steps.row_pairs import EvenRowPairs, JointRowPairs, LargestRowPair, SeparableRowPairs
from onmargin._core.steps.simultaneous import (
    Even,
    EvenLineSearch,
    Joint,
    Largest,
    LargestLineSearch,
    Separable,
    SeparableLineSearch,
    Sopopo,
)
from onmargin._core.steps.step import Projection, Step
from onmargin._core.tasks.task import Binary, Multiclass, OneVsRest, Task

# Each table: C -> the step.
Steps = dict[str, Callable[[float], Step]]

_SCHEMES: Steps = {
    "simperc": lambda C: Even(C, mistaken=True, fixed=True),
    "conproj": lambda C: Even(C, mistaken=True),
    "simproj": lambda C: Even(C, mistaken=False),
    "simopt": lambda C: Separable(C, mistaken=False),
    "conopt": lambda C: Separable(C, mistaken=True),
}

# Updates of several rivals of the right class, one prototype each.
RIVALS: Steps = {
    **_SCHEMES,
    "exact": Sopopo,
    "perceptron": lambda C: Even(1.0, mistaken=True, fixed=True),
    "mira": lambda C: Sopopo(1.0),  # in units of C: the margin is beta = 1 / C
}

# Updates of the half-spaces of a trial over one vector of weights.
TRIALS: Steps = {"max": Largest, **_SCHEMES, "exact": Joint}

# The same for weights on the simplex. The exact solution and ConOpt are for plain weights.
SIMPLEX_TRIALS: Steps = {
    "max": LargestLineSearch,
    "simperc": _SCHEMES["simperc"],
    "conproj": lambda C: EvenLineSearch(C, mistaken=True),
    "simproj": lambda C: EvenLineSearch(C, mistaken=False),
    "simopt": lambda C: SeparableLineSearch(C, mistaken=False),
}

# Updates of the pairs of a relevant and an irrelevant label.
PAIRS: Steps = {
    "simperc": lambda C: EvenPairs(C, mistaken=True, fixed=True),
    "conproj": lambda C: EvenPairs(C, mistaken=True),
    "simproj": lambda C: EvenPairs(C, mistaken=False),
    "simopt": lambda C: SeparablePairs(C, mistaken=False),
    "conopt": lambda C: SeparablePairs(C, mistaken=True),
    "exact": SopopoPairs,
}

# The same for pairs with a row per label: C and the margin -> the step.
ROW_PAIRS: dict[str, Callable[[float, float], Step]] = {
    "max": lambda C, margin: LargestRowPair(C, margin=margin),
    "simperc": lambda C, margin: EvenRowPairs(C, mistaken=True, fixed=True, margin=margin),
    "conproj": lambda C, margin: EvenRowPairs(C, mistaken=True, margin=margin),
    "simproj": lambda C, margin: EvenRowPairs(C, mistaken=False, margin=margin),
    "simopt": lambda C, margin: SeparableRowPairs(C, mistaken=False, margin=margin),
    "conopt": lambda C, margin: SeparableRowPairs(C, mistaken=True, margin=margin),
    "exact": lambda C, margin: JointRowPairs(C, margin=margin),
}


def projection(C: float, loss: str) -> Projection:
    """PA-I caps the step, PA-II damps it; C = inf makes both plain PA ([JMLR] sec. 3)."""
    return Projection(damping=1 / (2 * C)) if loss.startswith("squared") else Projection(cap=C)


def class_margins(
    class_margin: Mapping[Any, float] | None, classes: Sequence[Any], margin: float
) -> float | list[float]:
    """Return the required margin of each class: its own, or `margin` if it has none."""
    if class_margin is None:
        return margin
    for label in class_margin:
        if classes and isinstance(label, str) != isinstance(classes[0], str):
            raise ValueError(
                f"labels must be all strings or all numbers: class_margin names {label!r:.80}, and {classes[0]!r:.80} "
                "is a class"
            )
    return [float(class_margin.get(label, margin)) for label in classes]


def class_task(
    n_classes: int, *, update: str, strategy: str, margin: float | list[float], weighted: bool = False
) -> Task:
    """Return the task for a number of classes: none for one class, and one score for two.

    With `weighted`, the weight of an example also acts where C limits no step.
    """
    if n_classes < 2:
        return Multiclass()
    if n_classes == 2:
        return Binary(margin, weighted=weighted)
    if strategy == "ovr":
        return OneVsRest(margin, weighted=weighted)
    return Multiclass(margin, every=update != "max", weighted=weighted)


def check_combination(given: str, needs: dict[str, bool]) -> None:
    """Refuse parameters that do not go together, naming all that would have to change."""
    missing = [need for need, met in needs.items() if not met]
    if missing:
        raise ValueError(f"{given} needs {', '.join(missing)}")
