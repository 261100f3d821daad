"""Lyft: paths of vehicles, real and shifted."""

from __future__ import annotations

import numpy as np

from ..dataset import Dataset, Floats
from .folder import numbered, rows, rows_or_changes

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
        x, y = (rows(f"lyft_data/{prefix}_{axis}.csv") for axis in "xy")
        dx, dy = (rows_or_changes(f"lyft_data/{prefix}_{a}_diff.csv", v) for a, v in (("x", x), ("y", y)))
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
        cases=numbered(("good", len(good)), ("bad", len(bad))),
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
