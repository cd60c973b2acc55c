"""The words for `update`: which rivals of the right class a round moves, and how far."""

from collections.abc import Callable
from typing import Any

from onmargin._core.step import Even, Exact, Separable, Step

# C -> the step that moves several rivals at once.
SIMULTANEOUS: dict[str, Callable[[float], Step]] = {
    "simperc": lambda C: Even(C, mistaken=True, fixed=True),
    "conproj": lambda C: Even(C, mistaken=True),
    "simproj": lambda C: Even(C, mistaken=False),
    "simopt": lambda C: Separable(C, mistaken=False),
    "conopt": lambda C: Separable(C, mistaken=True),
    "exact": Exact,
    "perceptron": lambda C: Even(1.0, mistaken=True, fixed=True),
    "mira": lambda C: Exact(1.0),  # in units of C: the margin is beta = 1 / C
}


def check_combination(model: Any) -> None:
    """Refuse parameters that do not go together, naming all that would have to change."""
    plain = model.update == "max"
    needs = {
        "loss='hinge'": plain or model.loss == "hinge",
        "cost=None": plain or model.cost is None,
        "strategy='joint'": (plain and model.cost is None) or model.strategy == "joint",
        "a finite C": model.update not in {"simperc", "mira"} or float("inf") > model.C,
    }
    missing = [need for need, met in needs.items() if not met]
    if missing:
        given = "cost" if plain else f"update={model.update!r}"
        raise ValueError(f"{given} needs {', '.join(missing)}")
