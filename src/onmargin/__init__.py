"""Online learning on the margin: passive-aggressive learning and its whole family, compiled."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onmargin.apps.serve.client import Client
    from onmargin.apps.serve.connection import ServiceError
    from onmargin.estimators.auto import AutoClassifier, AutoRegressor
    from onmargin.estimators.block_classifier import BlockClassifier
    from onmargin.estimators.class_feature_classifier import ClassFeatureClassifier
    from onmargin.estimators.classifier import PassiveAggressiveClassifier
    from onmargin.estimators.confidence_weighted import NHERDClassifier, SCWClassifier
    from onmargin.estimators.dual_ascent import DualAscentClassifier
    from onmargin.estimators.gradient import ExponentiatedGradientRegressor, GradientDescentRegressor
    from onmargin.estimators.label_ranker import LabelRanker
    from onmargin.estimators.ordinal import OrdinalRegressor
    from onmargin.estimators.perceptrons import Perceptron, PNormPerceptron, Winnow
    from onmargin.estimators.quasi_additive import QuasiAdditiveClassifier
    from onmargin.estimators.regressor import PassiveAggressiveRegressor
    from onmargin.estimators.second_order import AROWClassifier, AROWRegressor
    from onmargin.estimators.sequence_tagger import SequenceTagger
    from onmargin.estimators.structured import StructuredPredictor
    from onmargin.estimators.uniclass import PassiveAggressiveUniclass
    from onmargin.io.model_file import ModelFileError, load, save

# Public names are imported when first touched (PEP 562): scikit-learn alone takes over a second.
_HOME = {
    "AROWClassifier": "onmargin.estimators.second_order",
    "AROWRegressor": "onmargin.estimators.second_order",
    "AutoClassifier": "onmargin.estimators.auto",
    "AutoRegressor": "onmargin.estimators.auto",
    "BlockClassifier": "onmargin.estimators.block_classifier",
    "ClassFeatureClassifier": "onmargin.estimators.class_feature_classifier",
    "Client": "onmargin.apps.serve.client",
    "DualAscentClassifier": "onmargin.estimators.dual_ascent",
    "ExponentiatedGradientRegressor": "onmargin.estimators.gradient",
    "GradientDescentRegressor": "onmargin.estimators.gradient",
    "LabelRanker": "onmargin.estimators.label_ranker",
    "ModelFileError": "onmargin.io.model_file",
    "NHERDClassifier": "onmargin.estimators.confidence_weighted",
    "OrdinalRegressor": "onmargin.estimators.ordinal",
    "PNormPerceptron": "onmargin.estimators.perceptrons",
    "PassiveAggressiveClassifier": "onmargin.estimators.classifier",
    "PassiveAggressiveRegressor": "onmargin.estimators.regressor",
    "PassiveAggressiveUniclass": "onmargin.estimators.uniclass",
    "Perceptron": "onmargin.estimators.perceptrons",
    "QuasiAdditiveClassifier": "onmargin.estimators.quasi_additive",
    "SCWClassifier": "onmargin.estimators.confidence_weighted",
    "SequenceTagger": "onmargin.estimators.sequence_tagger",
    "ServiceError": "onmargin.apps.serve.connection",
    "StructuredPredictor": "onmargin.estimators.structured",
    "Winnow": "onmargin.estimators.perceptrons",
    "load": "onmargin.io.model_file",
    "save": "onmargin.io.model_file",
}

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "AutoClassifier",
    "AutoRegressor",
    "BlockClassifier",
    "ClassFeatureClassifier",
    "Client",
    "DualAscentClassifier",
    "ExponentiatedGradientRegressor",
    "GradientDescentRegressor",
    "LabelRanker",
    "ModelFileError",
    "NHERDClassifier",
    "OrdinalRegressor",
    "PNormPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "PassiveAggressiveUniclass",
    "Perceptron",
    "QuasiAdditiveClassifier",
    "SCWClassifier",
    "SequenceTagger",
    "ServiceError",
    "StructuredPredictor",
    "Winnow",
    "load",
    "save",
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
