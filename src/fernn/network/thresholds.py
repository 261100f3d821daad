"""The exact best threshold of one atom, all else held.

Values are replaced by their ranks, so that float32 loses nothing. Satisfaction is monotone in a
threshold. So each trace has one critical threshold, up to which it is satisfied; it is the
formula's robustness with all other atoms taken as certainly true or false (+inf or -inf) and this one as the bare
value. Sorting the critical thresholds of all traces gives the error of every threshold there is.
Among equally good ones the middle of the widest gap is taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..semantics import lanes as ln
from .forward import ATOM, CHOICE, LANES, LINE, NEG, Desk, Net, Weights, compiled, needed, operands, signals
from .gradient import Batch

EVEN, ODD, MIXED = 1, 2, -1
"""How many negations an open atom stands under. With an odd number, what satisfies the atom speaks against the formula;
with both kinds there is no one critical threshold, and the atom is left as it is."""


class Levels(NamedTuple):
    """The distinct values of each channel, sorted: `values[offsets[c] : offsets[c + 1]]`, and their range."""

    values: Any
    offsets: Any
    ranges: Any


class Found(NamedTuple):
    """A threshold, the error it gives, and the gap between values that it lies in (share of the range)."""

    error: Any
    value: Any
    gap: Any


@compiled
def saturated(x: int, scale: Any, bias: Any, y: int, count: int) -> None:
    """+inf where the atom holds, -inf where it does not."""
    ln.stands_alone()
    huge = np.float32(3e38)
    for i in range(0, count, LINE):
        ln.store(y, i, ln.times(ln.times(ln.seen(ln.load(x, i, scale), scale, bias), huge), huge))


@compiled
def critical(net: Net, at: Weights, batch: Batch, hole: int, desk: Desk, z: Any) -> None:
    """The critical threshold of an open atom for every trace, signed as its side: satisfied up to z."""
    ln.stands_alone()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    count = samples * LANES
    row = count * 4
    needed(net, at.winners, np.bool_(False), desk.need)
    like, root = np.float32(0), net.nodes.shape[0] - 1
    start = desk.store.ctypes.data
    for i in range(batch.tiles.shape[0]):
        tile = batch.tiles.ctypes.data + i * channels * row
        operands(net, at, tile, row, desk)
        for n in range(net.nodes.shape[0]):
            kind, a = net.nodes[n, 0], net.nodes[n, 1]
            if desk.need[n] == 0:
                continue
            if kind == ATOM:
                if net.nodes[n, 3] == hole:
                    desk.bias[n] = np.float32(0)
                else:
                    y = start + n * row
                    saturated(desk.place[n], desk.scale[n], desk.bias[n], y, count)
                    desk.place[n], desk.scale[n], desk.bias[n] = y, np.float32(1), np.float32(0)
            elif kind == CHOICE:
                child = net.options[a + at.winners[net.nodes[n, 3]]]
                desk.place[n], desk.scale[n], desk.bias[n] = desk.place[child], desk.scale[child], desk.bias[child]
            elif kind == NEG:
                desk.place[n], desk.scale[n], desk.bias[n] = desk.place[a], -desk.scale[a], -desk.bias[a]
        signals(net, at, tile, channels, samples, desk)
        for lane in range(LANES):
            t = batch.ends[i, lane]
            if t >= 0:
                z[i, lane] = ln.sample(desk.place[root], t * LANES + lane, like) * desk.scale[root] + desk.bias[root]


@compiled
def best_threshold(z: Any, batch: Batch, side: Any, channel: int, levels: Levels, against: Any) -> Found:
    """The threshold of least error, and among those the middle of the widest gap.

    Traces are satisfied up to z; with `against` they are violated up to z.
    """
    ln.stands_alone()
    count, wrong = 0, 0.0
    keys = np.empty(z.size, np.float32)
    places = np.empty(z.size, np.int64)
    for i in range(batch.ends.shape[0]):
        for lane in range(LANES):
            weight = batch.weights[i, lane]
            if batch.ends[i, lane] < 0 or weight == 0:
                continue
            good = (batch.labels[i, lane] > 0) != against
            if z[i, lane] == np.inf:
                wrong += 0.0 if good else weight
            elif z[i, lane] == -np.inf:
                wrong += weight if good else 0.0
            else:
                wrong += 0.0 if good else weight
                keys[count], places[count] = z[i, lane], i * LANES + lane
                count += 1
    first = levels.offsets[channel]
    size = levels.offsets[channel + 1] - first
    values = levels.values[first : first + size]
    order = np.argsort(keys[:count])
    best, best_gap, best_low, best_high = wrong, -1.0, 0.0, 0.0
    # the walk: at step j the j lowest critical thresholds lie below the cut
    j = 0
    while True:
        low = int(side * keys[order[j - 1]]) if j > 0 else -1
        high = int(side * keys[order[j]]) if j < count else -1
        if count == 0:
            low_value, high_value, gap = values[0], values[0], 0.0
        elif j == 0:  # satisfied by all: just beyond the lowest, towards the next value of the channel
            beyond = high - int(side)
            high_value = values[high]
            low_value = values[beyond] if 0 <= beyond < size else high_value - side * levels.ranges[channel] * 0.01
            gap = 0.0
        elif j == count:
            beyond = low + int(side)
            low_value = values[low]
            high_value = values[beyond] if 0 <= beyond < size else low_value + side * levels.ranges[channel] * 0.01
            gap = 0.0
        else:
            low_value, high_value = values[low], values[high]
            gap = abs(high_value - low_value) / levels.ranges[channel]
        if wrong < best - 1e-9 or (wrong < best + 1e-9 and gap > best_gap):
            best, best_gap, best_low, best_high = wrong, gap, low_value, high_value
        if j == count:
            break
        key = keys[order[j]]
        while j < count and keys[order[j]] == key:
            i, lane = places[order[j]] // LANES, places[order[j]] % LANES
            good = (batch.labels[i, lane] > 0) != against
            wrong += batch.weights[i, lane] if good else -batch.weights[i, lane]
            j += 1
    middle = 0.5 * (best_low + best_high)
    if middle == best_low:  # neighbouring floats: satisfied from `high` on
        middle = best_high
    return Found(best, middle, best_gap)


@compiled
def cut(value: Any, side: Any, channel: int, levels: Levels) -> Any:
    """The bias that makes `side * rank + bias` positive exactly where the value is on the satisfied side."""
    first = levels.offsets[channel]
    values = levels.values[first : levels.offsets[channel + 1]]
    if side > 0:
        return np.float32(0.5 - np.searchsorted(values, value))
    return np.float32(np.searchsorted(values, value, side="right") - 0.5)


@compiled
def settle_atom(
    net: Net, at: Weights, batch: Batch, levels: Levels, value: Any, hole: int, under: int, free: Any, now: Any,
    desk: Desk, z: Any, stop: Any,
) -> Any:  # fmt: skip
    """The best channel, side (when `free`) and threshold of an open atom; the error then."""
    ln.stands_alone()
    base, count, off = net.blocks[hole, 0], net.blocks[hole, 1], net.blocks[hole, 2]
    before = at.winners[hole]
    best_error, best_gap, best_option, best_value = now, -1.0, -1, 0.0
    for turn in range(count):
        k = (before + turn) % count
        if k != before and not free:
            continue
        if stop[0] != 0:
            break
        at.winners[hole] = k
        channel, side = net.channel_of[off + k], at.theta[base + count + k]
        critical(net, at, batch, hole, desk, z)
        if under == ODD:
            for i in range(z.shape[0]):
                for lane in range(LANES):
                    z[i, lane] = -z[i, lane]
        found = best_threshold(z, batch, side, channel, levels, under == ODD)
        better = found.error < best_error - 1e-9
        same = found.error < best_error + 1e-9
        if better or (same and best_option in (-1, before) and k == before) or (same and found.gap > best_gap * 1.5):
            best_error, best_gap, best_option, best_value = found.error, found.gap, k, found.value
    if best_option < 0:
        at.winners[hole] = before
        return now
    at.winners[hole] = best_option
    value[base + best_option] = best_value
    side = at.theta[base + count + best_option]
    at.theta[base + 2 * count + best_option] = cut(best_value, side, net.channel_of[off + best_option], levels)
    return best_error
