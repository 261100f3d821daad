"""Noise for made data: labels turned over, and signals blurred once the labels stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from .dataset import Floats

Bools = npt.NDArray[np.bool_]


def check_noise(noise: float, flip: float) -> None:
    if not 0 <= flip <= 0.5:
        raise DataError(f"flip is the share of labels to turn over, 0 to 0.5; got {flip}.")
    if not 0 <= noise < np.inf:
        raise DataError(f"noise is a standard deviation as a share of a channel's spread, 0 or more; got {noise}.")


def turned(rng: np.random.Generator, cases: int, share: float) -> Bools:
    """Whose label is turned over: exactly `share` of the cases, to the nearest case."""
    picked = np.zeros(cases, bool)
    picked[rng.permutation(cases)[: round(share * cases)]] = True
    return picked


def blurred(rng: np.random.Generator, values: Floats, share: float) -> Floats:
    """`values[case, channel, time]` with white noise: `share` is its standard deviation over the channel's own.

    The draws do not depend on `share`, so twice the share is twice the same noise; 0 gives the values as they are.
    """
    spread = values.std(axis=(0, 2), keepdims=True)
    return values + share * spread * rng.standard_normal(values.shape) if share else values
