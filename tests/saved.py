"""Models to save: every public estimator, in its variants, halfway through a stream."""

import filecmp
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

import onmargin
from onmargin._parts import is_part, take_apart
from onmargin.features import ClassTermFeatures
from tests.structures import Matchings, stream

# Estimators are discovered, not listed, so an estimator that cannot be saved fails a test.
ESTIMATORS = {
    name: value
    for name, value in ((name, getattr(onmargin, name)) for name in onmargin.__all__)
    if isinstance(value, type) and issubclass(value, BaseEstimator)
}
N_ROWS, N_FEATURES, N_CLASSES = 60, 6, 3


def phi(x: Any, label: Any) -> Any:
    """Return one block of features per class."""
    return np.kron(np.eye(N_CLASSES)[label], x.toarray().ravel() if sparse.issparse(x) else x)


class InOrder:
    """A structured model that orders words by their weights; feature names need not be strings."""

    def __init__(self, name=str):
        self.name = name

    def joint_features(self, words, order):
        return {self.name(word): len(order) - 1 - 2 * place for place, word in enumerate(order)}

    def argmax(self, weights, words):
        return sorted(words, key=lambda word: -weights[self.name(word)])

    def cost(self, order, guess):
        return sum(a != b for a, b in zip(order, guess, strict=True))


def pair(word):
    return ("word", ord(word))


# Required parameters of estimators.
NEEDED = {"StructuredPredictor": {"model": InOrder()}}
# The targets of each estimator, where they are not classes.
TARGETS = {name: "numbers" for name in ESTIMATORS if name.endswith("Regressor") and name != "OrdinalRegressor"} | {
    "BlockClassifier": "signs",
    "DualAscentClassifier": "signs",
    "LabelRanker": "sets",
    "PassiveAggressiveUniclass": "nothing",
    "Winnow": "signs",  # one vector for two classes cannot become three
}
COST = np.array([[0, 1, 2], [3, 0, 1], [1, 2, 0]])
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "AROWClassifier": [{"forgetting": 0.1, "average": True}, {"average": "best"}],
    "AutoClassifier": [{"combine": "leader"}],
    "BlockClassifier": [{"update": "exact"}, {"average": True}, {"geometry": "entropic", "margin": 0.1}],
    "ClassFeatureClassifier": [
        {"phi": ClassTermFeatures()},
        {"phi": ClassTermFeatures(kind="tfidf")},
        {"phi": phi, "average": 3},
        {"phi": phi, "cost": COST, "cost_update": "max_loss"},
    ],
    "DualAscentClassifier": [
        {"window": 4},
        {"window": None, "geometry": "entropic"},
        {"geometry": "pnorm", "p": 3.0},
        {"kernel": "rbf", "window": 5},
        {"kernel": "poly", "window": None, "fit_intercept": True},
    ],
    "DualAscentRegressor": [{"window": 4}, {"window": None, "sweeps": 2, "fit_intercept": False}],
    "ExponentiatedGradientRegressor": [{"balanced": False, "rate": np.float32(0.1)}],
    "LabelRanker": [{"calibrate": False}, {"update": "simproj", "average": True}, {"kernel": "poly"}],
    "OrdinalRegressor": [{"update": "exact", "average": 5}],
    "PNormPerceptron": [{"p": 4}],
    "PassiveAggressiveClassifier": [
        {"average": True},
        {"average": np.int64(20), "C": inf},
        {"average": "best", "cost": COST},
        {"cost": COST, "cost_update": "max_loss"},
        {"cost": COST.tolist()},
        {"update": "simproj", "class_weight": "balanced"},
        {"strategy": "ovr", "class_weight": {2: 0.5, 0: np.float64(2.0), 1: 1}},
        {"class_margin": {2: 0.5, 0: np.float64(2.0)}},
        {"geometry": "entropic", "C": 0.1},
        {"geometry": "adaptive", "average": 7},
        {"C": [0.01, 1.0], "combine": "hedge"},
        {"C": "auto", "geometry": "normalized"},
        {"geometry": "normalized", "strategy": "ovr"},
        {"kernel": "rbf"},
        {"kernel": "poly", "budget": 5, "budget_policy": "forgetron"},
        {"loss": "squared_hinge", "intercept_scaling": 0.3, "tol": None},
    ],
    "PassiveAggressiveRegressor": [
        {"average": True},
        {"geometry": "entropic"},
        {"fit_intercept": False},
        {"C": (0.1, 10.0), "combine": "hedge", "average": True},
        {"kernel": "sigmoid", "average": True},
    ],
    "PassiveAggressiveUniclass": [
        {"radius": "learn", "max_radius": 3.0, "C": 0.1},
        {"init": "zero"},
        {"geometry": "entropic", "epsilon": 2.0},
        {"kernel": "rbf"},
        {"kernel": "rbf", "budget": 5, "budget_policy": "smallest"},
        {"kernel": "poly", "budget": 5, "C": 0.1},
    ],
    "QuasiAdditiveClassifier": [
        {"geometry": "entropic", "balanced": True, "step": "optimal"},
        {"geometry": "pnorm", "step": "aggressive"},
        {"geometry": "euclidean", "fit_intercept": True},
    ],
    "SequenceTagger": [
        {"average": 5, "loss": "squared_hinge"},
        {"transition_features": ("near=", "row=4"), "average": True},
        {"update": "max_loss", "separator": None, "fit_intercept": False},
        {"update": "perceptron", "label_cost": {"b": 2.0}, "cost": "squared_hamming"},
        {"update": "exact", "n_rivals": 3},
        {"C": [0.01, 1.0], "combine": "hedge", "average": 5},
        {"C": "auto", "transition_features": ("near=",)},
    ],
    "SCWClassifier": [{"variant": "II", "strategy": "joint"}],
    "StructuredPredictor": [{"model": InOrder(pair), "average": True}, {"model": Matchings()}],
    "Winnow": [{"balanced": True}],
}


