"""An experiment of a paper as data, and the claims that its table decides."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from numpy.random import Generator

from onmargin.lab.table import Row, Table

Settings = Mapping[str, Any]


class Verdict(StrEnum):
    """What came of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    CORRECTED = "corrected"


@dataclass(frozen=True)
class Finding:
    """A verdict, and the numbers that it follows from."""

    verdict: Verdict
    numbers: str


@dataclass(frozen=True)
class Claim:
    """What a paper says, and a function of the experiment's table that finds out.

    Attributes
    ----------
    paper : str
        Its key in the bibliography.
    section : str
        Where in the paper.
    statement : str
        What it says.
    judge : callable
        Gives the finding of a table.
    """

    paper: str
    section: str
    statement: str
    judge: Callable[[Table], Finding]

    @property
    def source(self) -> str:
        """Where it stands, as the documentation cites it.

        Returns
        -------
        source : str
            Key of the bibliography, and where.
        """
        return f"[{self.paper}] {self.section}"


def reproduced(holds: bool, numbers: str) -> Finding:
    """It is as the paper says, or it is not.

    Parameters
    ----------
    holds : bool
        Whether it is.
    numbers : str
        What says so.

    Returns
    -------
    finding : Finding
        Reproduced or not.
    """
    return Finding(Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED, numbers)


def corrected(printed: bool, ours: bool, numbers: str) -> Finding:
    """Reproduced if it holds as printed, corrected if only our reading of it does.

    Parameters
    ----------
    printed, ours : bool
        Whether it holds as printed, and as we read it.
    numbers : str
        What says so.

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
    """How a table is shown: rows, what has a column each, and what is in the cells."""

    down: tuple[str, ...]
    across: str
    measure: str


@dataclass(frozen=True)
class Experiment:
    """One experiment: what it runs, what it draws and what it decides.

    Attributes
    ----------
    name : str
        What the command line calls it.
    paper, section : str
        Where it comes from: a key of the bibliography, and the figure or table.
    title, shows : str
        What it is called, and what there is to see, in a sentence or a few.
    settings : mapping
        All that `repeat` goes by, as JSON has it.
    repeat : callable
        ``repeat(settings, rng)`` gives the rows of one repetition.
    keys, measures : tuple of str
        Columns of the rows: what was run, and the results.
    figure : callable
        Draws the table.
    claims : tuple of Claim
        What the table decides.
    wide : Wide or None
        How the table is shown; None: as it is.
    repetitions : int
        How often, unless somebody says otherwise.
    best : tuple of str
        Keys that are chosen in hindsight, for the least mean of the first measure.
    split : str or None
        A setting with several values that may be run one by one, and so in parallel; each has the same random numbers.
    data : tuple of str
        The files that it reads, below the folder of the data; ``settings["data"]`` is that folder.
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
    wide: Wide | None = None
    repetitions: int = 10
    best: tuple[str, ...] = ()
    split: str | None = None
    data: tuple[str, ...] = field(default=())

    @property
    def source(self) -> str:
        """Where it comes from, as the documentation cites it.

        Returns
        -------
        source : str
            Key of the bibliography, and where.
        """
        return f"[{self.paper}] {self.section}"

    def shown(self, table: Table) -> Table:
        """The table as people read it.

        Parameters
        ----------
        table : Table
            Of the experiment.

        Returns
        -------
        table : Table
            One measure, wide, or all columns.
        """
        return table if self.wide is None else table.wide(self.wide.down, self.wide.across, self.wide.measure)

    @property
    def caption(self) -> str:
        """What its cells are.

        Returns
        -------
        caption : str
            The measure, or all of them.
        """
        return ", ".join(self.measures) if self.wide is None else self.wide.measure
