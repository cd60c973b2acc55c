"""Speed of reading svmlight text, and of learning from it directly on disk."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from timing import race, ratios
from vowpal_wabbit import VowpalWabbit
from workloads import WORKLOADS, Workload

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onmargin.io import prefetch, read_svmlight

ROWS = 50_000


def measure(name: str, folder: Path, repeats: int) -> None:
    """Print the row of one workload."""
    whole = WORKLOADS[name]()
    work = Workload(whole.title, whole.X[:ROWS], whole.y[:ROWS], whole.classes)
    path = folder / "rows"
    dump_svmlight_file(work.X, work.y, str(path), zero_based=False)
    n_features = work.X.shape[1]
    megabytes = path.stat().st_size / 1e6
    vw = VowpalWabbit(work, folder)

    def read() -> None:
        for _ in read_svmlight(path, n_features=n_features):
            pass

    def load() -> None:
        load_svmlight_file(str(path), n_features=n_features, zero_based=False)

    def learn() -> None:
        known = {} if work.classes is None else {"classes": work.classes}
        model = PassiveAggressiveRegressor() if work.classes is None else PassiveAggressiveClassifier()
        for X, y, _ in prefetch(read_svmlight(path, n_features=n_features, dtype="float32")):
            model.partial_fit(X, y, **known)

    reading = race({"onmargin": read, "scikit-learn": load}, repeats)
    learning = {"onmargin": learn, "vw": vw.learn_text}
    wall, cpu = race(learning, repeats, perf_counter), race(learning, repeats)
    print(
        f"| {name}, {megabytes:.0f} MB | {megabytes / reading['onmargin']:.0f} "
        f"| {megabytes / reading['scikit-learn']:.0f} | {ratios(reading, 'onmargin')['scikit-learn']:.1f} "
        f"| {cpu['onmargin']:.2f} | {cpu['vw']:.2f} | {ratios(cpu, 'onmargin')['vw']:.1f} "
        f"| {ratios(wall, 'onmargin')['vw']:.1f} |",
        flush=True,
    )


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "workloads", nargs="*", default=["A", "D"], metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}"
    )
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    head = (
        "read: onmargin, MB/s",
        "scikit-learn, MB/s",
        "ratio",
        "learn: onmargin, CPU s",
        "vw, CPU s",
        "ratio",
        "wall ratio",
    )
    print(f"| workload | {' | '.join(head)} |")
    print(f"| --- |{' ---: |' * len(head)}")
    for name in arguments.workloads:
        with TemporaryDirectory() as folder:
            measure(name, Path(folder), arguments.repeats)


if __name__ == "__main__":
    main()
