"""Seconds to save and load a model of 2^20 features and 20 classes in float32, compared with pickle and joblib."""

import argparse
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import joblib
import numpy as np
from scipy import sparse

import onmargin

N_FEATURES, N_CLASSES = 2**20, 20


def learned() -> Any:
    """Return a model with nonzero weights."""
    random = np.random.default_rng(0)
    X = sparse.csr_matrix((N_CLASSES, N_FEATURES), dtype=np.float32)
    model = onmargin.PassiveAggressiveClassifier().partial_fit(X, np.arange(N_CLASSES))
    model.coef_ = random.standard_normal((N_CLASSES, N_FEATURES), dtype=np.float32)
    return model


def pickle_dump(model: Any, path: Path) -> None:
    with path.open("wb") as file:
        pickle.dump(model, file, protocol=5)


def pickle_load(path: Path) -> Any:
    with path.open("rb") as file:
        return pickle.load(file)


WAYS: dict[str, tuple[Callable[[Any, Path], object], Callable[[Path], Any]]] = {
    "onmargin": (onmargin.save, onmargin.load),
    "pickle": (pickle_dump, pickle_load),
    "joblib": (joblib.dump, joblib.load),
}


def seconds(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="the ways take turns, and the best turn counts")
    parser.add_argument("--folder", help="where to write; by default where temporary files go")
    arguments = parser.parse_args()
    model = learned()
    saving, loading = (dict.fromkeys(WAYS, float("inf")) for _ in range(2))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        paths = {name: Path(folder, name) for name in WAYS}
        for _ in range(arguments.repeats):
            for name, (save, load) in WAYS.items():
                saving[name] = min(saving[name], seconds(lambda: save(model, paths[name])))  # noqa: B023
                loading[name] = min(loading[name], seconds(lambda: load(paths[name])))  # noqa: B023
        sizes = {name: path.stat().st_size for name, path in paths.items()}
    print("| | save, s | load, s | MB |")
    print("| --- | ---: | ---: | ---: |")
    for name in WAYS:
        print(f"| {name} | {saving[name]:.2f} | {loading[name]:.2f} | {sizes[name] / 1e6:.1f} |")


if __name__ == "__main__":
    main()
