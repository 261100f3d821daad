"""Which engine is meant: by an argument, for the whole program, by environment, or by the user's own settings file.

    local                        in this process; the default
    processes, processes:4       on the cores of this machine
    ray, ray://HOST:10001        Ray: here, or a cluster
    dask, tcp://HOST:8786        Dask: here, or a scheduler
    slurm                        jobs of a queue

FERNN_ENGINE names one. So does the user's own settings file, ~/.config/fernn/fernn.toml or the one that FERNN_SETTINGS
names:

    engine = "slurm"
    [slurm]
    folder = "/shared/jobs"
    slurm_partition = "short"
    timeout_min = 60

An engine is one file and one line of `BUILT_IN`. Other packages bring engines of their own with an entry point of the
group `fernn.engines` that names an `EngineKind`, or the function that makes the engine.

A file `fernn.toml` in the working folder may have come with somebody else's data. It may only say `local` or
`processes`: an engine runs code, and what a cluster answers is unpickled, so nothing in a folder chooses one.
"""

from __future__ import annotations

import atexit
import os
import tomllib
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import FernnError, UnsupportedError, describe_error, short_repr
from ..formula.plugins import Registry, import_object
from .base import Engine, Where, announce, check_address, is_nested
from .executors import ExecutorEngine, Local
from .processes import Processes, cores

FILE, KEYS = "fernn.toml", ("engine", "slurm")
LARGEST = 1_000_000
"""Bytes of a settings file."""

_LOCAL = Local()


@dataclass(frozen=True)
class EngineKind:
    """A kind of engine, by whose name one is chosen: `ray`, `ray:4`, `ray:HOST:PORT`."""

    name: str
    create: Callable[[str | None, int | None], Engine | Executor] | str
    """`create(address, workers)`, each None where it is not named; or where it is: `module:name`."""
    takes: tuple[str, ...] = ("workers", "address")
    """What may follow the name behind a colon."""
    schemes: tuple[str, ...] = ()
    """Beginnings of addresses that mean it; of built-in engines only."""

    __repr__ = short_repr

    def start(self, address: str | None, workers: int | None) -> Engine:
        """An engine, ready for work."""
        create = import_object(self.create, __package__) if isinstance(self.create, str) else self.create
        engine = create(address, workers)
        if isinstance(engine, Executor):
            return ExecutorEngine(engine)
        if not isinstance(engine, Engine):
            raise UnsupportedError(f"the engine {self.name!r} made a {type(engine).__name__}, which is no Engine")
        return engine


def _create_slurm(address: str | None, workers: int | None) -> Engine:
    from .slurm import Slurm

    table = _own_settings().get("slurm")
    if table is None and "slurm" in _folder_settings():
        raise _refusal("has a table [slurm]")
    if not isinstance(table or {}, dict) or not isinstance((table or {}).get("workers", 1), int):
        raise FernnError("[slurm] in the settings file is a table of submitit's settings, `workers` in it a number.")
    return Slurm(**(table or {}))


BUILT_IN = (
    EngineKind("local", lambda address, workers: _LOCAL, takes=()),
    EngineKind("processes", lambda address, workers: Processes(workers), takes=("workers",)),
    EngineKind("ray", ".ray:Ray", schemes=("ray://",)),
    EngineKind("dask", ".dask:Dask", schemes=("tcp://", "tls://", "ucx://", "ws://", "wss://")),
    EngineKind("slurm", _create_slurm, takes=()),
)


def _accept_engine(name: str, plugin: Any) -> EngineKind:
    if isinstance(plugin, EngineKind):
        return plugin
    if not callable(plugin):
        raise TypeError(f"it names a {type(plugin).__name__}, not an EngineKind or a function that makes an engine")
    return EngineKind(name, plugin)


ENGINES: Registry[EngineKind] = Registry(
    "fernn.engines", "engine", {kind.name: kind for kind in BUILT_IN}, _accept_engine
)
"""The kinds of engines by name: those of fernn, and those of other packages."""
_engines: dict[str, Engine] = {}
_creating = Lock()
_default: Where = None


def use(where: Where) -> None:
    """From now on, work for which no engine is named is done there; None asks the environment again."""
    global _default
    if where is not None:
        check_engine(where)
    _default = where


def resolve_engine(where: Where = None) -> Engine:
    """The engine that is meant. Those that are named are begun once, and closed when the program ends."""
    if is_nested():
        return _LOCAL
    where = _resolve(where)
    if isinstance(where, Executor):
        return ExecutorEngine(where)
    if not isinstance(where, str):
        return where
    with _creating:
        if where not in _engines or _engines[where].is_closed:
            kind, address, workers = _parse_name(where)
            _engines[where] = kind.start(address, workers)
        return _engines[where]


def announce_engine(where: Where = None) -> None:
    """Checks which engine is meant and names the address that work would go to; nothing is begun, and nobody asked."""
    where = _resolve(where)
    if isinstance(where, str) and where not in _engines:
        kind, address, _ = _parse_name(where)
        if kind.name == "ray":
            address = address or os.environ.get("RAY_ADDRESS")
        if address is not None:
            announce(address, kind.name)


