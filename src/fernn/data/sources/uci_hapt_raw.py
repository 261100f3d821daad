"""The HAPT recordings as UCI publishes them: the signals themselves."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from ...errors import DataError
from ..dataset import Dataset, Floats
from .activities import CLASSES, DYNAMIC, OTHER, STATIC, activities_in, as_names
from .asked import whole
from .plain import numbers_in, place, whole_numbers_in

RATE = 50  # samples a second
SENSORS = ("acc", "gyro")


def uci_hapt_raw(
    folder: str | PathLike[str],
    sensors: str | Sequence[str] = "acc",
    *,
    samples: int = 100,
    stride: int | None = None,
    good: str | Sequence[str] = DYNAMIC,
    bad: str | Sequence[str] = STATIC,
) -> Dataset:
    """Windows of a phone's signals while moving (`good`) and while still (`bad`).

    `folder` is the unpacked UCI archive, of which `RawData` is read. Channels `acc_x`, `acc_y`, `acc_z`: acceleration
    in g, gravity included; with `sensors=("acc", "gyro")` also `gyro_x`, `gyro_y`, `gyro_z`: angular velocity in
    radians a second. 50 samples a second. Each labelled stretch is cut into windows of `samples` samples that begin
    every `stride` samples, by default without overlap. Cases are called after the experiment and the first sample,
    groups are the subjects.

    Know before use: gravity alone tells postures apart, for the axes are the phone's. Someone who stands has about 1
    g along x. What is left over at the end of a stretch is not used.
    """
    root = Path(folder)
    samples = whole("uci_hapt_raw", "samples", samples)
    every = samples if stride is None else whole("uci_hapt_raw", "stride", stride)
    wanted = as_names(sensors)
    if not wanted:
        raise DataError("sensors needs 'acc' or 'gyro' or both, got none.")
    for sensor in wanted:
        if sensor not in SENSORS:
            raise DataError(f"sensors are 'acc' and 'gyro', got {sensor!r}.")
    activities = activities_in(root, good, bad)
    file = root / "RawData" / "labels.txt"
    stretches = whole_numbers_in(file, 5)
    classes = activities.classes_of(stretches[:, 2], file)
    signals: dict[tuple[int, int], Floats] = {}
    traces: list[Floats] = []
    labels: list[int] = []
    cases: list[str] = []
    groups: list[str] = []
    for row, ((experiment, user, _, first, last), kind) in enumerate(zip(stretches.tolist(), classes, strict=True)):
        if kind == OTHER:
            continue
        if (experiment, user) not in signals:
            signals[experiment, user] = _signals(root / "RawData", experiment, user, wanted)
        signal = signals[experiment, user]
        if not 1 <= first <= last <= signal.shape[1]:
            raise DataError(
                f"{place(file, row)}: samples {first} to {last}, but experiment {experiment} of user "
                f"{user} has samples 1 to {signal.shape[1]}. Unpack the archive again."
            )
        for begin in range(first - 1, last - samples + 1, every):
            traces.append(signal[:, begin : begin + samples])
            labels.append(int(kind))
            cases.append(f"exp{experiment:02d}-{begin + 1}")
            groups.append(f"subject-{user}")
    if not traces:
        raise DataError(f"no stretch of these activities lasts {samples} samples. Ask for fewer samples.")
    return Dataset(
        np.stack(traces),
        np.array(labels),
        CLASSES,
        tuple(f"{sensor}_{axis}" for sensor in wanted for axis in "xyz"),
        dt=1 / RATE,
        time_unit="s",
        cases=tuple(cases),
        groups=tuple(groups),
        name="uci_hapt_raw",
    )


def _signals(folder: Path, experiment: int, user: int, sensors: tuple[str, ...]) -> Floats:
    """`[channel, time]` of one experiment, sensors one below the other."""
    files = [folder / f"{sensor}_exp{experiment:02d}_user{user:02d}.txt" for sensor in sensors]
    parts = [numbers_in(file, 3) for file in files]
    if len({len(part) for part in parts}) > 1:
        counts = " and ".join(f"{len(part)} in {file.name}" for part, file in zip(parts, files, strict=True))
        raise DataError(f"the sensors must have as many samples, there are {counts}. Unpack the archive again.")
    return np.concatenate(parts, axis=1).T
