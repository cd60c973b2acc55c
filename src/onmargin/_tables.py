"""Display of results as text tables, HTML tables and small SVG pictures."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

# Sizes in pixels of the picture of a curve in a notebook, and of a bar in a table.
WIDTH, HEIGHT = 240, 60
BAR_WIDTH, BAR_HEIGHT = 100, 8

Columns = Mapping[str, Sequence[str]]


def text_table(columns: Columns) -> str:
    """Return a text table; the first column and columns without a name are left-aligned."""
    widths = [max(map(len, (name, *cells))) for name, cells in columns.items()]
    sides = ["<" if k == 0 or not name else ">" for k, name in enumerate(columns)]
    lines = []
    for line in ([*columns], *zip(*columns.values(), strict=True)):
        cells = [f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(columns: Columns, pictures: Sequence[str] = (), *, bold: int | None = None) -> str:
    """Return an HTML table with a picture at the end of each row; the row with index `bold` is bold."""
    from html import escape  # imported here because it takes longer than the rest of this module

    head = "".join(f"<th>{escape(name)}</th>" for name in columns) + ("<th></th>" if pictures else "")
    sides = ["left" if k == 0 or not name else "right" for k, name in enumerate(columns)]
    rows = []
    for place, line in enumerate(zip(*columns.values(), strict=True)):
        cells = [f'<td style="text-align:{side}">{escape(cell)}</td>' for side, cell in zip(sides, line, strict=True)]
        cells += [f"<td>{picture}</td>" for picture in pictures[place : place + 1]]
        style = ' style="font-weight:bold"' if place == bold else ""
        rows.append(f"<tr{style}>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def svg_bar(part: float) -> str:
    """Return a bar that is filled to the fraction `part`, from 0 to 1."""
    length = BAR_WIDTH * min(max(part, 0.0), 1.0) if isfinite(part) else 0.0
    return (
        f'<svg width="{BAR_WIDTH}" height="{BAR_HEIGHT}" role="img">'
        f'<rect width="{length:.1f}" height="{BAR_HEIGHT}" fill="currentColor" fill-opacity="0.5"/></svg>'
    )


def svg_curve(x: Sequence[float], y: Sequence[float], title: str) -> str:
    """Return a plot of y over x, with y starting at 0; empty if there are fewer than two points."""
    from html import escape

    points = [(float(a), float(b)) for a, b in zip(x, y, strict=True) if isfinite(a) and isfinite(b)]
    if len(points) < 2:
        return ""
    left, span = points[0][0], points[-1][0] - points[0][0] or 1.0
    top = max(b for _, b in points) or 1.0
    path = " ".join(
        f"{1 + (a - left) / span * (WIDTH - 2):.1f},{HEIGHT - 1 - max(b, 0.0) / top * (HEIGHT - 2):.1f}"
        for a, b in points
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img"><title>{escape(title)}</title>'
        f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def number(value: Any, digits: int = 4) -> str:
    """Format an integer in full, and any other number with `digits` significant digits."""
    value = float(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e12 else f"{value:.{digits}g}"
