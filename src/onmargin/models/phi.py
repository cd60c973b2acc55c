"""Sources of the features phi(x, r) of example x and class r, and the transformers among them, which learn."""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._checks import check_classes, check_labels, check_sparse
from onmargin._parts import Part
from onmargin.learner import Offsets
from onmargin.models.label_sets import LabelSets
from onmargin.models.labels import check_sorted

# Rows, the offset of each example, and the row of each label within its example, ascending in each example.
Portion = tuple[Any, Offsets, Offsets]
# Number of examples that a transformer reads at a time; their rows take more memory than the examples.
CHUNK = 256
# Called with the classes that there will be.
Foresee = Callable[[NDArray[Any]], None]
# Called with a function that undoes the next change in place.
Changing = Callable[[Callable[[], None]], None]


class Call(NamedTuple):
    """What a call says about its examples: their labels, the classes that it names, and which examples are learned.

    With `foresee`, all labels of the call are classes from its first example on, and it is called with them before
    anything changes. The rows are yielded in parts, which end at each of the `cuts`; `changing` is called before what
    changes with a part.
    """

    y: LabelSets
    classes: Any
    live: NDArray[np.bool_]
    foresee: Foresee | None = None
    cuts: Sequence[int] = ()
    changing: Changing | None = None


class Phi(Protocol):
    """Features of examples for the classes known so far."""

    @property
    def classes(self) -> NDArray[Any]:
        """Labels, in the order of the rows."""
        ...

    def check(self, phi: Any) -> None:
        """Refuse a state loaded from a file that is inconsistent or does not match this parameter."""
        ...

    def learn(self, X: Any, call: Call) -> Iterator[Portion]:
        """Yield the rows of these examples, part by part; all errors are raised before the second part.

        Rows of examples that are not learned do not matter. `classes` are those of the last part that was yielded.
        """
        ...

    def read(self, X: Any) -> Any:
        """Return the rows of these examples, one per class."""
        ...


class TransformerPhi(Part):
    """Features from a transformer that learns, such as onmargin.features.ClassTermFeatures."""

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    @classmethod
    def of(cls, transformer: Any) -> Self:
        """Return the source of a copy of the transformer, without what it has learned."""
        from sklearn.base import clone  # here, because streams of rows should not load it

        return cls(clone(transformer))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.transformer,)

    def check(self, phi: Any) -> None:
        if type(self.transformer) is not type(phi) or not hasattr(phi, "learn_transform"):
            raise ValueError(f"features are made by a {type(self.transformer).__name__}, which phi is not")
        check_sorted(self.classes)

    @property
    def classes(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.transformer.classes_
        return classes

    def learn(self, X: Any, call: Call) -> Iterator[Portion]:
        from sklearn.utils import check_array  # here, as above

        # Anything not checked here raises an error in the first part.
        X = check_array(check_sparse(X), accept_sparse="csr", dtype="numeric", input_name="X")
        y = call.y
        known = find_known(call, getattr(self.transformer, "classes_", y.labels[:0]))

        def parts() -> Iterator[Portion]:
            for start, stop in pairwise(sorted({*range(0, len(y), CHUNK), *call.cuts, len(y)})):
                part, own = slice(start, stop), y.part(start, stop)
                if call.changing is not None:
                    call.changing(undoing(self.transformer, X[part]))
                yield self.transformer.learn_transform(
                    X[part],
                    own.labels if y.single else own.as_lists(),
                    classes=known if start == 0 and len(known) else None,
                    live=call.live[part],
                )

        return parts()

    def read(self, X: Any) -> Any:
        return self.transformer.transform(X)

    def widen(self, n_features: int) -> None:
        """Make room for more features of examples, if the transformer has learned of fewer."""
        if getattr(self.transformer, "n_features_in_", n_features) < n_features:
            self.transformer.widen(n_features)


def undoing(transformer: Any, X: Any) -> Callable[[], None]:
    """Return a function that undoes `learn_transform` of these rows; transformers without `undoing` are copied."""
    if hasattr(transformer, "undoing"):
        undo: Callable[[], None] = transformer.undoing(X)
        return undo
    before = deepcopy(vars(transformer))

    def put_back() -> None:
        transformer.__dict__ = before

    return put_back


def find_known(call: Call, known: NDArray[Any]) -> NDArray[Any]:
    """Return the classes known before the first example of a call, after `known` ones; call `foresee` with them."""
    y = call.y
    given = y.labels[:0] if call.classes is None else check_classes(call.classes)
    if y.width is not None:
        given = np.union1d(given, np.arange(y.width))
    check_labels(y.labels, given, known)
    if call.foresee is not None:
        own = y.labels[call.live[y.owners()]]
        given = np.union1d(given, own) if len(given) else np.unique(own)
    known = np.union1d(known, given) if len(known) else given
    if call.foresee is not None:
        call.foresee(known)
    return known
