"""The numbers of kernels.rst: budgets, and feature maps in place of a kernel, on one pass over USPS.

python docs/measure/kernels.py DATA, the folder that holds usps/usps.npz.
"""

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


def report(title: str, learn: Callable[[], tuple[int, float, str]]) -> None:
    start = process_time()
    mistakes, error, size = learn()
    print(f"{title:34} mistakes {mistakes:4d}   test error {error:5.1%}   {size:15} {process_time() - start:5.2f} s")


def main(data: Path) -> None:
    with np.load(data / "usps/usps.npz") as arrays:
        X, y, X_test, y_test = (arrays[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    mean, norm = X.mean(axis=0), np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    X, X_test = (((part - mean) / norm).astype(np.float32) for part in (X, X_test))

    def kernel(**options: object) -> tuple[int, float, str]:
        model = PassiveAggressiveClassifier(**RBF | options).partial_fit(X, y)
        return model.totals_.mistakes, 1 - model.score(X_test, y_test), f"{model.n_support_} supports"

    def mapped(transform: RBFSampler | Nystroem | None) -> tuple[int, float, str]:
        rows, tests = X, X_test
        if transform is not None:
            transform.fit(X[:1000])
            rows, tests = transform.transform(X), transform.transform(X_test)
        model = PassiveAggressiveClassifier(C=C).partial_fit(rows, y)
        return model.totals_.mistakes, 1 - model.score(tests, y_test), f"{rows.shape[1]} features"

    with threadpool_limits(limits=1):
        report("no kernel", lambda: mapped(None))
        report("kernel", kernel)
        for budget in (1000, 300, 100):
            for policy in ("projection", "forgetron", "oldest", "smallest"):
                report(f"budget={budget}, {policy}", lambda b=budget, p=policy: kernel(budget=b, budget_policy=p))
        for n in (300, 1000):
            report(f"RBFSampler({n})", lambda n=n: mapped(RBFSampler(gamma=GAMMA, n_components=n, random_state=0)))
            report(f"Nystroem({n})", lambda n=n: mapped(Nystroem(gamma=GAMMA, n_components=n, random_state=0)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
