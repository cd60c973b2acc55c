"""The table of the five sources in the documentation: what it names exists, and no experiment or erratum is missing."""

import ast
import csv
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

from onmargin import lab
from onmargin.lab.errata import ERRATA

ROOT = Path(__file__).parents[2]
with (ROOT / "docs/papers/sources.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))


@cache
def functions(path):
    """Return the names of the functions of a file."""
    parsed = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in parsed.body if isinstance(node, ast.FunctionDef)}


def test_code_exists():
    for name in {name for row in ROWS for name in row["code"].split()}:
        resolve_name(name)
    assert all(row["code"] for row in ROWS)


def test_tests_exist():
    named = [row["test"].split("::") for row in ROWS]
    assert [f"{path}::{name}" for path, name in named if name not in functions(path)] == []


def test_every_source_experiment_and_erratum_is_there():
    assert {row["source"] for row in ROWS} == {"NIPS", "JMLR", "SLIDES", "SIMPROJ", "PD"}
    assert {row["experiment"] for row in ROWS} == {"", *lab.EXPERIMENTS} - {"mail-seen"}
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/theory").glob("*.rst"))
    corrected = {row["corrected"] for row in ROWS}
    assert corrected >= {name.rstrip("abc") for name in ERRATA}
    assert all(name in pages for name in corrected)


def test_no_row_is_there_twice():
    assert len({(row["source"], row["item"], row["content"]) for row in ROWS}) == len(ROWS)
