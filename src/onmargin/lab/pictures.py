"""Figures of tables. matplotlib is an optional dependency, imported only here and only when a figure is drawn."""

import re
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from onmargin.lab.table import Table, absent, error_of

# Text and axes are drawn in a reserved color; in SVG it is replaced by the color of the surrounding text.
_INK = "#010203"
_STYLE: dict[Any, Any] = {
    **dict.fromkeys(["axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"], _INK),
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "onmargin",
}
_SIZE = (4.6, 3.4)  # size of a panel in inches
_FEW = 6  # the largest number of lines whose legend fits within a panel

Drawing = Callable[[Table], Any]


def require_matplotlib() -> None:
    """Raise an error if matplotlib is missing, before any long run."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'the figures of the lab need matplotlib: pip install ".[lab]" in a clone of onmargin'
        ) from error


def panels(n: int, *, columns: int = 2, size: tuple[float, float] = _SIZE) -> tuple[Any, list[Any]]:
    """Return a figure with n panels, in rows of at most `columns`."""
    from matplotlib.figure import Figure

    across = min(n, columns)
    down = -(-n // across)
    figure = Figure(figsize=(size[0] * across, size[1] * down), layout="constrained")
    return figure, [figure.add_subplot(down, across, k + 1, facecolor="none") for k in range(n)]


def lines(
    table: Table,
    *,
    x: str,
    measures: Sequence[str],
    line: str = "learner",
    panel: str | None = None,
    log: str = "",
    labels: dict[str, str] | None = None,
) -> Any:
    """Plot each measure against x, with one line per value of a column, and one panel per measure and panel value.

    Parameters
    ----------
    table : Table
        Means, with standard errors where available.
    x : str
        The column of the x axis.
    measures : sequence of str
        The columns to plot.
    line : str, default="learner"
        The column with one line per value.
    panel : str or None, default=None
        The column with one panel per value. If None, there is one panel per measure.
    log : {"", "x", "y", "xy"}, default=""
        Axes with a logarithmic scale.
    labels : dict or None, default=None
        Axis labels by column. Columns that are missing are labeled with their name.

    Returns
    -------
    figure : matplotlib Figure
        The figure, not yet rendered.
    """
    words = labels or {}
    parts = [(m, v) for v in (table.distinct(panel) if panel else [None]) for m in measures]
    figure, axes = panels(len(parts))
    for ax, (measure, value) in zip(axes, parts, strict=True):
        part = table if panel is None else table.where(**{panel: value})
        draw(ax, part, x=x, measure=measure, line=line)
        ax.set_xlabel(words.get(x, x))
        ax.set_ylabel(words.get(measure, measure))
        if panel is not None:
            ax.set_title(f"{words.get(panel, panel)} {value}" if not isinstance(value, str) else value)
        for axis in log:
            getattr(ax, f"set_{axis}scale")("log")
        if "y" not in log:
            ax.set_ylim(bottom=0)
    handles, names = axes[0].get_legend_handles_labels()
    if len(names) > _FEW:
        figure.legend(handles, names, loc="outside center right")
    else:
        axes[0].legend()
    return figure


def draw(ax: Any, table: Table, *, x: str, measure: str, line: str) -> None:
    """Draw the lines of one panel; learners that differ only in .A and .M share a color, and .M is dashed."""
    stems = list(dict.fromkeys(stem(name) for name in map(str, table.distinct(line))))
    for name in table.distinct(line):
        rows = [row for row in table.where(**{line: name}) if not absent(row[measure])]
        if not rows:
            continue
        style = style_of(str(name), stems)
        xs, ys = [row[x] for row in rows], [row[measure] for row in rows]
        spread: list[Any] = [row.get(error_of(measure)) for row in rows]
        ax.plot(xs, ys, label=str(name), linewidth=1.4, **style)
        if not any(map(absent, spread)):
            low, high = ([y + sign * s for y, s in zip(ys, spread, strict=True)] for sign in (-1, 1))
            ax.fill_between(xs, low, high, color=style["color"], alpha=0.15, linewidth=0)


def stem(name: str) -> str:
    """Return the name of a learner without its geometry: SimProj for SimProj.A."""
    return name.removesuffix(".A").removesuffix(".M")


def style_of(name: str, stems: list[str]) -> dict[str, Any]:
    """Return the color and style of a line."""
    if name.startswith("best"):
        return {"color": "#808080", "linestyle": ":"}
    if name.startswith("allowed: "):
        return {"color": f"C{stems.index(name.removeprefix('allowed: '))}", "linestyle": ":"}
    return {
        "color": f"C{stems.index(stem(name)) % 10}",
        "linestyle": "--" if name.endswith(".M") else "-",
        "marker": "o",
        "markersize": 2.5,
    }


def render(drawing: Drawing, table: Table) -> tuple[bytes, str]:
    """Render the figure of a table as PNG on white, and as SVG in the color of the surrounding text.

    The SVG is small, has the same bytes for the same table, and has no external references.
    """
    from matplotlib import rc_context

    with rc_context(_STYLE):
        figure = drawing(table)
        picture, text = BytesIO(), BytesIO()
        figure.savefig(picture, format="png", dpi=100, facecolor="white")
        figure.savefig(text, format="svg", facecolor="none", metadata={"Date": None})
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", text.getvalue().decode(), flags=re.DOTALL)
    return picture.getvalue(), svg.replace(_INK, "currentColor")


def inline(svg: str, name: str) -> str:
    """Return an SVG file as an element of a page, at full width and with unique ids."""
    element = svg[svg.index("<svg") :].replace("xlink:href", "href")
    element = re.sub(r' (?:xmlns(?::xlink)?="[^"]*"|(?:width|height)="[^"]*pt")', "", element)
    return re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", element)
