"""What a call costs before it has done any work: one trace of one sample."""

from __future__ import annotations

import numpy as np
from numba import njit

from fernn.formula import parse
from fernn.semantics import robustness

from .clock import race

FERNN, NOTHING, EMPTY = "fernn", "a compiled function that does nothing", "an array for the result"
COPY, FRESH = "copy, prepared", "copy, fresh"


def call(seconds: float) -> dict[str, float]:
    """Seconds a call; `nothing` gets the four arrays and two numbers that fernn's loop gets."""
    rule, X = parse("G (x >= 0.5)"), np.ones((1, 1, 1), np.float32)
    out, plan, starts, names = np.empty((1, 1), np.float32), np.zeros((2, 16), np.int64), np.empty(0, np.int64), ["x"]

    @njit(nogil=True)
    def nothing(plan, traces, starts, out, low, high):  # type: ignore[no-untyped-def]
        return low

    return race(
        {
            FERNN: lambda: robustness(rule, X, names, at="all"),
            NOTHING: lambda: nothing(plan, X, starts, out, 0, 1),
            EMPTY: lambda: np.empty((1, 1), np.float32),
            COPY: lambda: np.copyto(out, X[0]),
            FRESH: lambda: X.copy(),
        },
        seconds,
    )
