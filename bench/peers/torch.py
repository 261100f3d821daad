"""torch, eager, on every core; larger batches on one thread too, which is faster on a busy machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..tasks import Task
from . import Way, Ways, scans
from .recipe import Steps, judged

CORES = len(os.sched_getaffinity(0))
CACHED = 200_000
"""Numbers. The best of several sizes tried for a stretch that is worked on at once."""


@dataclass(frozen=True)
class Doubling:
    """Time last, every operator in a few passes, each reaching twice as far."""

    axis: int = -1

    def channel(self, X: Tensor, place: int) -> Tensor:
        return X[:, place]

    def smaller(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.minimum(a, b)

    def running(self, signal: Tensor, best: str, ahead: bool) -> Any:
        return scans.doubling(torch, signal, best, ahead, self.axis)

    def window(self, signal: Tensor, width: int, best: str, ahead: bool) -> Any:
        return scans.window(torch, signal, width, best, ahead, self.axis)

    def hold(self, hold: Tensor, goal: Tensor, ahead: bool) -> Any:
        return scans.doubling_hold(torch, hold, goal, ahead, self.axis)

    def result(self, signal: Tensor) -> Tensor:
        return signal


@dataclass(frozen=True)
class Native(Doubling):
    """What torch has: cummin and cummax, on flipped tensors ahead, and max_pool1d."""

    def running(self, signal: Tensor, best: str, ahead: bool) -> Tensor:
        scan = torch.cummin if best == "minimum" else torch.cummax
        return scan(signal.flip(-1), -1).values.flip(-1) if ahead else scan(signal, -1).values

    def window(self, signal: Tensor, width: int, best: str, ahead: bool) -> Tensor:
        sign = -1 if best == "minimum" else 1
        width = min(width, signal.shape[-1])
        beyond = (0, width - 1) if ahead else (width - 1, 0)
        padded = torch.nn.functional.pad(sign * signal, beyond, value=-torch.inf)
        return sign * torch.nn.functional.max_pool1d(padded[:, None], width, 1)[:, 0]


@dataclass(frozen=True)
class Columns(Doubling):
    """Time first, a loop over time across all traces."""

    axis: int = 0

    def channel(self, X: Tensor, place: int) -> Tensor:
        return X[:, place].T.contiguous()

    def running(self, signal: Tensor, best: str, ahead: bool) -> Any:
        return scans.fold(torch, signal, best, ahead)

    def hold(self, hold: Tensor, goal: Tensor, ahead: bool) -> Any:
        return scans.fold_hold(torch, hold, goal, ahead)

    def result(self, signal: Tensor) -> Tensor:
        return signal.T


@dataclass(frozen=True)
class Blocks(Columns):
    """Time first, many stretches of time side by side."""

    def running(self, signal: Tensor, best: str, ahead: bool) -> Any:
        return scans.blocks(torch, signal, best, ahead)

    def hold(self, hold: Tensor, goal: Tensor, ahead: bool) -> Any:
        return scans.blocks_hold(torch, hold, goal, ahead)


def ways(task: Task) -> Ways:
    X = torch.from_numpy(task.X)
    made = {"native": Native(), "doubling": Doubling(), "columns": Columns(), "blocks": Blocks()}
    found = {name: _call(task, X, steps, task.cases, CORES) for name, steps in made.items()}
    if task.cases * task.length > CACHED:
        count = max(1, CACHED // task.length)
        found["doubling in cache"] = _call(task, X, Doubling(), count, CORES)
        found["native, one thread"] = _call(task, X, Native(), task.cases, 1)
        found["blocks, one thread"] = _call(task, X, Blocks(), task.cases, 1)
        found["doubling in cache, one thread"] = _call(task, X, Doubling(), count, 1)
    return {name: Way(call, task.cases) for name, call in found.items()}


def _call(task: Task, X: Tensor, steps: Steps, count: int, threads: int) -> Callable[[], Tensor]:
    """All passes over `count` traces, then over the next."""

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def call() -> Any:
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        if count == task.cases:
            return judged(task.formula, X, task.channels, steps)
        out = torch.empty((task.cases, task.length), dtype=X.dtype)
        for start in range(0, task.cases, count):
            part = slice(start, start + count)
            out[part] = judged(task.formula, X[part], task.channels, steps)
        return out

    return call  # type: ignore[no-any-return]
