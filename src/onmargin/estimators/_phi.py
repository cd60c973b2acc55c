"""Sources of the features phi(x, r) of example x and class r: an array, a function, or a transformer that learns.

Each kind reads examples into rows, those of one example together, with the offsets of the examples and, where labels
are given, which rows of each example are those of its labels.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from onmargin._checks import check_classes, check_labels, check_sparse
from onmargin._parts import Part
from onmargin.learner import Offsets
from onmargin.models.label_sets import LabelSets
from onmargin.models.labels import check_codes, check_sorted
from onmargin.models.phi import CHUNK, Call, Phi, Portion, TransformerPhi, find_known


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

    def learn(self, X: Any, call: Call) -> Iterator[Portion]:
        values = self._check_input(X)
        if not len(self.classes):
            self.classes = np.arange(values.shape[1]) if call.classes is None else np.asarray(call.classes)
            if call.classes is not None and len(check_classes(call.classes)) != len(self.classes):
                raise ValueError(f"classes must name each class once; got {self.classes.tolist()}")
        self._check_width(values)
        if call.foresee is not None:
            call.foresee(self.classes)
        codes = self._codes(call.y, call.live)
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
        codes = check_codes(y.labels, self.classes, live[owners], remedy=remedy)
        return codes[np.lexsort((codes, owners))]

    def read(self, X: Any) -> Any:
        values = self._check_input(X)
        self._check_width(values)
        return values.reshape(-1, values.shape[2])

    def _check_input(self, X: Any) -> NDArray[Any]:
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
        check_sorted(self.classes)
        if self.phi is not phi or not callable(phi):
            raise ValueError("features were made by another phi")

    def learn(self, X: Any, call: Call) -> Iterator[Portion]:
        y, cuts, known = call.y, call.cuts, find_known(call, self.classes)
        # Examples up to the next bound are learned in one stretch.
        bounds = {0, *cuts, *(range(0, len(y), CHUNK) if cuts else ()), len(y)}
        rows, ends, codes, stages = [], [0], [], []
        for i, (x, alive) in enumerate(zip(_examples(X), call.live, strict=True)):
            if i in bounds and i > 0:
                stages.append(known)
            labels = y.labels[y.offsets[i] : y.offsets[i + 1]]
            if alive:
                known = np.union1d(known, labels) if len(known) else np.unique(labels)
                if not len(known):
                    raise ValueError(f"Y[{i}] has no label, and no class is known yet: give classes= in the first call")
                rows.append(self._rows(x, known))
            codes.append(np.searchsorted(known, labels) if alive else np.zeros(len(labels), np.intp))
            ends.append(ends[-1] + (len(known) if alive else 0))
        matrix, offsets, places = self._stack(rows), np.array(ends, dtype=np.intp), np.concatenate(codes)

        def parts() -> Iterator[Portion]:
            for (start, stop), stage in zip(pairwise(sorted(bounds)), [*stages, known], strict=True):
                if cuts and call.changing is not None:
                    call.changing(partial(setattr, self, "classes", self.classes))
                self.classes = stage
                first, last = offsets[start], offsets[stop]
                own = places[y.offsets[start] : y.offsets[stop]].astype(np.intp)
                yield matrix[first:last], offsets[start : stop + 1] - first, own

        return parts()

    def read(self, X: Any) -> Any:
        return self._stack([self._rows(x, self.classes) for x in _examples(X)])

    def _rows(self, x: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
        rows = [np.asarray(self.phi(x, label), dtype=np.float64) for label in classes.tolist()]
        if len({row.shape for row in rows}) != 1 or rows[0].ndim != 1:
            shapes = sorted({row.shape for row in rows})
            raise ValueError(f"phi must give a vector, of one length for all classes; got shapes {shapes}")
        return np.array(rows)

    def _stack(self, rows: list[NDArray[np.float64]]) -> Any:
        if len({row.shape[1] for row in rows}) != 1:
            raise ValueError(f"phi must give vectors of one length; got {sorted({row.shape[1] for row in rows})}")
        return _matrix(np.concatenate(rows), "phi")


def _examples(X: Any) -> Sequence[Any]:
    """Return X as a sequence of examples; a sparse matrix is split into rows."""
    return [X[[i]] for i in range(X.shape[0])] if sparse.issparse(check_sparse(X)) else X


def as_phi(phi: Any) -> Phi:
    """Return the source of features for phi; a transformer is cloned, without what it has learned."""
    if phi is None:
        return Given()
    if hasattr(phi, "learn_transform"):
        return TransformerPhi.of(phi)
    return Called(phi)
