"""JAX, jitted for the shape at hand; compiling is not timed."""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..tasks import Task
from . import Way, Ways, scans
from .recipe import judged


@dataclass(frozen=True)
class Native:
    """Cumulative and associative scans, and windows by reduce_window."""

    def channel(self, X: Any, place: int) -> Any:
        return X[:, place]

    def smaller(self, a: Any, b: Any) -> Any:
        return jnp.minimum(a, b)

    def running(self, signal: Any, best: str, ahead: bool) -> Any:
        return (lax.cummin if best == "minimum" else lax.cummax)(signal, axis=1, reverse=ahead)

    def window(self, signal: Any, width: int, best: str, ahead: bool) -> Any:
        better = lax.min if best == "minimum" else lax.max
        beyond = ((0, 0), (0, width - 1) if ahead else (width - 1, 0))
        return lax.reduce_window(signal, scans.FILL[best], better, (1, width), (1, 1), beyond)

    def hold(self, hold: Any, goal: Any, ahead: bool) -> Any:
        def composed(before: Any, after: Any) -> Any:
            (hold_before, goal_before), (hold_after, goal_after) = before, after
            goal = jnp.maximum(goal_after, jnp.minimum(hold_after, goal_before))
            return jnp.minimum(hold_after, hold_before), goal

        return lax.associative_scan(composed, (hold, goal), axis=1, reverse=ahead)[1]

    def result(self, signal: Any) -> Any:
        return signal


@dataclass(frozen=True)
class Sequential(Native):
    """One step of time after another, across all traces; windows by doubling."""

    def running(self, signal: Any, best: str, ahead: bool) -> Any:
        better = getattr(jnp, best)
        start = jnp.full(len(signal), scans.FILL[best], signal.dtype)
        return _scan(lambda r, now: better(r, now[0]), start, (signal,), ahead)

    def window(self, signal: Any, width: int, best: str, ahead: bool) -> Any:
        return scans.window(jnp, signal, width, best, ahead, 1)

    def hold(self, hold: Any, goal: Any, ahead: bool) -> Any:
        start = jnp.full(len(goal), -inf, goal.dtype)
        return _scan(lambda r, now: jnp.maximum(now[1], jnp.minimum(now[0], r)), start, (hold, goal), ahead)


def _scan(step: Callable[[Any, Any], Any], start: Any, signals: tuple[Any, ...], ahead: bool) -> Any:
    def carried(r: Any, now: Any) -> Any:
        r = step(r, now)
        return r, r

    return lax.scan(carried, start, tuple(signal.T for signal in signals), reverse=ahead)[1].T


def ways(task: Task) -> Ways:
    X = jnp.asarray(task.X)

    def compiled(steps: Any) -> Any:
        judge = jax.jit(partial(judged, task.formula, channels=task.channels, steps=steps))
        return lambda: judge(X).block_until_ready()

    made = {"native": Native(), "sequential": Sequential()}
    return {name: Way(compiled(steps), task.cases) for name, steps in made.items()}
