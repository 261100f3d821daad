"""Engines over `concurrent.futures`: `Local` runs a unit at once, here; `ExecutorEngine` gives it to any Executor."""

from __future__ import annotations

import json
import os
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

from ..data import Dataset
from .base import Lost, PlacementCache, Unit, run_task, run_task_on_worker, serialize


class Local:
    """One unit after the other, in this process; what a unit does itself may use all cores."""

    name = "local"
    workers = 1
    is_closed = False

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        """The future is over when it is given back."""
        future: Future[str] = Future()
        future.set_result(run_task(task, data, json.dumps(unit.settings), unit.seed))
        return future

    def drop(self, futures: list[Future[str]]) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        """Nothing was begun."""


class ExecutorEngine:
    """Units run by any `concurrent.futures.Executor`; it is not closed here, since others may use it."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.name = type(executor).__name__
        size = getattr(executor, "_max_workers", None)
        self.workers = size if isinstance(size, int) and size > 0 else os.cpu_count() or 1
        self._in_process = isinstance(executor, ThreadPoolExecutor)
        self._places = PlacementCache(1, serialize)  # as bytes: nothing is known of places that workers share
        self.is_closed = False

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        future: Future[str] = Future()
        settings = json.dumps(unit.settings)
        try:
            if self._in_process:
                inner: Any = self.executor.submit(run_task, task, data, settings, unit.seed)
            else:
                inner = self.executor.submit(
                    run_task_on_worker, task, self._places.of(data), settings, unit.seed, os.getpid()
                )
            future.add_done_callback(lambda dropped: inner.cancel() if dropped.cancelled() else None)
            inner.add_done_callback(lambda over: copy_result(future, over, BrokenExecutor))
        except (BrokenExecutor, RuntimeError) as error:
            future.set_exception(Lost(f"the executor takes no more work: {error}"))
        except Exception as error:  # of an executor that is no good, or gives something else than a future
            future.set_exception(error)
        return future

    def drop(self, futures: list[Future[str]]) -> None:
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """Whoever made the executor closes it."""


def copy_result(future: Future[str], source: Any, lost: Any) -> None:
    """Copy the result of another future; errors of the kinds `lost` say that the worker is gone."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(source.result())
    except lost as error:
        future.set_exception(Lost(f"its worker is gone ({type(error).__name__})"))
    except BaseException as error:  # whoever waits for the result has to hear of it
        future.set_exception(error)
