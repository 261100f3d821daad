"""Paths of vehicles from the Lyft Level 5 prediction data set in its own format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DataError
from ..dataset import Dataset, Floats
from .asked import whole
from .folder import changes
from .zarr2 import Field, Table, table

CAR = 3  # the place of cars in label_probabilities
SURE = 0.5  # from this probability on, it is a car
CLASSES = ("bad", "good")
SPAN: Field = ("iu", (2,))  # the first row and the one behind the last
SCENE = {"frame_index_interval": SPAN}
FRAME: dict[str, Field] = {"timestamp": ("iu", ()), "agent_index_interval": SPAN}
AGENT: dict[str, Field] = {
    "centroid": ("iuf", (2,)),
    "yaw": ("iuf", ()),
    "track_id": ("iu", ()),
    "label_probabilities": ("iuf", (17,)),  # one for each kind of agent
}


@dataclass(frozen=True)
class Scenes:
    """The three tables: a scene is some frames, a frame some agents."""

    scenes: Table
    frames: Table
    agents: Table


def lyft_scenes(
    path: str | PathLike[str],
    scenes: Sequence[int] | None = None,
    *,
    samples: int = 50,
    stride: int = 10,
    shifted: bool = True,
    offset: float = 20.0,
    seed: int = 0,
) -> Dataset:
    """Paths of cars (`good`) and as many shifted ones (`bad`), from a zarr folder such as `sample.zarr`.

    Channels: position `x`, `y` in metres relative to the first frame, in the car's heading there, and the change of
    each since the last frame, `x_diff`, `y_diff` (0 at the first). A path is `samples` frames in which the car is
    seen without a gap, and begins every `stride` frames. An artificial path is a real one drawn at random plus one
    offset each for x and y, uniform in (-`offset`, `offset`); `shifted=False` gives the real ones alone, without
    labels. `scenes` are numbers from 0; all are read unless some are named, which takes long for the whole data set.
    There are 10 frames a second. Groups are the cars.

    Know before use: real paths begin at (0, 0) and shifted ones hardly ever, so the first sample alone tells them
    apart; the changes do not. Paths of a car overlap, and a shifted path is of the group of its original. Parked cars
    are cars too, and headings of cars that stand are noisy. A car seen in two scenes is two groups.
    """
    samples, stride = whole("lyft_scenes", "samples", samples), whole("lyft_scenes", "stride", stride)
    seed = whole("lyft_scenes", "seed", seed, 0)
    if not 0 < offset < np.inf:
        raise DataError(f"offset is in metres, a number above 0; got {offset}.")
    data = _scenes(Path(path))
    numbers = _numbers(scenes, data.scenes.length)
    paths: list[Floats] = []
    cases: list[str] = []
    groups: list[str] = []
    steps: list[float] = []
    for number in numbers:
        frames, agents = _scene(data, number)
        steps += np.diff(frames["timestamp"]).tolist()
        for track, first, window in _windows(frames, agents, samples, stride):
            paths.append(_relative(window))
            groups.append(f"scene-{number}-car-{track}")
            cases.append(f"{groups[-1]}-frame-{first}")
    if not paths:
        raise DataError(f"no car is seen for {samples} frames without a gap. Ask for fewer samples, or other scenes.")
    real = np.stack(paths)
    values, labels = real, None
    if shifted:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, len(real), len(real))
        values = np.concatenate([real, real[drawn] + rng.uniform(-offset, offset, (len(real), 2, 1))])
        labels = np.repeat([1, 0], len(real))
        cases += [f"shifted-{i + 1}" for i in range(len(real))]
        groups += [groups[i] for i in drawn]
    return Dataset(
        np.concatenate([values, changes(values)], axis=1),
        labels,
        CLASSES if shifted else (),
        ("x", "y", "x_diff", "y_diff"),
        dt=(round(float(np.median(steps)) * 1e-9, 2) or None) if steps else None,  # stamps are in nanoseconds
        time_unit="s",
        cases=tuple(cases),
        groups=tuple(groups),
        name="lyft_scenes",
    )


def _scenes(path: Path) -> Scenes:
    if not path.is_dir():
        raise DataError(f"there is no folder {str(path)!r}. Unpack the data set and name its .zarr folder.")
    return Scenes(
        table(path / "scenes", SCENE),
        table(path / "frames", FRAME),
        table(path / "agents", AGENT),
    )


def _numbers(scenes: Sequence[int] | None, there: int) -> list[int]:
    if scenes is None:
        return list(range(there))
    if isinstance(scenes, str) or not isinstance(scenes, Iterable):
        raise DataError(f"scenes are several numbers from 0, as in scenes=[0]; got {scenes!r}.")
    numbers = [whole("lyft_scenes", "each of scenes", n, 0) for n in scenes]
    if strange := [n for n in numbers if n >= there]:
        raise DataError(f"there are scenes 0 to {there - 1}, no scene {strange[0]}.")
    return numbers


def _scene(data: Scenes, number: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The frames of a scene and its agents, whose intervals then count from its first agent."""
    first, last = data.scenes.rows(number, number + 1)["frame_index_interval"][0].tolist()
    frames = data.frames.rows(first, last).copy()
    if not len(frames):
        return frames, data.agents.rows(0, 0)
    spans = frames["agent_index_interval"]
    if backwards := np.flatnonzero(spans[:, 1] < spans[:, 0]).tolist():
        begin, end = spans[backwards[0]].tolist()
        raise DataError(
            f"frames, row {first + backwards[0]}: agents {begin} to {end}, but an interval does not end before it "
            "begins. The data set is damaged: fetch it again."
        )
    begin = int(spans[:, 0].min())
    agents = data.agents.rows(begin, int(spans[:, 1].max()))
    frames["agent_index_interval"] -= begin
    return frames, agents


def _windows(
    frames: npt.NDArray[Any], agents: npt.NDArray[Any], samples: int, stride: int
) -> Iterator[tuple[int, int, npt.NDArray[Any]]]:
    """Each car's number, the first frame of a window, and the car in its frames."""
    if not len(agents):
        return
    counts = np.diff(frames["agent_index_interval"], axis=1)[:, 0]
    frame = np.repeat(np.arange(len(frames)), counts)
    at = np.concatenate([np.arange(*span) for span in frames["agent_index_interval"].tolist()])
    is_car = agents["label_probabilities"][at, CAR] >= SURE
    frame, at = frame[is_car], at[is_car]
    for track in np.unique(agents["track_id"][at]):
        mine = agents["track_id"][at] == track
        seen, rows = frame[mine], at[mine]
        gaps = np.flatnonzero(np.diff(seen) != 1) + 1
        for begin, end in zip([0, *gaps.tolist()], [*gaps.tolist(), len(seen)], strict=True):
            for first in range(begin, end - samples + 1, stride):
                yield int(track), int(seen[first]), agents[rows[first : first + samples]]


def _relative(window: npt.NDArray[Any]) -> Floats:
    """`[x and y, time]` from where the car is first, ahead of it and to its left."""
    yaw = float(window["yaw"][0])
    turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    return np.asarray(turn @ (window["centroid"] - window["centroid"][0]).T, dtype=np.float64)
