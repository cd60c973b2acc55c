"""Definitions of experiments and of the claims that their results decide."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from numpy.random import Generator

from onmargin.lab.table import Row, Table

Settings = Mapping[str, Any]


class Verdict(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    CORRECTED = "corrected"


@dataclass(frozen=True)
class Finding:
    """A verdict and the numbers that support it."""

    verdict: Verdict
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and a function that checks it against the experiment's table.

    Attributes
    ----------
    paper : str
        Key of the paper in the bibliography.
    section : str
        Section, figure or table of the paper.
    statement : str
        The statement of the paper.
    judge : callable
        Function that returns the finding for a table.
    """

    paper: str
    section: str
    statement: str
    judge: Callable[[Table], Finding]

    @property
    def source(self) -> str:
        """Return the source of the claim, as cited in the documentation.

        Returns
        -------
        source : str
            Key in the bibliography, and section.
        """
        return f"[{self.paper}] {self.section}"


def reproduced(holds: bool, numbers: str) -> Finding:
    """Return a finding: reproduced or not reproduced.

    Parameters
    ----------
    holds : bool
        Whether the claim holds.
    numbers : str
        The numbers that support the verdict.

    Returns
    -------
    finding : Finding
        The verdict with its numbers.
    """
    return Finding(Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED, numbers)


def corrected(printed: bool, ours: bool, numbers: str) -> Finding:
    """Return a finding: reproduced if the claim holds as printed, corrected if only the corrected version holds.

    Parameters
    ----------
    printed, ours : bool
        Whether the claim holds as printed, and as corrected here.
    numbers : str
        The numbers that support the verdict.

    Returns
    -------
    finding : Finding
        Reproduced, corrected or not reproduced.
    """
    if printed:
        return Finding(Verdict.REPRODUCED, numbers)
    return Finding(Verdict.CORRECTED if ours else Verdict.NOT_REPRODUCED, numbers)


@dataclass(frozen=True)
class Wide:
    """Layout of a wide table: the rows, the key whose values become columns, and the measure in the cells."""

    down: tuple[str, ...]
    across: str
    measure: str


@dataclass(frozen=True)
class Experiment:
    """An experiment: its runs, its figure and its claims.

    Attributes
    ----------
    name : str
        Name of the experiment on the command line.
    paper, section : str
        Source of the experiment: key in the bibliography, and figure or table.
    title, shows : str
        Title, and a description in one or a few sentences.
    settings : mapping
        All settings of `repeat`, as JSON values.
    repeat : callable
        ``repeat(settings, rng)`` yields the rows of one repetition.
    keys, measures : tuple of str
        Columns of the rows: the settings of a run, and its results.
    figure : callable
        Function that plots the table.
    claims : tuple of Claim
        Claims that the table decides.
    check : callable or None
        Function of the table that says in words how far the data agree with the paper's, which no claim is about.
    wide : Wide or None
        Layout of the table. If None, the table is shown with all columns.
    repetitions : int
        Default number of repetitions.
    best : tuple of str
        Keys that are chosen in hindsight, to minimize the mean of the first measure.
    split : str or None
        A setting whose values can be run separately, and so in parallel; all values use the same random numbers.
    data : tuple of str
        Files that the experiment reads, relative to the data folder ``settings["data"]``.
    """

    name: str
    paper: str
    section: str
    title: str
    shows: str
    settings: Settings
    repeat: Callable[[Settings, Generator], Iterable[Row]]
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    figure: Callable[[Table], Any]
    claims: tuple[Claim, ...]
    check: Callable[[Table], str] | None = None
    wide: Wide | None = None
    repetitions: int = 10
    best: tuple[str, ...] = ()
    split: str | None = None
    data: tuple[str, ...] = field(default=())

    @property
    def source(self) -> str:
        """Return the source of the experiment, as cited in the documentation.

        Returns
        -------
        source : str
            Key in the bibliography, and section.
        """
        return f"[{self.paper}] {self.section}"

    def shown(self, table: Table) -> Table:
        """Return the table in its layout for display.

        Parameters
        ----------
        table : Table
            The table of the experiment.

        Returns
        -------
        table : Table
            A wide table of one measure, or all columns.
        """
        return table if self.wide is None else table.wide(self.wide.down, self.wide.across, self.wide.measure)

    @property
    def caption(self) -> str:
        """Return the caption of the table.

        Returns
        -------
        caption : str
            The measure in the cells, or all measures.
        """
        return ", ".join(self.measures) if self.wide is None else self.wide.measure
