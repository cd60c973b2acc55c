"""Results on the standard output: names and values in a row each, tables, or JSON."""

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from onmargin.apps.train import Run

Report = dict[str, Any]


def show(report: Report, *, as_json: bool) -> None:
    """Print a report; values are numbers, strings, lists, or dicts of those, which are tables."""
    if as_json:
        click.echo(json.dumps(report, allow_nan=False))
        return
    plain = {name: value for name, value in report.items() if not isinstance(value, dict)}
    width = max(map(len, plain), default=0)
    for name, value in plain.items():
        text = word(value)
        click.echo(text if name == "text" else f"{name:<{width}}  {text}")
    for name, value in report.items():
        if isinstance(value, dict) and value:
            click.echo(f"\n{name}")
            _show_table(value)


def _show_table(table: dict[str, Any]) -> None:
    """Rows by name; those that are dicts themselves have named columns."""
    head = list(dict.fromkeys(column for row in table.values() if isinstance(row, dict) for column in row))
    rows = [["", *head]] if head else []
    for name, row in table.items():
        cells = [row.get(column, "") for column in head] if isinstance(row, dict) else [row]
        rows.append([name, *map(word, cells)])
    widths = [max(len(row[k]) if k < len(row) else 0 for row in rows) for k in range(max(map(len, rows)))]
    for row in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=False)]
        click.echo(f"  {row[0]:<{widths[0]}}  {'  '.join(cells)}".rstrip())


def word(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(word, value))
    return str(value)


def trained(run: "Run") -> Report:
    """What a run of training came to."""
    learner = run.learner
    if learner is None:
        return {}
    return {
        "model": run.out,
        "task": learner.task,
        "format": run.settings.format,
        "passes": run.position.passes,
        **learner.summary(),
    }
