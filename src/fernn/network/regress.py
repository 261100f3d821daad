"""The best thresholds for real-valued labels: those of least mean absolute error.

The robustness is piecewise linear in a threshold, with corners that depend on all the rest; each threshold is found by
narrowing around the best of evenly spaced values, all others held.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..semantics import lanes as ln
from .forward import ATOM, CHOICE, WIN_MAX, WIN_MIN, Desk, Net, Weights, compiled, needed
from .gradient import Batch
from .judging import deviation

POINTS, LEVELS = 12, 6
"""Values tried at once, and how often the range is narrowed around the best of them."""


@compiled
def narrowed(
    net: Net, at: Weights, batch: Batch, place: int, low: Any, high: Any, now: Any, desk: Desk, stop: Any
) -> Any:
    """Sets weight `place` to the best value found from `low` to `high`, if better than it is; the deviation then."""
    ln.stands_alone()
    best, value = now, at.theta[place]
    center, width = 0.5 * (low + high), 0.5 * (high - low)
    for _ in range(LEVELS):
        if stop[0] != 0:
            break
        found, there = np.inf, center
        for j in range(POINTS + 1):
            point = center + width * (2.0 * j / POINTS - 1.0)
            at.theta[place] = np.float32(point)
            off = deviation(net, at, batch, desk)
            if off < found:
                found, there = off, point
        if found < best - 1e-9:
            best, value = found, np.float32(there)
        center, width = there, width * 2.0 / POINTS
    at.theta[place] = value
    return best


@compiled
def regress(
    net: Net, at: Weights, batch: Batch, reach: Any, movable: Any, sweeps: int, free: Any, desk: Desk, stop: Any
) -> Any:
    """Settles every open part in turn until a sweep gains less than a thousandth; the deviation then.

    Thresholds are looked for from -`reach` to `reach`. `stop[0]` ends it once another thread has set it.
    """
    samples = batch.tiles.shape[2]
    count, windows = net.nodes.shape[0], net.masks.shape[0]
    off = deviation(net, at, batch, desk)
    for _ in range(sweeps):
        before = off
        for n in range(count - 1, -1, -1):
            kind, block = net.nodes[n, 0], net.nodes[n, 3]
            needed(net, at.winners, np.bool_(False), desk.need)
            if desk.need[n] != 2:
                continue
            if stop[0] != 0:
                break
            if kind == ATOM and movable[windows + block] != 0:
                base, size = net.blocks[block, 0], net.blocks[block, 1]
                won = at.winners[block]
                for turn in range(size if free else 1):
                    k = (won + turn) % size
                    before_this = at.winners[block]
                    at.winners[block] = k
                    now = off if k == before_this else np.inf
                    place = base + 2 * size + k
                    kept = at.theta[place]
                    found = narrowed(net, at, batch, place, -reach, reach, now, desk, stop)
                    if found < off - 1e-9:
                        off = found
                    elif k != before_this:
                        at.theta[place] = kept
                        at.winners[block] = before_this
            elif kind == CHOICE and free:
                won = at.winners[block]
                best = won
                for k in range(net.nodes[n, 2]):
                    at.winners[block] = k
                    found = deviation(net, at, batch, desk)
                    if found < off - 1e-9:
                        off, best = found, k
                at.winners[block] = best
            elif kind in (WIN_MIN, WIN_MAX) and movable[block] > 0:
                for end in range(2):
                    kept_end = at.spans[block, 0, end]
                    low = at.spans[block, 0, 0] if end == 1 else np.int64(0)
                    high = np.int64(samples - 1) if end == 1 else min(at.spans[block, 0, 1], samples - 1)
                    for value in range(low, high + 1):
                        if stop[0] != 0:
                            break
                        at.spans[block, 0, end] = value
                        found = deviation(net, at, batch, desk)
                        if found < off - 1e-9:
                            off, kept_end = found, value
                    at.spans[block, 0, end] = kept_end
        if off > before * 0.999:
            break
    return off
