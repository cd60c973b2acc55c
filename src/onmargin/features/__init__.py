"""Features for online learning: running scaling, class-dependent terms, sequence windows, records and label trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onmargin.features.class_terms import ClassTermFeatures
    from onmargin.features.label_trees import tree_costs
    from onmargin.features.records import RecordFeatures
    from onmargin.features.scaled import Scaled
    from onmargin.features.scaler import RunningScaler
    from onmargin.features.window import CHUNKING, WindowFeatures

# Imported on first use, as in `onmargin`, so that loading a model file without them does not import scikit-learn.
_HOME = {
    "CHUNKING": "onmargin.features.window",
    "ClassTermFeatures": "onmargin.features.class_terms",
    "RecordFeatures": "onmargin.features.records",
    "RunningScaler": "onmargin.features.scaler",
    "Scaled": "onmargin.features.scaled",
    "WindowFeatures": "onmargin.features.window",
    "tree_costs": "onmargin.features.label_trees",
}

__all__ = ["CHUNKING", "ClassTermFeatures", "RecordFeatures", "RunningScaler", "Scaled", "WindowFeatures", "tree_costs"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'onmargin.features' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
