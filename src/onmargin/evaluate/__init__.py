"""How good predictions are."""

from onmargin.evaluate.ranking import RankingReport, ranking_report

__all__ = ["RankingReport", "ranking_report"]
