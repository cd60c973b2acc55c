"""The command convert."""

import os
from typing import Any

import click

from onmargin.apps.commands.options import check_reading, chosen, files, force, format_option, reading
from onmargin.io.formats import WRITABLE


@click.command()
@files
@click.option("--to", "target", type=click.Choice(WRITABLE), required=True, help="Format to write.")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="Output file (default: standard output).",
)
@click.option(
    "--names",
    type=click.Path(dir_okay=False),
    help="For svmlight: file for the names of the features, one per line; features are numbered by lines, from 1.",
)
@click.option(
    "--labels",
    type=click.Path(dir_okay=False),
    help="For svmlight and vw: file for the names of the labels, one per line; labels are numbered by lines, from 1.",
)
@force
@format_option
@reading
def convert(
    *,
    files: tuple[str, ...],
    target: str,
    out: str,
    names: str | None,
    labels: str | None,
    force: bool,
    format: str,
    **where: Any,
) -> None:
    """Write the examples of FILES in another format."""
    from onmargin.apps.convert import Files
    from onmargin.apps.convert import convert as run
    from onmargin.apps.outputs import check_output, output_format, written

    if output_format(out) not in {None, target}:
        raise click.UsageError(f"--to {target} does not go with -o {out}")
    places: dict[str, str] = {}
    for flag, path in {"--out": out, "--names": names, "--labels": labels}.items():
        if path not in {None, "-"}:
            check_output(path, files, ours=lambda _: False, force=force)
            other = places.setdefault(os.path.realpath(path), flag)
            if other != flag:
                raise click.UsageError(f"{other} and {flag} must be two files")
    if force and not places:
        raise click.UsageError("--force is for -o FILE, --names FILE and --labels FILE")
    given = Files(files, chosen(format), check_reading(**where))
    with written(out) as file, written(names) as names_file, written(labels) as labels_file:
        run(given, target=target, out=file, names=names_file, labels=labels_file)
