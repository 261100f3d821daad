"""The network on tensors, sample by sample, by torch's own operations: on any device, slowly.

It runs the same code of one sample as the kernel of a card, which is checked against it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf
from types import SimpleNamespace
from typing import Any

import torch

from ..gradient import TANH
from ..wiring import Wiring
from .text import Text, functions, text

_TORCH = SimpleNamespace(maximum=torch.maximum, minimum=torch.minimum, where=torch.where, abs=torch.abs)
Samples = Callable[..., Any]


@lru_cache(maxsize=8)
def _functions(wiring: Wiring) -> tuple[Text, Samples, Samples]:
    """One sample forward and one back, as functions of tuples of tensors."""
    code = text(wiring)
    weights, channels = _names("w", range(code.weights)), _names("x", range(code.channels))
    y, b, h = (_names(letter, code.along) for letter in "ybh")
    s, d = _names("s", code.along), _names("d", range(code.weights))
    lines = [
        "def forward(w, x, y):",
        *_taken((weights, "w"), (channels, "x"), (y, "y")),
        *code.forward,
        f"return s{code.root}, ({y})",
    ]
    back = [
        f"def back(w, x, s, b, h, d, g{code.root}):",
        *_taken((weights, "w"), (channels, "x"), (s, "s"), (b, "b"), (h, "h"), (d, "d")),
        *code.back,
        f"return ({h}), ({d})",
    ]
    source = "\n".join("\n    ".join(part) for part in (lines, back))
    made = functions(source, {"tl": _TORCH})
    return code, made["forward"], made["back"]


def _names(letter: str, numbers: Any) -> str:
    return "".join(f"{letter}{n}, " for n in numbers)


def _taken(*pairs: tuple[str, str]) -> list[str]:
    return [f"({names}) = {whole}" for names, whole in pairs if names]


def losses(wiring: Wiring, weights: Any, x: Any, labels: Any, counts: Any, loss: int) -> tuple[Any, Any, Any]:
    """(sum of losses `[restart]`, its derivative by each weight `[restart, weight]`, outputs `[restart, case]`).

    `weights[restart, weight]`; `x[channel, time, case]`, judged at the last sample; `counts` is how much each case
    counts. With `loss` negative only the outputs are computed. Losses are float64: whether one improves may hang on
    the last digits.
    """
    code, forward, back = _functions(wiring)
    w = tuple(weights.T.unsqueeze(-1))
    zero = torch.zeros(weights.shape[0], x.shape[2], dtype=weights.dtype, device=weights.device)
    y = tuple(zero - inf if low else zero + inf for low in code.lowest)
    past = [y]
    out = zero
    for t in range(x.shape[1]):
        out, y = forward(w, x[:, t].unbind(0), y)
        out = out + zero
        past.append(y)
    if loss < 0:
        return zero.sum(1), weights * 0, out
    value, g = slope(loss, labels.double(), out.double())
    held, found = (zero,) * len(y), (zero,) * code.weights
    g = (g * counts).to(zero.dtype)
    for t in range(x.shape[1] - 1, -1, -1):
        held, found = back(w, x[:, t].unbind(0), past[t + 1], past[t], held, found, g)
        g = zero
    return (value * counts).sum(1), torch.stack([each.sum(1) for each in found], 1), out


def slope(loss: int, labels: Any, out: Any) -> tuple[Any, Any]:
    """(loss, its derivative by the output), as in `gradient.slope`."""
    if loss == TANH:
        out = torch.tanh(out)
        return (labels - out).abs(), torch.where(out > labels, 1.0, -1.0) * (1.0 - out * out)
    return (labels - out).abs(), torch.sign(out - labels)
