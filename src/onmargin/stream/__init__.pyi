# The learners of streams, for type checkers: all classes of these modules.
# ruff: noqa: F403

from onmargin.stream.auto import *
from onmargin.stream.class_feature_classifier import *
from onmargin.stream.classifier import *
from onmargin.stream.confidence_weighted import *
from onmargin.stream.dual_ascent import *
from onmargin.stream.gradient import *
from onmargin.stream.label_ranker import *
from onmargin.stream.ordinal import *
from onmargin.stream.perceptrons import *
from onmargin.stream.quasi_additive import *
from onmargin.stream.regressor import *
from onmargin.stream.ridge import *
from onmargin.stream.second_order import *
from onmargin.stream.uniclass import *
