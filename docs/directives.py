"""Directives of the documentation: pictures for light and dark pages, and the tables of benchmarks."""

import re
import sys
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from pictures import THEMES, draw_all
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import results

PICTURES = "_static/pictures"


class Picture(SphinxDirective):
    """``.. picture:: NAME`` shows a picture of pictures.py; the content is its alternative text."""

    required_arguments = 1
    has_content = True

    def run(self):
        alt = " ".join(self.content)
        return [
            nodes.image(
                uri=f"/{PICTURES}/{self.arguments[0]}-{theme.name}.svg", alt=alt, classes=[f"only-{theme.name}"]
            )
            for theme in THEMES
        ]


class BenchmarkTable(SphinxDirective):
    """``.. benchmark-table:: NAME [K]`` shows the K-th table of a benchmark, or some columns of it, and its source."""

    required_arguments = 1
    optional_arguments = 1
    option_spec: ClassVar = {"columns": directives.unchanged}

    def run(self):
        name, k = self.arguments[0], int(self.arguments[1]) if len(self.arguments) > 1 else 0
        rows, entry = results.rows_of(name, k), results.entry(name)
        table = entry["tables"][k]
        columns = re.split(r"\s*;\s*", self.options["columns"]) if "columns" in self.options else table["columns"]
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for cells in (columns, *([row[column] for column in columns] for row in rows)):
            lines += [f"   {'*' if j == 0 else ' '} - {self.cell(cell)}" for j, cell in enumerate(cells)]
        source = f"``{entry['command']}``, {entry['date']}, {entry['machine']}."
        return self.parse_text_to_nodes("\n".join([*lines, "", source]))

    @staticmethod
    def cell(cell):
        text = f"{cell:g}" if isinstance(cell, float) else str(cell)
        return re.sub(r"`([^`]+)`", r"``\1``", text)


def draw_pictures(app):
    draw_all(Path(app.srcdir) / PICTURES)


def setup(app):
    app.add_directive("picture", Picture)
    app.add_directive("benchmark-table", BenchmarkTable)
    app.connect("builder-inited", draw_pictures)
    return {"parallel_read_safe": True}
