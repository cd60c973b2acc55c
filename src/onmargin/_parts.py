"""Parts of an estimator and their serialization, shared by copies, pickles and model files.

The `__reduce__` of a part returns ``(type or partial of it, arguments)`` or ``(..., arguments, state)``: the arguments
of its constructor, and the learned state for its `__setstate__`. All of it is plain: numbers, strings, arrays, dicts by
name and other parts.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

from onmargin._core.calibration import Calibration
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.rounds import Totals
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._core.text.names import Index
from onmargin._core.text.words import Frequencies


class Part:
    """Base class of parts that are not compiled."""


class Pieces(NamedTuple):
    """The serialized form of a part."""

    kind: type
    arguments: tuple[Any, ...]
    settings: dict[str, Any]
    state: Any = None


_ROOTS = (Task, Step, Geometry, Totals, Calibration, Index, Frequencies, Part)


def parts() -> dict[str, type]:
    """Return the loaded classes of parts by name; importing an estimator loads its parts."""
    kinds = (kind for root in _ROOTS for kind in _family(root))
    return {kind.__name__: kind for kind in kinds if kind.__module__.startswith("onmargin.")}


@lru_cache(256)
def is_part_kind(kind: Any) -> bool:
    """Return whether a class is that of a part, and one of onmargin."""
    return issubclass(kind, _ROOTS) and kind.__module__.startswith("onmargin.")


def is_part(value: Any) -> bool:
    """Return whether a value is a part of a class of onmargin."""
    kind: Any = type(value)
    return is_part_kind(kind)


def _family(kind: type) -> Iterator[type]:
    yield kind
    child: type
    for child in kind.__subclasses__():
        yield from _family(child)


def take_apart(part: Any) -> Pieces:
    """Return the serialized form of a part."""
    make, arguments, *state = part.__reduce__()
    whole = make if isinstance(make, partial) else partial(make)
    kind: Any = whole.func
    if kind is not type(part):
        raise TypeError(f"{type(part).__name__}.__reduce__ must give its own type or a partial of it; got {kind!r}")
    return Pieces(kind, (*whole.args, *arguments), whole.keywords, *state)


def put_together(pieces: Pieces) -> Any:
    """Return the part from its serialized form."""
    part = pieces.kind(*pieces.arguments, **pieces.settings)
    if pieces.state is not None:
        part.__setstate__(pieces.state)
    return part
