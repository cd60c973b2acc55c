"""Runs experiments, in parallel where there is more than one process, and writes the results."""

import json
import platform
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import InvalidStateError, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from threadpoolctl import threadpool_limits

from onmargin.lab.experiment import Claim, Experiment, Finding, Settings
from onmargin.lab.pictures import render, require_matplotlib
from onmargin.lab.table import Row, Table, summary

Advance = Callable[[], object]


@dataclass(frozen=True)
class Unit:
    """One repetition with one value of what may be run apart."""

    experiment: str
    settings: Settings
    seed: int
    repetition: int

    def run(self) -> list[Row]:
        """The same rows wherever and beside whatever else it runs: one thread, and random numbers of its own.

        Returns
        -------
        rows : list of dict
            Those of one repetition.
        """
        from onmargin.lab import EXPERIMENTS

        random = np.random.default_rng([self.seed, crc32(self.experiment.encode()), self.repetition])
        with threadpool_limits(limits=1):
            return list(EXPERIMENTS[self.experiment].repeat(self.settings, random))


class Workers(Protocol):
    """What runs units, and gives their rows in order."""

    def __call__(self, units: list[Unit], /) -> Iterable[list[Row]]: ...


@contextmanager
def workers(jobs: int) -> Iterator[Workers]:
    """So many processes, or none besides this one; whatever they are at ends with the block.

    Parameters
    ----------
    jobs : int
        How many; 1 works in this process.

    Yields
    ------
    run_units : callable
        Gives the rows of each unit of a list, in order.
    """
    if jobs == 1:
        yield lambda units: map(Unit.run, units)
        return
    others = active_children()
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        yield lambda units: pool.map(Unit.run, units)
        pool.shutdown()
    except BaseException:
        # This process alone hears of Ctrl-C, and ends the others in whatever they are at.
        for process in set(active_children()).difference(others):
            process.terminate()
        with _silent_of_cancelled():
            pool.shutdown(cancel_futures=True)
        raise


@contextmanager
def _silent_of_cancelled() -> Iterator[None]:
    """Futures may be cancelled before the executor's thread can tell them that their process ended: it trips then."""
    before = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not InvalidStateError:
            before(args)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


@dataclass(frozen=True)
class Result:
    """What came of an experiment."""

    experiment: Experiment
    table: Table
    settings: dict[str, Any]
    png: bytes
    svg: str

    @property
    def findings(self) -> list[tuple[Claim, Finding]]:
        """What the table says of each claim.

        Returns
        -------
        findings : list of (Claim, Finding)
            In the order of the claims.
        """
        return [(claim, claim.judge(self.table)) for claim in self.experiment.claims]

    def markdown(self) -> str:
        """Title, table and verdicts.

        Returns
        -------
        text : str
            Markdown.
        """
        this = self.experiment
        parts = [f"# {this.title}", f"{this.source}. {this.shows}"]
        parts += [f"{sentence(this.caption)}", this.shown(self.table).markdown().rstrip()]
        parts += [
            f"- **{finding.verdict}** ({claim.source}): {claim.statement} {sentence(finding.numbers)}"
            for claim, finding in self.findings
        ]
        return "\n\n".join(parts) + "\n"

    def write(self, folder: Path) -> None:
        """Figure, table and settings, in a folder of the experiment's name.

        Parameters
        ----------
        folder : Path
            Where that folder is made.
        """
        own = folder / self.experiment.name
        own.mkdir(parents=True, exist_ok=True)
        (own / "figure.png").write_bytes(self.png)
        for name, text in {
            "figure.svg": self.svg,
            "table.csv": self.table.csv(),
            "table.md": self.markdown(),
            "settings.json": json.dumps(self.settings, indent=2) + "\n",
        }.items():
            (own / name).write_text(text, encoding="utf-8")


def sentence(words: str) -> str:
    """With a capital and a full stop.

    Parameters
    ----------
    words : str
        Without them.

    Returns
    -------
    sentence : str
        With them.
    """
    return f"{words[:1].upper()}{words[1:]}."


def missing(experiment: Experiment, data: Path | None) -> list[str]:
    """The files of an experiment that are not there.

    Parameters
    ----------
    experiment : Experiment
        What is to be run.
    data : Path or None
        The folder of the data.

    Returns
    -------
    files : list of str
        Those that are not in it.
    """
    return [name for name in experiment.data if data is None or not (data / name).is_file()]


def units(experiment: Experiment, settings: Settings, seed: int, repetitions: int) -> list[Unit]:
    """All that is to be run, repetition by repetition.

    Parameters
    ----------
    experiment : Experiment
        What is to be run.
    settings : mapping
        Its settings.
    seed : int
        Where all random numbers come from.
    repetitions : int
        How often.

    Returns
    -------
    units : list of Unit
        Each may run on its own.
    """
    split = experiment.split
    values = [None] if split is None else list(settings[split])
    return [
        Unit(experiment.name, settings if split is None else {**settings, split: [value]}, seed, repetition)
        for repetition, value in product(range(repetitions), values)
    ]


def run(
    experiment: Experiment,
    run_units: Workers,
    *,
    seed: int = 0,
    repetitions: int | None = None,
    data: Path | None = None,
    advance: Advance = lambda: None,
    **changes: Any,
) -> Result:
    """Run an experiment.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    run_units : callable
        Those of `workers`.
    seed : int, default=0
        Where all random numbers come from; the result is the same for any number of jobs.
    repetitions : int or None, default=None
        How often; None: as often as the experiment says.
    data : Path or None, default=None
        The folder of the data, for experiments that read some.
    advance : callable
        Called after each unit of work.
    **changes : object
        Settings to replace.

    Returns
    -------
    result : Result
        Table, figure and settings.
    """
    require_matplotlib()
    times = experiment.repetitions if repetitions is None else repetitions
    settings = {**experiment.settings, **changes}
    given = settings if data is None else {**settings, "data": str(data)}
    rows: list[Row] = []
    for part in run_units(units(experiment, given, seed, times)):
        rows += part
        advance()
    table = summary(rows, experiment.keys, experiment.measures, experiment.best)
    picture, svg = render(experiment.figure, table)
    versions = {name: version(name) for name in ("onmargin", "numpy", "scipy", "scikit-learn", "matplotlib")}
    notes = {
        "experiment": experiment.name,
        "seed": seed,
        "repetitions": times,
        **settings,
        "files": list(experiment.data),
        "versions": {"python": platform.python_version(), **versions},
    }
    return Result(experiment, table, notes, picture, svg)
