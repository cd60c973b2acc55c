"""Docstrings of learners: the description of an option stands once, where the option is declared."""

import re
from dataclasses import fields
from inspect import cleandoc
from textwrap import indent
from typing import Any, TypeVar

T = TypeVar("T", bound=type[Any])

# A section of a docstring up to the next one, and the entries of a section of parameters.
_PARAMETERS = re.compile(r"    Parameters\n    -+\n(.*?)(?=\n    \w[\w ]*\n    -+\n|\s*\Z)", re.DOTALL)
_ENTRY = re.compile(r"^    (\w+) : .*?(?=^    \w|\Z)", re.DOTALL | re.MULTILINE)
_ATTRIBUTES = re.compile(r"^    (?:Attributes|See Also|Notes|References|Examples)\n    -+\n", re.MULTILINE)


def described(kind: T) -> T:
    """Put the parameters of a dataclass into its docstring, in the order of the signature.

    A class that describes a parameter itself has that description; any other comes from the class it inherits it from,
    or from the option, if families share it.
    """
    if kind.__doc__ is None:  # python -OO
        return kind
    found = {one.name: indent(cleandoc(text), "    ") for one in fields(kind) if (text := one.metadata.get("text"))}
    for one in reversed(kind.__mro__):
        section = _PARAMETERS.search(vars(one).get("__doc__") or "")
        if section is not None:
            found |= {entry[1]: entry[0].rstrip() for entry in _ENTRY.finditer(section[1] + "\n")}
    names = [field.name for field in fields(kind)]
    missing = [name for name in names if name not in found]
    if missing:
        raise TypeError(f"{kind.__name__} has parameters without a description: {', '.join(missing)}")
    section_text = "    Parameters\n    ----------\n" + "\n".join(found[name] for name in names)
    doc = re.sub(r"\n*\Z", "\n", _PARAMETERS.sub("", kind.__doc__))
    doc = re.sub(r"\n{3,}", "\n\n", doc)
    place = _ATTRIBUTES.search(doc)
    where = len(doc) if place is None else place.start()
    kind.__doc__ = f"{doc[:where].rstrip()}\n\n{section_text}\n\n{doc[where:]}".rstrip(" \n") + "\n    "
    return kind
