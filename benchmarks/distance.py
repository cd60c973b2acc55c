"""Time of one pass through the public API, compared with hand-written C for the same rounds on the same arrays."""

import argparse
from collections.abc import Callable

import numpy as np
from learners import Estimator, onmargin_model
from limit import limit_of, limit_of_sweep, limit_of_tagger
from scipy import sparse
from timing import race
from workloads import WORKLOADS, Workload

from onmargin import PassiveAggressiveClassifier, SequenceTagger

Runners = tuple[str, Callable[[], object], Callable[[], int]]


def converted(make: Callable[[], Workload], dtype: type[np.floating]) -> Workload:
    """Make the workload in another precision."""
    work = make()
    title = work.title.replace(str(work.X.dtype), str(np.dtype(dtype)))
    return Workload(title, work.X.astype(dtype), work.y, work.classes)


def of_workload(work: Workload) -> Runners:
    return work.title, Estimator(onmargin_model, work).learn, limit_of(work.X, work.y, work.classes)


def of_sweep() -> Runners:
    """Return runners for eight values of C on workload A."""
    work, C = WORKLOADS["A"](), np.geomspace(0.01, 10, 8).tolist()
    learner = Estimator(lambda work: PassiveAggressiveClassifier(C=C), work)
    return f"8 values of C, {work.title}", learner.learn, limit_of_sweep(work.X, work.y, C)


def of_tagger() -> Runners:
    """Return runners on sequences whose labels depend on the features and on the previous label."""
    rng = np.random.default_rng(4)
    n, length, labels, n_features, stored = 5000, 20, 20, 2**17, 15
    follows = rng.random((labels, labels)) ** 8
    follows /= follows.sum(axis=1, keepdims=True)
    y = np.zeros((n, length), np.int64)
    for i in range(1, length):
        y[:, i] = [rng.choice(labels, p=follows[a]) for a in y[:, i - 1]]
    y = y.ravel()
    rank = np.exp(rng.random((len(y), stored)) * np.log(n_features // labels)).astype(np.int64) - 1
    own = (rng.random(rank.shape) < 0.3) * y[:, None]
    scattered = rng.permutation(n_features).astype(np.int32)[(rank + own * (n_features // labels)) % n_features]
    X = sparse.csr_array((np.ones(scattered.size), scattered.ravel(), np.arange(len(y) + 1, dtype=np.int32) * stored))
    X.sum_duplicates()
    X.data[:] = 1
    X.resize((len(y), n_features))
    lengths, ends = np.full(n, length), np.arange(n + 1, dtype=np.int64) * length
    known = np.arange(labels)
    title = "tagger, CSR float64, 5,000 x 20 tokens x 15 features, 20 labels"
    learn = limit_of_tagger(X, y, ends)
    return title, lambda: SequenceTagger().partial_fit(X, y, known, lengths=lengths), learn


TABLE: dict[str, Callable[[], Runners]] = {
    "A": lambda: of_workload(WORKLOADS["A"]()),
    "A64": lambda: of_workload(converted(WORKLOADS["A"], np.float64)),
    "B": lambda: of_workload(WORKLOADS["B"]()),
    "B64": lambda: of_workload(converted(WORKLOADS["B"], np.float64)),
    "C": lambda: of_workload(WORKLOADS["C"]()),
    "C64": lambda: of_workload(WORKLOADS["C64"]()),
    "D": lambda: of_workload(WORKLOADS["D"]()),
    "D32": lambda: of_workload(converted(WORKLOADS["D"], np.float32)),
    "tagger": of_tagger,
    "sweep": of_sweep,
}


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(TABLE)}; all by default")
    parser.add_argument("--repeats", type=int, default=15, help="turns of each, of which the best counts")
    arguments = parser.parse_args()
    print("| workload | limit, s | onmargin, s | onmargin / limit | mistakes: limit / onmargin |")
    print("| --- |" + " ---: |" * 4)
    for name in arguments.workloads or TABLE:
        title, learn, limit = TABLE[name]()
        seconds = race({"limit": limit, "onmargin": learn}, arguments.repeats)
        cells = (
            f"{name}: {title}",
            f"{seconds['limit']:.4f}",
            f"{seconds['onmargin']:.4f}",
            f"{seconds['onmargin'] / seconds['limit']:.2f}",
            f"{limit():,} / {learn().totals_.mistakes:,}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
