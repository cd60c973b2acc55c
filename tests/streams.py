"""Streams of every task for the tests, and learners in the core, in the NumPy reference and in the public API."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, isinf, isnan
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from onmargin import PassiveAggressiveClassifier, PassiveAggressiveRegressor, reference
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.steps.step import Projection
from onmargin._core.tasks.task import Binary, Multiclass, OneVsRest, Regression
from onmargin.learner import Learner, as_rows

EPSILON = 0.1
TASKS = {
    "binary": (Binary(), reference.binary),
    "regression": (Regression(EPSILON), reference.regression(EPSILON)),
    "multiclass": (Multiclass(), reference.multiclass),
    "one_vs_rest": (OneVsRest(), reference.one_vs_rest),
}


@dataclass(frozen=True)
class Rule:
    """PA-I or, with squared slack, PA-II; with C = inf, both are plain PA."""

    C: float = inf
    squared: bool = False

    @property
    def core(self) -> Projection:
        return Projection(damping=1 / (2 * self.C)) if self.squared else Projection(cap=self.C)

    @property
    def twin(self) -> reference.rounds.Step:
        if isinf(self.C):
            return reference.pa
        return reference.pa2(self.C) if self.squared else reference.pa1(self.C)

    def __str__(self) -> str:
        return "PA" if isinf(self.C) else f"PA-{'II' if self.squared else 'I'}({self.C:g})"


PA = Rule()
RULES = (PA, Rule(0.05), Rule(0.05, squared=True))


@dataclass(frozen=True)
class Round:
    """One round of the core as in the papers: the intercept is an additional coordinate of the row and the weights."""

    x: NDArray[Any]
    y: float
    scores: tuple[NDArray[Any], NDArray[Any]]  # before and after
    weights: tuple[NDArray[Any], NDArray[Any]]  # before and after, coordinates x columns
    violated: list[reference.HalfSpace]  # before
    mistake: bool
    sample_weight: float

    def squared_length(self, half_space: reference.HalfSpace) -> float:
        """Return s = |v|^2 of the direction v of the half-space."""
        return float((self.x @ self.x) * (half_space.direction @ half_space.direction))

    def tau(self, half_space: reference.HalfSpace) -> float:
        """Return the distance that the weights moved along v."""
        s = self.squared_length(half_space)
        move = self.weights[1] - self.weights[0]
        return float(self.x @ move @ half_space.direction) / s if s > 0 else 0.0


@dataclass(frozen=True)
class Stream:
    """Rows and targets as the core expects them: -1 and +1, real numbers, or the column of the class."""

    task: str
    X: NDArray[Any]
    y: NDArray[np.float64]
    columns: int = 1

    @property
    def blocks(self) -> int:
        """Return the number of columns of one half-space, which is |v|^2 / |x|^2."""
        return 2 if self.task == "multiclass" else 1

    def cast(self, dtype: Any) -> "Stream":
        return replace(self, X=self.X.astype(dtype))

    def learner(self, rule: Rule = PA, **options: Any) -> Learner:
        """Return a core learner before its first round; `options` are those of the geometry."""
        geometry = Euclidean(self.X.shape[1], self.columns, self.X.dtype, **options)
        return Learner(TASKS[self.task][0], rule.core, geometry)

    def learned(
        self, rule: Rule = PA, *, weight: NDArray[Any] | None = None, rows: Any = None, **options: Any
    ) -> Learner:
        """Return a core learner after the whole stream; `rows` may give X in another container."""
        learner = self.learner(rule, **options)
        learner.learn(as_rows(self.X if rows is None else rows), self.y, weight)
        return learner

    def twin(
        self,
        rule: Rule = PA,
        *,
        bias: float = 0.0,
        weight: NDArray[Any] | None = None,
        start: NDArray[Any] | None = None,
        act: bool = False,
    ) -> reference.Run:
        """Run the NumPy reference in double precision, with an additional feature for the intercept.

        With `act`, weights also act on the margin, as those of estimators do.
        """
        live = np.ones(len(self.y), bool) if weight is None else weight > 0
        X = reference.with_intercept(self.X[live].astype(np.float64), None if isnan(bias) else bias)
        scale = None if weight is None else weight[live]
        task, y = TASKS[self.task][1], self.y[live]
        if act and weight is not None and self.task != "regression":
            task, y = reference.with_weights(task), list(zip(y.tolist(), weight[live].tolist(), strict=True))
        return reference.play(X, y, task, rule.twin, columns=self.columns, weight=scale, start=start)

    def estimator(self, rule: Rule = PA, **parameters: Any) -> Any:
        """Return the public estimator, by default without an intercept; regression has no class weights."""
        parameters = {"C": rule.C, "fit_intercept": False} | parameters
        if self.task == "regression":
            parameters.pop("class_weight", None)
            loss = "squared_epsilon_insensitive" if rule.squared else "epsilon_insensitive"
            return PassiveAggressiveRegressor(loss=loss, epsilon=EPSILON, **parameters)
        strategy = "ovr" if self.task == "one_vs_rest" else "joint"
        loss = "squared_hinge" if rule.squared else "hinge"
        return PassiveAggressiveClassifier(loss=loss, strategy=strategy, **parameters)

    @property
    def classes(self) -> dict[str, Any]:
        """Return the arguments that make partial_fit use these columns."""
        classes = [-1, 1] if self.task == "binary" else range(self.columns)
        return {} if self.task == "regression" else {"classes": list(classes)}

    def rounds(self, learner: Learner, *, weight: NDArray[Any] | None = None) -> Iterator[Round]:
        """Run a learner round by round and yield each round."""
        for i, y in enumerate(self.y):
            rows = as_rows(self.X[i : i + 1])
            w = np.ones(1) if weight is None else weight[i : i + 1]
            before, scores = paper_weights(learner), learner.scores(rows)[0]
            learner.learn(rows, self.y[i : i + 1], w)
            bias = np.nan_to_num(learner.geometry.bias)
            x = np.append(self.X[i].astype(np.float64), bias)
            half_spaces, mistake = TASKS[self.task][1](scores, y)
            violated = [h for h in half_spaces if h.loss > 0]
            after = paper_weights(learner), learner.scores(rows)[0]
            yield Round(x, y, (scores, after[1]), (before, after[0]), violated, mistake, float(w[0]))

    def losses(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return losses of fixed weights (features x columns), rounds x half-spaces: one, or one per column for ovr."""
        half_spaces = [TASKS[self.task][1](x @ weights, y)[0] for x, y in zip(self.X, self.y, strict=True)]
        return np.array([[max(h.loss, 0.0) for h in of_row] for of_row in half_spaces])


