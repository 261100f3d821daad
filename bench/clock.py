"""Best times of several calls, taken in turns, so that a noisy moment hits all alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

Call = Callable[[], Any]

SHORT = 2e-4
"""Seconds. Calls below this are timed many at once."""
VISIT = 4e-3
"""Seconds that one turn of a fast call lasts."""


def once(call: Call) -> float:
    """Seconds that one call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def visit(call: Call) -> float:
    """The best seconds a call in one turn: the caches are its own after the first call."""
    first = once(call)
    if first > VISIT * 10:
        return first
    if first > SHORT:
        return min(first, *(once(call) for _ in range(3)))
    number = max(1, int(VISIT / 4 / max(first, 1e-7)))
    return min(_mean(call, number) for _ in range(4))


def race(calls: Mapping[str, Call], seconds: float) -> dict[str, float]:
    """The best seconds a call for each. Everyone gets about `seconds`, and two turns at least."""
    best: dict[str, float] = {}
    spent = dict.fromkeys(calls, 0.0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        turn = 0
        while turn < 2 or min(spent.values()) < seconds:
            for name, call in calls.items():
                if turn >= 2 and spent[name] >= seconds:
                    continue
                start = perf_counter()
                best[name] = min(visit(call), best.get(name, float("inf")))
                spent[name] += perf_counter() - start
            turn += 1
    finally:
        if collecting:
            gc.enable()
    return best


def _mean(call: Call, number: int) -> float:
    start = perf_counter()
    for _ in range(number):
        call()
    return (perf_counter() - start) / number
