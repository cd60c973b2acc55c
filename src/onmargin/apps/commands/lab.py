"""The commands that show the library at work: demo and lab."""

from pathlib import Path

import click

from onmargin.apps.commands.options import quiet


@click.command()
@click.option("--html", type=click.Path(dir_okay=False), help="Also write a page with the curves to this file.")
def demo(*, html: str | None) -> None:
    """Train on a real data set and show the results."""
    from onmargin.apps.demo import run

    run(html)


@click.command()
@click.argument("name")
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), default="lab", show_default=True, help="Folder for the results."
)
@click.option("--data", type=click.Path(), help="Folder of the data sets, for experiments that read some.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random numbers.")
@click.option("--repetitions", type=click.IntRange(1), help="Number of repetitions (default: set by each experiment).")
@click.option(
    "--jobs", type=click.IntRange(1), help="Number of processes, which changes no result (default: one per core)."
)
@quiet
def lab(
    *, name: str, out: str, data: str | None, seed: int, repetitions: int | None, jobs: int | None, quiet: bool
) -> None:
    """Run the experiment NAME of the papers, all of them, or list them.

    Each experiment writes a figure, a table and its settings to --out, with a verdict on each claim of the paper. "all"
    also writes a report of one page.
    """
    from onmargin.apps import lab as run

    order = run.Order(Path(out), None if data is None else Path(data), seed, repetitions, jobs, quiet)
    if name == "list":
        run.show_list()
    elif name == "all":
        run.run_all(order)
    else:
        run.run_one(name, order)
