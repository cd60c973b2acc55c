"""Online scaling in one pass, compared with scikit-learn's scalers, which need one pass to fit and one to transform."""

import argparse

from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from timing import race
from workloads import WORKLOADS

from onmargin.features import RunningScaler

PEERS = {"rms": lambda: StandardScaler(with_mean=False), "max": MaxAbsScaler}


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="A and D by default; others: B, C, C64")
    parser.add_argument("--repeats", type=int, default=9, help="turns of each scaler, of which the best counts")
    arguments = parser.parse_args()
    print("| workload | by | `learn_transform`, s | scikit-learn / onmargin |\n| --- | --- | ---: | ---: |")
    for name in arguments.workloads or ["A", "D"]:
        work = WORKLOADS[name]()
        for by, peer in PEERS.items():
            runners = {
                "onmargin": lambda by=by, X=work.X: RunningScaler(by=by).learn_transform(X),
                "scikit-learn": lambda peer=peer, X=work.X: peer().partial_fit(X).transform(X),
            }
            seconds = race(runners, arguments.repeats)
            ratio = seconds["scikit-learn"] / seconds["onmargin"]
            print(f"| {name}: {work.title} | {by} | {seconds['onmargin']:.3f} | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
