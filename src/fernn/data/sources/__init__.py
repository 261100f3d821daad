"""Datasets by name, one file each; the docstring of its function is the data card.

The paper's recordings (`cct`, `ecg`, `hapt`, `lyft`) are read from the folder that the environment
variable FERNN_DATA names. `cruise`, `intervals` and `wander` are made here, from a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import DataError
from ..dataset import Dataset
from ..npz import read_npz
from ..options import Options
from ..problems import Ledger, did_you_mean
from .cct import cct
from .cruise import cruise
from .ecg import ecg
from .hapt import hapt
from .intervals import intervals
from .lyft import lyft
from .wander import wander

SOURCES: dict[str, Callable[..., Dataset]] = {
    "cct": cct,
    "ecg": ecg,
    "hapt": hapt,
    "lyft": lyft,
    "cruise": cruise,
    "intervals": intervals,
    "wander": wander,
}


def load(what: str | PathLike[str], **options: Any) -> Dataset:
    """A dataset by its name (with that source's options), or from an NPZ file that `save` wrote."""
    if str(what) in SOURCES:
        return SOURCES[str(what)](**options)
    path = Path(what)
    if path.suffix.lower() != ".npz":
        raise DataError(
            f"no dataset {str(what)!r}{did_you_mean(str(what), SOURCES)}; there are {', '.join(SOURCES)}. "
            "Files ending in .npz are loaded too; for other files use read."
        )
    if not path.is_file():
        raise DataError(f"there is no file {str(what)!r}. Check the path.")
    ledger = Ledger(path.name)
    dataset = read_npz(path, Options(**options), ledger)
    if dataset is None:
        raise DataError("\n".join(map(str, ledger.problems())), ledger.problems())
    return dataset
