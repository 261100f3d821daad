"""Learned windows: the spans that the weights of a mask stand for.

An offset, counted from the judged sample, is in the window where its weight is >= 0. Spans of such offsets and the
gaps between them alternate. While there are more spans than a window may have, the span or gap whose weights have the
smallest sum goes: a gap is bridged, a span left out. A window that would be empty keeps the offset of the largest
weight, the nearest of equals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FormulaError, UnsupportedError
from ..formula import Interval
from ..formula.interval import OpenInterval
from ..semantics.ondisk import compiled_on_disk
from .forward import PIECES


@compiled_on_disk(error_model="numpy")
def settle(weights: Any, allowed: Any, pieces: int, spans: Any) -> None:
    """Fills `spans[piece] = (first, last)`, both offsets included, and -1 behind the last piece."""
    width = weights.size
    first, last = np.empty(width, np.int64), np.empty(width, np.int64)
    total = np.empty(width)
    count, best = 0, -1
    for i in range(width):
        weight = weights[i] if allowed[i] else -np.inf
        if weight > -np.inf and (best < 0 or weight > weights[best]):
            best = i
        inside = weight >= 0
        if count > 0 and inside == (count % 2 == 1):  # spans are at even places, gaps at odd ones
            total[count - 1] += weight
            last[count - 1] = i
        elif count > 0 or inside:
            first[count], last[count], total[count] = i, i, weight
            count += 1
    spans[:] = -1
    if count == 0:
        spans[0, 0], spans[0, 1] = best, best
        return
    if count % 2 == 0:
        count -= 1
    low = 0
    while count > 2 * pieces - 1:
        k = low + int(np.argmin(np.abs(total[low : low + count])))
        count -= 2
        if k == low:
            low += 2
        elif k < low + count + 1:
            total[k - 1] += total[k] + total[k + 1]
            last[k - 1] = last[k + 1]
            for j in range(k, low + count):
                first[j], last[j], total[j] = first[j + 2], last[j + 2], total[j + 2]
    for piece in range((count + 1) // 2):
        spans[piece, 0], spans[piece, 1] = first[low + 2 * piece], last[low + 2 * piece]


def offsets_allowed(over: OpenInterval, width: int) -> npt.NDArray[np.bool_]:
    """Which offsets 0 to `width` - 1 an open window may hold; refuses what the compiled loops cannot run over."""
    if width <= over.start:
        raise FormulaError(f"a mask of width {width} has no offset within {over}")
    if over.pieces > PIECES:
        raise UnsupportedError(f"{over} may have {over.pieces} pieces, the compiled loops run over {PIECES}")
    return np.array([any(a <= i <= b for a, b in over.spans) for i in range(width)], dtype=np.bool_)


def interval_of(weights: npt.ArrayLike, over: OpenInterval) -> Interval:
    """The window that these weights, one per offset, stand for."""
    values = np.asarray(weights, np.float32)
    spans = np.empty((PIECES, 2), np.int64)
    settle(values, offsets_allowed(over, values.size), over.pieces, spans)
    return Interval(tuple((int(a), int(b)) for a, b in spans if a >= 0))
