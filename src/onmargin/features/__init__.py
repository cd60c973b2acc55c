"""Features for online learning: running scaling, class-dependent terms, sequence windows, records and label trees."""

from typing import TYPE_CHECKING

from onmargin._lazy import lazy_names

if TYPE_CHECKING:
    from onmargin.features.class_terms import ClassTermFeatures
    from onmargin.features.label_trees import tree_costs
    from onmargin.features.records import RecordFeatures
    from onmargin.features.scaled import Scaled
    from onmargin.features.scaler import RunningScaler
    from onmargin.features.window import CHUNKING, WORDS, WindowFeatures

# Imported on first use, as in `onmargin`, so that loading a model file without them does not import scikit-learn.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CHUNKING": "onmargin.features.window",
        "WORDS": "onmargin.features.window",
        "ClassTermFeatures": "onmargin.features.class_terms",
        "RecordFeatures": "onmargin.features.records",
        "RunningScaler": "onmargin.features.scaler",
        "Scaled": "onmargin.features.scaled",
        "WindowFeatures": "onmargin.features.window",
        "tree_costs": "onmargin.features.label_trees",
    },
)

__all__ = [
    "CHUNKING",
    "WORDS",
    "ClassTermFeatures",
    "RecordFeatures",
    "RunningScaler",
    "Scaled",
    "WindowFeatures",
    "tree_costs",
]
