"""The exact best ends of one window, all else held.

A trace's verdict is monotone in the end of a window: between two ends where it is judged alike, it is judged alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..semantics import lanes as ln
from .forward import LANES, PIECES, Desk, Net, Weights, compiled
from .gradient import Batch
from .judging import judged


@compiled
def draw(state: Any, below: int) -> int:
    """The next number of a small generator, 0 to `below` - 1."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return int((state[0] >> np.uint64(33)) % np.uint64(below))


@compiled
def clipped(spans: Any, samples: int) -> None:
    """The pieces of a window within the longest trace; one that starts beyond it is dropped, or if first, moved in."""
    for piece in range(PIECES):
        if spans[piece, 0] < 0:
            return
        if piece > 0 and spans[piece, 0] >= samples:
            spans[piece:, :] = -1
            return
        spans[piece, 0] = min(spans[piece, 0], samples - 1)
        spans[piece, 1] = min(spans[piece, 1], samples - 1)


@compiled
def settle_end(
    net: Net, at: Weights, batch: Batch, window: int, piece: int, end: int, low: int, high: int, state: Any, desk: Desk,
    stop: Any,
) -> Any:  # fmt: skip
    """The best value from `low` to `high` of one end of a window; the error then.

    Of values that do equally well, where it stands if it is among them, otherwise any of the longest stretch
    of neighbours; its middle where `state`, the generator, is empty. Values between two that judge some traces
    alike judge these alike: stretches that cannot do better are left out. Where it is stopped the end stays.
    """
    ln.stands_alone()
    count, stood = high - low + 1, at.spans[window, piece, end] - low
    errors = np.full(count, np.inf)
    tiles = batch.ends.shape[0]
    held = np.zeros((count, tiles, LANES), np.int8)
    at.spans[window, piece, end] = low
    errors[0] = judged(net, at, batch, desk, held[0])
    at.spans[window, piece, end] = high
    errors[count - 1] = judged(net, at, batch, desk, held[count - 1])
    best = min(errors[0], errors[count - 1])
    stack = np.empty((2 * count + 2, 2), np.int64)
    stack[0, 0], stack[0, 1], depth = 0, count - 1, 1
    while depth > 0:
        if stop[0] != 0 and 0 <= stood < count:
            at.spans[window, piece, end] = low + stood
            return judged(net, at, batch, desk, held[stood])
        depth -= 1
        a, b = stack[depth, 0], stack[depth, 1]
        if b - a < 2:
            continue
        sure, alike = 0.0, True
        for i in range(tiles):
            for lane in range(LANES):
                if batch.ends[i, lane] >= 0:
                    if held[a, i, lane] == held[b, i, lane]:
                        if (held[a, i, lane] == 1) != (batch.labels[i, lane] > 0):
                            sure += batch.weights[i, lane]
                    elif batch.weights[i, lane] > 0:
                        alike = False
        if alike:
            for j in range(a + 1, b):
                errors[j] = errors[a]
            continue
        if sure > best + 1e-9:
            continue
        middle = (a + b) // 2
        at.spans[window, piece, end] = low + middle
        errors[middle] = judged(net, at, batch, desk, held[middle])
        best = min(best, errors[middle])
        stack[depth, 0], stack[depth, 1] = a, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, b
        depth += 2
    chosen, longest, j = 0, 0, 0
    while j < count:
        if errors[j] < best + 1e-9:
            k = j
            while k + 1 < count and errors[k + 1] < best + 1e-9:
                k += 1
            if k - j + 1 > longest:
                longest = k - j + 1
                chosen = (j + k) // 2 if state.size == 0 else j + draw(state, longest)
                if end == 0 and j == 0 and low == 0 and state.size == 0:
                    chosen = 0  # from now on
                elif end == 1 and k == count - 1 and state.size == 0:
                    chosen = k  # for ever
            j = k
        j += 1
    if state.size > 0 and 0 <= stood < count and errors[stood] < best + 1e-9:
        chosen = stood
    at.spans[window, piece, end] = low + chosen
    return best


@compiled
def part_window(
    net: Net, at: Weights, batch: Batch, window: int, most: int, now: Any, desk: Desk, verdicts: Any,
    stop: Any,
) -> Any:  # fmt: skip
    """One sample taken out of a window, or added apart from it, where that rights a hundredth of the traces or more.

    A window has at most `most` pieces. The ends of what results are for the next sweep to settle.
    """
    ln.stands_alone()
    samples = batch.tiles.shape[2]
    pieces = 0
    while pieces < PIECES and at.spans[window, pieces, 0] >= 0:
        pieces += 1
    if pieces == 0 or pieces >= most or pieces >= PIECES:
        return now
    total = 0.0
    for i in range(batch.ends.shape[0]):
        for lane in range(LANES):
            if batch.ends[i, lane] >= 0:
                total += batch.weights[i, lane]
    kept = at.spans[window].copy()
    best, best_at = now - max(0.01 * total, 1e-9), -1
    step = max(1, samples // 64)
    for s in range(0, samples, step):
        if stop[0] != 0:
            break
        if not _parted(kept, pieces, s, at.spans[window]):
            continue
        error = judged(net, at, batch, desk, verdicts)
        if error <= best:
            best, best_at = error, s
    for j in range(PIECES):
        at.spans[window, j, 0], at.spans[window, j, 1] = kept[j, 0], kept[j, 1]
    if best_at < 0:
        return now
    _parted(kept, pieces, best_at, at.spans[window])
    return best


@compiled
def _parted(kept: Any, pieces: int, s: int, spans: Any) -> Any:
    """Writes to `spans` the window without sample s, if it is inside a piece, or with it, if it is apart from all."""
    for j in range(PIECES):
        spans[j, 0], spans[j, 1] = kept[j, 0], kept[j, 1]
    place = 0
    for j in range(pieces):
        first, last = kept[j, 0], kept[j, 1]
        if first < s < last:
            for m in range(pieces, j + 1, -1):
                spans[m, 0], spans[m, 1] = kept[m - 1, 0], kept[m - 1, 1]
            spans[j, 1] = s - 1
            spans[j + 1, 0], spans[j + 1, 1] = s + 1, last
            return True
        if first - 1 <= s <= last + 1:
            return False
        if last < s:
            place = j + 1
    for m in range(pieces, place, -1):
        spans[m, 0], spans[m, 1] = kept[m - 1, 0], kept[m - 1, 1]
    spans[place, 0], spans[place, 1] = s, s
    return True
