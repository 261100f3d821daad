"""Every open part in turn takes its exact best value: thresholds, channels, operators, window ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from .ends import clipped, draw, part_window, settle_end
from .forward import ATOM, CHOICE, PIECES, WIN_MAX, WIN_MIN, Desk, Net, Weights, compiled, needed
from .gradient import Batch
from .judging import judged
from .thresholds import Levels, settle_atom


@compiled
def polish(
    net: Net, at: Weights, batch: Batch, levels: Levels, value: Any, movable: Any, seed: Any, sweeps: int,
    free: Any, desk: Desk, z: Any, verdicts: Any, stop: Any,
) -> Any:  # fmt: skip
    """Settles every open part in turn, in random order, until a whole sweep changes nothing; the error then.

    `movable` says how many pieces each window may have, then of each open atom EVEN, ODD or MIXED; 0 is for fixed ones.
    With `free` also channels and operators; otherwise thresholds and windows only. `stop[0]` ends it once another
    thread has set it, with what is settled by then.
    """
    samples = batch.tiles.shape[2]
    state = np.array([seed], np.uint64)
    chance = state if free else state[:0]
    error = judged(net, at, batch, desk, verdicts)
    count, windows = net.nodes.shape[0], net.masks.shape[0]
    todo = np.empty(count, np.int64)
    for _ in range(sweeps):
        before, moved = error, False
        needed(net, at.winners, np.bool_(False), desk.need)
        length = 0
        for n in range(count):
            kind = net.nodes[n, 0]
            if desk.need[n] == 2 and (
                (kind == ATOM and movable[windows + net.nodes[n, 3]] > 0)
                or (kind == CHOICE and free)
                or (kind in (WIN_MIN, WIN_MAX) and movable[net.nodes[n, 3]] > 0)
            ):
                todo[length] = n
                length += 1
        for i in range(length - 1, 0, -1):
            j = draw(state, i + 1)
            todo[i], todo[j] = todo[j], todo[i]
        for i in range(length):
            if stop[0] != 0:
                break
            n = todo[i]
            kind, block = net.nodes[n, 0], net.nodes[n, 3]
            needed(net, at.winners, np.bool_(False), desk.need)
            if desk.need[n] != 2:
                continue
            if kind == ATOM:
                error = settle_atom(
                    net, at, batch, levels, value, block, movable[windows + block], free, error, desk, z, stop
                )
            elif kind == CHOICE:
                won = at.winners[block]
                best = won
                for k in range(net.nodes[n, 2]):
                    if k != won:
                        at.winners[block] = k
                        wrong = judged(net, at, batch, desk, verdicts)
                        if wrong < error - 1e-9:
                            error, best = wrong, k
                at.winners[block] = best
            else:
                clipped(at.spans[block], samples)
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
                        error = settle_end(net, at, batch, block, piece, end, low, high, chance, desk, stop)
                        moved = moved or at.spans[block, piece, end] != stood
        if stop[0] != 0:
            break
        if error > before - 1e-9 and not moved:
            parted = error
            for n in range(count):
                if free and net.nodes[n, 0] in (WIN_MIN, WIN_MAX) and desk.need[n] == 2:
                    parted = part_window(
                        net, at, batch, net.nodes[n, 3], movable[net.nodes[n, 3]], parted, desk, verdicts, stop
                    )
            if parted > error - 1e-9:
                break
            error = parted
    return error
