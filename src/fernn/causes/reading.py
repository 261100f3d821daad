"""From a file with a label on every row to marked traces."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any

import numpy as np

from ..data import Problem, inspect, with_steps
from ..errors import DataError, FernnWarning
from .marked import Marked


def read_marked(
    path: str | PathLike[str], column: str, faulty: object = None, quiet: bool = False, **options: Any
) -> Marked:
    """The traces in a tidy CSV, Parquet or NPZ file, and where `column` says that there is a fault.

    faulty: what the column says of a fault; by default 1, true, or a word such as `fault`.
    options: what `fernn.data.read` takes, but for those of labels. A column named `label` is not a channel.

    Raises DataError listing every error; gives one FernnWarning for all warnings unless `quiet`.
    """
    found, problems = inspect_marked(path, column, faulty, **options)
    if found is None:
        raise DataError("\n".join(str(p) for p in problems if p.severity == "error"), problems)
    if problems and not quiet:
        warnings.warn("\n".join(map(str, problems)), FernnWarning, stacklevel=2)
    return found


def inspect_marked(
    path: str | PathLike[str], column: str, faulty: object = None, **options: Any
) -> tuple[Marked | None, tuple[Problem, ...]]:
    """The marked traces, if there can be any, and every problem found."""
    steps = options.pop("steps", False)
    data, problems = inspect(path, None, marks=column, faulty=faulty, **options)
    if data is None:
        return None, problems
    rows = tuple(np.asarray(trace[-1] > 0.5) for trace in data.values)
    plain = data.select(data.channels[:-1])
    return Marked(with_steps(plain) if steps else plain, rows), problems
