"""Work done by a Dask cluster: one that is there, or a small one on this machine."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import Future
from math import inf
from threading import Thread
from time import monotonic, sleep
from typing import Any

from ..data import Dataset
from ..errors import EngineError, FernnWarning, UnsupportedError
from .base import WAIT, PlacementCache, Unit, announce, check_reachable, run_task_on_worker
from .executors import copy_result
from .processes import cores

PLACED = 4
"""Data sets kept on the workers."""
SCATTER_TRIES, SCATTER_PAUSE = 10, 0.5
"""How often data are sent while workers are lost, and seconds in between."""
JOINED = 20.0
"""Seconds for a scheduler to take us in."""
WARNED = 30.0
"""Seconds from one word about missing workers to the next."""


class Dask:
    """`dask` is a new cluster here, which only this machine can reach; an address, `tcp://...`, one that is there.

    The data are scattered to all workers. A cluster that is there gives the units of a lost worker to another one
    itself, up to its own setting `allowed-failures`; in a new one a lost unit comes back here, where it is counted.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        try:
            import distributed
        except ImportError:
            raise UnsupportedError("the engine dask needs the package distributed: pip install 'fernn[dask]'") from None
        self._distributed: Any = distributed
        self.name = address or "dask"
        self._cluster: Any = None
        if address is None:
            import dask

            with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
                self._cluster = distributed.LocalCluster(
                    host="127.0.0.1", n_workers=workers or cores(), threads_per_worker=1, processes=True,
                    dashboard_address=None, silence_logs=50,
                )  # fmt: skip
        else:
            announce(address, "dask")
            if not address.startswith("ucx://"):  # which is not spoken over sockets
                check_reachable(address, "dask")
        self.client = _connect(distributed, self._cluster or address)
        self.is_closed = False
        self._warned = -inf
        self._places = PlacementCache(PLACED, self._scatter)
        self._at: dict[Future[str], Any] = {}

    @property
    def workers(self) -> int:
        """As many as the cluster has threads just now; that it has none is said."""
        threads = sum(map(int, self.client.nthreads().values()))
        if threads == 0 and monotonic() - self._warned > WARNED:
            warnings.warn(f"the Dask cluster {self.name} has no worker; waiting for one", FernnWarning, stacklevel=2)
            self._warned = monotonic()
        return max(1, threads)

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        future: Future[str] = Future()
        inner = self.client.submit(
            run_task_on_worker, task, self._places.of(data), json.dumps(unit.settings), unit.seed, pure=False
        )
        self._at[future] = inner
        lost = (self._distributed.scheduler.KilledWorker, self._distributed.CancelledError)

        def over(_: Any) -> None:
            self._at.pop(future, None)
            if inner.status != "finished":
                self._places.clear()  # the data may be gone with a worker
            copy_result(future, inner, lost)

        inner.add_done_callback(over)
        return future

    def _scatter(self, data: Dataset) -> Any:
        """To all workers; one that is lost meanwhile is left out, or replaced, at the next try."""
        for left in range(SCATTER_TRIES - 1, -1, -1):
            try:
                return self.client.scatter(data, broadcast=True, hash=False)
            except TimeoutError:
                raise UnsupportedError(f"the Dask cluster {self.name} has no workers; start some") from None
            except OSError as error:  # the connection to a worker was closed
                if not left:
                    raise EngineError(f"the data could not be sent to the workers of {self.name}: {error}") from error
                sleep(SCATTER_PAUSE)

    def drop(self, futures: list[Future[str]]) -> None:
        self.client.cancel([inner for future in futures if (inner := self._at.pop(future, None)) is not None])
        for future in futures:
            future.cancel()

    def close(self) -> None:
        self.is_closed = True
        self._places.clear()
        self.client.close()
        if self._cluster is not None:
            self._cluster.close()


def _connect(distributed: Any, where: Any) -> Any:
    """A client; in a thread, since one of another kind of server waits for ever."""
    result: dict[str, Any] = {}

    def join() -> None:
        try:
            result["client"] = distributed.Client(where, timeout=JOINED, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            result["problem"] = error

    thread = Thread(target=join, daemon=True)
    thread.start()
    thread.join(JOINED + WAIT)
    if "client" not in result:
        raise UnsupportedError(f"no Dask scheduler answers at {where}: {result.get('problem', 'it says nothing')}")
    return result["client"]
