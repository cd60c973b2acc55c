"""Print the Markdown tables of README.md: report.py RESULTS..., files as measure.py writes them."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tables import FIRST

LINEAR = ("Vowpal Wabbit", "SGD", "PA-I", "Perceptron", "river")
CURVED = ("CapyMOA ARF", "CapyMOA SRP", "CapyMOA kNN", "river ARF", "river HAT")
GROUPS = ("classes", "streams", "numbers")
NEAR = 1.05  # of the best linear peer

Found = dict[str, Any]  # what was measured on one table
Results = dict[str, Found]


def mean(found: Found, name: str) -> float:
    return float(np.mean(found["ours"][name]))


def unit(found: Found) -> float:
    """Return the factor for printed errors: those of regression are in % of the running mean's error."""
    return 100 / mean(found, "running mean") if "running mean" in found["ours"] else 1.0


def error(found: Found, peer: str) -> float:
    return float(found.get(peer, {}).get("error", np.nan))


def best(found: Found, peers: Sequence[str]) -> float:
    return float(np.nanmin([error(found, peer) for peer in peers]))


def best_expert(found: Found) -> float:
    runs = found["ours"]["experts"]
    return min(float(np.mean([run[name] for run in runs])) for name in runs[0])


def number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def cells(found: Found, peers: Sequence[str]) -> list[str]:
    """Return the errors of peers, the smallest one in bold."""
    errors = [error(found, peer) for peer in peers]
    shown = [number(unit(found) * value) for value in errors]
    return [f"**{cell}**" if value == np.nanmin(errors) else cell for cell, value in zip(shown, errors, strict=True)]


def title(key: str) -> str:
    return key.partition("/")[2]


def measured(results: Results, peers: Sequence[str]) -> list[str]:
    return [peer for peer in peers if any(peer in found for found in results.values())]


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    print()


def summary(what: str, ratios: dict[str, float], limit: float) -> None:
    """Return how many ratios are within a limit, their geometric mean, and the worst."""
    values = np.array(list(ratios.values()))
    worst = max(ratios, key=lambda key: ratios[key])
    print(
        f"- {what}: {np.count_nonzero(values <= limit)} of {len(values)}; geometric mean "
        f"{np.exp(np.log(values).mean()):.3f}, worst {values.max():.3f} ({title(worst)})"
    )


def against_linear(results: Results) -> None:
    peers = measured(results, LINEAR)
    ratios: dict[str, dict[str, float]] = {"error": {}, "dicts": {}, "linear": {}}
    rows = []
    for key, found in results.items():
        for name, some in ratios.items():
            if name in found["ours"]:
                some[key] = mean(found, name) / best(found, peers)
        ours = [mean(found, name) if name in found["ours"] else np.nan for name in ratios]
        shown = [number(unit(found) * value) for value in (*ours, best_expert(found))]
        ratio = f"{ratios['error'][key]:.3f}"
        rows.append([title(key), found["rows"], found["columns"], *shown, *cells(found, peers), ratio])
    columns = ["table", "rows", "columns", "Auto", "on dicts", "linear experts", "best expert", *peers]
    table([*columns, "Auto / best peer"], rows)
    summary("within 5 % of the best linear peer", ratios["error"], NEAR)
    summary("the same for dicts", ratios["dicts"], NEAR)
    summary('the same with `experts="linear"`', ratios["linear"], NEAR)
    print()


def against_curved(results: Results) -> None:
    results = {key: found for key, found in results.items() if any(peer in found for peer in CURVED)}
    peers = measured(results, CURVED)
    ratios = {key: found["ours"]["first rows"][0] / best(found, peers) for key, found in results.items()}
    curved = {key: ratios[key] for key, found in results.items() if best(found, peers) < 0.95 * best(found, LINEAR)}
    rows, times = [], {}
    for key, found in results.items():
        ours = min(found["ours"]["microseconds"])
        theirs = 1e6 * found["CapyMOA ARF"]["seconds"] / min(found["rows"], FIRST)
        times[key] = ours / theirs
        name = f"{title(key)} (curved)" if key in curved else title(key)
        first = number(unit(found) * found["ours"]["first rows"][0])
        rows.append([name, first, *cells(found, peers), f"{ratios[key]:.3f}", f"{ours:.0f}", f"{theirs:.0f}"])
    table(["table", "Auto", *peers, "Auto / best peer", "Auto, us", "CapyMOA ARF, us"], rows)
    summary("at or below the best curved peer", ratios, 1.0)
    if curved:
        summary("the same on curved tables", curved, 1.0)
    summary("at most a tenth of the time per row of CapyMOA's forest", times, 0.1)
    print()


def graded(results: Results) -> None:
    results = {key: found for key, found in results.items() if "auc" in found["ours"]}
    gains = {key: mean(found, "auc") - mean(found, "auc of the best expert") for key, found in results.items()}
    rows = [
        [title(key), f"{mean(found, 'auc'):.4f}", f"{mean(found, 'auc of the best expert'):.4f}", f"{gains[key]:+.4f}"]
        for key, found in results.items()
    ]
    table(["table", "AutoClassifier", "its best expert", "difference"], rows)
    values = np.array(list(gains.values()))
    print(
        f"- at or above the best expert: {np.count_nonzero(values >= 0)} of {len(values)}; at most 0.005 below: "
        f"{np.count_nonzero(values >= -0.005)}; mean difference {values.mean():+.4f}, worst {values.min():+.4f}\n"
    )


def main() -> None:
    results: Results = {}
    for path in sys.argv[1:]:
        for key, found in json.loads(Path(path).read_text()).items():
            results.setdefault(key, {}).update(found)
    results = {key: found for key, found in results.items() if "ours" in found and measured({key: found}, LINEAR)}
    for group in GROUPS:
        for held_out in (True, False):
            chosen = {key: r for key, r in results.items() if key.startswith(group) and r["held_out"] == held_out}
            if chosen:
                print(f"### {group.capitalize()}, {'held out' if held_out else 'seen'}\n")
                against_linear(chosen)
                if measured(chosen, CURVED):
                    against_curved(chosen)
                if group == "classes":
                    graded(chosen)


if __name__ == "__main__":
    main()
