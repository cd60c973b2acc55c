"""Parallel training on shards of data, with local processes or a Ray cluster."""

from typing import TYPE_CHECKING

from onmargin._lazy import lazy_names

if TYPE_CHECKING:
    from onmargin.scale._batches import left_out_experts
    from onmargin.scale.comparing import Outcome, compare
    from onmargin.scale.engine import Engine, LocalEngine
    from onmargin.scale.ray import RayEngine
    from onmargin.scale.training import Report, fit

# Imported on first use, as in `onmargin`.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Engine": "onmargin.scale.engine",
        "LocalEngine": "onmargin.scale.engine",
        "Outcome": "onmargin.scale.comparing",
        "RayEngine": "onmargin.scale.ray",
        "Report": "onmargin.scale.training",
        "compare": "onmargin.scale.comparing",
        "fit": "onmargin.scale.training",
        "left_out_experts": "onmargin.scale._batches",
    },
)

__all__ = ["Engine", "LocalEngine", "Outcome", "RayEngine", "Report", "compare", "fit", "left_out_experts"]
