"""Peak memory of one `partial_fit` beyond its arguments, next to the sizes of X and the weights: X is not copied."""

import argparse
import tracemalloc

import numpy as np
from learners import Estimator, onmargin_model, sklearn_model
from workloads import WORKLOADS


def peak(learner: Estimator) -> int:
    """Return the peak number of bytes allocated in one pass, including NumPy's."""
    tracemalloc.start()
    learner.learn()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def table_row(name: str) -> str:
    """Measure one workload."""
    work = WORKLOADS[name]()
    X, ours = work.X, Estimator(onmargin_model, work)
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    sizes = (
        sum(part.nbytes for part in parts),
        work.y.nbytes,
        ours.learn().coef_.nbytes,
        peak(ours),
        peak(Estimator(sklearn_model, work)),
    )
    return f"| {name}: {work.title} | {' | '.join(f'{size / 1e6:.2f}' for size in sizes)} |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; all by default")
    arguments = parser.parse_args()

    print("| workload | X, MB | y, MB | weights, MB | peak of onmargin, MB | peak of scikit-learn, MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments.workloads or WORKLOADS:
        print(table_row(name), flush=True)


if __name__ == "__main__":
    main()
