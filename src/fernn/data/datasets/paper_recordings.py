"""The paper's recordings (`cct`, `ecg`, `hapt`, `lyft`), read from the folder that FERNN_DATA names.

Files there have one trace a row, one sample a column, and no header.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np

from ...errors import DataError
from ..arrays import Floats
from ..dataset import Dataset

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


def why_missing(name: str) -> str:
    """Why this recording cannot be read here, in a few words; empty where it can."""
    if not os.environ.get(VARIABLE, ""):
        return f"{VARIABLE} is not set"
    try:
        there = (experiments() / FILES[name]).is_file()
    except DataError:
        return f"{VARIABLE} does not name a folder"
    return "" if there else f"{VARIABLE} has no file {FILES[name]}"


def load_rows(relative: str, delimiter: str | None = ",") -> Floats:
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


def first_differences(values: Floats) -> Floats:
    """First differences along time, with 0 in front so that the length stays."""
    return np.diff(values, axis=-1, prepend=values[..., :1])


def load_or_difference(relative: str, values: Floats) -> Floats:
    """The file of differences, or differences made here where it is missing."""
    return load_rows(relative) if (experiments() / relative).is_file() else first_differences(values)


def case_ids(*counts: tuple[str, int]) -> tuple[str, ...]:
    """Case ids `normal-1`, `normal-2`, ...: the class and the row in its file."""
    return tuple(f"{kind}-{i + 1}" for kind, n in counts for i in range(n))


def cct(labels: Literal["binary", "robustness"] = "binary") -> Dataset:
    """1000 normal and 1000 anomalous simulated runs of a three-car train, 101 samples of speed `v`.

    Cruising speed is 25 m/s with oscillations of 2.5 m/s; a normal train brakes above an upper limit,
    an anomalous one cannot. `labels="robustness"` gives instead the authors' real-valued labels, the
    robustness of `G (v <= 34.2579)`.

    Know before use: 64 traces stand in both classes, because the brakes were never needed, so every
    classifier errs on at least 64 of 2000 (52 + 12 pairs on the paper's split, 0.0325 and 0.03). Any
    threshold of `G (v <= c)` from 34.31 to 45.3 is equivalent. All runs share one noise sequence and
    differ by their first speed, so they are far from independent. The sampling step is not known.
    """
    normal = load_rows("cruise_control_train/Traces_normal_BIG2.csv")
    anomaly = load_rows("cruise_control_train/Traces_anomaly_BIG2.csv")
    values = np.concatenate([normal, anomaly])[:, None, :]
    cases = case_ids(("normal", len(normal)), ("anomaly", len(anomaly)))
    if labels == "robustness":
        given = [load_rows(f"cruise_control_train/Labels_{kind}_BIG2.csv").ravel() for kind in ("normal", "anomaly")]
        return Dataset(values, np.concatenate(given), channels=("v",), cases=cases, name="cct")
    good = np.repeat([1, 0], [len(normal), len(anomaly)])
    return Dataset(values, good, ("anomaly", "normal"), ("v",), cases=cases, name="cct")


def ecg(labels: Literal["binary", "robustness"] = "binary") -> Dataset:
    """131 traces of normal sinus rhythm (`nsr`) and 133 of atrial fibrillation (`afib`), 10 samples each.

    Channels: heart rate `hr` in beats a minute, and `hr_diff`, its change since the last sample with 0
    at the first (made here where the files lack it). `labels="robustness"` gives instead the
    authors' real-valued labels, the robustness of `G (hr_diff <= 5.795)`.

    Know before use: the files are not in random order, so the paper's first-80% split is harder than
    a random one; two normal traces are copies of others. Fragments of 10 seconds, 10 samples.
    """
    parts = []
    for file in ("1_nsr_traces_len_10.csv", "4_afib_traces_len_10.csv"):
        hr = load_rows(f"ecg/hr_traces_len_10/{file}")
        parts.append(np.stack([hr, load_or_difference(f"ecg/hr_traces_len_10_diff/{file}", hr)], axis=1))
    nsr, afib = parts
    values, channels = np.concatenate(parts), ("hr", "hr_diff")
    cases = case_ids(("nsr", len(nsr)), ("afib", len(afib)))
    if labels == "robustness":
        given = [load_rows(f"ecg/labels_{kind}_ecg.csv").ravel() for kind in ("normal", "anomaly")]
        return Dataset(values, np.concatenate(given), channels=channels, cases=cases, name="ecg")
    good = np.repeat([1, 0], [len(nsr), len(afib)])
    return Dataset(values, good, ("afib", "nsr"), channels, cases=cases, name="ecg")


def hapt() -> Dataset:
    """100 traces of dynamic activities (`good`) and 100 of static ones (`bad`), 10 samples each.

    Channel `x`: the standard deviation of the acceleration along x, scaled to [-1, 1], from the Human
    Activities and Postural Transitions recordings.

    Know before use: only 50 good and 47 bad rows are distinct. On the paper's split 33 of 40 test
    traces are also in the training set; `split` keeps copies together.
    """
    good = load_rows("hapt_data/good_hapt_data.csv", delimiter=None)
    bad = load_rows("hapt_data/bad_hapt_data.csv", delimiter=None)
    values = np.concatenate([good, bad])[:, None, :]
    cases = case_ids(("good", len(good)), ("bad", len(bad)))
    return Dataset(values, np.repeat([1, 0], [len(good), len(bad)]), ("bad", "good"), ("x",), cases=cases, name="hapt")


STRIDE = 10  # frames between the starts of two windows of one vehicle
NEAR = 1e-3  # metres; overlapping windows agree to 1e-5, others differ by more than 1e-2


def lyft() -> Dataset:
    """Paths of vehicles (`good`) and as many shifted ones (`bad`), 50 frames at 10 Hz.

    Channels: position `x`, `y` in metres relative to the first frame, in the vehicle's heading, and the
    change of each since the last frame, `x_diff`, `y_diff` (0 at the first). An artificial path is a real
    one drawn at random plus one offset each for x and y, uniform in (-20, 20).

    Know before use: the authors' files are not public; files under the same names may be rebuilt from
    another scene. A shifted path has the same changes as the real one, and windows of one vehicle
    overlap. Both are found by comparing step lengths and named as `groups`, so that `split` keeps
    them on one side.
    """
    parts = []
    for prefix in ("lyft_good_traces", "bad_traces"):
        x, y = (load_rows(f"lyft_data/{prefix}_{axis}.csv") for axis in "xy")
        dx, dy = (load_or_difference(f"lyft_data/{prefix}_{a}_diff.csv", v) for a, v in (("x", x), ("y", y)))
        parts.append(np.stack([x, y, dx, dy], axis=1))
    good, bad = parts
    values = np.concatenate(parts)
    return Dataset(
        values,
        np.repeat([1, 0], [len(good), len(bad)]),
        ("bad", "good"),
        ("x", "y", "x_diff", "y_diff"),
        dt=0.1,
        time_unit="s",
        cases=case_ids(("good", len(good)), ("bad", len(bad))),
        groups=vehicles(np.hypot(values[:, 2], values[:, 3])),
        name="lyft",
    )


def vehicles(steps: Floats) -> tuple[str, ...]:
    """A name for each `[case, time]` row of step lengths, shared by windows of the same drive.

    Step lengths do not change when a path is shifted or turned. Two windows belong together when they
    agree where one is the other some strides later.
    """
    n, length = steps.shape
    group = np.arange(n)
    for shift in range(0, length - STRIDE + 1, STRIDE):
        ahead, behind = steps[:, shift + 1 :], steps[:, 1 : length - shift]  # the first step is always 0
        for i in range(n):
            for j in np.flatnonzero(np.abs(behind - ahead[i]).max(axis=1) < NEAR):
                group[group == group[j]] = group[i]
    _, first = np.unique(group, return_inverse=True)
    return tuple(f"vehicle-{k + 1}" for k in first)
