"""Which engine is meant: by an argument, for the whole program, by environment, or by a settings file.

    local                        in this process; the default
    processes, processes:4       on the cores of this machine
    ray, ray://HOST:10001        Ray: here, or a cluster
    dask, tcp://HOST:8786        Dask: here, or a scheduler
    slurm                        jobs of a queue

FERNN_ENGINE names one. So does a file `fernn.toml` in the working folder, or the file that FERNN_SETTINGS names:

    engine = "slurm"
    [slurm]
    folder = "/shared/jobs"
    slurm_partition = "short"
    timeout_min = 60
"""

from __future__ import annotations

import atexit
import os
import tomllib
from concurrent.futures import Executor
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import FernnError, UnsupportedError
from .address import check_address
from .executors import Executing
from .inside import is_inside
from .local import Local
from .seam import Engine, Where

NAMES = ("local", "processes", "ray", "dask", "slurm")
ADDRESSES = {"ray://": "ray", "tcp://": "dask", "tls://": "dask", "ucx://": "dask", "ws://": "dask", "wss://": "dask"}
FILE, KEYS = "fernn.toml", ("engine", "slurm")

_HERE = Local()
_begun: dict[str, Engine] = {}
_beginning = Lock()
_chosen: Where = None


def use(where: Where) -> None:
    """From now on, work for which no engine is named is done there; None asks the environment again."""
    global _chosen
    if where is not None:
        check(where)
    _chosen = where


def engine_of(where: Where = None) -> Engine:
    """The engine that is meant. Those that are named are begun once, and closed when the program ends."""
    if is_inside():
        return _HERE
    where = where if where is not None else _chosen
    if where is None:
        where = os.environ.get("FERNN_ENGINE") or _settings().get("engine", "local")
    check(where)
    if isinstance(where, Executor):
        return Executing(where)
    if not isinstance(where, str):
        return where
    with _beginning:
        if where not in _begun or _begun[where].is_closed:
            _begun[where] = _made(where)
        return _begun[where]


def check(where: Any) -> None:
    """That an engine can be meant by this; nothing is begun."""
    if isinstance(where, str):
        _parted(where)
    elif not isinstance(where, (Executor, Engine)):
        raise UnsupportedError(
            f"an engine is one of {', '.join(NAMES)}, an address, or a concurrent.futures.Executor; found {where!r}"
        )


def _parted(where: str) -> tuple[str, str | None, int | None]:
    """(kind, address, workers)"""
    for start, kind in ADDRESSES.items():
        if where.startswith(start):
            check_address(where)
            return kind, where, None
    kind, colon, rest = where.partition(":")
    if kind not in NAMES or (colon and kind in ("local", "slurm")):
        raise UnsupportedError(
            f"an engine is one of {', '.join(NAMES)} or an address such as ray://HOST:10001 or tcp://HOST:8786; "
            f"found {where!r}"
        )
    if not colon:
        return kind, None, None
    if rest.isdigit() and int(rest) > 0:
        return kind, None, int(rest)
    if kind == "processes":
        raise UnsupportedError(f"processes:N has N processes, at least one; found {where!r}")
    if ":" not in rest and (kind, rest) != ("ray", "auto"):
        raise UnsupportedError(f"{kind}:N has N workers, at least one, {kind}:HOST:PORT is a cluster; found {where!r}")
    if rest != "auto":
        check_address(rest)
    return kind, rest, None


def _made(where: str) -> Engine:
    kind, address, workers = _parted(where)
    if kind == "local":
        return _HERE
    if kind == "processes":
        from .processes import Processes

        return Processes(workers)
    if kind == "ray":
        from .ray import Ray

        return Ray(address, workers)
    if kind == "dask":
        from .dask import Dask

        return Dask(address, workers)
    from .slurm import Slurm

    table = _settings().get("slurm", {})
    if not isinstance(table, dict) or not isinstance(table.get("workers", 1), int):
        raise FernnError("[slurm] in the settings file is a table of submitit's settings, `workers` in it a number.")
    return Slurm(**table)


def close_all() -> None:
    """Ends the engines that were begun by name."""
    while _begun:
        _, engine = _begun.popitem()
        engine.close()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads and connections
    os.register_at_fork(after_in_child=_begun.clear)


def _settings() -> dict[str, Any]:
    named = os.environ.get("FERNN_SETTINGS")
    path = Path(named or FILE)
    if not path.is_file():
        if named:
            raise FernnError(f"FERNN_SETTINGS names {named}, which is not there.")
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FernnError(f"{path} cannot be read as TOML: {error}") from error
    for key in found:
        if key not in KEYS:
            raise FernnError(f"{path} has {key!r}, which is no setting; there are {' and '.join(KEYS)}.")
    return found
