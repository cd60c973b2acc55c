"""Model files whose structure is wrong and whose checksums are right; ``python -m tests.io.forging 10000`` tries many.

A file is taken apart into its description and its arrays, both are changed at random, and it is put together again.
"""

import copy
import json
import random
import resource
import sys
import tempfile
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

import onmargin
from onmargin import ModelFileError, features
from onmargin._parts import parts
from tests import saved
from tests.stream import cases as streams

model_file: Any = import_module("onmargin.io.model_file")


@dataclass(frozen=True)
class Transformer:
    """A transformer, or a learner behind one, halfway through its rows."""

    name: str

    def __str__(self) -> str:
        return self.name

    def half(self, k: int) -> Any:
        return saved.Case("PassiveAggressiveClassifier").half(k)

    def half_way(self) -> Any:
        made = {"Scaled": (onmargin.PassiveAggressiveClassifier(),)}
        model = getattr(features, self.name)(*made.get(self.name, ()))
        return model.partial_fit(*self.half(0)) if hasattr(model, "partial_fit") else model


def each_option(cases: list[Any]) -> list[Any]:
    """Return one case for each class and its options, with rows of one kind and another in turn."""
    found: dict[str, list[Any]] = {}
    for case in cases:
        found.setdefault(f"{case.name} {case.parameters}", []).append(case)
    return [options[k % len(options)] for k, options in enumerate(found.values())]


CASES = [
    *each_option(saved.CASES),
    *each_option(streams.CASES),
    *map(Transformer, ("ClassTermFeatures", "RunningScaler", "Scaled", "RecordFeatures")),
]


