"""Datasets by name; the docstring of the function that makes one says what to know of it.

The paper's recordings (`cct`, `ecg`, `hapt`, `lyft`) are read from the folder that the environment
variable FERNN_DATA names. `cruise`, `intervals` and `wander` are made here, from a seed. The others read
published files in their own formats, and have to be told where these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import DataError, UnsupportedError
from ..dataset import Dataset
from ..options import ReadOptions
from ..problems import ProblemLog, did_you_mean, quote_names, require_dataset
from ..readers.npz import read_npz
from ..readers.registry import file_format
from .paper_recordings import cct, ecg, hapt, lyft
from .public.lyft_level5 import lyft_scenes
from .public.physionet import physionet
from .public.uci_hapt import uci_hapt, uci_hapt_raw
from .series import find_installed_series, inspect_series, series
from .synthetic import cruise, intervals, wander

__all__ = [
    "SOURCES",
    "find_installed_series",
    "inspect_series",
    "is_named",
    "load",
    "lyft_scenes",
    "physionet",
    "series",
    "uci_hapt",
    "uci_hapt_raw",
]

SOURCES: dict[str, Callable[..., Dataset]] = {
    "cct": cct,
    "ecg": ecg,
    "hapt": hapt,
    "lyft": lyft,
    "cruise": cruise,
    "intervals": intervals,
    "wander": wander,
    "series": series,
    "uci_hapt": uci_hapt,
    "uci_hapt_raw": uci_hapt_raw,
    "physionet": physionet,
    "lyft_scenes": lyft_scenes,
}


def load(what: str | PathLike[str], **options: Any) -> Dataset:
    """A dataset by its name (with that source's options), or from an NPZ file that `save` wrote.

    The series that come with an installed aeon or sktime have names too: `load("ItalyPowerDemand")`.
    """
    name, path = str(what), Path(what)
    if name in SOURCES:
        return _load_named(name, options)
    if file_format(path).name != "npz":
        installed = find_installed_series()
        if name in installed:
            _check_options(name, options, [key for key in signature(series).parameters if key != "name"])
            return series(name, **options)
        raise DataError(
            f"no dataset {name!r}{did_you_mean(name, [*SOURCES, *installed])}; there are {', '.join(SOURCES)}. "
            "Files ending in .npz are loaded too; for other files use read."
        )
    if not path.is_file():
        raise DataError(f"there is no file {name!r}. Check the path.")
    _check_options(path.name, options, [field.name for field in fields(ReadOptions)])
    log = ProblemLog(path.name)
    dataset = read_npz(path, ReadOptions(**options), log)
    return require_dataset(dataset, log.problems(), quiet=True)


def is_named(what: str) -> bool:
    """Whether `load` knows a dataset by this name."""
    return what in SOURCES or what in find_installed_series()


def _load_named(name: str, options: dict[str, Any]) -> Dataset:
    """The source's dataset; those that read your files have to be told where they are."""
    source = SOURCES[name]
    known = signature(source).parameters
    _check_options(name, options, known)
    missing = [key for key, parameter in known.items() if parameter.default is parameter.empty and key not in options]
    if missing:
        raise DataError(
            f"{name} reads files of yours and needs {missing[0]!r}. In Python: "
            f"fernn.data.load({name!r}, {missing[0]}=...); fernn.data.save writes it as NPZ, which every command reads."
        )
    return source(**options)


def _check_options(name: str, options: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for key in options:
        if key not in known:
            raise UnsupportedError(
                f"{name} has no option {key!r}{did_you_mean(key, known)}; it has {quote_names(known, 30)}."
            )
