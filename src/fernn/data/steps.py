"""How values change from sample to sample, as channels of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import DataError
from .dataset import Dataset, Floats

SUFFIX = "_diff"


def with_steps(data: Dataset) -> Dataset:
    """The dataset with a channel `NAME_diff` for each: its value less that of the sample before, 0 at the first."""
    names = tuple(name + SUFFIX for name in data.channels)
    for name in names:
        if name in data.channels:
            raise DataError(
                f"{data.name} has a channel {name!r} already. Read it without steps, or rename the channel."
            )

    def longer(trace: Floats) -> Floats:
        return np.concatenate([trace, np.diff(trace, axis=-1, prepend=trace[..., :1])], axis=-2)

    values = tuple(longer(t) for t in data.values) if isinstance(data.values, tuple) else longer(data.values)
    return replace(data, values=values, channels=data.channels + names)
