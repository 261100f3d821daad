"""Scans along time in the words that NumPy and torch share; `lib` is either module.

`fold` steps through time once, `blocks` through many stretches side by side, `doubling` reaches
twice as far with each of its few passes. The first two want time first: `[time, case]`.

Until and Since are scans of the clamp r -> max(goal, min(hold, r)). Two clamps in a row are one:
    goal, hold after goal', hold'  =  max(goal, min(hold, goal')), min(hold, hold')
"""

from __future__ import annotations

from itertools import pairwise
from math import inf, isqrt
from typing import Any

FILL = {"minimum": inf, "maximum": -inf}


def fold(lib: Any, signal: Any, best: str, ahead: bool) -> Any:
    better = getattr(lib, best)
    out = lib.empty_like(signal)
    order = _order(len(signal), ahead)
    out[order[0]] = signal[order[0]]
    for before, now in pairwise(order):
        better(signal[now], out[before], out=out[now])
    return out


def fold_hold(lib: Any, hold: Any, goal: Any, ahead: bool) -> Any:
    out = lib.empty_like(goal)
    order = _order(len(goal), ahead)
    out[order[0]] = goal[order[0]]
    for before, now in pairwise(order):
        lib.minimum(hold[now], out[before], out=out[now])
        lib.maximum(goal[now], out[now], out=out[now])
    return out


def blocks(lib: Any, signal: Any, best: str, ahead: bool) -> Any:
    better = getattr(lib, best)
    size = len(signal)
    inside = _in_blocks(lib, signal, FILL[best], ahead)
    for before, now in _pairs(inside.shape[1], ahead):
        better(inside[:, now], inside[:, before], out=inside[:, now])
    edge = 0 if ahead else -1
    for before, now in _pairs(len(inside), ahead):
        better(inside[now], inside[before, edge], out=inside[now])
    return _from_blocks(inside, size, ahead)


def blocks_hold(lib: Any, hold: Any, goal: Any, ahead: bool) -> Any:
    size = len(goal)
    holds, goals = _in_blocks(lib, hold, -inf, ahead), _in_blocks(lib, goal, -inf, ahead)
    weaker = lib.empty_like(goals[:, 0])
    for before, now in _pairs(goals.shape[1], ahead):
        lib.minimum(holds[:, now], goals[:, before], out=weaker)
        lib.maximum(goals[:, now], weaker, out=goals[:, now])
        lib.minimum(holds[:, now], holds[:, before], out=holds[:, now])
    edge = 0 if ahead else -1
    for before, now in _pairs(len(goals), ahead):
        lib.minimum(holds[now], goals[before, edge], out=holds[now])
        lib.maximum(goals[now], holds[now], out=goals[now])
    return _from_blocks(goals, size, ahead)


def doubling(lib: Any, signal: Any, best: str, ahead: bool, axis: int) -> Any:
    better = getattr(lib, best)
    span, size = 1, signal.shape[axis]
    while span < size:
        left, right = _cut(signal, 0, size - span, axis), _cut(signal, span, size, axis)
        both = better(left, right)
        rest = _cut(signal, size - span, size, axis) if ahead else _cut(signal, 0, span, axis)
        signal = lib.concatenate([both, rest] if ahead else [rest, both], axis)
        span *= 2
    return signal


def doubling_hold(lib: Any, hold: Any, goal: Any, ahead: bool, axis: int) -> Any:
    span, size = 1, goal.shape[axis]
    while span < size:
        near, far = (0, span) if ahead else (span, 0)
        a, g = (_cut(signal, near, near + size - span, axis) for signal in (hold, goal))
        b, h = (_cut(signal, far, far + size - span, axis) for signal in (hold, goal))
        start, stop = (size - span, size) if ahead else (0, span)
        goals = [lib.maximum(g, lib.minimum(a, h)), _cut(goal, start, stop, axis)]
        holds = [lib.minimum(a, b), _cut(hold, start, stop, axis)]
        goal = lib.concatenate(goals if ahead else goals[::-1], axis)
        hold = lib.concatenate(holds if ahead else holds[::-1], axis)
        span *= 2
    return goal


def window(lib: Any, signal: Any, width: int, best: str, ahead: bool, axis: int) -> Any:
    """The best of `width` samples, each pass twice as wide as the one before."""
    better = getattr(lib, best)
    width = min(width, signal.shape[axis])
    shape = list(signal.shape)
    shape[axis] = width - 1
    beyond = lib.full(shape, FILL[best], dtype=signal.dtype)
    signal = lib.concatenate([signal, beyond] if ahead else [beyond, signal], axis)
    span = 1
    while span < width:
        step, size = min(span, width - span), signal.shape[axis]
        signal = better(_cut(signal, 0, size - step, axis), _cut(signal, step, size, axis))
        span += step
    return signal


def _order(size: int, ahead: bool) -> range:
    return range(size - 1, -1, -1) if ahead else range(size)


def _pairs(size: int, ahead: bool) -> Any:
    order = _order(size, ahead)
    return pairwise(order)


def _cut(signal: Any, start: int, stop: int, axis: int) -> Any:
    return signal[start:stop] if axis == 0 else signal[..., start:stop]


def _in_blocks(lib: Any, signal: Any, fill: float, ahead: bool) -> Any:
    """A copy as `[block, time within, case]`; what is missing to full blocks is scanned first."""
    size = len(signal)
    within = isqrt(size - 1) + 1
    count = -(-size // within)
    padded = lib.empty((count * within, *signal.shape[1:]), dtype=signal.dtype)
    cut = size if ahead else count * within - size
    padded[:cut], padded[cut:] = (signal, fill) if ahead else (fill, signal)
    return padded.reshape(count, within, *signal.shape[1:])


def _from_blocks(inside: Any, size: int, ahead: bool) -> Any:
    flat = inside.reshape(-1, *inside.shape[2:])
    return flat[:size] if ahead else flat[len(flat) - size :]
