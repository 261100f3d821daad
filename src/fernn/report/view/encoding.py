"""Numbers as pages take them: no more digits than are seen, and null for what JSON has no word for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite

import numpy as np

from ...data.arrays import Array, Bools


def bits(values: Bools) -> str:
    """`1101`: one letter a case."""
    return (np.asarray(values).astype(np.uint8) + ord("0")).tobytes().decode("ascii")


def round_digits(value: float, digits: int = 4) -> float | None:
    """To so many significant digits; None where it is not finite."""
    return float(f"{value:.{digits}g}") if isfinite(value) else None


def round_all(values: Array, digits: int = 4) -> list[float | None]:
    """Each of them rounded."""
    return [round_digits(value, digits) for value in values.tolist()]


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Warnings of fernn are gathered, each once, in the list that is given; others pass."""
    import warnings

    from ...errors import FernnWarning

    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield told
    for warning in caught:
        if not issubclass(warning.category, FernnWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        elif str(warning.message) not in told:
            told.append(str(warning.message))
