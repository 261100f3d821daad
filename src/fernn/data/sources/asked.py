"""What a source may be asked for: numbers of samples, cases and the like."""

from __future__ import annotations

from operator import index

from ...errors import DataError


def whole(source: str, name: str, value: object, least: int = 1) -> int:
    """The value as an int of at least `least`; True is no number, and neither is 2.0."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise DataError(f"{source} needs {name} >= {least}, a whole number; got {value!r}.")
    return number