@cache
def taken_apart(k: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the description and the arrays of a model file, by the number of its case."""
    case = CASES[k]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, arrays = model_file._described(case.half_way(), None)
    document = json.loads(text)
    del document["sha256"], document["arrays"]
    return document, arrays


@cache
def halves(k: int) -> tuple[Any, Any]:
    """Return a few examples from before the file was written, and a few from after."""
    few = slice(12)  # some learners return to all examples, again and again
    return tuple((X[few], None if y is None else y[few]) for X, y in map(CASES[k].half, (0, 1)))


def number_of(case: Any) -> int:
    """Return the number of a case; its parameters may be arrays, which are not compared."""
    return next(k for k, one in enumerate(CASES) if one is case)


def put_together(document: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """Return a file with correct checksums."""
    entries = {name: model_file._entry(array) for name, array in arrays.items()}
    document = document | {"arrays": entries}
    text = model_file._canonical(document | {"sha256": model_file._digest(document)})
    return b"".join(map(bytes, model_file._pieces(text, arrays)))


NUMBERS = [-1, 0, 1, 2, 3, 5, 8, 17, 100, 625, 2**15, 2**16, 2**30, 2**31, 2**32, 2**45, 2**62, 2**63 - 1, 2**64]
NUMBERS += [-(2**31), -(2**63), 0.5, -1.0, 1e-300, 1e300, {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}]
OTHERS = [None, True, False, "", "float32", "float64", "best", "all", [], [1], {"tuple": []}, {"dict": {}}]
OTHERS += [{"items": {"dtype": "<U268435456", "shape": [0], "items": []}}, {"scalar": ["int64", 7]}]
DTYPES = ["float64", "float32", "int64", "int32", "int8", "uint8", "uint32", "bool"]


class Forger:
    """Changes a description and its arrays at random."""

    def __init__(self, seed: int, case: Any) -> None:
        self.random = random.Random(seed)
        self.document, self.arrays = copy.deepcopy(taken_apart(number_of(case)))
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            self.random.choice(CHANGES)(self)

    def file(self) -> bytes:
        if self.random.random() < 0.95:
            self.mend_arrays()
        return put_together(self.document, self.arrays)

    def mend_arrays(self) -> None:
        """Make each array used once, since other files are rejected immediately."""
        used: dict[str, Any] = {}
        for holder, key in self.nodes():
            name = holder[key]
            if isinstance(name, str) and name in self.arrays and key in {"array", "key", "data", "indices", "indptr"}:
                while name in used:
                    name += "+"
                used[name] = self.arrays[holder[key]]
                holder[key] = name
        self.arrays = used

    def nodes(self) -> list[tuple[Any, Any]]:
        """Return all values of the description, each as a container and a key."""
        found, waiting = [], [self.document["parameters"], self.document["state"]]
        while waiting:
            holder = waiting.pop()
            for key in range(len(holder)) if isinstance(holder, list) else list(holder):
                found.append((holder, key))
                if isinstance(holder[key], dict | list):
                    waiting.append(holder[key])
        return found

    def node(self, accepts: Any) -> tuple[Any, Any]:
        """One of the values that are accepted; the last of none is none."""
        found = [(holder, key) for holder, key in self.nodes() if accepts(holder, key)]
        return self.random.choice(found) if found else ({"": None}, "")

    def other(self) -> tuple[Any, dict[str, Any]]:
        """Return the description and arrays of another model."""
        return taken_apart(self.random.randrange(len(CASES)))

    def change_number(self) -> None:
        holder, key = self.node(lambda h, k: type(h[k]) in (int, float) or (isinstance(h[k], dict) and "float" in h[k]))
        old = holder[key]
        near = [old - 1, old + 1, 2 * old, -old] if isinstance(old, int) else []
        holder[key] = self.random.choice(NUMBERS + 5 * near)

    def change_value(self) -> None:
        holder, key = self.node(lambda h, k: True)
        holder[key] = copy.deepcopy(self.random.choice(NUMBERS + OTHERS))

    def change_text(self) -> None:
        holder, key = self.node(lambda h, k: isinstance(h[k], str) and k not in {"array", "kind"})
        holder[key] = self.random.choice(["", "a", "float32", "float64", "int32", "<U99999999", "<U3", "O", "x" * 1000])

    def change_kind(self) -> None:
        holder, key = self.node(lambda h, k: k == "kind")
        holder[key] = self.random.choice(sorted(parts()))

    def change_class(self) -> None:
        other, _ = self.other()
        self.document["class"] = other["class"]
        if self.random.random() < 0.5:
            self.document["parameters"] = copy.deepcopy(other["parameters"])

    def swap(self) -> None:
        one, other = self.node(lambda h, k: True), self.node(lambda h, k: True)
        (a, i), (b, j) = one, other
        a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])

    def swap_arrays(self) -> None:
        (a, i), (b, j) = (self.node(lambda h, k: k == "array") for _ in range(2))
        a[i], b[j] = b[j], a[i]

    def drop(self) -> None:
        holder, key = self.node(lambda h, k: True)
        del holder[key]

    def repeat(self) -> None:
        holder, key = self.node(lambda h, k: isinstance(h, list))
        if isinstance(holder, list):
            holder[key:key] = copy.deepcopy([holder[key]]) * self.random.choice([1, 1, 2, 50])

    def reverse(self) -> None:
        holder, key = self.node(lambda h, k: isinstance(h[k], list))
        holder[key] = (holder[key] or [])[::-1]

    def rename(self) -> None:
        holder, key = self.node(lambda h, k: isinstance(h, dict))
        name = self.random.choice([*holder, f"{key}_", "classes_", "_model", "weights", "n_columns"])
        holder[name] = holder.pop(key)

    def transplant(self) -> None:
        """Replace a part by a part of another model, with its arrays."""
        forger, is_part = copy.copy(self), lambda h, k: isinstance(h[k], dict) and bool({"part", "items"} & set(h[k]))
        forger.document, arrays = copy.deepcopy(self.other())
        (source, i), (target, j) = forger.node(is_part), self.node(is_part)
        target[j] = source[i]
        self.arrays |= {f"{name}*": array for name, array in arrays.items()}
        renamed = copy.copy(self)
        renamed.document = {"parameters": {}, "state": {"": target[j]}}
        for holder, key in renamed.nodes():
            if isinstance(holder[key], str) and holder[key] in arrays:
                holder[key] += "*"

    def relative(self) -> dict[str, Any]:
        """Return the description of a model of the same class with other options, with its arrays added."""
        names = [k for k in range(len(CASES)) if taken_apart(k)[0]["class"] == self.document["class"]]
        document, arrays = copy.deepcopy(taken_apart(self.random.choice(names or [0])))
        self.arrays = arrays | self.arrays if self.random.random() < 0.5 else self.arrays | arrays
        return document

    def change_options(self) -> None:
        parameters = self.relative()["parameters"]
        for name in self.random.sample(sorted(parameters), min(len(parameters), self.random.choice([1, 3, 100]))):
            self.document["parameters"][name] = parameters[name]

    def change_state(self) -> None:
        """Replace attributes by those of another model of the same class."""
        document = self.relative()
        for name in self.random.sample(sorted(document["state"]), self.random.randint(0, len(document["state"]))):
            self.document["state"][name] = document["state"][name]

    def change_numbers(self) -> None:
        """Put nonsensical numbers into arrays of floats."""
        for name, array in sorted(self.arrays.items()):
            if array.dtype.kind == "f" and self.random.random() < 0.3:
                part = np.array([self.random.random() < 0.5 for _ in range(array.size)]).reshape(array.shape)
                with np.errstate(all="ignore"):
                    number = array.dtype.type(self.random.choice([np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0, 1e-320]))
                self.arrays[name] = np.where(part, number, array)

    def change_array(self) -> None:
        if not self.arrays:
            return
        name = self.random.choice(sorted(self.arrays))
        array = self.arrays[name]
        size = max(array.size, 1)
        change = self.random.choice(["shape", "dtype", "length", "values", "values", "values"])
        if change == "shape":
            shapes = [
                (-1,),
                (1, -1),
                (-1, 1),
                array.shape[::-1],
                (1, *array.shape),
                (2, -1) if size % 2 == 0 else (-1,),
            ]
            array = array.reshape(self.random.choice(shapes)) if array.size else np.zeros((2, 3), array.dtype)
        elif change == "dtype":
            with np.errstate(all="ignore"):
                array = array.astype(self.random.choice(DTYPES))
        elif change == "length":
            n = len(array) if array.ndim else 0
            length = self.random.choice([0, 1, n - 1, n + 1, 2 * n, 1000])
            array = np.resize(array, (length, *array.shape[1:])) if n else np.zeros(3, array.dtype)
        elif array.size:
            array = array.copy()
            values = [np.nan, np.inf, -np.inf, 1e300, -1.0] if array.dtype.kind == "f" else [-1, 0, 1, 100, 2**31 - 1]
            places = self.random.sample(range(array.size), self.random.choice([1, min(3, array.size), array.size]))
            with np.errstate(all="ignore"):
                array.flat[places] = np.array(self.random.choice(values)).astype(array.dtype)
        self.arrays[name] = np.ascontiguousarray(array)


CHANGES = [
    *[Forger.change_number] * 4,
    *[Forger.change_array] * 4,
    *[Forger.change_kind] * 2,
    *[Forger.transplant] * 2,
    *[Forger.change_numbers] * 3,
    *[Forger.change_options] * 3,
    *[Forger.change_state] * 2,
    Forger.change_value,
    Forger.change_text,
    Forger.change_class,
    Forger.swap,
    Forger.swap_arrays,
    Forger.drop,
    Forger.repeat,
    Forger.reverse,
    Forger.rename,
]

ATTRIBUTES = (
    *("coef_", "intercept_", "classes_", "totals_", "t_", "grid_", "models_", "model_outcomes_", "scale_"),
    *("center_", "radius_", "offset_", "transitions_", "transition_coef_", "transition_feature_names_", "weights_"),
    *("feature_names_", "support_", "support_vectors_", "dual_coef_", "document_counts_", "thresholds_", "n_features_"),
)


def uses(model: Any, case: Any) -> list[Any]:
    """Return the calls to try on a loaded model."""
    first, second = halves(number_of(case))
    X, y = second
    calls = [lambda: repr(model), lambda: copy.deepcopy(model), lambda: model_file.to_bytes(model)]
    calls += [lambda name=name: getattr(model, name) for name in ATTRIBUTES]
    if hasattr(model, "learn_one") and not hasattr(model, "partial_fit"):
        pairs = list(zip(X, repeat(None) if y is None else y, strict=False))
        asked = [name for name in ("predict_one", "scores_one", "explain", "names_one") if hasattr(model, name)]
        calls += [lambda name=name: getattr(model, name)(X[0]) for name in asked]
        calls += [lambda: model.weights(top=3), lambda: model.predict_many(list(first[0])), lambda: model.retire(1)]
        calls += [lambda pair=pair: model.learn_one(*pair) for pair in pairs[:10]]
        calls += [lambda: model.learn_many(X, y), lambda: model.predict_many(X), lambda: model.weights(top=3)]
    else:
        asked = [name for name in ("predict", "decision_function", "transform", "decode") if hasattr(model, name)]
        calls += [lambda name=name: getattr(model, name)(X) for name in asked]
        calls += [lambda: sparse_again(model), lambda: model.retire(1)]
        calls += [lambda: model.partial_fit(*first), lambda: model.partial_fit(*second)]
        calls += [lambda name=name: getattr(model, name)(X) for name in asked]
        calls += [
            lambda: model.learn_transform(*second),
            lambda: model.set_params(warm_start=True, max_iter=3, verbose=0).fit(*second),
        ]
    return calls


def sparse_again(model: Any) -> None:
    """Make the weights sparse, and dense again."""
    model.sparsify().densify()


def attempt(call: Any) -> None:
    """Call and ignore any exception; only a crash is a failure."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), suppress(Exception):
        warnings.simplefilter("ignore")
        call()


def is_loaded(case: Any, seed: int, path: Path) -> bool:
    """Forge a file, load it, use the model if loading succeeds, and return whether it did."""
    path.write_bytes(Forger(seed, case).file())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = onmargin.load(path, parameters=getattr(case, "given", {}))
        except ModelFileError:
            return False
    for call in uses(model, case):
        attempt(call)
    return True


def peak() -> int:
    """Return the peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(n: int, start: int = 0) -> None:
    """Try n forgeries, and report how many were loaded and the largest memory use."""
    loaded, before = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        for seed in range(start, start + n):
            case = CASES[seed % len(CASES)]
            print(seed, case, file=sys.stderr, flush=True)  # noqa: T201
            loaded += is_loaded(case, seed, path)
            if peak() > before + 2**26:
                before = peak()
                print(f"seed {seed}, {case}: {before >> 20} MB", flush=True)  # noqa: T201
    print(f"{n} forgeries from {start} on: {loaded} loaded, {n - loaded} refused, {peak() >> 20} MB")  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
