"""Work done by jobs of a queue, through submitit: a job for every unit, files in a folder that all nodes see."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from time import sleep
from typing import Any

from ..data import Dataset
from ..errors import UnsupportedError
from .base import PlacementCache, Unit, imports_working_folder, run_task_on_worker, serialize
from .executors import copy_result

LOOK = 0.5
"""Seconds between two looks at the jobs."""
PLACED = 64
"""Data sets whose files are known."""
MANY = 1000
"""Jobs at the queue at once."""


class Slurm:
    """Settings are submitit's own, such as `slurm_partition`, `timeout_min` and `mem_gb`.

    `cluster="local"` runs the jobs as processes of this machine, to try it out.
    """

    def __init__(
        self, folder: str | Path = "fernn-jobs", cluster: str = "slurm", workers: int = 64, **wanted: Any
    ) -> None:
        try:
            import submitit
        except ImportError:
            raise UnsupportedError("the engine slurm needs the package submitit: pip install 'fernn[slurm]'") from None
        self._submitit: Any = submitit
        self.name, self.workers = "slurm", min(workers, MANY)
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._folder = Path(mkdtemp(prefix="jobs-", dir=Path(folder).resolve()))
        """A new one, since answers that lie in it are unpickled: nobody else may have put any there."""
        try:
            self._executor = submitit.AutoExecutor(self._folder, cluster=cluster)
            self._executor.update_parameters(**({"cpus_per_task": 1} | wanted))
        except (RuntimeError, NameError, ValueError, TypeError) as error:
            raise UnsupportedError(f"the queue takes no jobs: {error}") from error
        self._places = PlacementCache(PLACED, lambda data: serialize(data, self._folder))
        self._at: dict[Future[str], Any] = {}
        self.is_closed = False
        Thread(target=self._look, daemon=True).start()

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        future: Future[str] = Future()
        with _safe_path():
            job = self._executor.submit(
                run_task_on_worker, task, self._places.of(data), json.dumps(unit.settings), unit.seed
            )
        self._at[future] = job
        return future

    def _look(self) -> None:
        while not self.is_closed:
            for future, job in list(self._at.items()):
                if job.done():
                    self._at.pop(future, None)
                    copy_result(future, job, Exception)  # of the queue: what a unit does wrong comes back as a result
            sleep(LOOK)

    def drop(self, futures: list[Future[str]]) -> None:
        for future in futures:
            job = self._at.pop(future, None)
            if job is not None:
                job.cancel()
            future.cancel()

    def close(self) -> None:
        self.drop(list(self._at))
        self.is_closed = True


SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def _safe_path() -> Iterator[None]:
    """Jobs that are submitted inside do not import from the working folder, unless this process does."""
    if SAFE_PATH in os.environ or imports_working_folder():
        yield
        return
    os.environ[SAFE_PATH] = "1"  # jobs are begun in the environment of who submits them
    try:
        yield
    finally:
        os.environ.pop(SAFE_PATH, None)