@dataclass(frozen=True)
class Case:
    """An estimator with parameters, and rows of one kind."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    dtype: Any = np.float64
    sparse: bool = False

    def __str__(self) -> str:
        options = "-".join(
            f"{name}={type(value).__name__ if callable(value) or name in self.given else value}"
            for name, value in self.options
        )
        rows = f"{np.dtype(self.dtype)}-{'sparse' if self.sparse else 'dense'}"
        return f"{self.name}-{options or 'default'}-{rows}".replace("\n", "")

    @property
    def options(self) -> list[tuple[str, Any]]:
        return list(self.parameters.items())

    @property
    def given(self) -> dict[str, Any]:
        """Return the arguments that must be passed again when loading."""
        needed = NEEDED.get(self.name, {}) | self.parameters
        return {name: value for name, value in needed.items() if name == "model" or value is phi}

    @property
    def takes_blocks(self) -> bool:
        """Return whether a row is an array of classes by features."""
        return self.name == "ClassFeatureClassifier" and not self.parameters.get("phi")

    def model(self, **parameters: Any) -> Any:
        return ESTIMATORS[self.name](**NEEDED.get(self.name, {}) | self.parameters | parameters)

    def data(self) -> tuple[Any, Any]:
        if self.name == "SequenceTagger":
            return sequences()
        if self.name == "StructuredPredictor":
            return stream("matchings", N_ROWS)[1:3] if isinstance(self.given["model"], Matchings) else orders()
        return self.rows()

    def rows(self) -> tuple[Any, Any]:
        """Return nonnegative rows, and targets."""
        random = np.random.default_rng(7)
        shape = (N_ROWS, N_CLASSES, N_FEATURES) if self.takes_blocks else (N_ROWS, N_FEATURES)
        X = (random.uniform(0, 1, shape) * (random.uniform(size=shape) < 0.7)).astype(self.dtype)
        codes = (random.integers(0, N_CLASSES, N_ROWS) + 2 * X.reshape(N_ROWS, -1)[:, 0]).astype(int) % N_CLASSES
        codes[:N_CLASSES] = range(N_CLASSES)
        targets = {
            "classes": codes,
            "signs": codes % 2,
            "numbers": X.reshape(N_ROWS, -1)[:, 0] + random.uniform(0, 0.3, N_ROWS),
            "sets": [set(random.permutation(N_CLASSES)[: i % 3].tolist()) for i in range(N_ROWS)],
            "nothing": None,
        }
        rows = sparse.csr_matrix(X) if self.sparse and not self.takes_blocks else X
        return rows, targets[TARGETS.get(self.name, "classes")]

    def half(self, k: int) -> tuple[Any, Any]:
        X, y = self.data()
        part = slice(k * N_ROWS // 2, (k + 1) * N_ROWS // 2)
        return X[part], None if y is None else y[part]

    def half_way(self, **parameters: Any) -> Any:
        """Return the model in the middle of its stream."""
        return self.model(**parameters).partial_fit(*self.half(0))


def sequences() -> tuple[Any, Any]:
    """Return sequences, one of them empty, whose second half has new labels and features."""
    random = np.random.default_rng(7)
    y = [random.choice(list("abc" if i < N_ROWS // 2 else "0abcd"), i % 5).tolist() for i in range(N_ROWS)]
    noise = random.integers(0, 9, (N_ROWS, 5))
    X = [
        [[f"near={label}{noise[i, j] // 3}", f"größe:{noise[i, j]}", f"row={i}"] for j, label in enumerate(y[i])]
        for i in range(N_ROWS)
    ]
    return X, y


def orders() -> tuple[Any, Any]:
    """Return words in nearly alphabetical order; the second half has more of them."""
    random = np.random.default_rng(7)
    X = [random.permutation(list("aceg" if i < N_ROWS // 2 else "abcdefgh"))[:4].tolist() for i in range(N_ROWS)]
    return X, [sorted(words, key=lambda word: ord(word) + random.normal(0, 1)) for words in X]


def answers(model: Any, X: Any) -> list[Any]:
    """Return the output of a model, as numbers if possible."""
    if isinstance(model, onmargin.SequenceTagger):
        return [score for ((score, _),) in model.decode(X)]
    if isinstance(model, onmargin.StructuredPredictor):
        return [model.score_of(x, z) for x, z in zip(X, model.predict(X), strict=True)]
    answer = model.decision_function if hasattr(model, "decision_function") else model.predict
    return answer(X).tolist()


CASES = [
    Case(name, parameters, dtype, is_sparse)
    for name in ESTIMATORS
    for parameters in ({}, *VARIANTS.get(name, []))
    for dtype in (np.float64, np.float32)
    for is_sparse in (False, True)
    if name not in {"SequenceTagger", "StructuredPredictor"} or (is_sparse and dtype is np.float32)  # they have no rows
]


def anatomy(value: Any) -> Any:
    """Return the complete contents of a value, for comparison of bits and types."""
    kind = type(value).__name__
    if isinstance(value, BaseEstimator):
        return kind, anatomy(vars(value))
    if is_part(value):
        pieces = take_apart(value)
        return kind, anatomy(pieces.arguments), anatomy(pieces.settings), anatomy(pieces.state)
    if sparse.issparse(value):
        return kind, value.shape, *map(anatomy, (value.data, value.indices, value.indptr))
    if isinstance(value, np.random.RandomState):
        return kind, anatomy(value.get_state(legacy=False))
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return kind, value.shape, anatomy(value.ravel().tolist())
    if isinstance(value, np.ndarray | np.generic):
        return kind, value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return kind, sorted((repr(key), anatomy(key), anatomy(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return kind, [anatomy(item) for item in value]
    return kind, repr(value)


def same_bytes(one, other):
    """Return whether two files are the same; pytest would print every byte of large ones that differ."""
    return filecmp.cmp(one, other, shallow=False)
