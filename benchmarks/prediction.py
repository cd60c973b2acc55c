"""Wall time of `predict` and `predict_proba` with one thread and with several. The machine must be idle."""

import argparse
import os
from time import perf_counter

import numpy as np
from learners import onmargin_model
from timing import race
from workloads import WORKLOADS

import onmargin


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=["A", "B", "C", "C64", "D"], metavar="WORKLOAD")
    parser.add_argument("--learner", help="instead of the passive-aggressive one, such as AutoClassifier")
    parser.add_argument("--rows", type=int, help="of each workload to learn and to predict; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of threads")
    parser.add_argument("--repeats", type=int, default=15, help="turns of each, of which the best counts")
    arguments = parser.parse_args()
    print(f"| workload | method | one thread, ms | {arguments.jobs} threads, ms | times as fast | same bits |")
    print("| --- | --- |" + " ---: |" * 4)
    for name in arguments.workloads:
        work = WORKLOADS[name]()
        X, y = work.X[: arguments.rows], work.y[: arguments.rows]
        model = getattr(onmargin, arguments.learner)() if arguments.learner else onmargin_model(work)
        model.partial_fit(X, y)
        for method in ("predict", "predict_proba"):
            if not hasattr(model, method):
                continue
            results = {}

            def run(jobs: int, method: str = method, model=model, X=X, results=results) -> None:
                results[jobs] = getattr(model.set_params(n_jobs=jobs), method)(X)

            runners = {str(jobs): lambda jobs=jobs: run(jobs) for jobs in (1, arguments.jobs)}
            seconds = race(runners, arguments.repeats, perf_counter)
            one, several = seconds["1"], seconds[str(arguments.jobs)]
            same = np.array_equal(results[1], results[arguments.jobs])
            times = f"{1e3 * one:.1f} | {1e3 * several:.1f} | {one / several:.2f}"
            print(f"| {work.title} | {method} | {times} | {'yes' if same else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
