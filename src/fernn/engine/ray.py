"""Work done by a Ray cluster: one that is there, or a small one on this machine."""

from __future__ import annotations

import json
import os
from concurrent.futures import Future
from typing import Any

from ..data import Dataset
from ..errors import UnsupportedError
from .address import knock
from .doing import done_there
from .executors import settle
from .packing import Places
from .processes import cores
from .seam import Unit

PLACED = 4
"""Data sets kept in the object store."""


class Ray:
    """`ray` is the cluster of this program or of RAY_ADDRESS, and else a new one here; or an address of one.

    The data go to the object store, from where every node takes them once. Ray's own tries are off: a lost unit comes
    back here, where it is counted and tried again.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise UnsupportedError("the engine ray needs the package ray: pip install 'fernn[ray]'") from None
        self._ray: Any = ray
        self.name = address or "ray"
        self._ours = not ray.is_initialized()
        if self._ours:
            _join(ray, address, workers)
        elif address is not None:
            raise UnsupportedError(
                f"this program is connected to a Ray cluster already; use engine='ray', not {address}"
            )
        self.is_closed = False
        self._workers = workers
        self._done = ray.remote(num_cpus=1, max_retries=0)(done_there)
        self._places = Places(PLACED, ray.put)
        self._at: dict[Future[str], Any] = {}

    @property
    def workers(self) -> int:
        """As many as the cluster has processors just now."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        ray, future = self._ray, Future[str]()
        reference = self._done.remote(task, self._places.of(data), json.dumps(unit.settings), unit.seed)
        self._at[future] = reference
        lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.ObjectLostError,
                ray.exceptions.OutOfMemoryError, ray.exceptions.RaySystemError)  # fmt: skip

        def over(inner: Any) -> None:
            self._at.pop(future, None)
            settle(future, inner, lost)

        reference.future().add_done_callback(over)
        return future

    def drop(self, futures: list[Future[str]]) -> None:
        for future in futures:
            reference = self._at.pop(future, None)
            if reference is not None:
                self._ray.cancel(reference, force=True)
            future.cancel()

    def close(self) -> None:
        self.is_closed = True
        self._places.clear()
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()


def _join(ray: Any, address: str | None, workers: int | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    where = address or os.environ.get("RAY_ADDRESS")
    if where:
        knock(where, "Ray cluster")
        try:
            ray.init(address=where, **quiet)
        except (ConnectionError, RuntimeError, ValueError, ImportError) as error:
            raise UnsupportedError(f"the Ray cluster at {where} cannot be joined: {error}") from error
    else:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", num_cpus=workers or cores(), include_dashboard=False, **quiet)
