"""The base of every engine: units of work, the protocol, addresses, serialized data, the task on a worker."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ..data import Dataset
from ..data.atomic_write import atomic_write
from ..data.readers.npz import to_arrays
from ..errors import DataError, FernnError, UnsupportedError, short_repr


@dataclass(frozen=True)
class Unit:
    """A unit of work on the data: settings and a seed, plain data both."""

    settings: dict[str, Any]
    seed: int

    __repr__ = short_repr


class Lost(Exception):
    """The worker that ran the unit is gone, for a reason outside the unit; it may be tried again."""


class Overtime(Exception):
    """The unit took longer than any unit should, and was ended."""


@runtime_checkable
class Engine(Protocol):
    """A backend that runs units of work."""

    @property
    def name(self) -> str:
        """As it is chosen: `ray`, `tcp://10.0.0.5:8786`."""
        ...

    @property
    def workers(self) -> int:
        """How many units can be worked on at once."""
        ...

    @property
    def is_closed(self) -> bool: ...

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        """Run a unit by the function `task`, `"package.module:name"`; see `run_task`.

        The data are sent once to every place that needs them, however many units are of them. The future ends in
        Lost where the worker did, and not for what the unit asked.
        """
        ...

    def drop(self, futures: list[Future[str]]) -> None:
        """Nobody waits for these any more."""
        ...

    def close(self) -> None: ...


Where: TypeAlias = str | Engine | Executor | None
"""How an engine is chosen: by a name or an address, or as it is; None is what was chosen for all."""


_nested: ContextVar[bool] = ContextVar("fernn_inside_a_unit", default=False)


def is_nested() -> bool:
    return _nested.get()


@contextmanager
def nesting_guard() -> Iterator[None]:
    token = _nested.set(True)
    try:
        yield
    finally:
        _nested.reset(token)


WAIT = 10.0
"""Seconds for a cluster to answer."""
_ADDRESS = re.compile(r"(\w+://)?(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/:]+):(?P<port>\d+)/?")


def check_address(where: str) -> None:
    """That it names a host and a port."""
    if not _ADDRESS.fullmatch(where):
        raise UnsupportedError(f"an address has a host and a port, as in tcp://HOST:8786; found {where!r}")


CLUSTER_NAMES = {"dask": "Dask scheduler", "ray": "Ray cluster"}
_announced: set[tuple[str, str]] = set()


def announce(where: str, kind: str) -> None:
    """Names the address on standard error, once, before anything connects to it, and what trust it needs."""
    if (where, kind) not in _announced:
        _announced.add((where, kind))
        cluster = CLUSTER_NAMES.get(kind, f"{kind} engine")
        print(
            f"Work goes to the {cluster} at {where}. Whoever runs it can run code on this machine, since its "
            "answers are unpickled here: use only clusters that you trust.",
            file=sys.stderr,
            flush=True,
        )


def check_reachable(where: str, kind: str) -> None:
    """Whether anybody listens there, since clusters themselves wait for minutes; other names are theirs to find."""
    match = _ADDRESS.fullmatch(where)
    if match is None:
        return
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), WAIT).close()
    except (OSError, OverflowError) as error:
        raise UnsupportedError(f"no {CLUSTER_NAMES[kind]} answers at {where}: {error}") from error


TEXTS = ("classes", "channels", "cases", "groups")
MOST_LOADED = 4
"""Datasets that a worker keeps."""


@dataclass(frozen=True)
class SerializedData:
    """Bytes, or the file that holds them; `mark` is the same for the same data."""

    mark: str
    content: bytes | None = None
    path: str | None = None

    def load(self) -> Dataset:
        """Read once in this process, however often it is asked for."""
        data = _loaded.get(self.mark)
        if data is None:
            source = BytesIO(self.content) if self.content is not None else Path(str(self.path))
            data = _deserialize(source)
            if data_key(data) != self.mark:
                raise DataError(f"the data came as others than {self.mark}; they were changed on the way.")
            while len(_loaded) >= MOST_LOADED:
                _loaded.pop(next(iter(_loaded)))
            _loaded[self.mark] = data
        return data


_loaded: dict[str, Dataset] = {}


class PlacementCache:
    """An LRU cache of where data sets were placed; `make` places one, `on_evict` is called with one dropped."""

    def __init__(self, most: int, make: Callable[[Dataset], Any], on_evict: Callable[[Any], None] = lambda place: None):
        self._most, self._make, self._on_evict = most, make, on_evict
        self._places: dict[str, Any] = {}
        self._changing = Lock()

    def of(self, data: Dataset | None) -> Any:
        """Where these data are placed; they are placed first if they are not."""
        if data is None:
            return None
        mark = data_key(data)  # also makes the data remember their fingerprint, which travels with them
        with self._changing:
            if mark not in self._places:
                while len(self._places) >= self._most:
                    self._on_evict(self._places.pop(next(iter(self._places))))
                self._places[mark] = self._make(data)
            return self._places[mark]

    def clear(self) -> None:
        with self._changing:
            self._places.clear()


def data_key(data: Dataset) -> str:
    return f"{data.fingerprint} {data.name}"


def serialize(data: Dataset, folder: Path | None = None) -> SerializedData:
    """With a folder, written to a file there, under a name that only these data have."""
    arrays = to_arrays(data)
    mark = data_key(data)
    if folder is None:
        content = BytesIO()
        np.savez(content, allow_pickle=False, **arrays)
        return SerializedData(mark, content.getvalue())
    path = folder / f"{blake2b(mark.encode(), digest_size=12).hexdigest()}.npz"
    if not path.exists():
        with atomic_write(path) as part, open(part, "wb") as handle:
            np.savez(handle, allow_pickle=False, **arrays)
    return SerializedData(mark, path=str(path))


def _deserialize(source: BytesIO | Path) -> Dataset:
    with np.load(source, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    values, missing = arrays.pop("X"), arrays.pop("missing", None)
    if "lengths" in arrays:
        ends = np.cumsum(arrays.pop("lengths"))[:-1]
        values, missing = (None if each is None else tuple(np.split(each, ends, axis=1)) for each in (values, missing))
    del arrays["schema"]
    facts: dict[str, Any] = {name: tuple(array.tolist()) if name in TEXTS else array for name, array in arrays.items()}
    facts |= {name: facts[name].item() for name in ("dt", "time_unit", "name") if name in facts}
    categories = json.loads(facts.pop("categories", np.array("{}")).item())
    return Dataset(values, facts.pop("y", None), **facts, missing=missing, categories=categories)


TaskFunction = Callable[[Dataset | None, dict[str, Any], int], Any]
"""(data, settings, seed) -> plain data."""
ONE_THREAD = dict.fromkeys(
    ("FERNN_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
     "POLARS_MAX_THREADS"), "1",
)  # fmt: skip
"""Several workers already fill the cores."""


def run_task(task: str, data: Dataset | SerializedData | None, settings: str, seed: int) -> str:
    """`{"found": ...}`, or `{"problem": ..., "again": whether another try may help}`."""
    try:
        loaded = data.load() if isinstance(data, SerializedData) else data
        with nesting_guard():
            result = load_task(task)(loaded, json.loads(settings), seed)
        return json.dumps({"found": result})
    except (FernnError, ImportError) as error:
        return json.dumps({"problem": str(error), "again": False})
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__}: {error} ({Path(at.filename).name} line {at.lineno})"
        return json.dumps({"problem": problem, "again": True})


def run_task_on_worker(
    task: str, data: Dataset | SerializedData | None, settings: str, seed: int, asker: int = 0
) -> str:
    """As `run_task`, on a worker of a cluster, which uses one core; unless it is a thread of the process that asks."""
    if os.getpid() != asker:
        for name, value in ONE_THREAD.items():
            os.environ.setdefault(name, value)
    return run_task(task, data, settings, seed)


def load_task(task: str) -> TaskFunction:
    module, _, name = task.partition(":")
    function: TaskFunction = getattr(import_module(module), name)
    return function


def imports_working_folder() -> bool:
    """Whether this process imports from the folder that it stands in, as `python -m` and `python -c` do.

    The command `fernn` does not: what lies beside a recording is not its code. Its workers are to do the same.
    """
    return any(path == "" or os.path.realpath(path) == os.path.realpath(os.curdir) for path in sys.path)
