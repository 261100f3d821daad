"""A plain memory copy that moves as many bytes as the formula must: its channels in, its result out.

A copy of B bytes reads B and writes B, so it copies half of that sum. It runs on as many threads as
fernn uses for the batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise

import numpy as np

from fernn.formula.program import compile_program
from fernn.semantics.interpreter import fuse_steps
from fernn.semantics.threads import PARALLEL_WORK

from ..tasks import Array, Task


def threads_allowed() -> int:
    wanted = os.environ.get("FERNN_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) > 0 else len(os.sched_getaffinity(0))


def threads(task: Task) -> int:
    """How many threads fernn uses for the whole signal of this batch."""
    work = task.cases * task.length * len(fuse_steps(compile_program(task.formula).steps))
    return 1 if work < PARALLEL_WORK else min(threads_allowed(), task.cases)


def copies(task: Task) -> dict[str, Callable[[], Array]]:
    """Into an array that is there, and into a fresh one, as a function that returns its result must."""
    values = task.cases * task.length * (len(task.channels) + 1) // 2
    source = np.random.default_rng(1).random(values, np.float32)
    target = np.zeros_like(source)
    count = threads(task)
    return {
        "copy": lambda: _copied(source, target, count),
        "copy, fresh array": lambda: _copied(source, np.empty_like(source), count),
    }


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, threads_allowed() - 1))


def _copied(source: Array, target: Array, count: int) -> Array:
    if count == 1:
        np.copyto(target, source)
        return target
    edges = [source.size * i // count for i in range(count + 1)]
    parts = [slice(low, high) for low, high in pairwise(edges)]
    others = [_pool().submit(np.copyto, target[part], source[part]) for part in parts[1:]]
    np.copyto(target[parts[0]], source[parts[0]])
    for other in others:
        other.result()
    return target
