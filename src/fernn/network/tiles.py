"""Traces laid out for the network: tiles of neighbouring traces, time-major, float32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .forward import LANES

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tiles:
    """`values[tile, channel, time, lane]`; `ends[tile, lane]` is the judged sample, -1 where there is no trace.

    `order[i]` is the place of trace i: tile `order[i] // LANES`, lane `order[i] % LANES`.
    """

    values: npt.NDArray[np.float32]
    ends: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]

    def spread(self, per_trace: npt.ArrayLike, empty: float = 0.0) -> npt.NDArray[np.float32]:
        """Numbers per trace at the traces' places, `[tile, lane]`."""
        given = np.asarray(per_trace, np.float32)
        flat = np.full(self.ends.size, empty, np.float32)
        flat[self.order] = given
        return flat.reshape(self.ends.shape)

    def gathered(self, placed: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """From `[..., tile, lane]` back to `[..., trace]`."""
        return placed.reshape(*placed.shape[:-2], -1)[..., self.order]


def tiled(traces: Floats | tuple[Floats, ...], reverse: bool, order: npt.NDArray[np.int64] | None = None) -> Tiles:
    """Traces `[channel, time]` in tiles, time reversed if asked; shorter ones are padded at the end with zeros.

    `order` puts trace i at place `order[i]`; traces in neighbouring places share a tile.
    """
    count, channels = len(traces), traces[0].shape[0]
    places = np.arange(count) if order is None else order
    longest = max(trace.shape[1] for trace in traces)
    tiles = -(-count // LANES)
    flat = np.zeros((tiles * LANES, channels, longest), np.float32)
    ends = np.full(tiles * LANES, -1, np.int64)
    for place, trace in zip(places, traces, strict=True):
        samples = trace.shape[1]
        flat[place, :, :samples] = trace[:, ::-1] if reverse else trace
        ends[place] = samples - 1
    values = flat.reshape(tiles, LANES, channels, longest).transpose(0, 2, 3, 1)
    return Tiles(np.ascontiguousarray(values), ends.reshape(tiles, LANES), places)
