"""Compare the mistakes of AutoClassifier on arrays and on dicts: records.py TABLES [NAME ...].

Columns with at most 20 different whole numbers are taken for categories. Four forms of a table are learned: an array,
dicts of its numbers, dicts with strings for categories, and an array with a column of zeros and ones per category.
The last two are left out if no column has more than two categories.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from streams import Stream
from tables import tables

from onmargin import AutoClassifier, stream

MOST_COLUMNS, MOST_CATEGORIES = 60, 20


def categories(X: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
    """Return the values of each column of categories."""
    found = {j: np.unique(column) for j, column in enumerate(X.T)}
    return {j: values for j, values in found.items() if len(values) <= MOST_CATEGORIES and not (values % 1).any()}


def records(X: NDArray[np.float64], strings: dict[int, NDArray[np.float64]]) -> list[dict[str, float | str]]:
    return [{f"column{j}": f"{v:g}!" if j in strings else v for j, v in enumerate(row)} for row in X.tolist()]


def indicators(X: NDArray[np.float64], of: dict[int, NDArray[np.float64]]) -> NDArray[np.float64]:
    columns = [X[:, [j]] == of[j] if j in of else X[:, [j]] for j in range(X.shape[1])]
    return np.hstack(columns).astype(np.float64)


def mistakes(order: Stream) -> Iterator[tuple[str, int]]:
    X, labels = order
    classes, y = np.unique(labels, return_inverse=True)
    codes, of = np.arange(len(classes)), categories(X)
    yield "array", AutoClassifier().partial_fit(X, y, classes=codes).totals_.mistakes
    yield "numbers", stream.AutoClassifier().learn_many(records(X, {}), y.tolist()).totals_.mistakes
    if any(len(values) > 2 for values in of.values()):
        yield "strings", stream.AutoClassifier().learn_many(records(X, of), y.tolist()).totals_.mistakes
        yield "indicators", AutoClassifier().partial_fit(indicators(X, of), y, classes=codes).totals_.mistakes


def main() -> None:
    folder, *only = sys.argv[1:]
    ratios: dict[tuple[bool, str], list[float]] = {}
    for table in tables(Path(folder)):
        if table.kind != "classes" or table.orders[0][0].shape[1] > MOST_COLUMNS or (only and table.name not in only):
            continue
        sums: dict[str, int] = {}
        for order in table.orders:
            for form, n in mistakes(order):
                sums[form] = sums.get(form, 0) + n
        print(table.name, sums, flush=True)
        for form, other in (("numbers", "array"), ("strings", "indicators")):
            if form in sums:
                ratio = (sums[form] + 0.5) / (sums[other] + 0.5)
                ratios.setdefault((table.held_out, f"{form} / {other}"), []).append(ratio)
    for (held_out, name), found in ratios.items():
        mean = np.exp(np.mean(np.log(found)))
        print(f"{'held out' if held_out else 'seen'}, {name}: {len(found)} tables, {mean:.3f}, worst {max(found):.3f}")


if __name__ == "__main__":
    main()
