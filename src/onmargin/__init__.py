"""Online learning on the margin: compiled passive-aggressive algorithms and related learners.

The public names are imported on first use: importing scikit-learn alone takes over a second, and importing `typing`
takes longer than the rest of this file.
"""

from onmargin._lazy import lazy_names

TYPE_CHECKING = False  # importing it from `typing` would take too long

if TYPE_CHECKING:
    from onmargin import confidence as confidence
    from onmargin import crfsuite as crfsuite
    from onmargin import evaluate as evaluate
    from onmargin import features as features
    from onmargin import io as io
    from onmargin import lab as lab
    from onmargin import pipeline as pipeline
    from onmargin import reference as reference
    from onmargin import river as river
    from onmargin import scale as scale
    from onmargin import stream as stream
    from onmargin import theory as theory
    from onmargin.apps.serve.client import Client as Client
    from onmargin.apps.serve.connection import ServiceError as ServiceError
    from onmargin.errors import ExampleError as ExampleError
    from onmargin.errors import ParameterError as ParameterError
    from onmargin.estimators.auto import AutoClassifier as AutoClassifier
    from onmargin.estimators.auto import AutoRegressor as AutoRegressor
    from onmargin.estimators.block_classifier import BlockClassifier as BlockClassifier
    from onmargin.estimators.class_feature_classifier import ClassFeatureClassifier as ClassFeatureClassifier
    from onmargin.estimators.classifier import PassiveAggressiveClassifier as PassiveAggressiveClassifier
    from onmargin.estimators.confidence_weighted import NHERDClassifier as NHERDClassifier
    from onmargin.estimators.confidence_weighted import SCWClassifier as SCWClassifier
    from onmargin.estimators.dual_ascent import DualAscentClassifier as DualAscentClassifier
    from onmargin.estimators.dual_ascent import DualAscentRegressor as DualAscentRegressor
    from onmargin.estimators.gradient import ExponentiatedGradientRegressor as ExponentiatedGradientRegressor
    from onmargin.estimators.gradient import GradientDescentRegressor as GradientDescentRegressor
    from onmargin.estimators.gradient import OnlineLogisticClassifier as OnlineLogisticClassifier
    from onmargin.estimators.label_ranker import LabelRanker as LabelRanker
    from onmargin.estimators.ordinal import OrdinalRegressor as OrdinalRegressor
    from onmargin.estimators.perceptrons import Perceptron as Perceptron
    from onmargin.estimators.perceptrons import PNormPerceptron as PNormPerceptron
    from onmargin.estimators.perceptrons import Winnow as Winnow
    from onmargin.estimators.quasi_additive import QuasiAdditiveClassifier as QuasiAdditiveClassifier
    from onmargin.estimators.regressor import PassiveAggressiveRegressor as PassiveAggressiveRegressor
    from onmargin.estimators.ridge import OnlineRidgeRegressor as OnlineRidgeRegressor
    from onmargin.estimators.second_order import AROWClassifier as AROWClassifier
    from onmargin.estimators.second_order import AROWRegressor as AROWRegressor
    from onmargin.estimators.sequence_tagger import SequenceTagger as SequenceTagger
    from onmargin.estimators.structured import StructuredPredictor as StructuredPredictor
    from onmargin.estimators.uniclass import PassiveAggressiveUniclass as PassiveAggressiveUniclass
    from onmargin.io.model_file import ModelFileError as ModelFileError
    from onmargin.io.model_file import load as load
    from onmargin.io.model_file import save as save

    __version__: str

_MODULES = (
    "confidence",
    "crfsuite",
    "evaluate",
    "features",
    "io",
    "lab",
    "pipeline",
    "reference",
    "river",
    "scale",
    "stream",
    "theory",
)
_HOME = {
    "Client": "onmargin.apps.serve.client",
    "ServiceError": "onmargin.apps.serve.connection",
    "ExampleError": "onmargin.errors",
    "ParameterError": "onmargin.errors",
    "AutoClassifier": "onmargin.estimators.auto",
    "AutoRegressor": "onmargin.estimators.auto",
    "BlockClassifier": "onmargin.estimators.block_classifier",
    "ClassFeatureClassifier": "onmargin.estimators.class_feature_classifier",
    "PassiveAggressiveClassifier": "onmargin.estimators.classifier",
    "NHERDClassifier": "onmargin.estimators.confidence_weighted",
    "SCWClassifier": "onmargin.estimators.confidence_weighted",
    "DualAscentClassifier": "onmargin.estimators.dual_ascent",
    "DualAscentRegressor": "onmargin.estimators.dual_ascent",
    "ExponentiatedGradientRegressor": "onmargin.estimators.gradient",
    "GradientDescentRegressor": "onmargin.estimators.gradient",
    "LabelRanker": "onmargin.estimators.label_ranker",
    "OrdinalRegressor": "onmargin.estimators.ordinal",
    "Perceptron": "onmargin.estimators.perceptrons",
    "PNormPerceptron": "onmargin.estimators.perceptrons",
    "Winnow": "onmargin.estimators.perceptrons",
    "QuasiAdditiveClassifier": "onmargin.estimators.quasi_additive",
    "PassiveAggressiveRegressor": "onmargin.estimators.regressor",
    "OnlineLogisticClassifier": "onmargin.estimators.gradient",
    "OnlineRidgeRegressor": "onmargin.estimators.ridge",
    "AROWClassifier": "onmargin.estimators.second_order",
    "AROWRegressor": "onmargin.estimators.second_order",
    "SequenceTagger": "onmargin.estimators.sequence_tagger",
    "StructuredPredictor": "onmargin.estimators.structured",
    "PassiveAggressiveUniclass": "onmargin.estimators.uniclass",
    "ModelFileError": "onmargin.io.model_file",
    "load": "onmargin.io.model_file",
    "save": "onmargin.io.model_file",
}

__all__ = sorted(_HOME)  # noqa: PLE0605

_get_attribute, _ = lazy_names(__name__, _HOME | dict.fromkeys(_MODULES, __name__))


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("onmargin")
    return _get_attribute(name)


def __dir__() -> list[str]:
    return sorted([*_HOME, *_MODULES, "__version__"])
