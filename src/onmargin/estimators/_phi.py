"""Where the features phi(x, r) of example x and class r come from: an array, a function, or a transformer that learns.

Each kind reads examples into rows, those of one example together, with the offsets of the examples and, where labels
are given, which row of each example is that of its label.
"""

from collections.abc import Callable, Iterator, Sequence
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

# Rows, where each example begins, and which of its rows is that of its label.
Portion = tuple[Any, Offsets, Offsets]
# Examples of a transformer are read so many at a time, because their rows take more memory than they do.
CHUNK = 256


class Phi(Protocol):
    """Features of examples for the classes known so far."""

    @property
    def classes(self) -> NDArray[Any]:
        """Labels, in the order of the rows."""
        ...

    def check(self, phi: Any) -> None:
        """Refuse what a file says was learned, if it is not of this parameter or does not fit together."""
        ...

    def learn(self, X: Any, y: NDArray[Any], classes: Any, live: NDArray[np.bool_]) -> Iterator[Portion]:
        """The rows of these examples, part by part; whatever is wrong is found before the second part.

        Those that are not `live` are not learned from: what rows they have makes no difference.
        """
        ...

    def read(self, X: Any) -> Any:
        """The rows of these examples, one for each of `classes`."""
        ...


def _matrix(rows: Any, name: str) -> Any:
    """Rows as the core wants them; what others have is converted to float64."""
    dtypes = [np.float64, np.float32]
    return check_array(rows, accept_sparse="csr", dtype=dtypes, order="C", ensure_min_samples=0, input_name=name)


def _offsets(n: int, size: int) -> Offsets:
    return np.arange(n + 1, dtype=np.intp) * size


class Given(Part):
    """X is the features: examples x classes x features."""

    def __init__(self, classes: NDArray[Any] | None = None) -> None:
        self.classes: NDArray[Any] = np.zeros(0) if classes is None else classes

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.classes,)

    def check(self, phi: Any) -> None:
        if phi is not None or len(set(self.classes.tolist())) < self.classes.size:
            raise ValueError(f"classes must be named once each, for phi=None; got {self.classes!r:.200}")

    def learn(self, X: Any, y: NDArray[Any], classes: Any, live: NDArray[np.bool_]) -> Iterator[Portion]:
        values = self._checked(X)
        if not len(self.classes):
            self.classes = np.arange(values.shape[1]) if classes is None else np.asarray(classes)
            if classes is not None and len(check_classes(classes)) != len(self.classes):
                raise ValueError(f"classes must name each class once; got {self.classes.tolist()}")
        self._check_width(values)
        check_labels(y, self.classes)
        remedy = "Name the classes of X, in their order, with classes= in the first call."
        codes = label_codes(y, self.classes, live, remedy=remedy)
        n, k, d = values.shape
        return iter([(values.reshape(n * k, d), _offsets(n, k), codes)])

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
    """A function of one example and one class, which gives a vector."""

    def __init__(self, phi: Callable[[Any, Any], Any], classes: NDArray[Any] | None = None) -> None:
        self.phi = phi
        self.classes: NDArray[Any] = np.zeros(0) if classes is None else classes

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.phi, self.classes)

    def check(self, phi: Any) -> None:
        check_known(self.classes)
        if self.phi is not phi or not callable(phi):
            raise ValueError("features were made by another phi")

    def learn(self, X: Any, y: NDArray[Any], classes: Any, live: NDArray[np.bool_]) -> Iterator[Portion]:
        given = y[:0] if classes is None else check_classes(classes)
        check_labels(y, given, self.classes)
        known = np.union1d(self.classes, given) if len(self.classes) else given
        rows, ends, codes = [], [0], []
        for x, label, alive in zip(_examples(X), y, live, strict=True):
            if alive:
                known = np.union1d(known, [label]) if len(known) else np.array([label])
                rows.append(self._rows(x, known))
                codes.append(np.searchsorted(known, label))
            ends.append(ends[-1] + (len(known) if alive else 0))
            codes += [] if alive else [0]
        matrix = self._stacked(rows)
        self.classes = known
        return iter([(matrix, np.array(ends, dtype=np.intp), np.array(codes, dtype=np.intp))])

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
    """A transformer with `learn_transform` and `transform`, such as onmargin.features.ClassTermFeatures."""

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

    def learn(self, X: Any, y: NDArray[Any], classes: Any, live: NDArray[np.bool_]) -> Iterator[Portion]:
        # What is not checked here is wrong in the first part already.
        X = check_array(check_sparse(X), accept_sparse="csr", dtype="numeric", input_name="X")
        check_labels(y, *([self.transformer.classes_] if hasattr(self.transformer, "classes_") else []))
        known = None if classes is None else check_classes(classes)

        def parts() -> Iterator[Portion]:
            for start in range(0, len(y), CHUNK):
                part = slice(start, start + CHUNK)
                yield self.transformer.learn_transform(
                    X[part], y[part], classes=known if start == 0 else None, live=live[part]
                )

        return parts()

    def read(self, X: Any) -> Any:
        return self.transformer.transform(X)


def _examples(X: Any) -> Sequence[Any]:
    """X example by example; a sparse matrix row by row."""
    return [X[[i]] for i in range(X.shape[0])] if sparse.issparse(check_sparse(X)) else X


def as_phi(phi: Any) -> Phi:
    """The kind that phi is; a transformer is copied, and has learned nothing."""
    if phi is None:
        return Given()
    if hasattr(phi, "learn_transform"):
        return Transformed(clone(phi))
    return Called(phi)
