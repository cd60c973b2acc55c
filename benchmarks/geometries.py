"""Time of the geometries compared with the Euclidean one: one pass over sparse rows of 75 non-zeros, in two widths."""

import argparse
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from timing import race

from onmargin import PassiveAggressiveClassifier, QuasiAdditiveClassifier

N_ROWS, N_NONZEROS = 20_000, 75
ENTROPIC = {"geometry": "entropic", "margin": 0.01, "C": 0.1}
LEARNERS = {
    "euclidean, PA-I": PassiveAggressiveClassifier(C=0.1, fit_intercept=False),
    **{
        f"{name}, {step}": QuasiAdditiveClassifier(step=step, **settings)
        for step in ("fixed", "optimal")
        for name, settings in {
            "euclidean": {"C": 0.1},
            "entropic": ENTROPIC | {"balanced": False},
            "balanced": ENTROPIC | {"balanced": True},
            "pnorm": {"geometry": "pnorm", "p": 8.0, "C": 0.1},
        }.items()
    },
}


def stream(n_features: int) -> tuple[csr_array, np.ndarray]:
    """Return rows of values of either sign, a few features in most rows, and noisy labels of a sparse target."""
    rng = np.random.default_rng(0)
    drawn = np.exp(rng.random((N_ROWS, 4 * N_NONZEROS)) * np.log(n_features)).astype(np.int32) - 1
    picked = [np.sort(rng.permutation(np.unique(row))[:N_NONZEROS]) for row in drawn]  # distinct, fixed number per row
    ends = np.arange(0, N_ROWS * N_NONZEROS + 1, N_NONZEROS)
    X = csr_array((rng.standard_normal(ends[-1]), np.concatenate(picked), ends), (N_ROWS, n_features))
    target = np.zeros(n_features)
    target[:40] = rng.standard_normal(40)
    return X, np.sign(X @ target + rng.standard_normal(N_ROWS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="turns of each learner")
    repeats = parser.parse_args().repeats
    for n_features in 2**14, 2**18:
        X, y = stream(n_features)

        def learn(name: str, X: csr_array = X, y: np.ndarray = y) -> object:
            return LEARNERS[name].__class__(**LEARNERS[name].get_params()).partial_fit(X, y, classes=[-1, 1])

        seconds = race({name: partial(learn, name) for name in LEARNERS}, repeats)
        print(f"\n2^{n_features.bit_length() - 1} features, {X.nnz // N_ROWS} non-zeros a row\n")
        print("| weights, step | µs a round | times PA-I | rounds that moved, % | mistakes, % |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for name, taken in seconds.items():
            totals = learn(name).totals_
            moved, wrong = 100 * totals.updates / N_ROWS, 100 * totals.mistakes / N_ROWS
            times = taken / seconds["euclidean, PA-I"]
            print(f"| {name} | {1e6 * taken / N_ROWS:.2f} | {times:.1f} | {moved:.0f} | {wrong:.1f} |")


if __name__ == "__main__":
    main()
