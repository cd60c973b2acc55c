"""Learners for streams of dicts, lists of names, text or vectors; new features may appear at any time."""

from typing import TYPE_CHECKING

from onmargin._lazy import lazy_names

if TYPE_CHECKING:
    from onmargin.stream.auto import AutoClassifier, AutoRegressor
    from onmargin.stream.class_features import ClassFeatureClassifier
    from onmargin.stream.classifier import PassiveAggressiveClassifier
    from onmargin.stream.dual_ascent import DualAscentClassifier, DualAscentRegressor
    from onmargin.stream.gradient import ExponentiatedGradientRegressor, GradientDescentRegressor
    from onmargin.stream.label_ranker import LabelRanker
    from onmargin.stream.ordinal import OrdinalRegressor
    from onmargin.stream.quasi_additive import Perceptron, PNormPerceptron, QuasiAdditiveClassifier, Winnow
    from onmargin.stream.regressor import PassiveAggressiveRegressor
    from onmargin.stream.ridge import OnlineRidgeRegressor
    from onmargin.stream.second_order import AROWClassifier, AROWRegressor, NHERDClassifier, SCWClassifier
    from onmargin.stream.uniclass import PassiveAggressiveUniclass

# Imported on first use, like those of `onmargin`, so a program that uses one learner does not wait for the others.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AROWClassifier": "onmargin.stream.second_order",
        "AROWRegressor": "onmargin.stream.second_order",
        "AutoClassifier": "onmargin.stream.auto",
        "AutoRegressor": "onmargin.stream.auto",
        "ClassFeatureClassifier": "onmargin.stream.class_features",
        "DualAscentClassifier": "onmargin.stream.dual_ascent",
        "DualAscentRegressor": "onmargin.stream.dual_ascent",
        "ExponentiatedGradientRegressor": "onmargin.stream.gradient",
        "GradientDescentRegressor": "onmargin.stream.gradient",
        "LabelRanker": "onmargin.stream.label_ranker",
        "NHERDClassifier": "onmargin.stream.second_order",
        "OnlineRidgeRegressor": "onmargin.stream.ridge",
        "OrdinalRegressor": "onmargin.stream.ordinal",
        "PNormPerceptron": "onmargin.stream.quasi_additive",
        "PassiveAggressiveClassifier": "onmargin.stream.classifier",
        "PassiveAggressiveRegressor": "onmargin.stream.regressor",
        "PassiveAggressiveUniclass": "onmargin.stream.uniclass",
        "Perceptron": "onmargin.stream.quasi_additive",
        "QuasiAdditiveClassifier": "onmargin.stream.quasi_additive",
        "SCWClassifier": "onmargin.stream.second_order",
        "Winnow": "onmargin.stream.quasi_additive",
    },
)

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "AutoClassifier",
    "AutoRegressor",
    "ClassFeatureClassifier",
    "DualAscentClassifier",
    "DualAscentRegressor",
    "ExponentiatedGradientRegressor",
    "GradientDescentRegressor",
    "LabelRanker",
    "NHERDClassifier",
    "OnlineRidgeRegressor",
    "OrdinalRegressor",
    "PNormPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "PassiveAggressiveUniclass",
    "Perceptron",
    "QuasiAdditiveClassifier",
    "SCWClassifier",
    "Winnow",
]
