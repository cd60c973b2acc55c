"""Reproductions of the papers' experiments, and the code that runs them."""

from onmargin.lab import blocks, classics, digits, errata, jmlr, mail
from onmargin.lab.data import DataError
from onmargin.lab.experiment import Claim, Experiment, Finding, Verdict
from onmargin.lab.report import claims, counts, page
from onmargin.lab.runner import Result, missing, run, units, workers
from onmargin.lab.table import Table

# Experiments by name, in the order of the report.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for module in (jmlr, digits, blocks, mail, classics, errata)
    for experiment in module.EXPERIMENTS
}

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "DataError",
    "Experiment",
    "Finding",
    "Result",
    "Table",
    "Verdict",
    "claims",
    "counts",
    "missing",
    "page",
    "run",
    "units",
    "workers",
]
