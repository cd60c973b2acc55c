"""Run experiments, in parallel if there are several processes, and write the results."""

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
    """One repetition of an experiment, with one value of its `split` setting."""

    experiment: str
    settings: Settings
    seed: int
    repetition: int

    def run(self) -> list[Row]:
        """Run the unit on one thread with its own random numbers, so the rows do not depend on what runs in parallel.

        Returns
        -------
        rows : list of dict
            The rows of one repetition.
        """
        from onmargin.lab import EXPERIMENTS

        random = np.random.default_rng([self.seed, crc32(self.experiment.encode()), self.repetition])
        with threadpool_limits(limits=1):
            return list(EXPERIMENTS[self.experiment].repeat(self.settings, random))


class Workers(Protocol):
    """A function that runs units and yields their rows in order."""

    def __call__(self, units: list[Unit], /) -> Iterable[list[Row]]: ...


@contextmanager
def workers(jobs: int) -> Iterator[Workers]:
    """Start worker processes, which end with the block, whatever they are running.

    Parameters
    ----------
    jobs : int
        Number of processes. If 1, units run in this process.

    Yields
    ------
    run_units : callable
        Function that yields the rows of each unit of a list, in order.
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
        # Only this process handles Ctrl-C, and it terminates the others.
        for process in set(active_children()).difference(others):
            process.terminate()
        with _silent_of_cancelled():
            pool.shutdown(cancel_futures=True)
        raise


@contextmanager
def _silent_of_cancelled() -> Iterator[None]:
    """Suppress InvalidStateError in the executor's thread, which may set the result of a canceled future."""
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
    """Result of an experiment."""

    experiment: Experiment
    table: Table
    settings: dict[str, Any]
    png: bytes
    svg: str

    @property
    def findings(self) -> list[tuple[Claim, Finding]]:
        """Return the finding for each claim.

        Returns
        -------
        findings : list of (Claim, Finding)
            Findings in the order of the claims.
        """
        return [(claim, claim.judge(self.table)) for claim in self.experiment.claims]

    @property
    def check(self) -> str:
        """Return how far the data agree with the paper's, as a sentence.

        Returns
        -------
        words : str
            Empty if the experiment has no such check.
        """
        check = self.experiment.check
        return "" if check is None else f"Check of the data: {check(self.table)}."

    def markdown(self) -> str:
        """Return title, table and verdicts as Markdown.

        Returns
        -------
        text : str
            Markdown text.
        """
        this = self.experiment
        parts = [f"# {this.title}", f"{this.source}. {this.shows}"]
        parts += [f"{sentence(this.caption)}", this.shown(self.table).markdown().rstrip()]
        parts += [
            f"- **{finding.verdict}** ({claim.source}): {claim.statement} {sentence(finding.numbers)}"
            for claim, finding in self.findings
        ]
        parts += [self.check] if self.check else []
        return "\n\n".join(parts) + "\n"

    def write(self, folder: Path) -> None:
        """Write figure, table and settings to a folder named after the experiment.

        Parameters
        ----------
        folder : Path
            Parent of that folder.
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
    """Capitalize words and end them with a period.

    Parameters
    ----------
    words : str
        The words.

    Returns
    -------
    sentence : str
        The sentence.
    """
    return f"{words[:1].upper()}{words[1:]}."


def missing(experiment: Experiment, data: Path | None) -> list[str]:
    """Return the files of an experiment that are missing.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    data : Path or None
        The data folder.

    Returns
    -------
    files : list of str
        The missing files.
    """
    return [name for name in experiment.data if data is None or not (data / name).is_file()]


def units(experiment: Experiment, settings: Settings, seed: int, repetitions: int) -> list[Unit]:
    """Return all units of work, ordered by repetition.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    settings : mapping
        Its settings.
    seed : int
        Seed of all random numbers.
    repetitions : int
        Number of repetitions.

    Returns
    -------
    units : list of Unit
        Units that can run independently.
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
        The experiment to run.
    run_units : callable
        The function that `workers` yields.
    seed : int, default=0
        Seed of all random numbers. The result is the same for any number of jobs.
    repetitions : int or None, default=None
        Number of repetitions. If None, the default of the experiment.
    data : Path or None, default=None
        The data folder, for experiments that read files.
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
