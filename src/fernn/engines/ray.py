"""Work done by a Ray cluster: one that is there, or a small one on this machine."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from ..data import Dataset
from ..errors import FernnWarning, UnsupportedError
from .base import PlacementCache, Unit, announce, check_reachable, imports_working_folder, run_task_on_worker
from .executors import copy_result
from .processes import cores

PLACED = 4
"""Data sets kept in the object store."""


class Ray:
    """`ray` is the cluster of this program or of RAY_ADDRESS, and else a new one here; or an address of one.

    Only this machine can reach one that is begun here.

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
            _connect(ray, address, workers)
        elif address is not None:
            raise UnsupportedError(
                f"this program is connected to a Ray cluster already; use engine='ray', not {address}"
            )
        self.is_closed = False
        self._workers = workers
        self._remote_task = ray.remote(num_cpus=1, max_retries=0)(run_task_on_worker)
        self._places = PlacementCache(PLACED, ray.put)
        self._at: dict[Future[str], Any] = {}

    @property
    def workers(self) -> int:
        """As many as the cluster has processors just now."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        ray, future = self._ray, Future[str]()
        reference = self._remote_task.remote(task, self._places.of(data), json.dumps(unit.settings), unit.seed)
        self._at[future] = reference
        lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.ObjectLostError,
                ray.exceptions.OutOfMemoryError, ray.exceptions.RaySystemError)  # fmt: skip

        def over(inner: Any) -> None:
            self._at.pop(future, None)
            copy_result(future, inner, lost)

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


def _connect(ray: Any, address: str | None, workers: int | None) -> None:
    common = {"log_to_driver": False, "logging_level": "ERROR", "job_config": _job_config(ray)}
    where = address or os.environ.get("RAY_ADDRESS")
    if where:
        announce(where, "ray")
        check_reachable(where, "ray")
        try:
            ray.init(address=where, **common)
        except (ConnectionError, RuntimeError, ValueError, ImportError) as error:
            raise UnsupportedError(f"the Ray cluster at {where} cannot be joined: {error}") from error
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with _on_loopback(ray):
        ray.init(address="local", num_cpus=workers or cores(), include_dashboard=False, **common)
    node = str(ray.util.get_node_ip_address())
    if node not in LOOPBACK:
        warnings.warn(
            f"Ray listens at {node}, where other machines can reach it and have it run code as you, since this version "
            "of Ray cannot be kept to this machine. Use the engine processes, or close its ports by a firewall.",
            FernnWarning,
            stacklevel=4,
        )


LOOPBACK = ("127.0.0.1", "::1")
CLUSTERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


@contextmanager
def _on_loopback(ray: Any) -> Iterator[None]:
    """A cluster that is begun inside listens on the loopback interface alone.

    Left alone, Ray takes the address of the machine and listens on all interfaces, and it turns 127.0.0.1 back into
    that address. Where it is meant for one machine only, as on Windows and macOS, it keeps to the loopback; the
    variable says so to the processes that it starts, the constant to this one, which may have loaded Ray long ago.
    """
    constants = getattr(getattr(ray, "_private", None), "ray_constants", None)
    before, was = os.environ.get(CLUSTERS), getattr(constants, "ENABLE_RAY_CLUSTER", None)
    os.environ[CLUSTERS] = "0"
    if constants is not None:
        constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        os.environ.pop(CLUSTERS) if before is None else os.environ.update({CLUSTERS: before})
        if constants is not None:
            constants.ENABLE_RAY_CLUSTER = was


def _job_config(ray: Any) -> Any:
    """Settings by which workers do not import from the working folder of this process, unless this process does.

    Ray puts that folder before all others, and whoever made it would choose what `import numpy` means.
    """
    config = ray.job_config.JobConfig()
    if not imports_working_folder():
        config._runtime_env_has_working_dir = lambda: True  # where one is named, Ray adds nothing of its own
    return config
