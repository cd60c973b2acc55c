"""Learning one example at a time: from dicts, lists of names, text and vectors, with features that may come later."""

from onmargin.stream.auto import AutoClassifier, AutoRegressor
from onmargin.stream.classifier import Classifier
from onmargin.stream.label_ranker import LabelRanker
from onmargin.stream.ordinal import OrdinalRegressor
from onmargin.stream.regressor import Regressor
from onmargin.stream.second_order import AROWClassifier, AROWRegressor, NHERDClassifier, SCWClassifier
from onmargin.stream.uniclass import Uniclass

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "AutoClassifier",
    "AutoRegressor",
    "Classifier",
    "LabelRanker",
    "NHERDClassifier",
    "OrdinalRegressor",
    "Regressor",
    "SCWClassifier",
    "Uniclass",
]
