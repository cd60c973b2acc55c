"""Rules for parameter values, and one error that names all invalid parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

from onmargin.errors import ParameterError


class Rule(Protocol):
    """The accepted values of a parameter; ``str(rule)`` describes them in words."""

    def accepts(self, value: Any) -> bool: ...


@dataclass(frozen=True, eq=False, repr=False)
class Number:
    """A number between `low` and `high`; `above` and `below` exclude them, `whole` requires an integer."""

    low: float = -inf
    high: float = inf
    above: bool = False
    below: bool = False
    whole: bool = False

    def accepts(self, value: Any) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral if self.whole else Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer too large for a float
            return False
        return (number > self.low if self.above else number >= self.low) and (
            number < self.high if self.below else number <= self.high
        )

    def __str__(self) -> str:
        noun = "an integer" if self.whole else "a number"
        limits = [
            f"{'greater than' if self.above else 'at least'} {self.low:g}" if self.low > -inf else "",
            f"{'less than' if self.below else 'at most'} {self.high:g}" if self.below or self.high < inf else "",
        ]
        return " ".join([noun, " and ".join(filter(None, limits))]).rstrip()


class Numbers(Number):
    """A sequence of such numbers, at least one."""

    def accepts(self, value: Any) -> bool:
        several = isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1 and len(value) > 0
        return several and all(super(Numbers, self).accepts(item) for item in value)

    def __str__(self) -> str:
        return f"a sequence, each {super().__str__()}"


@dataclass(frozen=True, init=False)
class Word:
    """One of a few strings."""

    words: tuple[str, ...]

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words)

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        return " or ".join(repr(word) for word in self.words)


@dataclass(frozen=True, eq=False, repr=False)
class Character:
    """A string of one character."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) == 1

    def __str__(self) -> str:
        return "a string of one character"


@dataclass(frozen=True, eq=False, repr=False)
class PowerOfTwo:
    """The rule for the size of a table."""

    def accepts(self, value: Any) -> bool:
        return Number(2, 2**30, whole=True).accepts(value) and int(value).bit_count() == 1

    def __str__(self) -> str:
        return "a power of two between 2 and 2**30, such as 2**18"


@dataclass(frozen=True, eq=False, repr=False)
class Span:
    """The rule for a pair of whole numbers, the first at most the second."""

    def accepts(self, value: Any) -> bool:
        return (
            isinstance(value, tuple | list)
            and len(value) == 2
            and all(map(Number(1, 100, whole=True).accepts, value))
            and value[0] <= value[1]
        )

    def __str__(self) -> str:
        return "a pair of whole numbers from 1 to 100, such as (1, 2)"


@dataclass(frozen=True, eq=False, repr=False)
class Strings:
    """Several strings."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and all(isinstance(item, str) for item in value)

    def __str__(self) -> str:
        return "a tuple of strings"


@dataclass(frozen=True, eq=False, repr=False)
class DistinctLabels:
    """Several labels: strings, or whole numbers, but not both."""

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | np.ndarray):
            return False
        names = [isinstance(item, str) for item in value]
        return all(names) or (
            not any(names) and all(isinstance(item, Real) and float(item).is_integer() for item in value)
        )

    def __str__(self) -> str:
        return "a sequence of strings or of whole numbers"


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """An object of some type, named in words."""

    types: type | tuple[type, ...]
    words: str

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.types)

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, eq=False, repr=False)
class ByClass:
    """A dict of class: number."""

    noun: str
    number: Number

    def accepts(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(map(self.number.accepts, value.values()))

    def __str__(self) -> str:
        return f"a dict of class: {self.noun}, each {self.number}"


@dataclass(frozen=True, init=False)
class Member:
    """An object that has one of some methods, named in words."""

    names: tuple[str, ...]
    words: str

    def __init__(self, *names: str, words: str) -> None:
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "words", words)

    def accepts(self, value: Any) -> bool:
        return any(hasattr(value, name) for name in self.names)

    def __str__(self) -> str:
        return self.words


# Per class: the factor on C, and the required margin.
CLASS_FACTORS = ByClass("factor", Number(0, below=True))
CLASS_MARGINS = ByClass("margin", Number(0, above=True, below=True))
FLAG = Instance((bool, np.bool_), "True or False")
NONE = Instance(type(None), "None")
N_JOBS = NONE, Number(1, whole=True), Number(high=-1, whole=True)  # threads, or -1 for one per core, -2 for one less


def check_parameters(estimator: Any, rules: Mapping[str, tuple[Rule, ...]]) -> None:
    """Raise one ParameterError for all parameters of `estimator` that no rule of theirs accepts."""
    wrong = {
        name: f"{name} must be {', or '.join(map(str, accepted))}; got {value!r}"
        for name, accepted in rules.items()
        if hasattr(estimator, name) and not any(rule.accepts(value := getattr(estimator, name)) for rule in accepted)
    }
    refuse_values(estimator, wrong)


def refuse_values(options: Any, wrong: Mapping[str, str]) -> None:
    """Raise one ParameterError that names all values that are not accepted, with the reasons."""
    if wrong:
        how = type(options).__name__ + (".set_params" if hasattr(options, "set_params") else "")
        names = ", ".join(f"{name}=..." for name in wrong)
        raise ParameterError("; ".join(wrong.values()), wrong, f"Set it with {how}({names})")
