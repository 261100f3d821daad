"""Plain data that others may have written: JSON, and what was expected in it.

Whatever is in a file, reading it ends in a value or in an error of fernn that says which file and what is wrong. The
small functions here take one thing out of such data and raise a TypeError or a ValueError where it is something else;
`refusing` turns that into an error of fernn.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from math import inf, isfinite
from typing import Any


def read_json(text: str | bytes) -> Any:
    """As `json.loads`, but whatever is wrong with the text is a ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def as_text(value: Any) -> str:
    """A text that can be written to a file again."""
    if not isinstance(value, str):
        raise _type_error("a text", value)
    value.encode("utf-8")  # half of a surrogate pair is a ValueError
    return value


def as_number(value: Any) -> float:
    """A number, which may be infinite or NaN."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _type_error("a number", value)
    return float(value)


def as_int(value: Any, least: int = 0) -> int:
    """A whole number, `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _type_error(f"a whole number of {least} or more", value)
    return value


def as_finite(value: Any, least: float = -inf, most: float = inf) -> float:
    """A number from `least` to `most`, neither infinite nor NaN."""
    found = as_number(value) if not isinstance(value, int) or abs(value) < 2**1000 else inf
    if not isfinite(found) or not least <= found <= most:
        raise _type_error(f"a finite number{_describe_range(least, most)}", value)
    return found


def as_bool(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise _type_error("true or false", value)
    return value


def as_fields(value: Any, needed: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """A JSON object with all of the needed fields, and no others but the optional ones."""
    found = as_object(value)
    for name in needed:
        if name not in found:
            raise ValueError(f"it lacks {name!r}")
    for name in found:
        if name not in needed and name not in optional:
            raise ValueError(f"it has an unknown field {name!r:.40}")
    return found


def as_object(value: Any) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise _type_error("an object", value)
    return value


def as_objects(value: Any) -> list[dict[str, Any]]:
    """A list of JSON objects."""
    if not isinstance(value, list):
        raise _type_error("a list", value)
    return [as_object(row) for row in value]


def _describe_range(least: float, most: float) -> str:
    return (f" of {least:g} or more" if least > -inf else "") + (f" of {most:g} or less" if most < inf else "")


def _type_error(wanted: str, value: Any) -> TypeError:
    try:
        found = f"{value!r:.40}"
    except (ValueError, RecursionError):  # a number of too many digits, a tree too deep
        found = type(value).__name__
    return TypeError(f"{wanted} was expected, found {found}")