def current(learner: Learner) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the current weights, columns x features, and intercepts, averaged or not."""
    return learner.geometry.weights.copy(), learner.geometry.intercept.copy()


def paper_weights(learner: Learner) -> NDArray[np.float64]:
    """Return weights, coordinates x columns, the intercept last: `intercept` holds its score, not its weight."""
    coef, intercept = current(learner)
    bias = np.nan_to_num(learner.geometry.bias)
    return np.vstack([coef.T, intercept / bias if bias else intercept]).astype(np.float64)


def state(learner: Learner) -> list[Any]:
    """Return the complete state of a learner, for bitwise comparison."""
    geometry = learner.geometry
    arrays = [a.tolist() for pair in (current(learner), geometry.mean()) for a in pair]
    return [*arrays, geometry.clock, str(geometry.bias), learner.totals]


def public_state(model: Any) -> dict[str, Any]:
    """Return the public state of an estimator, for bitwise comparison."""
    names = ["coef_", "intercept_", "classes_", "class_counts_", "intercept_scaling_", "t_", "totals_"]
    values = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return {name: str(np.asarray(value).tolist()) if name != "totals_" else value for name, value in values.items()}


def wide_indices(X: Any, container: Any = sparse.csr_array) -> Any:
    """Return CSR with 64-bit indices, which scipy's constructors narrow if possible."""
    X = container(X)
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return X


CONTAINERS = {
    "dense": np.ascontiguousarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csr_matrix_int64": lambda X: wide_indices(X, sparse.csr_matrix),
    "csr_array_int64": wide_indices,
}


