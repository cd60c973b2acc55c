"""Training on shards in parallel: its time compared with a serial pass, and its price in error.

Times are wall-clock times, next to the CPU seconds of the work in the passes. If other work shares the cores, only the
CPU seconds show the cost of mixing.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from workloads import WORKLOADS

from onmargin import AROWClassifier, PassiveAggressiveClassifier, scale
from onmargin.io import Batch, Shards, read_svmlight, shards
from onmargin.io.model_file import from_bytes, to_bytes
from onmargin.scale import LocalEngine, RayEngine
from onmargin.scale._mixing import Learned, Mixture

FILES = 8
EPOCHS = 3
MEMORY = 2 * 2**30  # size of Ray's object store


class Timed:
    """An engine that sums the CPU seconds of its mapped calls, and measures the time of each `map`."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.cpu: list[float] = []
        self.wall: list[float] = []

    def map(self, fn: Callable[..., Any], items: Sequence[Any], shared: Any) -> Iterator[Any]:
        start, spent = perf_counter(), 0.0
        for result, seconds in self._engine.map(partial(timed, fn), items, shared):
            spent += seconds
            yield result
        self.cpu.append(spent)
        self.wall.append(perf_counter() - start)


def timed(fn: Callable[..., Any], item: Any, shared: Any) -> tuple[Any, float]:
    start = process_time()
    return fn(item, shared), process_time() - start


def serial_pass(paths: Sequence[str], n_features: int) -> tuple[float, float]:
    """Return wall and CPU seconds of a pass over the files with `partial_fit`."""
    model = PassiveAggressiveClassifier()
    wall, cpu = perf_counter(), process_time()
    for shard in shards(paths, n_features=n_features, dtype=np.float32):
        for batch in shard.batches():
            model.partial_fit(batch.X, batch.y, classes=[0, 1])
    return perf_counter() - wall, process_time() - cpu


