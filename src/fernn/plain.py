"""Plain data that others may have written: JSON, and what was expected in it.

Whatever is in a file, reading it ends in a value or in an error of fernn that says which file and what is wrong. The
small functions here take one thing out of such data and raise a TypeError or a ValueError where it is something else;
`refusing` turns that into an error of fernn.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields as fields_of
from itertools import islice
from math import inf, isfinite
from typing import Any

from .errors import FernnError

BROKEN = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)
"""What is raised where data are not as they should be."""


def read_json(text: str | bytes) -> Any:
    """As `json.loads`, but whatever is wrong with the text is a ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


@contextmanager
def refusing(kind: type[FernnError], what: str) -> Iterator[None]:
    """What breaks inside becomes an error of this kind, which says `what`; one that is of this kind already stays."""
    try:
        yield
    except kind:
        raise
    except (FernnError, *BROKEN) as error:
        raise kind(f"{what} ({told(error)}).") from error


def told(error: BaseException) -> str:
    """What an error says, in a line of no great length."""
    said = f"there is no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
    return shortened(said.encode("utf-8", "backslashreplace").decode())


def shortened(said: str, most: int = 200) -> str:
    """In a line of so many characters, cut at a word."""
    line = " ".join(said.split())
    return line if len(line) <= most else f"{line[: most - 4].rsplit(' ', 1)[0]} ..."


def text(value: Any) -> str:
    """A text that can be written to a file again."""
    if not isinstance(value, str):
        raise _wrong("a text", value)
    value.encode("utf-8")  # half of a surrogate pair is a ValueError
    return value


def number(value: Any) -> float:
    """A number, which may be infinite or NaN."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong("a number", value)
    return float(value)


def whole(value: Any, least: int = 0) -> int:
    """A whole number, `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _wrong(f"a whole number of {least} or more", value)
    return value


def finite(value: Any, least: float = -inf, most: float = inf) -> float:
    """A number from `least` to `most`, neither infinite nor NaN."""
    found = number(value) if not isinstance(value, int) or abs(value) < 2**1000 else inf
    if not isfinite(found) or not least <= found <= most:
        raise _wrong(f"a finite number{_range(least, most)}", value)
    return found


def truth(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise _wrong("true or false", value)
    return value


def fields(value: Any, needed: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """A JSON object with all of the needed fields, and no others but the optional ones."""
    found = mapping(value)
    for name in needed:
        if name not in found:
            raise ValueError(f"it lacks {name!r}")
    for name in found:
        if name not in needed and name not in optional:
            raise ValueError(f"it has an unknown field {name!r:.40}")
    return found


def mapping(value: Any) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise _wrong("an object", value)
    return value


def rows(value: Any) -> list[dict[str, Any]]:
    """A list of JSON objects."""
    if not isinstance(value, list):
        raise _wrong("a list", value)
    return [mapping(row) for row in value]


def _range(least: float, most: float) -> str:
    return (f" of {least:g} or more" if least > -inf else "") + (f" of {most:g} or less" if most < inf else "")


def _wrong(wanted: str, value: Any) -> TypeError:
    try:
        found = f"{value!r:.40}"
    except (ValueError, RecursionError):  # a number of too many digits, a tree too deep
        found = type(value).__name__
    return TypeError(f"{wanted} was expected, found {found}")


MOST_LETTERS = 1400
"""Of what `short_repr` says of all fields together."""


def short_repr(self: Any) -> str:
    """`__repr__` of a dataclass in a few lines, whatever it holds: long values are cut, large ones counted."""
    names = [each.name for each in fields_of(self) if each.repr]
    room = max(24, MOST_LETTERS // max(len(names), 1))
    return f"{type(self).__name__}({', '.join(f'{name}={_brief(getattr(self, name), room)}' for name in names)})"


def _brief(value: Any, room: int, deep: bool = False) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and bool(value.shape):
        return f"<{value.dtype} array of {' x '.join(map(str, value.shape))}>"
    if isinstance(value, str) and len(value) > room:
        return f"{value[: max(room - 20, 8)]!r}... {len(value)} letters"
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        shown = ", ".join(_brief(each, room // 3, True) for each in islice(value, 2))
        whole = f"[{shown}]" if len(value) <= 2 else f"[{shown}, ... {len(value)} in all]"
        return whole if len(whole) <= room and not (deep and len(value) > 2) else f"<{len(value)} in all>"
    if isinstance(value, Mapping):
        shown = ", ".join(
            f"{_brief(key, 20)}: {_brief(each, room // 3, True)}" for key, each in islice(value.items(), 3)
        )
        whole = f"{{{shown}}}" if len(value) <= 3 else f"{{{shown}, ... {len(value)} in all}}"
        return whole if len(whole) <= room else f"<{len(value)} entries>"
    text = f"'{value}'" if type(value).__module__.startswith("fernn.formula.") else repr(value)
    return text if len(text) <= room else f"{text[: max(room - 4, 8)]} ..."
