"""The labels that a model knows: their codes, targets, counts and weights, for matrices, records, ranks and tags."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._checks import plain
from onmargin._parts import Part
from onmargin.errors import ParameterError
from onmargin.learner import Vector
from onmargin.models.columns import Places

Label = str | int | float
# The class of each example, whether it is learned, earlier examples per class, and the number of classes -> one factor
# per example.
Balance = Callable[[NDArray[np.intp], NDArray[np.bool_], Vector, int], Vector]

# The second of two classes, before an example has its label.
UNNAMED: Any = object()
# Up to this many labels are searched for: fewer calls of NumPy matter more than what each does.
FEW = 1000


class Labels(Part):
    """Labels in the order of their columns, and the number of examples learned of each; it never changes in place.

    Parameters
    ----------
    known : ndarray or sequence, default=()
        The labels. An array keeps its type.
    counts : ndarray or None, default=None
        Number of examples per label. If None, zeros.
    signed : bool, default=False
        Whether two labels have targets of -1 and +1, and one column.
    waits : bool, default=False
        Whether a single label cannot be learned: by default, if `signed`, it is the first of two.
    """

    def __init__(
        self,
        known: NDArray[Any] | Sequence[Any] = (),
        counts: Vector | None = None,
        signed: bool = False,
        waits: bool = False,
    ) -> None:
        self.array = known if isinstance(known, np.ndarray) else None  # None for records
        self.known: list[Any] = list(known) if self.array is None else self.array.tolist()
        self.counts = np.zeros(len(self.known)) if counts is None else counts
        self.signed = signed
        self.waits = waits
        # The classes that are learned: a single label is the first of two, unless it waits.
        paired = len(self.known) == 1 and signed and not waits
        self.of_task = [*self.known, UNNAMED] if paired else self.known
        self.n_classes = len(self.of_task)

    def __reduce__(self) -> tuple[Any, ...]:
        counts = self.counts if self.known else None
        return type(self), (self.known if self.array is None else self.array, counts, self.signed, self.waits)

    def __len__(self) -> int:
        return len(self.known)

    def check(self) -> list[Any]:
        """Return the labels; refuse those of a file that are not sorted, each named once, with a count each."""
        labels = check_sorted(self.known)
        if not isinstance(self.counts, np.ndarray) or self.counts.shape != (len(labels),):
            raise ValueError(f"class_counts_ must be one per class; got {self.counts!r:.100}")
        return labels

    def as_array(self) -> NDArray[Any]:
        """Return the labels as an array, of the type that they came in."""
        return np.array(self.known) if self.array is None else self.array

    @cached_property
    def by_label(self) -> dict[Any, int]:
        """The index of each label."""
        return {label: code for code, label in enumerate(self.known)}

    def with_new(self, new: NDArray[Any] | Iterable[Any]) -> tuple["Labels", Places]:
        """Return these labels together with others, all sorted, and the places of these."""
        known: Any
        if isinstance(new, np.ndarray) and self.array is not None:
            known = np.union1d(self.array, new) if len(self.array) else np.unique(new)
            places: Places = np.searchsorted(known, self.array) if len(self.array) else []
        else:
            known = sorted({*self.known, *new})
            codes = {label: code for code, label in enumerate(known)}
            places = [codes[label] for label in self.known]
            known = known if self.array is None else np.array(known)
        counts = np.zeros(len(known))
        counts[places] = self.counts
        return type(self)(known, counts, self.signed, self.waits), places

    def with_examples(self, codes: NDArray[np.intp]) -> "Labels":
        """Return the same labels with so many examples more."""
        if len(self.known) == 2:  # a sum is ten times as fast as counting
            ones = codes.sum()
            more = np.array([len(codes) - ones, ones])
        else:
            more = np.bincount(codes, minlength=len(self.known))
        return self.with_counts(self.counts + more)

    def with_counts(self, counts: Vector) -> "Labels":
        """Return the same labels with other counts."""
        other = type(self).__new__(type(self))
        other.__dict__ = vars(self) | {"counts": counts.copy()}  # an engine may share the array
        return other

    def weights(
        self, class_weight: Mapping[Any, float] | str, codes: NDArray[np.intp], live: NDArray[np.bool_], rule: Balance
    ) -> Vector:
        """Return the weight of the class of each example; "balanced" ones by a rule."""
        if isinstance(class_weight, Mapping):
            return np.array(class_factors(class_weight, self.known))[codes]
        return rule(codes, live, self.counts, self.n_classes)

    def targets(self, codes: NDArray[np.intp]) -> Vector:
        """Return the targets of the task: -1 and +1 for two classes, otherwise the column."""
        return np.array([-1.0, 1.0]).take(codes) if self.signed and self.n_classes == 2 else codes.astype(np.float64)

    def target_by_label(self) -> dict[Any, float]:
        """Return the target of the task for each label."""
        return dict(zip(self.known, self.targets(np.arange(len(self.known))).tolist(), strict=True))

    def code_of(self, label: Any) -> int:
        """Return the index of a label, which must be known."""
        return code_of(label, self.known)

    def codes(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of each label of a matrix; arbitrary for an unknown label, whose example weighs 0."""
        classes: Any = self.array
        if len(y) > FEW and all_known(y, classes):
            return y - classes[0] if classes[0] else y
        return np.minimum(classes.searchsorted(y), len(classes) - 1)

    def segments(self, y: NDArray[Any], live: NDArray[np.bool_] | None) -> list[tuple[int, int, NDArray[Any]]]:
        """Split the labels of a matrix where one is first learned: (start, stop, the label new at start, if any).

        `live` are the examples that are learned; if None, all. Pieces in which nothing is learned are left out.
        """
        classes: Any = self.array
        whole = [(0, len(y), y[:0])] if (len(y) if live is None else live.any()) else []
        if len(y) > FEW and all_known(y, classes):
            return whole
        new = classes[self.codes(y)] != y if len(classes) else np.ones(len(y), np.bool_)
        if live is not None:
            new &= live
        if not new.any():
            return whole
        places = np.flatnonzero(new)
        first = set(places[np.unique(y[new], return_index=True)[1]].tolist())
        cuts = []
        for start, stop in pairwise(sorted({0, len(y)} | first)):
            if live is None or live[start:stop].any():
                cuts.append((start, stop, y[start : start + (start in first)]))
        return cuts


