"""Docstrings of learners: an option or an attribute is described once, in the class that declares it."""

import re
from collections.abc import Mapping
from dataclasses import fields
from inspect import cleandoc
from textwrap import indent
from typing import Any, TypeVar

T = TypeVar("T", bound=type[Any])

# The entries of a section, and the sections before which parameters and attributes are inserted.
_ENTRY = re.compile(r"^    (\w+) : .*?(?=^    \w|\Z)", re.DOTALL | re.MULTILINE)
_LATER_SECTION = re.compile(r"^    (?:See Also|Notes|References|Examples)\n    -+\n", re.MULTILINE)


def described(kind: T) -> T:
    """Add the inherited parameters and attributes of a dataclass to its docstring.

    Parameters are in the order of the signature, attributes of base classes come before those of the class. A
    description in a class replaces those of its base classes and that of the option, if families share it.
    """
    if kind.__doc__ is None:  # python -OO
        return kind
    options = {one.name: indent(cleandoc(text), "    ") for one in fields(kind) if (text := one.metadata.get("text"))}
    options |= _entries(kind, "Parameters")
    names = [field.name for field in fields(kind)]
    missing = [name for name in names if name not in options]
    if missing:
        raise TypeError(f"{kind.__name__} has parameters without a description: {', '.join(missing)}")
    doc = _section("Attributes").sub("", _section("Parameters").sub("", kind.__doc__))
    doc = re.sub(r"\n{3,}", "\n\n", doc.rstrip() + "\n")
    place = _LATER_SECTION.search(doc)
    where = len(doc) if place is None else place.start()
    sections = {"Parameters": {name: options[name] for name in names}, "Attributes": _entries(kind, "Attributes")}
    texts = [_write_section(title, entries) for title, entries in sections.items() if entries]
    kind.__doc__ = "\n\n".join([doc[:where].rstrip(), *texts, doc[where:]]).rstrip() + "\n    "
    return kind


def _section(title: str) -> re.Pattern[str]:
    """Return the pattern of a section, up to the next one."""
    return re.compile(rf"    {title}\n    -+\n(.*?)(?=\n    \w[\w ]*\n    -+\n|\s*\Z)", re.DOTALL)


def _entries(kind: type[Any], title: str) -> dict[str, str]:
    """Return the entries of a section by name, inherited ones first; those of the class replace inherited ones."""
    found: dict[str, str] = {}
    for one in (*kind.__mro__[1:], kind):
        section = _section(title).search(vars(one).get("__doc__") or "")
        entries = {} if section is None else {e[1]: e[0].rstrip() for e in _ENTRY.finditer(section[1] + "\n")}
        found |= {name: text for name, text in entries.items() if one is kind or name not in found}
    return found


def _write_section(title: str, entries: Mapping[str, str]) -> str:
    return "\n".join([f"    {title}", f"    {'-' * len(title)}", *entries.values()])
