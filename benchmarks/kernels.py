"""One pass with a polynomial kernel over digits, compared with NumPy: by rows, by blocks, and the reference.

--data is a folder with usps/usps.npz and mnist/*.gz. Without it, synthetic data of the size of USPS are used.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from timing import race, ratios

from onmargin import PassiveAggressiveClassifier, reference
from onmargin.lab.data import mnist, standardize, usps

C, DEGREE, BLOCK = 100.0, 5, 256


def digits(data: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return USPS, or synthetic data of the same size."""
    if data is not None:
        return usps(data)
    random = np.random.default_rng(0)
    y = random.integers(10, size=7291)
    return standardize(random.normal(scale=0.2, size=(10, 256))[y] + random.standard_normal((7291, 256))), y


def compiled(X: np.ndarray, y: np.ndarray, coef0: float = 1.0) -> PassiveAggressiveClassifier:
    model = PassiveAggressiveClassifier(kernel="poly", degree=DEGREE, gamma=1.0, coef0=coef0, C=C, fit_intercept=False)
    return model.partial_fit(X, y, classes=np.arange(10))


def step(scores: np.ndarray, right: int, squared_norm: float) -> tuple[int, float, bool]:
    """Return the best rival of the true class, tau, and whether it was a mistake."""
    others = scores.copy()
    others[right] = -np.inf
    rival = int(others.argmax())
    margin = scores[right] - scores[rival]
    return rival, min(C, max(1 - margin, 0) / (2 * squared_norm)), bool(margin <= 0)


def by_rows(X: np.ndarray, y: np.ndarray) -> int:
    """Run in NumPy, row by row."""
    supports, coef, n, mistakes = np.empty_like(X), np.zeros((len(X), 10), np.float32), 0, 0
    for x, right in zip(X, y, strict=True):
        scores = (supports[:n] @ x + 1) ** DEGREE @ coef[:n]
        rival, tau, mistake = step(scores, right, float(x @ x + 1) ** DEGREE)
        mistakes += mistake
        if tau > 0:
            supports[n], coef[n, right], coef[n, rival] = x, tau, -tau
            n += 1
    return mistakes


def by_blocks(X: np.ndarray, y: np.ndarray) -> int:
    """Run in NumPy, with one matrix product for the kernel values of a block, and row by row within it."""
    supports, coef, n, mistakes = np.empty_like(X), np.zeros((len(X), 10), np.float32), 0, 0
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK]
        old = n
        before = _power(block @ supports[:old].T + 1) @ coef[:old]
        within = _power(block @ block.T + 1)
        places: list[int] = []
        for i, right in enumerate(y[start : start + BLOCK]):
            scores = before[i] + within[i, places] @ coef[old:n]
            rival, tau, mistake = step(scores, right, within[i, i])
            mistakes += mistake
            if tau > 0:
                supports[n], coef[n, right], coef[n, rival] = block[i], tau, -tau
                places.append(i)
                n += 1
    return mistakes


def twin(X: np.ndarray, y: np.ndarray) -> int:
    """Run the NumPy reference, which needs all kernel values at once."""
    K = _power(X.astype(np.float64) @ X.T.astype(np.float64) + 1)
    return reference.play_kernel(K, y, reference.multiclass, reference.pa1(C), columns=10).mistakes


def _power(values: np.ndarray) -> np.ndarray:
    """Return the fifth power by multiplication, which is faster than ``**``."""
    square = values * values
    return square * square * values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each")
    parser.add_argument("--data", type=Path, help="folder of the data sets usps and mnist")
    options = parser.parse_args()
    X, y = digits(options.data)
    seconds = race(
        {
            "onmargin": lambda: compiled(X, y),
            "NumPy by blocks": lambda: by_blocks(X, y),
            "NumPy by rows": lambda: by_rows(X, y),
            "NumPy twin": lambda: twin(X, y),
        },
        options.repeats,
    )
    model = compiled(X, y)
    others = ratios(seconds, "onmargin")
    print(f"| data | onmargin, s | {' | '.join(f'{name} / onmargin' for name in others)} | mistakes | supports |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    print(
        f"| {'USPS' if options.data else 'as large as USPS'}: {len(X):,} x {X.shape[1]} | {seconds['onmargin']:.3f} | "
        + " | ".join(f"{ratio:.1f}" for ratio in others.values())
        + f" | {model.totals_.mistakes} | {model.n_support_:,} |"
    )
    if options.data:
        X, y = mnist(options.data)
        before, wall, cpu = peak(), time.perf_counter(), time.process_time()
        model = compiled(X, y, coef0=0.5)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print("\n| data | wall, s | CPU, s | most memory before and after, MB | mistakes | supports |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        print(
            f"| MNIST: {len(X):,} x {X.shape[1]} | {wall:.0f} | {cpu:.0f} | {before:.0f} and {peak():.0f} | "
            f"{model.totals_.mistakes:,} | {model.n_support_:,} |"
        )


def peak() -> float:
    """Return the peak memory of the process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
