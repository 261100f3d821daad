"""A short stretch of training for one restart: gradient steps on thresholds and choices, ever less random.

Every step draws the winner of each block anew from its weights, with noise that fades; the
gradient moves the weights of all options and the thresholds of the winners (Adam).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .forward import Desk, Net, Weights, compiled
from .gradient import Batch, gradient


@compiled
def unit_noise(state: Any) -> Any:
    """Gumbel noise: the largest of weight + noise is option k with the probability softmax(weights)[k]."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    u = (float(state[0] >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return -np.log(-np.log(u))


@compiled
def drawn(net: Net, theta: Any, winners: Any, heat: Any, state: Any) -> None:
    """The winner of each open block: the largest weight, after noise times `heat`."""
    for block in range(net.blocks.shape[0]):
        base, count = net.blocks[block, 0], net.blocks[block, 1]
        best, top = 0, -np.inf
        for k in range(count):
            w = theta[base + k]
            if heat > 0:
                w += heat * unit_noise(state)
            if w > top:
                best, top = k, w
        winners[block] = best


@compiled
def explore(
    net: Net, at: Weights, learn: Any, batch: Batch, per_step: int, steps: int, rate: Any, heat: Any,
    loss: int, margin: Any, seed: Any, desk: Desk, grad: Any, out: Any, stop: Any,
) -> Any:  # fmt: skip
    """Trains in place; the loss of the last step. `learn[i]` is the learning rate of weight i, relative to `rate`.

    Each step sees `per_step` tiles, in turn. `stop[0]` ends it once another thread has set it.
    """
    state = np.array([seed], np.uint64)
    size = at.theta.size
    m, v = np.zeros(size), np.zeros(size)
    tiles = batch.tiles.shape[0]
    first, total, everything = np.int64(0), 0.0, np.bool_(True)
    for step in range(steps):
        if stop[0] != 0:
            break
        drawn(net, at.theta, at.winners, heat * (1.0 - step / steps), state)
        last = min(tiles, first + per_step)
        total = gradient(net, at, batch, first, last, loss, margin, everything, desk, grad, out)
        first = np.int64(0) if last == tiles else last
        fix1, fix2 = 1.0 - 0.9 ** (step + 1), 1.0 - 0.999 ** (step + 1)
        for i in range(size):
            if learn[i] > 0:
                m[i] = 0.9 * m[i] + 0.1 * grad[i]
                v[i] = 0.999 * v[i] + 0.001 * grad[i] * grad[i]
                at.theta[i] -= rate * learn[i] * (m[i] / fix1) / (np.sqrt(v[i] / fix2) + 1e-8)
    drawn(net, at.theta, at.winners, 0.0 * heat, state)
    return total
