"""Prediction sets and intervals with coverage guarantees, cost-sensitive decisions, abstaining, selective sampling."""

from onmargin.confidence.decisions import Decisions, DecisionsReport
from onmargin.confidence.intervals import Intervals
from onmargin.confidence.sampling import SelectiveSampler
from onmargin.confidence.sets import PredictionSets
from onmargin.confidence.tracking import Coverage, QuantileTracker

__all__ = [
    "Coverage",
    "Decisions",
    "DecisionsReport",
    "Intervals",
    "PredictionSets",
    "QuantileTracker",
    "SelectiveSampler",
]
