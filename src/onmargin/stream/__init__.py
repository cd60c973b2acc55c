"""Learning one example at a time: from dicts, lists of names, text and vectors, with features that may come later."""

from onmargin.stream.auto import AutoClassifier, AutoRegressor
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

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "AutoClassifier",
    "AutoRegressor",
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
