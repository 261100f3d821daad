"""Compiled kernels of exact polishing: every open part in turn takes its best value, all else held.

Thresholds, channels, operators and window ends for two classes; thresholds of least mean absolute error for
real-valued labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...semantics import simd as ln
from .quantised_kernels import (
    ATOM,
    CHOICE,
    LANES,
    LINE,
    NEG,
    PIECES,
    WIN_MAX,
    WIN_MIN,
    Net,
    RestartWeights,
    TileBatch,
    Workspace,
    compiled,
    deviation,
    judge,
    mark_needed,
    operands,
    signals,
)

EVEN, ODD, MIXED = 1, 2, -1
"""How many negations an open atom stands under. With an odd number, what satisfies the atom speaks against the formula;
with both kinds there is no one critical threshold, and the atom is left as it is."""


class Levels(NamedTuple):
    """The distinct values of each channel, sorted: `values[offsets[c] : offsets[c + 1]]`, and their range."""

    values: Any
    offsets: Any
    ranges: Any


class BestThreshold(NamedTuple):
    """A threshold, the error it gives, and the gap between values that it lies in (share of the range)."""

    error: Any
    value: Any
    gap: Any


@compiled
def saturate(x: int, scale: Any, bias: Any, y: int, count: int) -> None:
    """+inf where the atom holds, -inf where it does not."""
    ln.never_inline()
    huge = np.float32(3e38)
    for i in range(0, count, LINE):
        ln.store(y, i, ln.times(ln.times(ln.affine(ln.load(x, i, scale), scale, bias), huge), huge))


@compiled
def critical_thresholds(net: Net, at: RestartWeights, batch: TileBatch, hole: int, work: Workspace, z: Any) -> None:
    """The critical threshold of an open atom for every trace, signed as its side: satisfied up to z."""
    ln.never_inline()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    count = samples * LANES
    row = count * 4
    mark_needed(net, at.winners, np.bool_(False), work.need)
    like, root = np.float32(0), net.nodes.shape[0] - 1
    start = work.store.ctypes.data
    for i in range(batch.tiles.shape[0]):
        tile = batch.tiles.ctypes.data + i * channels * row
        operands(net, at, tile, row, work)
        for n in range(net.nodes.shape[0]):
            kind, a = net.nodes[n, 0], net.nodes[n, 1]
            if work.need[n] == 0:
                continue
            if kind == ATOM:
                if net.nodes[n, 3] == hole:
                    work.bias[n] = np.float32(0)
                else:
                    y = start + n * row
                    saturate(work.place[n], work.scale[n], work.bias[n], y, count)
                    work.place[n], work.scale[n], work.bias[n] = y, np.float32(1), np.float32(0)
            elif kind == CHOICE:
                child = net.options[a + at.winners[net.nodes[n, 3]]]
                work.place[n], work.scale[n], work.bias[n] = work.place[child], work.scale[child], work.bias[child]
            elif kind == NEG:
                work.place[n], work.scale[n], work.bias[n] = work.place[a], -work.scale[a], -work.bias[a]
        signals(net, at, tile, channels, samples, work)
        for lane in range(LANES):
            t = batch.ends[i, lane]
            if t >= 0:
                z[i, lane] = ln.sample(work.place[root], t * LANES + lane, like) * work.scale[root] + work.bias[root]


@compiled
def best_threshold(z: Any, batch: TileBatch, side: Any, channel: int, levels: Levels, against: Any) -> BestThreshold:
    """The threshold of least error, and among those the middle of the widest gap.

    Traces are satisfied up to z; with `against` they are violated up to z.
    """
    ln.never_inline()
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
    return BestThreshold(best, middle, best_gap)


@compiled
def threshold_at_rank(value: Any, side: Any, channel: int, levels: Levels) -> Any:
    """The bias that makes `side * rank + bias` positive exactly where the value is on the satisfied side."""
    first = levels.offsets[channel]
    values = levels.values[first : levels.offsets[channel + 1]]
    if side > 0:
        return np.float32(0.5 - np.searchsorted(values, value))
    return np.float32(np.searchsorted(values, value, side="right") - 0.5)


@compiled
def settle_atom(
    net: Net, at: RestartWeights, batch: TileBatch, levels: Levels, value: Any, hole: int, under: int, free: Any,
    now: Any, work: Workspace, z: Any, stop: Any,
) -> Any:  # fmt: skip
    """The best channel, side (when `free`) and threshold of an open atom; the error then."""
    ln.never_inline()
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
        critical_thresholds(net, at, batch, hole, work, z)
        if under == ODD:
            for i in range(z.shape[0]):
                for lane in range(LANES):
                    z[i, lane] = -z[i, lane]
        best = best_threshold(z, batch, side, channel, levels, under == ODD)
        better = best.error < best_error - 1e-9
        same = best.error < best_error + 1e-9
        if better or (same and best_option in (-1, before) and k == before) or (same and best.gap > best_gap * 1.5):
            best_error, best_gap, best_option, best_value = best.error, best.gap, k, best.value
    if best_option < 0:
        at.winners[hole] = before
        return now
    at.winners[hole] = best_option
    value[base + best_option] = best_value
    side = at.theta[base + count + best_option]
    at.theta[base + 2 * count + best_option] = threshold_at_rank(
        best_value, side, net.channel_of[off + best_option], levels
    )
    return best_error


@compiled
def random_below(state: Any, below: int) -> int:
    """The next number of a small generator, 0 to `below` - 1."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return int((state[0] >> np.uint64(33)) % np.uint64(below))


