"""Running the experiments of the papers and writing the results."""

import os
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from onmargin import lab
from onmargin.apps.failure import Failure
from onmargin.apps.pace import Signals, Stopped


@dataclass(frozen=True)
class Order:
    """Options of a run, besides the names of the experiments."""

    out: Path
    data: Path | None
    seed: int
    repetitions: int | None
    jobs: int | None
    quiet: bool


def show_list() -> None:
    """Print the names, sources and titles of the experiments."""
    width = max(map(len, lab.EXPERIMENTS))
    for name, experiment in lab.EXPERIMENTS.items():
        needs = f"; needs {', '.join(experiment.data)} in --data" if experiment.data else ""
        click.echo(f"{name:<{width}}  {experiment.title}: {experiment.source}{needs}")


def run_one(name: str, order: Order) -> None:
    """Run one experiment, and print its table and verdicts."""
    if name not in lab.EXPERIMENTS:
        raise click.UsageError(
            f"there is no experiment {name!r}. There are: {', '.join(lab.EXPERIMENTS)}; or list, or all"
        )
    experiment = lab.EXPERIMENTS[name]
    if files := lab.missing(experiment, order.data):
        raise Failure(_no_data([experiment], order.data, files))
    (result,) = run([experiment], order)
    click.echo(result.markdown(), nl=False)
    click.echo(f"\nin {order.out / name}")


def run_all(order: Order) -> None:
    """Run all experiments whose data is available, and write the report."""
    chosen, waiting = [], []
    for experiment in lab.EXPERIMENTS.values():
        files = lab.missing(experiment, order.data)
        waiting += [(experiment, files)] if files else []
        chosen += [] if files else [experiment]
    readers = [experiment for experiment in lab.EXPERIMENTS.values() if experiment.data]
    if order.data is not None and not any(experiment.data for experiment in chosen):
        needed = dict.fromkeys(name for experiment in readers for name in experiment.data)
        raise Failure(_no_data(readers, order.data, list(needed)))
    results = run(chosen, order)
    path = order.out / "report.html"
    path.write_text(lab.page(results, waiting), encoding="utf-8")
    found = lab.claims(results)
    (order.out / "claims.csv").write_text(found.csv(), encoding="utf-8")
    for row in found:
        click.echo(f"{row['verdict']}: {row['claim']} {row['source']}\n    {row['numbers']}")
    for experiment, files in waiting:
        click.echo(f"{experiment.name} needs data: {', '.join(files)} in --data")
    click.echo(f"{lab.counts(results)}: {path}")


def run(experiments: list[lab.Experiment], order: Order) -> list[lab.Result]:
    """Run experiments one after the other, and write each result as soon as it is done."""
    order.out.mkdir(parents=True, exist_ok=True)
    done: list[lab.Result] = []
    try:
        with Signals() as signals, _progress(order.quiet) as progress, lab.workers(order.jobs or _cores()) as workers:
            for experiment in experiments:
                times = order.repetitions or experiment.repetitions
                total = len(lab.units(experiment, experiment.settings, order.seed, times))
                bar = progress.add_task(experiment.name, total=total)
                result = lab.run(
                    experiment,
                    workers,
                    seed=order.seed,
                    repetitions=times,
                    data=order.data if experiment.data else None,
                    advance=partial(progress.advance, bar),
                )
                with signals.whole():
                    result.write(order.out)
                    done.append(result)
    except Stopped as stop:
        names = ", ".join(result.experiment.name for result in done) or "none"
        click.echo(f"stopped; finished and in {order.out}: {names}", err=True)
        raise SystemExit(128 + stop.number) from None
    except BrokenProcessPool as error:
        raise Failure("a process of --jobs was killed, perhaps for want of memory: try --jobs 1") from error
    except lab.DataError as error:
        raise Failure(str(error)) from error
    return done


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """Show one progress bar per experiment on standard error."""
    columns = TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        yield progress


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _no_data(experiments: list[lab.Experiment], data: Path | None, files: list[str]) -> str:
    names = ", ".join(experiment.name for experiment in experiments)
    if data is None:
        return f"{names} needs data: set --data to the folder that contains {', '.join(files)}"
    what = "lacks files" if data.is_dir() else "is not a folder"
    return f"--data {data} {what}: for {names} it should have {', '.join(files)}"