def gaussian(
    task: str, columns: int = 1, *, n_rows: int = 80, n_features: int = 37, dtype: Any = np.float64, seed: int = 0
) -> Stream:
    """Return noisy data without ties; row i has i (mod n_features + 1) nonzero values, so the first has none."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_features))
    for i, row in enumerate(X):
        row[random.permutation(n_features)[i % (n_features + 1) :]] = 0
    X = X.astype(dtype)
    scores = X @ random.standard_normal((n_features, columns)) + 0.5 * random.standard_normal((n_rows, columns))
    if task == "regression":
        return Stream(task, X, scores[:, 0].astype(np.float64))
    y = np.where(scores[:, 0] < 0, -1.0, 1.0) if task == "binary" else scores.argmax(axis=1).astype(np.float64)
    return Stream(task, X, y, columns)


def uneven_weights(n_rows: int, seed: int = 1) -> NDArray[np.float64]:
    """Return weights, a third of them zero and all others distinct, so that classes with equal updates do not tie."""
    random = np.random.default_rng(seed)
    return random.uniform(0.2, 3.0, n_rows) * (random.permutation(n_rows) % 3 > 0)


# Strategies: ALGORITHMS.md section 12 names the families of data on which the bounds were verified.

rules = st.builds(Rule, st.sampled_from([0.01, 0.3, 1.0, 10.0, inf]), st.booleans())
biases = st.sampled_from([0.0, 0.7, float("nan")])
dtypes = st.sampled_from([np.float32, np.float64])
geometries = st.fixed_dictionaries({"bias": biases, "average": st.sampled_from([0, 1, 4]), "sparse": st.booleans()})
parameters = st.fixed_dictionaries(
    {
        "fit_intercept": st.booleans(),
        "average": st.sampled_from([False, True, 4]),
        "class_weight": st.sampled_from([None, "balanced", {-1: 0.5, 0: 2.0, 1: 1.5, 2: 3.0, 3: 0.25, 4: 1.0}]),
    }
)
containers = st.sampled_from([np.ascontiguousarray, sparse.csr_array])


def integers(n: int, kind: str = "u1") -> st.SearchStrategy[NDArray[Any]]:
    """Draw n integers at once, which is much faster than n draws."""
    size = n * np.dtype(kind).itemsize
    return st.binary(min_size=size, max_size=size).map(lambda data: np.frombuffer(data, kind).astype(np.int64))


def lattice(n: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Draw values from -2 to 2."""
    return integers(n, "i1").map(lambda values: np.fmod(values, 3).astype(np.float64))


def reals(n: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Draw values up to about 3 in size, and none that is nearly zero."""
    return integers(n, "<i2").map(lambda values: values / 10_000)


@st.composite
def matrices(draw: st.DrawFn, scales: tuple[int, int] = (-2, 2)) -> NDArray[np.float64]:
    """Draw rows, with repetitions, from a few lattice or real points, including zero, of very different sizes."""
    n_points, n_features = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    points = draw(draw(st.sampled_from([lattice, reals]))(n_points * n_features)).reshape(n_points, n_features)
    exponents = draw(st.lists(st.integers(*scales), min_size=n_points, max_size=n_points))
    picks = draw(integers(draw(st.integers(1, 10)))) % n_points
    return (points * 10.0 ** np.array(exponents)[:, None])[picks]


@st.composite
def streams(draw: st.DrawFn, *tasks: str, scales: tuple[int, int] = (-2, 2)) -> Stream:
    """Draw a stream of one of the tasks, by default any, with targets independent of the rows."""
    X = draw(matrices(scales))
    task = draw(st.sampled_from(tasks or tuple(TASKS)))
    if task == "regression":
        return Stream(task, X, draw(draw(st.sampled_from([lattice, reals]))(len(X))))
    columns = 1 if task == "binary" else draw(st.integers(2, 5))
    labels = draw(integers(len(X))) % max(columns, 2)
    return Stream(task, X, (2.0 * labels - 1 if task == "binary" else labels).astype(np.float64), columns)


@st.composite
def realizable(draw: st.DrawFn, *tasks: str) -> tuple[Stream, NDArray[np.float64]]:
    """Draw a stream and weights without loss on it: a margin of at least 1, or targets within the tube."""
    X = draw(matrices((-1, 1)))
    task = draw(st.sampled_from(tasks))
    columns = draw(st.integers(2, 4)) if task == "multiclass" else 1
    u = draw(reals(X.shape[1] * columns)).reshape(X.shape[1], columns)
    if task == "regression":
        noise = draw(lattice(len(X))) * EPSILON / 2
        return Stream(task, X, (X @ u)[:, 0] + noise), u
    ranked = np.sort(np.column_stack([X @ u, -X @ u]) if task == "binary" else X @ u, axis=1)
    margin = (ranked[:, -1] - ranked[:, -2]) / (2 if task == "binary" else 1)
    clear = margin > 1e-3
    assume(clear.any())
    X = X[clear]
    y = np.sign(X @ u)[:, 0] if task == "binary" else (X @ u).argmax(axis=1).astype(np.float64)
    return Stream(task, X, y, columns), u / margin[clear].min()


def competitors(stream: Stream) -> st.SearchStrategy[NDArray[np.float64]]:
    """Draw competitor weights, features x columns."""
    shape = stream.X.shape[1], stream.columns
    return st.builds(
        lambda u, exponent: u.reshape(shape) * 10.0**exponent, reals(shape[0] * shape[1]), st.integers(-2, 2)
    )


def weights_for(stream: Stream, *, zero: bool = True) -> st.SearchStrategy[NDArray[np.float64]]:
    """Draw example weights, at least one of them above zero."""
    values = np.array([1.0, 0.25, 3.0, 0.0] if zero else [1.0, 0.25, 3.0])
    return integers(len(stream.y)).map(lambda picks: values[picks % len(values)]).filter(np.any)
