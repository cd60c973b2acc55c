"""Sources of the features phi(x, r) of example x and class r: an array, a function, or a transformer that learns.

Each kind reads examples into rows, those of one example together, with the offsets of the examples and, where labels
are given, which rows of each example are those of its labels.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

from onmargin._checks import check_classes, check_labels, check_sparse
from onmargin._parts import Part
from onmargin.estimators._classes import label_codes
from onmargin.learner import Offsets
from onmargin.models.columns import check_known
from onmargin.models.label_sets import LabelSets

# Rows, the offset of each example, and the row of each label within its example, ascending in each example.
Portion = tuple[Any, Offsets, Offsets]
# Number of examples that a transformer reads at a time; their rows take more memory than the examples.
CHUNK = 256
# Called with the classes that there will be.
Foresee = Callable[[NDArray[Any]], None]
# Called with a function that undoes the next change in place.
Changing = Callable[[Callable[[], None]], None]


class Phi(Protocol):
    """Features of examples for the classes known so far."""

    @property
    def classes(self) -> NDArray[Any]:
        """Labels, in the order of the rows."""
        ...

    def check(self, phi: Any) -> None:
        """Refuse a state loaded from a file that is inconsistent or does not match this parameter."""
        ...

    def learn(
        self,
        X: Any,
        y: LabelSets,
        classes: Any,
        live: NDArray[np.bool_],
        foresee: Foresee | None = None,
        *,
        changing: Changing | None = None,
    ) -> Iterator[Portion]:
        """Yield the rows of these examples, part by part; all errors are raised before the second part.

        Examples that are not `live` are not learned: their rows do not matter. With `foresee`, all labels of these
        examples are classes from the first one on, and it is called with them before anything changes. `changing` is
        called before a part is counted.
        """
        ...

    def read(self, X: Any) -> Any:
        """Return the rows of these examples, one per class."""
        ...


def _matrix(rows: Any, name: str) -> Any:
    """Return rows in a format of the core; other types are converted to float64."""
    dtypes = [np.float64, np.float32]
    return check_array(rows, accept_sparse="csr", dtype=dtypes, order="C", ensure_min_samples=0, input_name=name)


def _offsets(n: int, size: int) -> Offsets:
    return np.arange(n + 1, dtype=np.intp) * size


class Given(Part):
    """Features given as X: examples x classes x features."""

    def __init__(self, classes: NDArray[Any] | None = None) -> None:
        self.classes: NDArray[Any] = np.zeros(0) if classes is None else classes

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.classes,)

    def check(self, phi: Any) -> None:
        if phi is not None or len(set(self.classes.tolist())) < self.classes.size:
            raise ValueError(f"classes must be named once each, for phi=None; got {self.classes!r:.200}")

    def learn(
        self,
        X: Any,
        y: LabelSets,
        classes: Any,
        live: NDArray[np.bool_],
        foresee: Foresee | None = None,
        *,
        changing: Changing | None = None,
    ) -> Iterator[Portion]:
        values = self._checked(X)
        if not len(self.classes):
            self.classes = np.arange(values.shape[1]) if classes is None else np.asarray(classes)
            if classes is not None and len(check_classes(classes)) != len(self.classes):
                raise ValueError(f"classes must name each class once; got {self.classes.tolist()}")
        self._check_width(values)
        if foresee is not None:
            foresee(self.classes)
        codes = self._codes(y, live)
        n, k, d = values.shape
        return iter([(values.reshape(n * k, d), _offsets(n, k), codes)])

    def _codes(self, y: LabelSets, live: NDArray[np.bool_]) -> Offsets:
        if y.width is not None:  # the columns of an indicator matrix are the classes of X, in order
            if y.width != len(self.classes):
                raise ValueError(f"Y must have {len(self.classes)} columns, one per class of X; got {y.width}")
            return y.labels.astype(np.intp)
        check_labels(y.labels, self.classes)
        owners = y.owners()
        remedy = "Name the classes of X, in their order, with classes= in the first call."
        codes = label_codes(y.labels, self.classes, live[owners], remedy=remedy)
        return codes[np.lexsort((codes, owners))]

    def read(self, X: Any) -> Any:
        values = self._checked(X)
        self._check_width(values)
        return values.reshape(-1, values.shape[2])

    def _checked(self, X: Any) -> NDArray[Any]:
        values = np.asarray(X)
        if values.ndim != 3:
            raise ValueError(
                f"X must be an array of examples x classes x features without phi=; got {values.ndim} dimensions. With "
                "phi= a function or a transformer X may be anything that it takes."
            )
        flat: NDArray[Any] = _matrix(values.reshape(-1, values.shape[2]), "X")
        return flat.reshape(values.shape)

    def _check_width(self, values: NDArray[Any]) -> None:
        if values.shape[1] != len(self.classes):
            raise ValueError(f"X must have features of {len(self.classes)} classes; got {values.shape[1]}")


class Called(Part):
    """Features from a function of one example and one class, which returns a vector."""

    def __init__(self, phi: Callable[[Any, Any], Any], classes: NDArray[Any] | None = None) -> None:
        self.phi = phi
        self.classes: NDArray[Any] = np.zeros(0) if classes is None else classes

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.phi, self.classes)

    def check(self, phi: Any) -> None:
        check_known(self.classes)
        if self.phi is not phi or not callable(phi):
            raise ValueError("features were made by another phi")

    def learn(
        self,
        X: Any,
        y: LabelSets,
        classes: Any,
        live: NDArray[np.bool_],
        foresee: Foresee | None = None,
        *,
        changing: Changing | None = None,
    ) -> Iterator[Portion]:
        known = _known(y, classes, live, self.classes, at_once=foresee is not None)
        if foresee is not None:
            foresee(known)
        rows, ends, codes = [], [0], []
        for i, (x, alive) in enumerate(zip(_examples(X), live, strict=True)):
            labels = y.labels[y.offsets[i] : y.offsets[i + 1]]
            if alive:
                known = np.union1d(known, labels) if len(known) else np.unique(labels)
                if not len(known):
                    raise ValueError(f"Y[{i}] has no label, and no class is known yet: give classes= in the first call")
                rows.append(self._rows(x, known))
            codes.append(np.searchsorted(known, labels) if alive else np.zeros(len(labels), np.intp))
            ends.append(ends[-1] + (len(known) if alive else 0))
        matrix = self._stacked(rows)
        self.classes = known
        return iter([(matrix, np.array(ends, dtype=np.intp), np.concatenate(codes).astype(np.intp))])

    def read(self, X: Any) -> Any:
        return self._stacked([self._rows(x, self.classes) for x in _examples(X)])

    def _rows(self, x: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
        rows = [np.asarray(self.phi(x, label), dtype=np.float64) for label in classes.tolist()]
        if len({row.shape for row in rows}) != 1 or rows[0].ndim != 1:
            shapes = sorted({row.shape for row in rows})
            raise ValueError(f"phi must give a vector, of one length for all classes; got shapes {shapes}")
        return np.array(rows)

    def _stacked(self, rows: list[NDArray[np.float64]]) -> Any:
        if len({row.shape[1] for row in rows}) != 1:
            raise ValueError(f"phi must give vectors of one length; got {sorted({row.shape[1] for row in rows})}")
        return _matrix(np.concatenate(rows), "phi")


class Transformed(Part):
    """Features from a transformer that learns, such as onmargin.features.ClassTermFeatures."""

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.transformer,)

    def check(self, phi: Any) -> None:
        if type(self.transformer) is not type(phi) or not hasattr(phi, "learn_transform"):
            raise ValueError(f"features are made by a {type(self.transformer).__name__}, which phi is not")
        check_known(self.classes)

    @property
    def classes(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.transformer.classes_
        return classes

    def learn(
        self,
        X: Any,
        y: LabelSets,
        classes: Any,
        live: NDArray[np.bool_],
        foresee: Foresee | None = None,
        *,
        changing: Changing | None = None,
    ) -> Iterator[Portion]:
        # Anything not checked here raises an error in the first part.
        X = check_array(check_sparse(X), accept_sparse="csr", dtype="numeric", input_name="X")
        met = getattr(self.transformer, "classes_", y.labels[:0])
        known = _known(y, classes, live, met, at_once=foresee is not None)
        if foresee is not None:
            foresee(known)

        def parts() -> Iterator[Portion]:
            for start in range(0, len(y), CHUNK):
                part = slice(start, start + CHUNK)
                own = y.part(start, min(start + CHUNK, len(y)))
                if changing is not None:
                    changing(_undoing(self.transformer, X[part]))
                yield self.transformer.learn_transform(
                    X[part],
                    own.labels if y.single else own.as_lists(),
                    classes=known if start == 0 and len(known) else None,
                    live=live[part],
                )

        return parts()

    def read(self, X: Any) -> Any:
        return self.transformer.transform(X)


def _undoing(transformer: Any, X: Any) -> Callable[[], None]:
    """Return a function that undoes `learn_transform` of these rows; transformers without `undoing` are copied."""
    if hasattr(transformer, "undoing"):
        undo: Callable[[], None] = transformer.undoing(X)
        return undo
    before = deepcopy(vars(transformer))

    def put_back() -> None:
        transformer.__dict__ = before

    return put_back


def _known(y: LabelSets, classes: Any, live: NDArray[np.bool_], known: NDArray[Any], *, at_once: bool) -> NDArray[Any]:
    """Return the classes known before the first of these examples; with `at_once`, also all of their labels."""
    given = y.labels[:0] if classes is None else check_classes(classes)
    if y.width is not None:
        given = np.union1d(given, np.arange(y.width))
    check_labels(y.labels, given, known)
    if at_once:
        given = np.union1d(given, y.labels[live[y.owners()]]) if len(given) else np.unique(y.labels[live[y.owners()]])
    return np.union1d(known, given) if len(known) else given


def _examples(X: Any) -> Sequence[Any]:
    """Return X as a sequence of examples; a sparse matrix is split into rows."""
    return [X[[i]] for i in range(X.shape[0])] if sparse.issparse(check_sparse(X)) else X


def as_phi(phi: Any) -> Phi:
    """Return the source of features for phi; a transformer is cloned, without what it has learned."""
    if phi is None:
        return Given()
    if hasattr(phi, "learn_transform"):
        return Transformed(clone(phi))
    return Called(phi)
