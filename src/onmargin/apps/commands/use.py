"""The commands that use models: predict, evaluate and inspect."""

from typing import Any

import click

from onmargin.apps.commands.options import (
    abstain_option,
    as_json,
    check_reading,
    chosen,
    files,
    force,
    format_option,
    model_file,
    separator_option,
    strict_option,
    table_options,
)


@click.command()
@model_file
@files
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="File for the predictions (default: standard output). A .csv, .tsv, .jsonl or .conll file gets the "
    "columns of FILES, too.",
)
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="For -o: column to pass through, such as an id (default: all)."
)
@click.option("--proba", is_flag=True, help="Add the probability of the prediction.")
@abstain_option
@strict_option
@force
@format_option
@table_options
@as_json
def predict(
    *,
    model: str,
    files: tuple[str, ...],
    out: str,
    keep: tuple[str, ...],
    proba: bool,
    abstain: float | None,
    strict: bool,
    force: bool,
    format: str,
    as_json: bool,
    **where: Any,
) -> None:
    """Predict the examples of FILES with MODEL, one line per example.

    The files may have labels or not. --json adds the scores of the classes. A model that was trained with --coverage
    adds prediction sets or intervals.
    """
    from onmargin.apps.outputs import check_output, output_format, written
    from onmargin.apps.predict import Order
    from onmargin.apps.predict import predict as run

    if out != "-":
        check_output(out, (*files, model), ours=lambda _: False, force=force)
    elif force:
        raise click.UsageError("--force is for -o FILE")
    if keep and output_format(out) is None:
        raise click.UsageError("--keep is for -o with a .csv, .tsv or .jsonl file")
    order = Order(model, files, chosen(format), check_reading(**where), as_json, proba, abstain, strict, keep)
    with written(out) as file:
        run(order, out, file)


@click.command()
@model_file
@files
@abstain_option
@strict_option
@format_option
@separator_option
@table_options
@as_json
def evaluate(
    *,
    model: str,
    files: tuple[str, ...],
    abstain: float | None,
    strict: bool,
    format: str,
    as_json: bool,
    **where: Any,
) -> None:
    """Measure the predictions of MODEL on labeled FILES.

    A model that was trained with --coverage has its prediction sets or intervals measured too.
    """
    from onmargin.apps import report
    from onmargin.apps.evaluate import evaluate as run

    found = run(model, files, chosen(format), check_reading(**where), abstain=abstain, strict=strict)
    report.show(found, as_json=as_json)


@click.command()
@model_file
@click.option(
    "--top",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Number of features to show, those with the largest weights.",
)
@as_json
def inspect(model: str, top: int, as_json: bool) -> None:
    """Show the parameters, totals, classes and heaviest features of MODEL."""
    from onmargin.apps import report
    from onmargin.apps.inspect import inspect as run

    report.show(run(model, top), as_json=as_json)
