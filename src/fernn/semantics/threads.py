"""Threads that share the traces of one call out among them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from queue import SimpleQueue
from threading import Thread, local

PARALLEL_WORK = 400_000
"""Below this many sample-steps one thread is faster than two."""

_this_thread = local()
"""Whether this thread works for `parallel_for`. Loops inside it are not parallel: all might wait for each other."""

Work = Callable[[int, int], int]
Results = SimpleQueue[int | BaseException]


class ThreadPool:
    """Threads that wait for ranges of traces; handing one over takes microseconds."""

    def __init__(self) -> None:
        wanted = os.environ.get("FERNN_THREADS", "")
        self.size = int(wanted) if wanted.isdigit() and int(wanted) > 0 else _core_count()
        self.jobs: SimpleQueue[tuple[Work, int, int, Results]] = SimpleQueue()
        for number in range(1, self.size):
            Thread(target=self._serve, name=f"fernn-{number}", daemon=True).start()

    def _serve(self) -> None:
        _this_thread.works = True
        while True:
            work, low, high, done = self.jobs.get()
            try:
                done.put(work(low, high))
            except BaseException as error:  # whoever waits for the result has to hear of it
                done.put(error)


@lru_cache(maxsize=1)
def _pool() -> ThreadPool:
    return ThreadPool()


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _core_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_for(work: Work, traces: int, cost: int) -> int:
    """Call `work(low, high)` so that all traces are done, on all cores when that is worth it."""
    if cost < PARALLEL_WORK or traces <= 1 or getattr(_this_thread, "works", False):
        return work(0, traces)
    pool = _pool()
    count = min(pool.size, traces)
    edges = [traces * i // count for i in range(count + 1)]
    done: Results = SimpleQueue()
    for low, high in pairwise(edges[1:]):
        pool.jobs.put((work, low, high, done))
    _this_thread.works = True
    try:
        met = work(0, edges[1])
    finally:
        _this_thread.works = False
    for _ in range(count - 1):
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        met |= found
    return met
