"""Numbers as people write them: decimal and thousands marks, currency and percent signs, and missing values."""

import re
from collections.abc import Callable
from math import isfinite

# Fields that denote a missing value.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?")
SIGNS = frozenset("$€£¥₹%")  # currencies, and per cent
_QUANTITY = r"([-+]?)[$€£¥₹]\s?([-+]?\d.*)|([-+]?\d.*?)\s?[$€£¥₹%]"


def is_number(field: str) -> bool:
    """Return whether a field is a number in Python notation: "-2.5e3" and "nan" are, "1,5" and "1_000" are not."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def without_unit(field: str) -> str:
    """Return a number without its currency or percent sign: "-1,200" for "-$1,200", and "3" for "3 %".

    A field that is not such a number is returned unchanged.
    """
    if SIGNS.isdisjoint((field[:1], field[1:2], field[-1:])):
        return field
    found = re.fullmatch(_QUANTITY, field)
    return field if found is None else "".join(filter(None, found.groups()))


def number_form(decimal: str, thousands: str | None) -> str:
    """Return a regular expression for numbers with these marks; without `thousands`, digits are not grouped."""
    groups = "" if thousands is None else rf"[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|"
    return rf"[-+]?(?:{groups}\d*)(?:{re.escape(decimal)}\d*)?(?:[eE][-+]?\d+)?"


def plain_numbers(decimal: str, thousands: str | None) -> Callable[[str], str]:
    """Return a function that writes a field in Python notation if it is a number with these marks."""
    if decimal == "." and thousands is None:
        return lambda field: bare if (bare := without_unit(field.strip())) != field and is_number(bare) else field
    form = re.compile(number_form(decimal, thousands))

    def plain(field: str) -> str:
        text = without_unit(field.strip())
        if not form.fullmatch(text):
            return text if is_number(text) else field
        return (text.replace(thousands, "") if thousands else text).replace(decimal, ".")

    return plain


def number_parser(decimal: str, thousands: str | None) -> Callable[[str], float | None]:
    """Return a function that parses a field as a finite number with these marks; None if it is not one."""
    plain = plain_numbers(decimal, thousands)

    def parse(field: str) -> float | None:
        text = plain(field)
        number = float(text) if is_number(text) else float("nan")
        return number if isfinite(number) else None

    return parse
