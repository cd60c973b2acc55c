# The public names, one import per line. Type checkers read this file, and `__init__.py` finds the names by it.

from onmargin import confidence as confidence
from onmargin import evaluate as evaluate
from onmargin import features as features
from onmargin import io as io
from onmargin import lab as lab
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
