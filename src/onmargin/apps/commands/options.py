"""Options that several commands have."""

import codecs
from typing import Any

import click

from onmargin.io.formats import FORMATS

_ALIASES = {"parquet": "arrow", "tsv": "csv"}  # other names of formats

files = click.argument("files", nargs=-1, required=True, metavar="FILES...")
model_file = click.argument("model", type=click.Path())
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force = click.option("--force", is_flag=True, help="Replace an existing output file.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
format_option = click.option(
    "--format",
    "format",
    type=click.Choice(["auto", *FORMATS, *_ALIASES]),
    default="auto",
    help="File format (default: detected).",
)
label_option = click.option(
    "--label",
    multiple=True,
    metavar="COLUMN",
    help="Column or JSON key of the label, header of a mail, or column number of CoNLL (default: the last column). If "
    "repeated, each column says whether an example has the label of that name.",
)
separator_option = click.option(
    "--label-separator",
    metavar="TEXT",
    help="Separator of several labels in the label column of a table, such as a comma.",
)
text_option = click.option(
    "--text",
    multiple=True,
    metavar="COLUMN",
    help="Column of a table that contains text (default: detected); may be repeated.",
)
ignore_option = click.option(
    "--ignore",
    multiple=True,
    metavar="COLUMN",
    help="Column of a table to leave out (default: ids, dates, row numbers); may be repeated.",
)
only_option = click.option(
    "--only",
    multiple=True,
    metavar="COLUMN",
    help="Column of a table to keep; all others are left out; may be repeated.",
)
abstain_option = click.option(
    "--abstain",
    type=click.FloatRange(0),
    metavar="COST",
    help="Abstain where the probability of a mistake exceeds this cost (a mistake costs 1).",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Fail if a file has no known features, or lacks columns that the model learned from."
)


def _encoding(context: Any, parameter: Any, name: str | None) -> str | None:
    """Check that Python knows an encoding."""
    try:
        return None if name is None else codecs.lookup(name).name
    except LookupError as error:
        raise click.BadParameter(f"unknown encoding {name!r}; try utf-8, cp1252 or latin-1") from error


encoding_option = click.option(
    "--encoding",
    metavar="NAME",
    callback=_encoding,
    help="Encoding of text files, such as cp1252 or latin-1 (default: that of the training data, or UTF-8).",
)


def table_options(command: Any) -> Any:
    """Add the options for the columns of the files that a model is used on."""
    for option in (encoding_option, only_option, ignore_option, text_option, label_option):
        command = option(command)
    return command


def reading(command: Any) -> Any:
    """Add the options for reading files."""
    for option in (
        click.option("--zero-based", is_flag=True, help="Indices of svmlight files start at 0."),
        click.option(
            "--thousands", metavar="MARK", help="Thousands separator in numbers of CSV files (default: detected)."
        ),
        click.option("--decimal", metavar="MARK", help="Decimal mark in numbers of CSV files (default: detected)."),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first row of a CSV file has the column names (default: detected). Without a header the "
            "columns are named 0, 1 and so on.",
        ),
        click.option("--comment", metavar="TEXT", help="Skip lines of a CSV file that start with this, such as '#'."),
        click.option(
            "--skip-rows", type=click.IntRange(0), metavar="N", help="Skip lines before the table in CSV files."
        ),
        click.option("--delimiter", help="CSV field separator (default: detected)."),
        click.option("--weight", metavar="COLUMN", help="Column of a table with the weights of the examples."),
    ):
        command = option(command)
    return table_options(separator_option(command))


def check_reading(**given: Any) -> dict[str, Any]:
    """Check and return the given options for reading files; several columns of labels become `labels`."""
    columns = given.pop("label", ())
    given["label"] = columns[0] if len(columns) == 1 else None
    if len(columns) > 1:
        given["labels"] = columns
    if given.get("label_separator") is None:
        given.pop("label_separator", None)
    elif not given["label_separator"]:
        raise click.BadParameter("one character or more", param_hint="--label-separator")
    elif len(columns) > 1:
        raise click.UsageError("--label-separator is for one column with several labels: give one --label")
    for name in ("delimiter", "decimal", "thousands"):
        if given.get(name) is not None:
            given[name] = {"\\t": "\t", "tab": "\t", "space": " "}.get(given[name], given[name])
            if len(given[name]) != 1:
                raise click.BadParameter(f"one character; got {given[name]!r}", param_hint=f"--{name}")
    if given.get("encoding") is None:
        given.pop("encoding", None)
    if given.get("decimal") is not None and given["decimal"] == given.get("thousands"):
        raise click.UsageError("--decimal and --thousands must be two marks")
    return given


def chosen(word: str) -> str | None:
    """Return the value of an option, or None for "auto"."""
    return None if word == "auto" else _ALIASES.get(word, word)
