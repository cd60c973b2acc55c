"""Parallel training on shards of data, with local processes or a Ray cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onmargin.scale.comparing import Outcome, compare
    from onmargin.scale.engine import Engine, LocalEngine
    from onmargin.scale.ray import RayEngine
    from onmargin.scale.training import Report, fit

# Imported on first use, as in `onmargin`.
_HOME = {
    "Engine": "onmargin.scale.engine",
    "LocalEngine": "onmargin.scale.engine",
    "Outcome": "onmargin.scale.comparing",
    "RayEngine": "onmargin.scale.ray",
    "Report": "onmargin.scale.training",
    "compare": "onmargin.scale.comparing",
    "fit": "onmargin.scale.training",
}

__all__ = ["Engine", "LocalEngine", "Outcome", "RayEngine", "Report", "compare", "fit"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'onmargin.scale' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
