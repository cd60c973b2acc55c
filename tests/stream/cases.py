"""Streams of examples of every kind, and models halfway through them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from onmargin import stream
from onmargin.features import ClassTermFeatures
from tests.reading import made
from tests.saved import anatomy

MODELS = {name: getattr(stream, name) for name in stream.__all__}
TASK = {name: kind.task for name, kind in MODELS.items()}
# Weights on the simplex, and p = 2 ln(n_features), depend on the number of features: names must be hashed.
SIZED = {"Winnow", "ExponentiatedGradientRegressor", "PNormPerceptron"}
# These set a rate by the rows of the first call: streams equal matrices learned row by row.
BY_ROW = {"ExponentiatedGradientRegressor", "GradientDescentRegressor"}
LABELLED = {name for name, task in TASK.items() if task in {"classify", "rank"}}
N = 60
WORDS = ["apple", "banana", "cherry", "date", "Elder", "fig", "grape", "Ünïcode", "snake_case", "x1"]


def dicts(random):
    """Return dicts of numbers and categories; some features appear late."""
    return [
        {f"n{j}": float(random.normal()) for j in range(6) if random.uniform() < 0.6}
        | ({"kind": str(random.choice(["a", "b"]))} if i % 3 == 0 else {})
        | ({f"late{i // 10}": 1} if i > 30 else {})
        for i in range(N)
    ]


def lists(random):
    return [[str(word) for word in random.choice(WORDS, random.integers(0, 8))] for _ in range(N)]


def texts(random):
    return [" ".join(row) + "." for row in lists(random)]


def mixed(random):
    """Return alternating dicts, lists and texts."""
    return [rows[i % 3] for i, rows in enumerate(zip(dicts(random), lists(random), texts(random), strict=True))]


def vectors(random):
    return list(random.normal(size=(N, 5)) * (random.uniform(size=(N, 5)) < 0.7))


def sparse_rows(random):
    return [sparse.csr_matrix(row) for row in vectors(random)]


KINDS = {make.__name__: make for make in (dicts, lists, texts, mixed, vectors, sparse_rows)}
VECTORS = {"vectors", "sparse_rows"}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "AROWClassifier": [{"average": "best", "forgetting": 0.1}, {"strategy": "joint", "dtype": "float32"}],
    "AROWRegressor": [{"average": True, "epsilon": 0.1}, {"fit_intercept": False, "dtype": "float32"}],
    "NHERDClassifier": [{"C": 1.0, "strategy": "joint"}],
    "SCWClassifier": [{"variant": "II", "average": 3}],
    "DualAscentClassifier": [
        {"window": 3, "sweeps": 2, "fit_intercept": True},
        {"window": None, "sweeps": 1, "class_weight": "balanced"},
        {"geometry": "entropic", "window": 2, "sweeps": 1, "n_features": 2**5},
        {"geometry": "pnorm", "window": 2, "sweeps": 1, "n_features": 2**5},
    ],
    "DualAscentRegressor": [{"window": 3, "sweeps": 2}, {"window": None, "sweeps": 1, "fit_intercept": False}],
    "ExponentiatedGradientRegressor": [{"balanced": True, "n_features": 2**5}, {"rate": 0.1, "n_features": 2**5}],
    "GradientDescentRegressor": [{"rate": 0.05}],
    "PNormPerceptron": [{"p": 3.0, "C": 0.5, "n_features": 2**5}],
    "Perceptron": [{"C": 0.5, "fit_intercept": False}, {"class_weight": {"z": 2.0}}],
    "QuasiAdditiveClassifier": [
        {"step": "aggressive", "fit_intercept": True},
        {"geometry": "entropic", "C": 0.2, "n_features": 2**5},
        {"geometry": "pnorm", "step": "fixed", "n_features": 2**5},
    ],
    "OnlineLogisticClassifier": [{"geometry": "euclidean", "rate": 0.1}, {"class_weight": "balanced", "average": True}],
    "OnlineRidgeRegressor": [{"forecast": True, "forgetting": 0.02}, {"fit_intercept": False, "alpha": 0.1}],
    "Winnow": [{"balanced": True, "rate": 0.3, "n_features": 2**5}],
    "AutoClassifier": [{"combine": "leader", "dtype": "float32"}],
    "AutoRegressor": [{"combine": "leader"}, {"fit_intercept": False, "dtype": "float32"}],
    "PassiveAggressiveClassifier": [
        {"C": "auto", "combine": "hedge"},
        {"average": "best", "update": "simproj"},
        {"C": [0.01, 1.0], "average": True, "dtype": "float32"},
        {"average": True, "dtype": "float32"},
        {"update": "simproj"},
        {"class_margin": {"z": 3.0, "never": 0.5}},
        {"strategy": "ovr", "loss": "squared_hinge", "C": 0.1},
        {"idf": True, "ngrams": (1, 2), "weighting": "log"},
    ],
    "PassiveAggressiveRegressor": [
        {"C": (0.1, np.inf), "combine": "hedge"},
        {"average": "best", "dtype": "float32"},
        {"epsilon": 0.0, "C": np.inf},
        {"fit_intercept": False, "average": 7},
    ],
    "ClassFeatureClassifier": [
        {"update": "exact", "average": True},
        {"loss": "squared_hinge", "phi": ClassTermFeatures(kind="tfidf"), "C": 0.1},
        {"geometry": "entropic", "phi": ClassTermFeatures(kind="multiplicative"), "margin": 0.01, "n_features": 2**5},
    ],
    "LabelRanker": [{"calibrate": False, "update": "exact"}],
    "OrdinalRegressor": [{"update": "exact", "average": True}],
    "PassiveAggressiveUniclass": [
        {"radius": "learn", "max_radius": 3.0},
        {"init": "zero", "loss": "squared_epsilon_insensitive"},
    ],
}


@dataclass(frozen=True)
class Case:
    """A model with parameters, and examples of some kind."""

    name: str
    kind: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        options = "-".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.name}-{self.kind}-{options or 'default'}"

    def model(self):
        needed = {"ranks": ["low", "middle", "high"]} if self.name == "OrdinalRegressor" else {}
        if self.name in SIZED and self.kind not in VECTORS:
            needed["n_features"] = 2**6
        if self.name == "Winnow":
            needed["balanced"] = True
        if self.name == "ClassFeatureClassifier":
            needed["phi"] = ClassTermFeatures()
        parameters = {
            name: value for name, value in self.parameters.items() if name != "n_features" or value is not None
        }
        return made(MODELS[self.name], **needed | parameters)

    def data(self):
        """Return examples, and targets whose classes appear one after the other."""
        random = np.random.default_rng(5)
        X = KINDS[self.kind](random)
        codes = np.minimum(random.integers(0, 4, N), np.arange(N) // 8)
        names = np.array(["m", "c", "z", "a"])
        targets = {
            "classify": names[codes].tolist(),
            "regress": (codes + random.normal(size=N)).tolist(),
            "rank": [set(names[random.permutation(4)[: i % 4]].tolist()) for i in range(N)],
            "ordinal": np.array(["low", "middle", "high"])[random.integers(0, 3, N)].tolist(),
            "novelty": [None] * N,
        }
        return X, targets[TASK[self.name]]

    def half(self, k):
        X, y = self.data()
        part = slice(k * N // 2, (k + 1) * N // 2)
        return X[part], y[part]

    def half_way(self):
        return learned(self.model(), *self.half(0))


def learned(model, X, y):
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)
    return model


def state(model):
    """Return the complete state of a model, for bitwise comparison."""
    return anatomy(vars(model))


CASES = [
    Case(name, kind, parameters)
    for name in MODELS
    for kind in KINDS
    for parameters in ({}, {"n_features": 2**6}, *VARIANTS.get(name, []))
    if not ("n_features" in parameters and kind in VECTORS)
    # Messages are validated one by one, which takes time.
    and not (name == "ClassFeatureClassifier" and parameters and kind not in {"dicts", "vectors"})
]
