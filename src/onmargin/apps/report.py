"""Display of results on standard output, as tables or JSON."""

import json
from typing import Any

import click

Report = dict[str, Any]


def show(report: Report, *, as_json: bool) -> None:
    """Print a report; values are numbers, strings, lists, or dicts of them, which print as tables."""
    if as_json:
        click.echo(json.dumps(report, allow_nan=False))
        return
    plain = {name: value for name, value in report.items() if not isinstance(value, dict)}
    width = max((len(title(name)) for name in plain), default=0)
    for name, value in plain.items():
        click.echo(f"{title(name):<{width}}  {word(value)}")
    for name, value in report.items():
        for label, table in value.items() if isinstance(value, Tables) else [(None, value)]:
            if isinstance(table, dict) and table:
                click.echo(f"\n{title(name)}" + ("" if label is None else f" of {printable(label)}"))
                _show_table(table)


class Tables(dict[str, Any]):
    """Several tables, shown one after the other."""


# Titles of keys of the JSON report in tables, if they differ from the words of the key.
_TITLES = {
    "mae": "MAE",
    "rmse": "RMSE",
    "r2": "R squared",
    "f1": "F1",
    "auc": "AUC",
    "confusion": "confusion (row: right, column: predicted)",
}


def title(key: str) -> str:
    """Return the title of a key of a report in tables."""
    return _TITLES.get(key, key.replace("_", " "))


def _show_table(table: dict[str, Any]) -> None:
    """Print rows by name; rows that are dicts have named columns. Columns of numbers end at the same place."""
    head = list(dict.fromkeys(column for row in table.values() if isinstance(row, dict) for column in row))
    rows = [["", *map(printable, map(title, head))]] if head else []
    for name, row in table.items():
        cells = [row.get(column, "") for column in head] if isinstance(row, dict) else [row]
        rows.append([printable(name), *map(word, cells)])
    widths = [max(len(row[k]) if k < len(row) else 0 for row in rows) for k in range(max(map(len, rows)))]
    values = [value for row in table.values() for value in (row.values() if isinstance(row, dict) else [row])]
    side = ">" if all(isinstance(value, int | float) for value in values) else "<"
    for row in rows:
        cells = [f"{cell:{side}{width}}" for cell, width in zip(row[1:], widths[1:], strict=False)]
        click.echo(f"  {row[0]:<{widths[0]}}  {'  '.join(cells)}".rstrip())


def word(value: Any) -> str:
    """Format a value for tables."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(word, value))
    return printable(str(value))


def tell(message: str) -> None:
    """Print a message on standard error, with control characters as escapes: it may name files, columns and labels."""
    click.echo(printable_lines(message), err=True)


def printable_lines(text: str) -> str:
    """Return a text of several lines with all other control characters as escapes."""
    return "\n".join(map(printable, text.split("\n")))


def printable(text: str) -> str:
    r"""Return a text with control characters as escapes, such as \n: they could end a line or control a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
