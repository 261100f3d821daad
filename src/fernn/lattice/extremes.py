"""The highest and the lowest value in every window, from tables of spans that double."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Extremes:
    """Of signals `[case, time]`: `over(starts, ends)` is the highest value from each start to each end, both in."""

    def __init__(self, signals: Floats) -> None:
        self.levels: list[Floats] = [np.ascontiguousarray(signals.T)]  # [time, case], so that a time is one row
        while 2 ** len(self.levels) <= len(self.levels[0]):
            last, step = self.levels[-1], 2 ** (len(self.levels) - 1)
            self.levels.append(np.maximum(last[:-step], last[step:]))

    def over(self, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Floats:
        """`[..., case]` for arrays of starts and ends of one shape."""
        made = np.empty((*starts.shape, self.levels[0].shape[1]))
        level = np.frexp((ends - starts + 1).astype(float))[1] - 1  # the largest power of two that fits
        for k in np.unique(level).tolist():
            here, rows = level == k, self.levels[k]
            made[here] = np.maximum(rows[starts[here]], rows[ends[here] + 1 - 2**k])
        return made


def stacked(values: Sequence[Floats], samples: int, row: int) -> Floats:
    """`[case, time]`: one channel of every trace, cut to so many samples or its last one repeated."""
    return np.stack([np.pad(trace[row, :samples], (0, max(samples - trace.shape[1], 0)), "edge") for trace in values])
