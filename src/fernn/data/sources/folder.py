"""The folder of the paper's recordings: one trace a row, one sample a column, no header."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ...errors import DataError
from ..dataset import Floats

VARIABLE = "FERNN_DATA"
HOME = "https://github.com/nicaless/fernn_stl_inference"


def experiments() -> Path:
    """The `experiments` folder that FERNN_DATA names or holds."""
    value = os.environ.get(VARIABLE, "")
    how = f"Clone {HOME} and set {VARIABLE} to that folder, as in: export {VARIABLE}=~/fernn_stl_inference"
    if not value:
        raise DataError(f"the paper's recordings are not part of this package, and {VARIABLE} is not set. {how}")
    folder = Path(value).expanduser()
    inner = folder / "experiments"
    if inner.is_dir():
        return inner
    if not folder.is_dir():
        raise DataError(f"{VARIABLE} names {value!r}, which is not a folder. {how}")
    return folder


FILES = {
    "cct": "cruise_control_train/Traces_normal_BIG2.csv",
    "ecg": "ecg/hr_traces_len_10/1_nsr_traces_len_10.csv",
    "hapt": "hapt_data/good_hapt_data.csv",
    "lyft": "lyft_data/lyft_good_traces_x.csv",
}
"""Of each recording the first file."""


def missing(name: str) -> str:
    """Why this recording cannot be read here, in a few words; empty where it can."""
    if not os.environ.get(VARIABLE, ""):
        return f"{VARIABLE} is not set"
    try:
        there = (experiments() / FILES[name]).is_file()
    except DataError:
        return f"{VARIABLE} does not name a folder"
    return "" if there else f"{VARIABLE} has no file {FILES[name]}"


def rows(relative: str, delimiter: str | None = ",") -> Floats:
    """`[case, time]` from a file below `experiments`; None splits at blanks."""
    path = experiments() / relative
    if not path.is_file():
        raise DataError(
            f"{VARIABLE} has no file experiments/{relative}. "
            f"It must name a folder laid out as {HOME} (which does not hold all of them)."
        )
    try:
        return np.loadtxt(path, delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path.name}: {error}. The file should hold numbers only, one trace a row.") from error


def changes(values: Floats) -> Floats:
    """First differences along time, with 0 in front so that the length stays."""
    return np.diff(values, axis=-1, prepend=values[..., :1])


def rows_or_changes(relative: str, values: Floats) -> Floats:
    """The file of differences, or differences made here where it is missing."""
    return rows(relative) if (experiments() / relative).is_file() else changes(values)


def numbered(*counts: tuple[str, int]) -> tuple[str, ...]:
    """Case ids `normal-1`, `normal-2`, ...: the class and the row in its file."""
    return tuple(f"{kind}-{i + 1}" for kind, n in counts for i in range(n))