@compiled
def clip_spans(spans: Any, samples: int) -> None:
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
    net: Net, at: RestartWeights, batch: TileBatch, window: int, piece: int, end: int, low: int, high: int,
    state: Any, work: Workspace, stop: Any,
) -> Any:  # fmt: skip
    """The best value from `low` to `high` of one end of a window; the error then.

    Of values that do equally well, where it stands if it is among them, otherwise any of the longest stretch
    of neighbours; its middle where `state`, the generator, is empty. Values between two that judge some traces
    alike judge these alike: stretches that cannot do better are left out. Where it is stopped the end stays.
    """
    ln.never_inline()
    count, stood = high - low + 1, at.spans[window, piece, end] - low
    errors = np.full(count, np.inf)
    tiles = batch.ends.shape[0]
    holds = np.zeros((count, tiles, LANES), np.int8)
    at.spans[window, piece, end] = low
    errors[0] = judge(net, at, batch, work, holds[0])
    at.spans[window, piece, end] = high
    errors[count - 1] = judge(net, at, batch, work, holds[count - 1])
    best = min(errors[0], errors[count - 1])
    stack = np.empty((2 * count + 2, 2), np.int64)
    stack[0, 0], stack[0, 1], depth = 0, count - 1, 1
    while depth > 0:
        if stop[0] != 0 and 0 <= stood < count:
            at.spans[window, piece, end] = low + stood
            return judge(net, at, batch, work, holds[stood])
        depth -= 1
        a, b = stack[depth, 0], stack[depth, 1]
        if b - a < 2:
            continue
        sure, alike = 0.0, True
        for i in range(tiles):
            for lane in range(LANES):
                if batch.ends[i, lane] >= 0:
                    if holds[a, i, lane] == holds[b, i, lane]:
                        if (holds[a, i, lane] == 1) != (batch.labels[i, lane] > 0):
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
        errors[middle] = judge(net, at, batch, work, holds[middle])
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
                chosen = (j + k) // 2 if state.size == 0 else j + random_below(state, longest)
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
    net: Net, at: RestartWeights, batch: TileBatch, window: int, most: int, now: Any, work: Workspace, verdicts: Any,
    stop: Any,
) -> Any:  # fmt: skip
    """One sample taken out of a window, or added apart from it, where that rights a hundredth of the traces or more.

    A window has at most `most` pieces. The ends of what results are for the next sweep to settle.
    """
    ln.never_inline()
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
    before = at.spans[window].copy()
    best, best_at = now - max(0.01 * total, 1e-9), -1
    step = max(1, samples // 64)
    for s in range(0, samples, step):
        if stop[0] != 0:
            break
        if not _split_window(before, pieces, s, at.spans[window]):
            continue
        error = judge(net, at, batch, work, verdicts)
        if error <= best:
            best, best_at = error, s
    for j in range(PIECES):
        at.spans[window, j, 0], at.spans[window, j, 1] = before[j, 0], before[j, 1]
    if best_at < 0:
        return now
    _split_window(before, pieces, best_at, at.spans[window])
    return best


@compiled
def _split_window(before: Any, pieces: int, s: int, spans: Any) -> Any:
    """Writes to `spans` the window without sample s, if it is inside a piece, or with it, if it is apart from all."""
    for j in range(PIECES):
        spans[j, 0], spans[j, 1] = before[j, 0], before[j, 1]
    place = 0
    for j in range(pieces):
        first, last = before[j, 0], before[j, 1]
        if first < s < last:
            for m in range(pieces, j + 1, -1):
                spans[m, 0], spans[m, 1] = before[m - 1, 0], before[m - 1, 1]
            spans[j, 1] = s - 1
            spans[j + 1, 0], spans[j + 1, 1] = s + 1, last
            return True
        if first - 1 <= s <= last + 1:
            return False
        if last < s:
            place = j + 1
    for m in range(pieces, place, -1):
        spans[m, 0], spans[m, 1] = before[m - 1, 0], before[m - 1, 1]
    spans[place, 0], spans[place, 1] = s, s
    return True


@compiled
def polish(
    net: Net, at: RestartWeights, batch: TileBatch, levels: Levels, value: Any, movable: Any, seed: Any, sweeps: int,
    free: Any, work: Workspace, z: Any, verdicts: Any, stop: Any,
) -> Any:  # fmt: skip
    """Settles every open part in turn, in random order, until a whole sweep changes nothing; the error then.

    `movable` says how many pieces each window may have, then of each open atom EVEN, ODD or MIXED; 0 is for fixed ones.
    With `free` also channels and operators; otherwise thresholds and windows only. `stop[0]` ends it once another
    thread has set it, with what is settled by then.
    """
    samples = batch.tiles.shape[2]
    state = np.array([seed], np.uint64)
    chance = state if free else state[:0]
    error = judge(net, at, batch, work, verdicts)
    count, windows = net.nodes.shape[0], net.masks.shape[0]
    todo = np.empty(count, np.int64)
    for _ in range(sweeps):
        before, improved = error, False
        mark_needed(net, at.winners, np.bool_(False), work.need)
        length = 0
        for n in range(count):
            kind = net.nodes[n, 0]
            if work.need[n] == 2 and (
                (kind == ATOM and movable[windows + net.nodes[n, 3]] > 0)
                or (kind == CHOICE and free)
                or (kind in (WIN_MIN, WIN_MAX) and movable[net.nodes[n, 3]] > 0)
            ):
                todo[length] = n
                length += 1
        for i in range(length - 1, 0, -1):
            j = random_below(state, i + 1)
            todo[i], todo[j] = todo[j], todo[i]
        for i in range(length):
            if stop[0] != 0:
                break
            n = todo[i]
            kind, block = net.nodes[n, 0], net.nodes[n, 3]
            mark_needed(net, at.winners, np.bool_(False), work.need)
            if work.need[n] != 2:
                continue
            if kind == ATOM:
                error = settle_atom(
                    net, at, batch, levels, value, block, movable[windows + block], free, error, work, z, stop
                )
            elif kind == CHOICE:
                winner = at.winners[block]
                best = winner
                for k in range(net.nodes[n, 2]):
                    if k != winner:
                        at.winners[block] = k
                        wrong = judge(net, at, batch, work, verdicts)
                        if wrong < error - 1e-9:
                            error, best = wrong, k
                at.winners[block] = best
            else:
                clip_spans(at.spans[block], samples)
                for piece in range(PIECES):
                    if at.spans[block, piece, 0] < 0:
                        break
                    for end in range(1, -1, -1):
                        low, high = at.spans[block, piece, 0], np.int64(samples - 1)
                        if end == 1 and piece + 1 < PIECES and at.spans[block, piece + 1, 0] >= 0:
                            high = at.spans[block, piece + 1, 0] - 2
                        if end == 0:
                            low = at.spans[block, piece - 1, 1] + 2 if piece > 0 else np.int64(0)
                            high = at.spans[block, piece, 1]
                        stood = at.spans[block, piece, end]
                        if low > high:
                            continue
                        error = settle_end(net, at, batch, block, piece, end, low, high, chance, work, stop)
                        improved = improved or at.spans[block, piece, end] != stood
        if stop[0] != 0:
            break
        if error > before - 1e-9 and not improved:
            parted = error
            for n in range(count):
                if free and net.nodes[n, 0] in (WIN_MIN, WIN_MAX) and work.need[n] == 2:
                    parted = part_window(
                        net, at, batch, net.nodes[n, 3], movable[net.nodes[n, 3]], parted, work, verdicts, stop
                    )
            if parted > error - 1e-9:
                break
            error = parted
    return error


POINTS, LEVELS = 12, 6
"""Values tried at once, and how often the range is narrowed around the best of them."""


@compiled
def narrow_threshold(
    net: Net, at: RestartWeights, batch: TileBatch, place: int, low: Any, high: Any, now: Any, work: Workspace,
    stop: Any,
) -> Any:  # fmt: skip
    """Sets weight `place` to the best value found from `low` to `high`, if better than it is; the deviation then."""
    ln.never_inline()
    best, value = now, at.theta[place]
    center, width = 0.5 * (low + high), 0.5 * (high - low)
    for _ in range(LEVELS):
        if stop[0] != 0:
            break
        least, at_least = np.inf, center
        for j in range(POINTS + 1):
            point = center + width * (2.0 * j / POINTS - 1.0)
            at.theta[place] = np.float32(point)
            off = deviation(net, at, batch, work)
            if off < least:
                least, at_least = off, point
        if least < best - 1e-9:
            best, value = least, np.float32(at_least)
        center, width = at_least, width * 2.0 / POINTS
    at.theta[place] = value
    return best


@compiled
def regress(
    net: Net, at: RestartWeights, batch: TileBatch, reach: Any, movable: Any, sweeps: int, free: Any, work: Workspace,
    stop: Any,
) -> Any:  # fmt: skip
    """Settles every open part in turn until a sweep gains less than a thousandth; the deviation then.

    Thresholds are looked for from -`reach` to `reach`. `stop[0]` ends it once another thread has set it.
    """
    samples = batch.tiles.shape[2]
    count, windows = net.nodes.shape[0], net.masks.shape[0]
    off = deviation(net, at, batch, work)
    for _ in range(sweeps):
        before = off
        for n in range(count - 1, -1, -1):
            kind, block = net.nodes[n, 0], net.nodes[n, 3]
            mark_needed(net, at.winners, np.bool_(False), work.need)
            if work.need[n] != 2:
                continue
            if stop[0] != 0:
                break
            if kind == ATOM and movable[windows + block] != 0:
                base, size = net.blocks[block, 0], net.blocks[block, 1]
                winner = at.winners[block]
                for turn in range(size if free else 1):
                    k = (winner + turn) % size
                    before_this = at.winners[block]
                    at.winners[block] = k
                    now = off if k == before_this else np.inf
                    place = base + 2 * size + k
                    old_theta = at.theta[place]
                    moved = narrow_threshold(net, at, batch, place, -reach, reach, now, work, stop)
                    if moved < off - 1e-9:
                        off = moved
                    elif k != before_this:
                        at.theta[place] = old_theta
                        at.winners[block] = before_this
            elif kind == CHOICE and free:
                winner = at.winners[block]
                best = winner
                for k in range(net.nodes[n, 2]):
                    at.winners[block] = k
                    moved = deviation(net, at, batch, work)
                    if moved < off - 1e-9:
                        off, best = moved, k
                at.winners[block] = best
            elif kind in (WIN_MIN, WIN_MAX) and movable[block] > 0:
                for end in range(2):
                    old_end = at.spans[block, 0, end]
                    low = at.spans[block, 0, 0] if end == 1 else np.int64(0)
                    high = np.int64(samples - 1) if end == 1 else min(at.spans[block, 0, 1], samples - 1)
                    for value in range(low, high + 1):
                        if stop[0] != 0:
                            break
                        at.spans[block, 0, end] = value
                        moved = deviation(net, at, batch, work)
                        if moved < off - 1e-9:
                            off, old_end = moved, value
                    at.spans[block, 0, end] = old_end
        if off > before * 0.999:
            break
    return off
