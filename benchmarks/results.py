"""Read results.json, the one place for the numbers that pages, pictures and README.md cite."""

import hashlib
import json
from math import exp, log
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results.json"

# What is timed, the other library, and where its time relative to ours is: the benchmark, the beginning of the first
# cells of the row, and the column.
SPEEDS = (
    ("one pass, sparse rows, 2 classes", "scikit-learn", "one_pass", ("A:",), "the same in order"),
    ("one pass, sparse rows, 50 classes", "scikit-learn", "one_pass", ("B:",), "the same in order"),
    ("one pass, dense rows, 10 classes", "scikit-learn", "one_pass", ("C:",), "the same in order"),
    ("one pass, regression, 30 columns", "scikit-learn", "one_pass", ("D:",), "the same in order"),
    ("dicts of 20 numbers, one by one", "river", "stream", ("dicts", "river's"), "times onmargin's"),
    ("texts of 100 words, one by one", "scikit-learn", "stream", ("texts", "scikit-learn's H"), "times onmargin's"),
    ("a file of numbers, long rows", "Vowpal Wabbit", "train", ("A, all digits",), "ratio"),
    ("a file of numbers, short rows", "Vowpal Wabbit", "train", ("D, all digits",), "ratio"),
    ("a file of texts, hashed", "Vowpal Wabbit", "train", ("texts, label and tab, `--hash 18`",), "ratio"),
    ("a file of texts, names kept", "Vowpal Wabbit", "train", ("texts, label and tab, 16 MB",), "ratio"),
    ("a tagger, ten passes", "CRFsuite", "tagging", ("", "CRFsuite, PA"), "times onmargin"),
)

Row = dict[str, Any]


def entry(name: str) -> dict[str, Any]:
    """Return the results of a benchmark: command, date, machine, versions and tables."""
    found: dict[str, Any] = json.loads(RESULTS.read_text())[name]
    return found


def rows_of(name: str, k: int = 0) -> list[Row]:
    """Return the rows of the k-th table that a benchmark printed, by the names of the columns.

    The first of two columns with one name counts: CPU time comes before wall-clock time.
    """
    table = entry(name)["tables"][k]
    return [dict(zip(table["columns"][::-1], row[::-1], strict=True)) for row in table["rows"]]


def tables_of(title: str) -> list[list[Row]]:
    """Return the tables of results of Auto with a title, such as "Classes, held out"."""
    titles = [table["title"] for table in entry("report")["tables"]]
    return [rows_of("report", k) for k, one in enumerate(titles) if one == title]


def speeds() -> list[tuple[str, str, float]]:
    """Return what is timed, the other library, and how many times as long that one takes."""
    found = []
    for what, peer, name, begins, column in SPEEDS:
        firsts = ((row, [*row.values()][::-1]) for row in rows_of(name))
        row = next(
            row for row, first in firsts if all(str(c).startswith(b) for c, b in zip(first, begins, strict=False))
        )
        found.append((what, peer, float(row[column])))
    return found


def span(values: list[float], digits: int = 2) -> str:
    """Return the range of values in words."""
    low, high = (f"{value:.{digits}g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def fingerprint() -> str:
    """Return a checksum of the results of Auto, which the picture in README.md carries."""
    return hashlib.sha256(json.dumps(entry("report")["tables"]).encode()).hexdigest()[:16]


def facts() -> dict[str, str]:
    """Return the numbers that sentences cite, by name."""
    one_pass, train = rows_of("one_pass"), rows_of("train")
    tagging = [row["times onmargin"] for row in rows_of("tagging") if row["learner"] == "CRFsuite, PA"]
    trees = tables_of("Classes, held out")[1]
    peers = [name for name in trees[0] if ("CapyMOA" in name and "us" not in name) or name.startswith("river")]
    lost = [row for row in trees if row["Auto"] > min(row[peer] for peer in peers if row[peer] != "")]
    found = {
        "scikit-learn shuffled": span([row["scikit-learn / onmargin"] for row in one_pass]),
        "scikit-learn in order": span([row["the same in order"] for row in one_pass]),
        "river dicts": span([ratio for _, peer, ratio in speeds() if peer == "river"], 1),
        "Vowpal Wabbit numbers": span([row["ratio"] for row in train if not row["file"].startswith("texts")]),
        "Vowpal Wabbit texts": span([row["ratio"] for row in train if row["file"].startswith("texts")]),
        "Vowpal Wabbit cache": span([row["vw / onmargin"] for row in one_pass]),
        "CRFsuite": span(tagging, 1),
        "tables of trees": f"{len(trees)}",
        "tables lost to trees": f"{len(lost)}",
        "forest times": span([row["CapyMOA ARF, us"] / row["Auto, us"] for row in trees]),
    }
    for kind in ("Classes", "Numbers"):
        ratios = [row["Auto / best peer"] for row in tables_of(f"{kind}, held out")[0]]
        found |= {
            f"{kind.lower()} tables": f"{len(ratios)}",
            f"{kind.lower()} near": f"{sum(ratio <= 1.05 for ratio in ratios)}",
            f"{kind.lower()} mean": f"{exp(sum(map(log, ratios)) / len(ratios)):.2f}",
            f"{kind.lower()} worst": f"{max(ratios):.2f}",
        }
    return found
