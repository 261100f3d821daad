"""Formulas with functions, a few traces at a time: what the functions give is judged while it is in cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.arrays import Array
from ..errors import SignalError
from ..formula.expressions import Call, Term
from .function_signals import trailing_means
from .interpreter import INFINITE, NONFINITE, UNIFORM, Bytecode, run_bytecode
from .mean_kernel import means
from .packed_traces import PackedTraces
from .threads import parallel_for

BLOCK = 1 << 17
"""Samples of all terms together that go through the functions and the formula at once."""
FAILED = 4
"""Met by a block, beside what the interpreter meets: an error, which is told when all traces are looked at together."""

Compute = Callable[[PackedTraces], PackedTraces]
Fill = Callable[[int, int, Any, int], bool]
"""Puts a term, of the traces from one number to another, into a channel of a block; whether it could."""


def run_blocks(
    packed: Bytecode, terms: tuple[Term, ...], made: PackedTraces, out: Array, verdict: bool, compute: Compute
) -> int | None:
    """Judge all traces by a program that reads these terms; returns what was met, or None where something is wrong.

    `compute` gives some traces with the terms as channels. Results go to `out`, `[case, 1]` or `[1, all samples]`.
    """
    edges = made.first_samples
    together = max(1, BLOCK // max(1, made.length * len(terms)))
    fills = _direct_fills(terms, made)

    def work(low: int, high: int) -> int:
        met = 0
        room = np.empty((min(together, high - low) if fills else 0, len(terms), made.length), made.flat.dtype)
        for first in range(low, high, together):
            last = min(high, first + together)
            block, starts = room[: last - first], UNIFORM
            if not fills or not all(fill(first, last, block, place) for place, fill in enumerate(fills)):
                try:
                    some = compute(made.part(first, last))
                except SignalError:
                    return FAILED
                block, starts = some.traces, some.starts
            part = out[first:last] if verdict else out[:, edges[first] : edges[last]]
            met |= run_bytecode(packed, block, starts, part, 0, last - first)
        return met

    met = parallel_for(work, made.count, made.samples * (len(packed) - 1 + len(terms)))
    return None if met & (FAILED | NONFINITE) else met & INFINITE


def _direct_fills(terms: tuple[Term, ...], made: PackedTraces) -> list[Fill]:
    """How to have each term in single precision, where all are channels and means of channels; none where not."""
    if made.flat.dtype != np.float32 or made.starts.size:
        return []
    found = [_fill_channel(made, t) if isinstance(t, str) else _fill_mean(made, t, len(terms)) for t in terms]
    return [fill for fill in found if fill is not None] if None not in found else []


def _fill_channel(made: PackedTraces, name: str) -> Fill:
    traces, channel = made.traces, made.channels.index(name)

    def fill(first: int, last: int, block: Any, place: int) -> bool:
        block[:, place] = traces[first:last, channel]
        return True

    return fill


def _fill_mean(made: PackedTraces, call: Call, terms: int) -> Fill | None:
    (part, *_) = call.sums or (None,)
    if call.function != "mean" or call.lag is None or part is None or part.constant or len(part.weights) != 1:
        return None
    ((name, weight),) = part.weights
    if not isinstance(name, str) or weight != 1:
        return None
    traces, channel, size = made.traces, made.channels.index(name), call.lag.samples(made.step)
    width, length, begin = len(made.channels), made.length, made.flat.ctypes.data
    wrong = np.empty(made.count, np.bool_)

    def fill(first: int, last: int, block: Any, place: int) -> bool:
        there, some = begin + first * width * length * 4, wrong[first:last]
        if means(there, last - first, width, channel, length, size, block.ctypes.data, terms, place, some):
            left = np.flatnonzero(some)
            rows = traces[first:last][left, channel].astype(np.float64)
            if not np.isfinite(rows).all():
                return False
            edges = np.arange(left.size + 1) * length
            block[left, place] = trailing_means(rows.reshape(-1), edges, size).reshape(rows.shape)
        return True

    return fill