def passes(folder: Path, repeats: int, engines: dict[str, Callable[[int], Any]]) -> None:
    """Measure passes over workload A as text, in files of equal length."""
    work = WORKLOADS["A"]()
    n = work.X.shape[0] // FILES
    paths = []
    for k in range(FILES):
        paths.append(str(folder / f"{k}.svm"))
        part = slice(k * n, (k + 1) * n)
        dump_svmlight_file(work.X[part], work.y[part], paths[-1], zero_based=False)
    width = work.X.shape[1]
    size = sum(Path(path).stat().st_size for path in paths) / 1e6
    print(f"\n{FILES * n:,} rows, {size:.0f} MB\n")
    print("| engine | workers | shards | s an epoch | s serial | serial / (workers x epoch) | the same of CPU |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    least = np.inf
    for name, make in engines.items():
        for workers in (1, 2):
            engine = make(workers)
            for n_shards in (1, 2, 4, 8):
                data = shards(paths, n_shards=n_shards, n_features=width, dtype=np.float32)
                wall = cpu = serial_wall = serial_cpu = np.inf
                for _ in range(repeats):  # alternate, so that other load slows both
                    seconds = serial_pass(paths, width)
                    serial_wall, serial_cpu = min(serial_wall, seconds[0]), min(serial_cpu, seconds[1])
                    clock = Timed(engine)
                    scale.fit(PassiveAggressiveClassifier(), data, engine=clock, epochs=EPOCHS)
                    wall, cpu = min(wall, *clock.wall[1:]), min(cpu, *clock.cpu[1:])
                row = f"{wall:.2f} | {serial_wall:.2f} | {serial_wall / (workers * wall):.2f} | {serial_cpu / cpu:.2f}"
                print(f"| {name} | {workers} | {n_shards} | {row} |", flush=True)
                least = min(least, serial_cpu)
            engine.close()
    print(f"\nThe serial pass takes {least:.2f} s of CPU, {least / (FILES * n) * 1e6:.1f} us a row")


def broadcast(engines: dict[str, Callable[[int], Any]], repeats: int) -> None:
    """Measure the overhead of an epoch beyond its passes, with shards of two rows."""
    print(
        "\n| weights | MB | to bytes, s | from bytes, s | mixing a shard, s | "
        + " | ".join(f"{name}: a shard there and back, s" for name in engines)
        + " |\n"
        + "| --- " * (5 + len(engines))
        + "|"
    )
    pairs = {name: make(2) for name, make in engines.items()}
    for bits in (16, 18, 20, 22, 24):
        X = sparse.csr_matrix((np.ones(2), ([0, 1], [0, 2**bits - 1])), dtype=np.float32)
        model = PassiveAggressiveClassifier().partial_fit(X, [0, 1])
        cells = [fastest(lambda model=model: to_bytes(model), repeats)]
        data = to_bytes(model)
        cells.append(fastest(lambda data=data: from_bytes(data), repeats))
        start = Learned.of(model)
        end = Learned.of(from_bytes(data).partial_fit(X, [0, 1]))
        mixture = Mixture(start, model._learner.geometry)
        cells.append(fastest(lambda end=end, mixture=mixture: mixture.add(end, 1.0), repeats))
        for engine in pairs.values():
            clock = Timed(engine)
            one = [One(f"{k}", X) for k in range(4)]
            scale.fit(PassiveAggressiveClassifier(), one, engine=clock, epochs=repeats)
            cells.append(min(clock.wall[1:]) / len(one))
        row = " | ".join(f"{cell:.3f}" for cell in cells)
        print(f"| 2^{bits} | {start.arrays['weights'].nbytes / 1e6:.1f} | {row} |", flush=True)
    for engine in pairs.values():
        engine.close()


class One:
    """A shard of two rows."""

    def __init__(self, name: str, X: Any) -> None:
        self.name = name
        self._X = X

    def batches(self) -> Iterator[Batch]:
        yield Batch(self._X, np.array([0, 1]))


def fastest(call: Callable[[], object], repeats: int) -> float:
    best = np.inf
    for _ in range(repeats):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best


def errors(title: str, train: Sequence[str], X: Any, y: Any, **options: Any) -> None:
    """Print the test error after some epochs, by the number of shards; one shard is the serial run."""
    models = {
        "PA-I, C = 0.01": PassiveAggressiveClassifier(C=0.01),
        "PA-I averaged": PassiveAggressiveClassifier(C=0.01, average=True),
        "AROW": AROWClassifier(),
    }
    counts = [n for n in (1, 2, 4, 8, 32) if n <= len(train)]
    print(f"\n| {title} | epochs | mixing | " + " | ".join(f"{n} shards" for n in counts) + " |")
    print("| --- | ---: | --- " + "| ---: " * len(counts) + "|")
    for name, model in models.items():
        for epochs in (1, 5):
            for mixing in ("updates", "uniform"):
                cells = []
                for n in counts:
                    student = type(model)(**model.get_params())
                    data: Shards = shards(train, n_shards=n, **options)
                    scale.fit(student, data, engine=LocalEngine(1), epochs=epochs, mixing=mixing)
                    cells.append(f"{1 - student.score(X, y):.4f}")
                print(f"| {name} | {epochs} | {mixing} | {' | '.join(cells)} |", flush=True)


def split(X: Any, y: Any, folder: Path, n: int) -> list[str]:
    """Write consecutive parts to svmlight files."""
    bounds = np.linspace(0, X.shape[0], n + 1).astype(int)
    paths = []
    for k in range(n):
        paths.append(str(folder / f"part{k:02}.svm"))
        dump_svmlight_file(X[bounds[k] : bounds[k + 1]], y[bounds[k] : bounds[k + 1]], paths[-1], zero_based=False)
    return paths


def read(path: Path, n_features: int) -> tuple[Any, Any]:
    blocks = list(read_svmlight(path, n_features=n_features))
    return sparse.vstack([block.X for block in blocks], format="csr"), np.concatenate([block.y for block in blocks])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", choices=["passes", "broadcast", "errors"], default=[])
    parser.add_argument("--data", type=Path, help="a folder with the files a9a and a9a.t of LIBSVM")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-ray", action="store_true", help="processes alone")
    options = parser.parse_args()
    what = options.what or ["passes", "broadcast", "errors"]
    engines: dict[str, Callable[[int], Any]] = {"local": LocalEngine}
    if not options.no_ray:
        engines["ray"] = lambda workers: RayEngine(workers=workers, memory=MEMORY)
    if "passes" in what:
        with TemporaryDirectory() as folder:
            passes(Path(folder), options.repeats, engines)
    if "broadcast" in what:
        broadcast(engines, max(2, options.repeats))
    if "errors" in what:
        with TemporaryDirectory() as folder:
            work = WORKLOADS["A"]()
            n = work.X.shape[0] * 3 // 4
            train = split(work.X[:n], work.y[:n], Path(folder), 32)
            errors(
                "workload A", train, work.X[n:], work.y[n:].astype(float), n_features=work.X.shape[1], dtype=np.float32
            )
        if options.data:
            with TemporaryDirectory() as folder:
                train = split(*read(options.data / "a9a", 123), Path(folder), 32)
                errors("a9a", train, *read(options.data / "a9a.t", 123), n_features=123)


if __name__ == "__main__":
    main()
