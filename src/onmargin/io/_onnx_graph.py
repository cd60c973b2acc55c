"""Computations written down as an ONNX graph."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Types of ONNX.
FLOAT, INT64, DOUBLE = 1, 7, 11


class Graph:
    """The nodes and constants of a computation in one floating-point type.

    Parameters
    ----------
    kind : dtype
        The type of all numbers, float32 or float64.
    """

    def __init__(self, kind: np.dtype[Any]) -> None:
        import onnx

        self.onnx, self.kind = onnx, kind
        self.nodes: list[Any] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def constant(self, values: Any, *, kind: Any = None) -> str:
        """Add a constant, and return its name."""
        name = f"constant{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(values, kind or self.kind)
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> "Traced":
        """Add a node, and return its result."""
        name = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        return Traced(self, name)

    def input(self, name: str, kind: np.dtype[Any]) -> "Traced":
        """Return an input of some type as numbers of this graph."""
        found = Traced(self, name)
        return found if kind == self.kind else found.cast(self._type(self.kind))

    def model(self, rows: tuple[str, np.dtype[Any], int], outputs: dict[str, tuple["Traced", Any, list[Any]]]) -> Any:
        """Return the ONNX model with the nodes that the outputs need, given the name, type and columns of the input."""
        helper = self.onnx.helper
        for name, (result, _, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [result.name], [name]))
        needed, nodes = set(outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                needed |= set(node.input)
                nodes.append(node)
        constants = [(array, name) for name, array in self.constants.items() if name in needed]
        tensors = [self.onnx.numpy_helper.from_array(*constant) for constant in constants]
        given, kind, n_columns = rows
        takes = [helper.make_tensor_value_info(given, self._type(kind), ["n", n_columns])]
        gives = [
            helper.make_tensor_value_info(name, self._type(kind), shape) for name, (_, kind, shape) in outputs.items()
        ]
        graph = helper.make_graph(nodes[::-1], "onmargin", takes, gives, tensors)
        imports = [helper.make_opsetid("", 13)]
        if any(node.domain for node in nodes):
            imports.append(helper.make_opsetid("ai.onnx.ml", 1))
        # This IR version is supported by every runtime with version 13 of the operators.
        return helper.make_model(graph, opset_imports=imports, ir_version=8)

    def _type(self, kind: Any) -> int:
        found: int = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        return found


class Traced:
    """A result in a graph, rows along its first axis. Geometries and tasks compute with it as with arrays.

    Parameters
    ----------
    graph : Graph
        The graph.
    name : str
        The name of the result.
    """

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def apply(self, operator: str, *others: Any, **attributes: Any) -> "Traced":
        """Return the result of an operator of this and others, which may be numbers or arrays."""
        names = [other.name if isinstance(other, Traced) else self.graph.constant(other) for other in others]
        return self.graph.add(operator, self.name, *names, **attributes)

    def __add__(self, other: Any) -> "Traced":
        return self.apply("Add", other)

    def __sub__(self, other: Any) -> "Traced":
        return self.apply("Sub", other)

    def __mul__(self, other: Any) -> "Traced":
        return self.apply("Mul", other)

    def __truediv__(self, other: Any) -> "Traced":
        return self.apply("Div", other)

    def __gt__(self, other: Any) -> "Traced":
        return self.apply("Greater", other)

    def __ge__(self, other: Any) -> "Traced":
        return self.apply("GreaterOrEqual", other)

    def abs(self) -> "Traced":
        return self.apply("Abs")

    def exp(self) -> "Traced":
        return self.apply("Exp")

    def log(self) -> "Traced":
        return self.apply("Log")

    def clip(self, low: Any, high: Any) -> "Traced":
        """Return the numbers within bounds."""
        return self.apply("Max", low).apply("Min", high)

    def where(self, then: Any, otherwise: Any) -> "Traced":
        """Return numbers chosen by flags."""
        return self.apply("Where", then, otherwise)

    def cast(self, kind: int) -> "Traced":
        return self.apply("Cast", to=kind)

    def numbers(self) -> "Traced":
        """Return integers or flags as numbers."""
        return self.cast(FLOAT if self.graph.kind == np.float32 else DOUBLE)

    def places(self) -> "Traced":
        """Return whole numbers as places in a table."""
        return self.cast(INT64)

    def rounded(self, dtype: Any) -> "Traced":
        """Return the numbers rounded to a type."""
        return self.cast(FLOAT).numbers() if dtype == np.float32 and self.graph.kind != np.float32 else self

    def rounded_to(self, kind: np.dtype[Any]) -> "Traced":
        """Return the numbers in a type, which may be another one than that of the graph."""
        return self if kind == self.graph.kind else self.cast(FLOAT if kind == np.float32 else DOUBLE)

    def max(self, axis: int, *, keep: bool = False) -> "Traced":
        return self.apply("ReduceMax", axes=[axis], keepdims=int(keep))

    def argmax(self, *, keep: bool = False) -> "Traced":
        """Return the place of the largest number of each row, the first of equal ones."""
        return self.apply("ArgMax", axis=1, keepdims=int(keep))

    def sum(self, axis: int, *, keep: bool = False) -> "Traced":
        return self.graph.add("ReduceSum", self.name, self._places([axis]), keepdims=int(keep))

    def gather(self, places: Any, axis: int = 1) -> "Traced":
        """Return some of the items along an axis."""
        return self.graph.add("Gather", self.name, self._places(places), axis=axis)

    def reshape(self, *shape: int) -> "Traced":
        """Return the numbers in another shape, in which 0 keeps an axis."""
        return self.graph.add("Reshape", self.name, self._places(shape))

    def beside(self, *others: "Traced") -> "Traced":
        """Return this and others side by side, along the second axis."""
        return self.graph.add("Concat", self.name, *[other.name for other in others], axis=1)

    def one_hot(self, size: int) -> "Traced":
        """Return one flag per place, from 0 to size - 1: whether the largest number is there."""
        places = self.argmax(keep=True)
        return self.graph.add("Equal", places.name, self._places(range(size)))

    def nearest(self, n: int) -> tuple["Traced", "Traced"]:
        """Return the n largest numbers of each row, and their places."""
        places = Traced(self.graph, f"places{len(self.graph.nodes)}")
        values = self.graph.add("TopK", self.name, self._places([n]), axis=1)
        self.graph.nodes[-1].output.append(places.name)
        return values, places

    def table(self, values: Any) -> "Traced":
        """Return the items of a table at these places."""
        return self.graph.add("Gather", self.graph.constant(values), self.name, axis=0)

    def times(self, weights: Any, intercepts: Any) -> "Traced":
        """Return the products with weights, features by columns, plus intercepts."""
        return self.apply("MatMul", weights) + intercepts

    def cells(self, thresholds: NDArray[Any], tested: NDArray[Any], value: float) -> "Cells":
        """Return the cells of ferns, given the tests of features, tests by ferns."""
        n_tests, n_ferns = tested.shape
        bits = (self.gather(tested.ravel()) > thresholds.ravel()).cast(INT64).reshape(0, n_tests, n_ferns)
        digits = self.graph.constant(2 ** np.arange(n_tests)[:, None], kind=np.int64)
        first = self.graph.constant(np.arange(n_ferns) << n_tests, kind=np.int64)
        cells = self.graph.add("Mul", bits.name, digits).sum(1)
        return Cells(self.graph.add("Add", cells.name, first), value)

    def tree_sums(self, tested: Any, thresholds: Any, children: Any, values: Any) -> "Traced":
        """Return the sum of the values of trees, trees by nodes by columns, in the leaves of each row.

        Of node k without a positive child, the value is that of a leaf. Otherwise the next node is children[k] if the
        tested feature is at most the threshold, and the node after it if it is not.
        """
        nodes: list[tuple[Any, ...]] = []  # tree, number, tested feature, threshold, next nodes, mode
        leaves: list[tuple[int, int]] = []
        for tree, child in enumerate(np.asarray(children).tolist()):
            waiting = [0]
            while waiting:
                k = waiting.pop()
                if child[k] > 0:
                    after = child[k], child[k] + 1
                    nodes.append((tree, k, int(tested[tree][k]), float(thresholds[tree][k]), *after, "BRANCH_LEQ"))
                    waiting += after
                else:
                    nodes.append((tree, k, 0, 0.0, 0, 0, "LEAF"))
                    leaves.append((tree, k))
        trees, places, features, cuts, low, high, modes = map(list, zip(*nodes, strict=True))
        of_leaf, at = map(list, zip(*leaves, strict=True))
        found = self.graph.add(
            "TreeEnsembleRegressor",
            self.cast(FLOAT).name,
            domain="ai.onnx.ml",
            n_targets=len(children),
            nodes_treeids=trees,
            nodes_nodeids=places,
            nodes_featureids=features,
            nodes_values=cuts,
            nodes_truenodeids=low,
            nodes_falsenodeids=high,
            nodes_modes=modes,
            target_treeids=of_leaf,
            target_nodeids=at,
            target_ids=of_leaf,
            target_weights=np.arange(len(at), dtype=float).tolist(),  # its number: values are in double precision
        )
        return found.cast(INT64).table(values[of_leaf, at]).sum(1)

    def _places(self, places: Any) -> str:
        if isinstance(places, Traced):
            return places.name
        return self.graph.constant(list(places), kind=np.int64)


class Cells:
    """Sparse rows: the places of their entries, which all have the same value.

    Parameters
    ----------
    places : Traced
        The places, rows by entries.
    value : float
        The value of all entries.
    """

    def __init__(self, places: Traced, value: float) -> None:
        self._places, self._value = places, value

    def times(self, weights: Any, intercepts: Any) -> Traced:
        """Return the products with weights, features by columns, plus intercepts."""
        return self._places.table(weights).sum(1) * self._value + intercepts