def all_known(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Return whether it is quickly seen that all labels are classes: consecutive integers, as their own indices."""
    last = len(classes) - 1
    if y.dtype != np.int64 or classes.dtype != np.int64 or last < 0 or int(classes[last]) - int(classes[0]) != last:
        return False
    return bool(classes[0] <= y.min() and y.max() <= classes[-1])


def check_codes(
    y: NDArray[Any], classes: NDArray[Any], weight: NDArray[Any] | None = None, *, remedy: str
) -> NDArray[np.intp]:
    """Return the index of each label among the classes, in their given order; arbitrary for a label of weight 0."""
    order = np.argsort(classes, kind="stable")
    codes = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(order) - 1)]
    strange = classes[codes] != y
    if weight is not None:
        strange &= weight > 0
    if strange.any():
        label = plain(y[strange][0])
        raise ValueError(f"y has the label {label!r}, which is not among the classes {classes.tolist()}. {remedy}")
    return codes


def check_sorted(labels: Any) -> list[Any]:
    """Return labels as a file may hold them; they must be sorted, each named once."""
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        labels = labels.tolist()
    if not isinstance(labels, list) or not all(a < b for a, b in pairwise(labels)):
        raise ValueError(f"labels must be sorted, each named once; got {labels!r:.200}")
    return labels


def check_label(label: Any, known: list[Any]) -> Any:
    """Return the label of a record that may become a class; labels are strings or integers, but not both."""
    if isinstance(label, np.generic):
        label = label.item()
    whole = isinstance(label, int) or (isinstance(label, float) and label.is_integer())
    if not (whole or isinstance(label, str)):
        hint = ". For numbers use PassiveAggressiveRegressor." if isinstance(label, float) else ""
        raise TypeError(f"a label must be a string or a whole number; got {label!r:.100}{hint}")
    if known and isinstance(label, str) != isinstance(known[0], str):
        raise ValueError(f"labels must be all strings or all numbers: {label!r} is new, and {known[0]!r} is known")
    return label


def check_label_set(y: Any, known: list[Any]) -> set[Any]:
    """Return the labels of a record that may have any number of them, each of which may become a class."""
    if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
        hint = f": write {{{y!r}}} for one label" if isinstance(y, str) else ""
        raise TypeError(f"y must be a set, list or tuple of labels; got {y!r:.100}{hint}")
    labels: list[Any] = []
    for label in y:
        labels.append(check_label(label, known or labels))
    if len(set(labels)) < len(labels):
        raise ValueError(f"y names a label twice: {y!r:.100}")
    return set(labels)


def code_of(label: Any, known: list[Any]) -> int:
    """Return the index of a label, which must be known."""
    try:
        return known.index(label)
    except ValueError:
        raise ValueError(f"label {label!r:.100} is not one of {known!r:.200}") from None


# Class weights: given ones, and "balanced" ones, n / (K n_c), which give every class the same total weight.


def class_factors(class_weight: Mapping[Any, float], classes: Sequence[Any]) -> list[float]:
    """Return the factor of each class: 1 where none is given."""
    for label in class_weight:
        if classes and isinstance(label, str) != isinstance(classes[0], str):
            raise ParameterError(
                f"labels must be all strings or all numbers: class_weight names {label!r:.80}, and {classes[0]!r:.80} "
                "is a class",
                ["class_weight"],
            )
    return [float(class_weight.get(label, 1.0)) for label in classes]


def weigh_by_counts(codes: NDArray[np.intp], live: NDArray[np.bool_], before: Vector, n_classes: int) -> Vector:
    """Return the factors from the counts of these examples only."""
    counts = np.bincount(codes[live], minlength=len(before))
    factors: Vector = live.sum() / (n_classes * np.maximum(counts, 1))
    return factors[codes]


def weigh_by_counts_so_far(codes: NDArray[np.intp], live: NDArray[np.bool_], before: Vector, n_classes: int) -> Vector:
    """Return the factors from the counts up to and including each example."""
    learned = np.flatnonzero(live)
    by_class = learned[np.argsort(codes[learned], kind="stable")]
    earlier = np.arange(len(learned)) - np.searchsorted(codes[by_class], codes[by_class])
    factors = np.ones(len(codes))
    factors[by_class] = 1 / (n_classes * (before[codes[by_class]] + earlier + 1))
    factors[learned] *= before.sum() + np.arange(1, len(learned) + 1)
    return factors
