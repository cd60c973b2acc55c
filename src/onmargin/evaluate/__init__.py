"""Evaluation: progressive validation, change detection, ranking and tagging measures."""

from onmargin.evaluate.alarm import ChangeAlarm
from onmargin.evaluate.curves import Curve, Curves
from onmargin.evaluate.progressive import progressive
from onmargin.evaluate.ranking import RankingReport, ranking_report
from onmargin.evaluate.tagging import Matches, TaggingReport, spans, tagging_report

__all__ = [
    "ChangeAlarm",
    "Curve",
    "Curves",
    "Matches",
    "RankingReport",
    "TaggingReport",
    "progressive",
    "ranking_report",
    "spans",
    "tagging_report",
]
