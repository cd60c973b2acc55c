"""AutoClassifier as it comes against other libraries' learners, linear ones with the best of a grid, in one pass."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from packaged import HELD_OUT, HELD_OUT_MADE, SEEN
from scipy.sparse import csr_matrix, issparse
from streams import STREAMS, Stream

from onmargin import AutoClassifier, stream

sys.path.append(str(Path(__file__).resolve().parents[1]))
from peer import Best, Peer, best
from peer_curved import CURVED
from peer_river import river
from peer_scikit_learn import descent, passive_aggressive, perceptron
from peer_vowpal_wabbit import vowpal_wabbit
from tables import tables
from workloads import Workload

LINEAR: dict[str, Peer] = {
    "Vowpal Wabbit": vowpal_wabbit,
    "SGD": descent,
    "PA-I": passive_aggressive,
    "Perceptron": perceptron,
    "river": river,
}
PEERS = LINEAR | CURVED
NAMES = [*STREAMS, *SEEN, *HELD_OUT, *HELD_OUT_MADE]
FEW = 100  # features of a table, whose columns may have units; pictures and texts have more
ORDERS, SMALL = 5, 10_000  # a stream of fewer rows is learned in so many orders
TABLE_ORDERS = 3  # of a table, whose order has no meaning


def orders(name: str, data: Path | None) -> list[Stream]:
    """A stream in the order it has or, if it is small, in several."""
    if name in HELD_OUT_MADE:
        return [HELD_OUT_MADE[name](seed) for seed in range(ORDERS)]
    stream = STREAMS[name](data) if name in STREAMS else (SEEN | HELD_OUT)[name]()
    return [stream] if len(stream[1]) >= SMALL else shuffled(stream, ORDERS)


def shuffled(stream: Stream, times: int) -> list[Stream]:
    """A stream in so many orders."""
    X, y = stream
    orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(times)]
    return [(X[rows], y[rows]) for rows in orders]


def versions(streams: list[Stream]) -> dict[str, list[Stream]]:
    """The stream as it is and, if it is a table, standardized: by what that adds to its name."""
    if issparse(streams[0][0]) or streams[0][0].shape[1] > FEW:
        return {"": streams}
    return {"": streams, ", standardized": [(standardized(X), y) for X, y in streams]}


def standardized(X: np.ndarray) -> np.ndarray:
    """Rows less the mean and by the deviation of all rows so far, themselves included."""
    count = np.arange(1, len(X) + 1)[:, None]
    centered = X - X[0]
    mean = np.cumsum(centered, axis=0) / count
    variance = np.maximum(np.cumsum(centered**2, axis=0) / count - mean**2, 0)
    return np.divide(centered - mean, np.sqrt(variance), out=np.zeros_like(centered), where=variance > 1e-12)


def workload(stream: Stream) -> Workload:
    X, y = stream
    classes, codes = np.unique(y, return_inverse=True)
    if issparse(X):  # features that never occur take no room
        X = csr_matrix(X)[:, np.unique(X.indices)]
    return Workload("", X, codes, np.arange(len(classes)))


def as_records(works: Sequence[Workload]) -> str:
    """The error of AutoClassifier on the rows of a table as dicts; empty for others."""
    if issparse(works[0].X) or works[0].X.shape[1] > FEW:
        return ""
    errors = []
    for work in works:
        names = [f"column{j}" for j in range(work.X.shape[1])]
        records = [dict(zip(names, row, strict=True)) for row in work.X.tolist()]
        model = stream.AutoClassifier().learn_many(records, work.y.tolist())
        errors.append(100 * model.totals_.mistakes / len(work.y))
    return f"{np.mean(errors):.2f}"


def ours(works: Sequence[Workload]) -> tuple[float, Best]:
    """The error of AutoClassifier, and its best expert in hindsight."""
    errors, experts = [], {}
    for work in works:
        model = AutoClassifier().partial_fit(work.X, work.y, classes=work.classes)
        errors.append(100 * model.totals_.mistakes / len(work.y))
        for name, mistakes in zip(model.experts_.names, model.experts_.mistakes, strict=True):
            experts.setdefault(name, []).append(100 * mistakes / len(work.y))
    return float(np.mean(errors)), best(experts)


def main() -> None:
    """Print two Markdown tables: errors, and the settings that had them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder with the data sets of streams.py")
    parser.add_argument("--streams", nargs="*", help="by default all of which there are data")
    parser.add_argument("--tables", type=Path, help="a folder as keel.py writes it, whose tables are the streams")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(LINEAR), help="by default the linear ones")
    arguments = parser.parse_args()
    known = tables(arguments.tables) if arguments.tables else NAMES if arguments.data else NAMES[len(STREAMS) :]
    peers = {name: PEERS[name] for name in arguments.peers}
    columns = ["stream", "AutoClassifier", "as dicts", "its best expert", *peers, "AutoClassifier / best peer"]
    print(f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}")
    settings = []
    for name in arguments.streams or known:
        of_table = arguments.tables and shuffled(tables(arguments.tables)[name](), TABLE_ORDERS)
        for version, streams in versions(of_table or orders(name, arguments.data)).items():
            works = [workload(stream) for stream in streams]
            auto, expert = ours(works)
            found = [peer(works) for peer in peers.values()]
            errors = [f"{peer.error:.2f}" if peer else "" for peer in found]
            cells = [f"{auto:.2f}", as_records(works), f"{expert.error:.2f}", *errors]
            ratio = auto / min((peer.error for peer in found if peer), default=np.nan)
            title = f"{name}{'' if arguments.tables or name in STREAMS | SEEN else ', held out'}{version}"
            print(f"| {title} | {' | '.join(cells)} | {ratio:.3f} |", flush=True)
            settings.append([title, expert.setting, *(peer.setting if peer else "" for peer in found)])
    print(f"\n| stream | best expert | {' | '.join(peers)} |\n|{' --- |' * (len(peers) + 2)}")
    for row in settings:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
