"""What pages draw, one at a time: the warnings of a formula are caught for the whole process, not for one thread."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from ..data import Dataset, from_arrays
from ..report import view

_drawing = Lock()


def viewed(what: Callable[..., Any], *given: Any) -> Any:
    """One of `traces`, `reading`, `lanes`, `sensitivity`, of these."""
    with _drawing, np.errstate(all="ignore"):
        return what(*given)


def differences(a: str, b: str, data: Dataset) -> list[dict[str, Any]]:
    """The cases of which two readings say different things: `a` and `b` are their `holds`."""
    good = data.positive.tolist() if len(data.classes) == 2 else [None] * len(data)
    both = enumerate(zip(a, b, strict=True))
    return [{"index": i, "a": x == "1", "b": y == "1", "good": good[i]} for i, (x, y) in both if x != y]


def warm() -> None:
    """Has the kernels compiled, or read from disk, before somebody waits for them."""
    viewed(view.reading, "G (x <= 0)", from_arrays(np.zeros((2, 1, 3)), np.array([0, 1])))
