"""Learners for streams of dicts, lists of names, text or vectors; new features may appear at any time.

A learner has the name that it has in `onmargin`. Learners are imported on first use, so a program that uses one does
not wait for the others.
"""

from onmargin._lazy import lazy_names

TYPE_CHECKING = False  # importing it from `typing` would take too long

if TYPE_CHECKING:
    from onmargin.stream.auto import AutoClassifier as AutoClassifier
    from onmargin.stream.auto import AutoRegressor as AutoRegressor
    from onmargin.stream.class_feature_classifier import ClassFeatureClassifier as ClassFeatureClassifier
    from onmargin.stream.classifier import PassiveAggressiveClassifier as PassiveAggressiveClassifier
    from onmargin.stream.confidence_weighted import NHERDClassifier as NHERDClassifier
    from onmargin.stream.confidence_weighted import SCWClassifier as SCWClassifier
    from onmargin.stream.dual_ascent import DualAscentClassifier as DualAscentClassifier
    from onmargin.stream.dual_ascent import DualAscentRegressor as DualAscentRegressor
    from onmargin.stream.gradient import ExponentiatedGradientRegressor as ExponentiatedGradientRegressor
    from onmargin.stream.gradient import GradientDescentRegressor as GradientDescentRegressor
    from onmargin.stream.gradient import OnlineLogisticClassifier as OnlineLogisticClassifier
    from onmargin.stream.label_ranker import LabelRanker as LabelRanker
    from onmargin.stream.ordinal import OrdinalRegressor as OrdinalRegressor
    from onmargin.stream.perceptrons import Perceptron as Perceptron
    from onmargin.stream.perceptrons import PNormPerceptron as PNormPerceptron
    from onmargin.stream.perceptrons import Winnow as Winnow
    from onmargin.stream.quasi_additive import QuasiAdditiveClassifier as QuasiAdditiveClassifier
    from onmargin.stream.regressor import PassiveAggressiveRegressor as PassiveAggressiveRegressor
    from onmargin.stream.ridge import OnlineRidgeRegressor as OnlineRidgeRegressor
    from onmargin.stream.second_order import AROWClassifier as AROWClassifier
    from onmargin.stream.second_order import AROWRegressor as AROWRegressor
    from onmargin.stream.uniclass import PassiveAggressiveUniclass as PassiveAggressiveUniclass

_HOME = {
    "AutoClassifier": "onmargin.stream.auto",
    "AutoRegressor": "onmargin.stream.auto",
    "ClassFeatureClassifier": "onmargin.stream.class_feature_classifier",
    "PassiveAggressiveClassifier": "onmargin.stream.classifier",
    "NHERDClassifier": "onmargin.stream.confidence_weighted",
    "SCWClassifier": "onmargin.stream.confidence_weighted",
    "DualAscentClassifier": "onmargin.stream.dual_ascent",
    "DualAscentRegressor": "onmargin.stream.dual_ascent",
    "ExponentiatedGradientRegressor": "onmargin.stream.gradient",
    "GradientDescentRegressor": "onmargin.stream.gradient",
    "LabelRanker": "onmargin.stream.label_ranker",
    "OrdinalRegressor": "onmargin.stream.ordinal",
    "Perceptron": "onmargin.stream.perceptrons",
    "PNormPerceptron": "onmargin.stream.perceptrons",
    "Winnow": "onmargin.stream.perceptrons",
    "QuasiAdditiveClassifier": "onmargin.stream.quasi_additive",
    "PassiveAggressiveRegressor": "onmargin.stream.regressor",
    "OnlineLogisticClassifier": "onmargin.stream.gradient",
    "OnlineRidgeRegressor": "onmargin.stream.ridge",
    "AROWClassifier": "onmargin.stream.second_order",
    "AROWRegressor": "onmargin.stream.second_order",
    "PassiveAggressiveUniclass": "onmargin.stream.uniclass",
}

__all__ = sorted(_HOME)  # noqa: PLE0605

__getattr__, __dir__ = lazy_names(__name__, _HOME)
