"""Online learning on the margin: passive-aggressive learning and its whole family, compiled."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onmargin.estimators.block_classifier import BlockClassifier
    from onmargin.estimators.class_feature_classifier import ClassFeatureClassifier
    from onmargin.estimators.classifier import PassiveAggressiveClassifier
    from onmargin.estimators.label_ranker import LabelRanker
    from onmargin.estimators.ordinal import OrdinalRegressor
    from onmargin.estimators.regressor import PassiveAggressiveRegressor
    from onmargin.estimators.uniclass import PassiveAggressiveUniclass

# Public names are imported when first touched (PEP 562): scikit-learn alone takes over a second.
_HOME = {
    "BlockClassifier": "onmargin.estimators.block_classifier",
    "ClassFeatureClassifier": "onmargin.estimators.class_feature_classifier",
    "LabelRanker": "onmargin.estimators.label_ranker",
    "OrdinalRegressor": "onmargin.estimators.ordinal",
    "PassiveAggressiveClassifier": "onmargin.estimators.classifier",
    "PassiveAggressiveRegressor": "onmargin.estimators.regressor",
    "PassiveAggressiveUniclass": "onmargin.estimators.uniclass",
}

__all__ = [
    "BlockClassifier",
    "ClassFeatureClassifier",
    "LabelRanker",
    "OrdinalRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "PassiveAggressiveUniclass",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("onmargin")
    if name not in _HOME:
        raise AttributeError(f"module 'onmargin' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