def _resolve(where: Where) -> Any:
    """What is asked for, checked: by an argument, the program, the environment, the user's own file, the folder's."""
    if where is None:
        where = _default
    if where is None:
        where = os.environ.get("FERNN_ENGINE") or _own_settings().get("engine") or _folder_engine()
    check_engine(where)
    return where


def check_engine(where: Any) -> None:
    """That an engine can be meant by this; nothing is begun."""
    if isinstance(where, str):
        _parse_name(where)
    elif not isinstance(where, (Executor, Engine)):
        raise UnsupportedError(
            f"an engine is one of {', '.join(ENGINES.names)}, an address, or a concurrent.futures.Executor; "
            f"found {where!r}"
        )


def _parse_name(where: str) -> tuple[EngineKind, str | None, int | None]:
    """(kind, address, workers)"""
    for kind in BUILT_IN:
        if where.startswith(kind.schemes):
            check_address(where)
            return kind, where, None
    name, colon, rest = where.partition(":")
    if name not in ENGINES:
        if name in ENGINES.names:
            ENGINES.find(name, "an engine")  # says why it cannot be used
        raise _unknown(where)
    kind = ENGINES[name]
    if not colon:
        return kind, None, None
    if not kind.takes:
        raise _unknown(where)
    if "workers" in kind.takes and rest.isdigit() and int(rest) > 0:
        return kind, None, int(rest)
    if "address" not in kind.takes:
        raise UnsupportedError(f"{name}:N has N {name}, at least one; found {where!r}")
    if ":" not in rest and (name, rest) != ("ray", "auto"):
        raise UnsupportedError(f"{name}:N has N workers, at least one, {name}:HOST:PORT is a cluster; found {where!r}")
    if rest != "auto":
        check_address(rest)
    return kind, rest, None


def _unknown(where: str) -> UnsupportedError:
    return UnsupportedError(
        f"an engine is one of {', '.join(ENGINES.names)} or an address such as ray://HOST:10001 or tcp://HOST:8786; "
        f"found {where!r}"
    )


def close_all() -> None:
    """Ends the engines that were begun by name."""
    while _engines:
        _, engine = _engines.popitem()
        engine.close()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads and connections
    os.register_at_fork(after_in_child=_engines.clear)


def own_settings_path() -> Path | None:
    """The user's own settings file, which may not be there: the one of FERNN_SETTINGS, else the one in their folder for
    configuration; None where that folder is not known."""
    if path := os.environ.get("FERNN_SETTINGS"):
        return Path(path)
    base = os.environ.get("XDG_CONFIG_HOME") or (os.environ.get("APPDATA") if os.name == "nt" else None) or ""
    if not os.path.isabs(base):  # a relative one would be a folder of whoever made the working folder
        base = os.path.join(os.path.expanduser("~"), ".config")
    return Path(base, "fernn", FILE) if os.path.isabs(base) else None


def _own_settings() -> dict[str, Any]:
    path = own_settings_path()
    if path is None or not path.is_file():
        if name := os.environ.get("FERNN_SETTINGS"):
            raise FernnError(f"FERNN_SETTINGS names {name}, which is not there.")
        return {}
    return _read_settings(path)


def _folder_settings() -> dict[str, Any]:
    """Those of a file in the working folder, whoever wrote it; none where it is the user's own file."""
    path, own = Path(FILE), own_settings_path()
    if not path.is_file() or (own is not None and own.is_file() and path.samefile(own)):
        return {}
    return _read_settings(path)


def _folder_engine() -> str:
    """The engine that the file in the working folder names: this process, or processes of this machine."""
    settings = _folder_settings()
    if "slurm" in settings:
        raise _refusal("has a table [slurm]")
    engine = settings.get("engine", "local")
    if not isinstance(engine, str) or engine.partition(":")[0] not in ("local", "processes"):
        raise _refusal(f"names the engine {engine!r:.80}")
    _, _, workers = _parse_name(engine)
    if workers is not None and workers > cores():
        raise _refusal(f"names the engine {engine!r}, more processes than the {cores()} cores of this machine")
    return engine


def _refusal(what: str) -> FernnError:
    path, own = Path(FILE).absolute(), own_settings_path()
    own_file = "" if own is None else f" or write it into {own}, which is your own settings file"
    return FernnError(
        f"{path} {what}. A file in the working folder may have come with somebody else's data, so it cannot choose "
        "what runs code: there it can only be local or processes. If you want this and trust it, pass --engine, set "
        f"FERNN_ENGINE{own_file}. Else remove it from {FILE}."
    )


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as handle:
            content = handle.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ValueError(f"it is larger than {LARGEST} bytes")
        settings = tomllib.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FernnError(f"{path} cannot be read as TOML: {describe_error(error)}") from error
    for key in settings:
        if key not in KEYS:
            raise FernnError(f"{path} has {key!r}, which is no setting; there are {' and '.join(KEYS)}.")
    return settings
