"""The numbers of kernels.rst: budgets, and feature maps in place of a kernel, on one pass over USPS and over MNIST.

python docs/measure/kernels.py DATA [usps|mnist] [same_error], where DATA is the folder that holds usps/usps.npz and
mnist/*.gz. With same_error, how long the kernel learns until its test error is that of each map.
"""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from threadpoolctl import threadpool_limits

from onmargin import PassiveAggressiveClassifier

GAMMA, C = 2.0, 10.0
RBF = {"kernel": "rbf", "gamma": GAMMA, "C": C}
PIECE = 6000  # rows that are mapped at a time
# Per data set: rows that maps are fitted to, budgets, policies, and numbers of features.
FIRST_ROWS = {"usps": 1000, "mnist": 2000}
BUDGETS = {"usps": (1000, 300, 100), "mnist": (1000,)}
POLICIES = {"usps": ("projection", "forgetron", "oldest", "smallest"), "mnist": ("projection",)}
SIZES = {
    "usps": ((RBFSampler, (300, 1000, 3000, 10000)), (Nystroem, (300, 1000))),
    "mnist": ((RBFSampler, (300, 1000, 3000, 10000)), (Nystroem, (300, 1000, 2000))),
}


def digits(data: Path, name: str) -> list[np.ndarray]:
    """Return X, y, X_test and y_test."""
    if name == "usps":
        with np.load(data / "usps/usps.npz") as arrays:
            return [arrays[part] for part in ("X_train", "y_train", "X_test", "y_test")]
    parts = []
    for part in ("train", "t10k"):
        images, labels = f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"
        parts.append(np.frombuffer(gzip.decompress((data / "mnist" / images).read_bytes()), np.uint8, offset=16))
        parts.append(np.frombuffer(gzip.decompress((data / "mnist" / labels).read_bytes()), np.uint8, offset=8))
    return [part if k % 2 else part.reshape(-1, 784).astype(np.float32) for k, part in enumerate(parts)]


STEP = 1.15  # from one number of rows to the next at which the test error of the kernel is measured


def report(title: str, learn: Callable[[], tuple[int, float, str]]) -> None:
    start = process_time()
    mistakes, error, size = learn()
    taken = process_time() - start
    print(f"{title:34} mistakes {mistakes:5d}   test error {error:5.1%}   {size:15} {taken:5.2f} s", flush=True)


def main(data: Path, name: str = "usps", mode: str = "one_pass") -> None:
    X, y, X_test, y_test = digits(data, name)
    mean, norm = X.mean(axis=0), np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    X, X_test = (((part - mean) / norm).astype(np.float32) for part in (X, X_test))

    def kernel(**options: object) -> tuple[int, float, str]:
        model = PassiveAggressiveClassifier(**RBF | options).partial_fit(X, y)
        return model.totals_.mistakes, 1 - model.score(X_test, y_test), f"{model.n_support_} supports"

    def learned(transform: RBFSampler | Nystroem | None) -> tuple[PassiveAggressiveClassifier, Callable]:
        features = (lambda rows: rows) if transform is None else transform.fit(X[: FIRST_ROWS[name]]).transform
        model = PassiveAggressiveClassifier(C=C)
        for start in range(0, len(X), PIECE):
            part = slice(start, start + PIECE)
            model.partial_fit(features(X[part]), y[part], classes=np.unique(y))
        return model, features

    def mapped(transform: RBFSampler | Nystroem | None) -> tuple[int, float, str]:
        model, features = learned(transform)
        return model.totals_.mistakes, 1 - model.score(features(X_test), y_test), f"{model.n_features_in_} features"

    def same_error() -> None:
        runs = []
        for kind, sizes in SIZES[name]:
            for n in sizes:
                start = process_time()
                model, features = learned(kind(gamma=GAMMA, n_components=n, random_state=0))
                taken = process_time() - start
                runs.append((1 - model.score(features(X_test), y_test), taken, f"{kind.__name__}({n})"))
        model, taken, rows, error = PassiveAggressiveClassifier(**RBF), 0.0, 0, 1.0
        for target, seconds, title in sorted(runs, reverse=True):
            while error > target and rows < len(X):
                part = slice(rows, min(max(int(STEP * rows), rows + 100), len(X)))
                start = process_time()
                model.partial_fit(X[part], y[part], classes=np.unique(y))
                taken, rows = taken + process_time() - start, part.stop
                error = 1 - model.score(X_test, y_test)
            print(
                f"{title:18} test error {target:5.1%} {seconds:6.2f} s   kernel {error:5.1%} after {rows:5d} rows "
                f"{taken:6.2f} s   map / kernel {seconds / taken:5.1f}",
                flush=True,
            )

    with threadpool_limits(limits=1):
        if mode == "same_error":
            same_error()
            return
        report("no kernel", lambda: mapped(None))
        report("kernel", kernel)
        for budget in BUDGETS[name]:
            for policy in POLICIES[name]:
                report(f"budget={budget}, {policy}", lambda b=budget, p=policy: kernel(budget=b, budget_policy=p))
        for kind, sizes in SIZES[name]:
            for n in sizes:
                make = kind(gamma=GAMMA, n_components=n, random_state=0)
                report(f"{kind.__name__}({n})", lambda make=make: mapped(make))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
