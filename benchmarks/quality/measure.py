"""Measure AutoClassifier, AutoRegressor and their peers on the tables of collect.py; keep the results in a JSON file.

    python benchmarks/quality/measure.py TABLES RESULTS linear    # peers, tuned in hindsight
    python benchmarks/quality/measure.py TABLES RESULTS curved
    python benchmarks/quality/measure.py TABLES RESULTS ours

Results in the file are not measured again, except for `ours`: peers do not depend on the code of this repository.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numbers_peers
import numpy as np
import ours
import peers
from scipy.sparse import csr_matrix, issparse
from streams import HELD_OUT, STREAMS, Stream
from tables import Table, tables

SMALL, ORDERS = 10_000, 5  # seen streams with fewer rows are learned in several orders


def streams(data: Path, only: list[str]) -> Iterator[Table]:
    for name in only:
        X, y = narrow((STREAMS | HELD_OUT)[name](data))
        orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(ORDERS)]
        one = len(y) >= SMALL or name in HELD_OUT
        yield Table(name, "streams", name in HELD_OUT, [(X, y)] if one else [(X[rows], y[rows]) for rows in orders])


def narrow(stream: Stream) -> Stream:
    """Return the rows without features that never occur, which would take memory."""
    X, y = stream
    return (csr_matrix(X)[:, np.unique(X.indices)], y) if issparse(X) else stream


def jobs(group: str, chosen: list[Table]) -> Iterator[tuple[Table, str, Callable[[], dict]]]:
    for table in chosen:
        if group == "ours":
            yield table, "ours", partial(ours.measured, table)
            continue
        module = numbers_peers if table.kind == "numbers" else peers
        names, peer = (module.LINEAR, module.linear_peer) if group == "linear" else (module.CURVED, module.curved_peer)
        for name in names:
            yield table, name, partial(measured, peer, name, table)


def measured(peer: Callable, name: str, table: Table) -> dict:
    best = peer(name, table.orders)
    return {} if best is None else best._asdict()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("group", choices=("linear", "curved", "ours"))
    parser.add_argument(
        "--data", type=Path, help="measure the streams of streams.py, which are in this folder, not the tables"
    )
    parser.add_argument("--only", nargs="*", help="names of tables")
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    if arguments.data:
        chosen = list(streams(arguments.data, arguments.only or [*STREAMS, *HELD_OUT]))
    else:
        chosen = [t for t in tables(arguments.tables) if arguments.only is None or t.name in arguments.only]
    chosen.sort(key=lambda table: not table.held_out)
    if arguments.group == "curved":  # Java starts and compiles frequent code before anything is timed
        peers.curved_peer("CapyMOA ARF", chosen[0].orders)
    for table, name, measure in jobs(arguments.group, chosen):
        key = f"{table.kind}/{table.name}"
        n_rows, n_columns = table.orders[0][0].shape
        known = results.setdefault(key, {"held_out": table.held_out, "rows": n_rows, "columns": n_columns})
        if name not in known or name == "ours":
            start = time.process_time()
            known[name] = measure()
            known[name]["seconds"] = round(time.process_time() - start, 3)
            arguments.results.write_text(json.dumps(results, indent=1))
            print(key, name, known[name], flush=True)


if __name__ == "__main__":
    main()
