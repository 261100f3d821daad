"""What pages draw, one at a time: the warnings of a formula are caught for the whole process, not for one thread."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from ..data import Dataset, from_arrays
from ..evaluation import relate, sufficient_length
from ..formula import Formula
from ..report import view
from ..report.view.rivals import drawn
from .answers import Refused, field

LENGTH, LONGEST = 20, 60
"""Samples of the traces on which two formulas are compared, unless asked otherwise, and at most."""
PATIENCE = 20.0
"""Seconds for the proof."""
_drawing = Lock()


def viewed(what: Callable[..., Any], *given: Any) -> Any:
    """One of `traces`, `reading`, `lanes`, `sensitivity`, of these."""
    with _drawing, np.errstate(all="ignore"):
        return what(*given)


def recorded(what: Callable[..., Any], *given: Any) -> Any:
    """One of `traces` and `part`: no formula is judged, so nobody is waited for who compiles or judges one."""
    with np.errstate(all="ignore"):
        return what(*given)


def differences(a: str, b: str, data: Dataset) -> list[dict[str, Any]]:
    """The cases of which two readings say different things: `a` and `b` are their `holds`."""
    good = data.positive.tolist() if len(data.classes) == 2 else [None] * len(data)
    both = enumerate(zip(a, b, strict=True))
    return [{"index": i, "a": x == "1", "b": y == "1", "good": good[i]} for i, (x, y) in both if x != y]


def equivalence(a: Formula, b: Formula, given: dict[str, Any], data: Dataset) -> dict[str, Any]:
    """Whether two formulas say the same of all traces up to a length; else the shortest traces that show it, drawn."""
    samples = field({"length": min(LONGEST, max(LENGTH, sufficient_length(a, b))), **given}, "length", int)
    if not 1 <= samples <= LONGEST:
        raise Refused(f"'length' is of the longest traces to look at, from 1 to {LONGEST}; found {str(samples)[:30]}.")
    found = relate(a, b, samples, data.ranges, PATIENCE)
    sides = (("only_first", found.only_first), ("only_second", found.only_second))
    return {
        "relation": found.word, "told": ". ".join([str(found), *found.caveats]), "length": found.length or None,
        "a": str(a), "b": str(b),
        "traces": [
            {
                "only": side, "samples": int(trace.shape[1]),
                "lanes": viewed(drawn, (a, b), trace, found.channels, f"a trace of {trace.shape[1]} samples"),
            }
            for side, trace in sides
            if trace is not None
        ],
    }  # fmt: skip


def warm() -> None:
    """Has the kernels compiled, or read from disk, before somebody waits for them."""
    viewed(view.reading, "G (x <= 0)", from_arrays(np.zeros((2, 1, 3)), np.array([0, 1])))
