"""Paths of vehicles from the Lyft Level 5 prediction data set in its own format, zarr 2.

A table is a zarr folder of format 2: rows with named fields, in compressed chunks, one file each. They are read
here with numcodecs, because zarr 3 does not know fields that are arrays themselves (`centroid` is two numbers).
A folder may come from a stranger: only codecs that unpack bytes are used, and what describes a table is checked once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import DataError
from ...arrays import Array, Floats
from ...dataset import Dataset
from ...problems import quote_names
from ..paper_recordings import first_differences
from ..synthetic import require_integer

CODECS = ("blosc", "zlib", "gzip", "zstd", "lz4", "bz2", "lzma")  # numcodecs knows others, and one of them is pickle

Field = tuple[str, tuple[int, ...]]
"""The kinds of number that a field may hold, as letters of numpy (`iu` is whole), and its shape."""


@dataclass(frozen=True)
class ZarrTable:
    """A table on disk: `length` rows of type `dtype`, `chunk` of them a file."""

    folder: Path
    length: int
    chunk: int
    dtype: np.dtype[Any]
    codec: Any

    def rows(self, first: int, last: int) -> Array:
        """Rows `first` to `last`, without the last; only their chunks are read."""
        if not 0 <= first <= last <= self.length:
            raise DataError(
                f"{self.folder.name}: rows {first} to {last} are asked for, but there are {self.length}. "
                "The data set is damaged: fetch it again."
            )
        whole = [self._chunk(i) for i in range(first // self.chunk, -(-last // self.chunk))]
        if not whole:
            return np.zeros(0, self.dtype)
        skip = first - first // self.chunk * self.chunk
        return np.concatenate(whole)[skip : skip + last - first]

    def _chunk(self, number: int) -> Array:
        file = self.folder / str(number)
        if not file.is_file():  # zarr would take it for a chunk of fill values; in a data set it is a broken download
            raise DataError(f"there is no chunk {self.folder.name}/{number}. Fetch the data set again.")
        try:
            data = file.read_bytes()
            return np.frombuffer(data if self.codec is None else self.codec.decode(data), self.dtype, self.chunk)
        except Exception as error:  # each codec has errors of its own
            place = f"{self.folder.name}/{number}"
            raise DataError(f"{place}: the chunk cannot be unpacked ({error}). Fetch the data set again.") from error


def open_zarr_table(folder: Path, fields: Mapping[str, Field]) -> ZarrTable:
    """The table in a folder, which must have these fields."""
    try:
        import numcodecs
    except ImportError as error:
        raise DataError(
            "reading zarr needs numcodecs, which is not installed. Run: pip install 'fernn[lyft]'."
        ) from error
    file = folder / ".zarray"
    if not file.is_file():
        raise DataError(
            f"there is no table {folder.name!r} in {str(folder.parent)!r}: {file.name} is missing. Name a zarr folder."
        )
    place = f"{folder.name}/.zarray"
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        (length,), (chunk,), packed = facts["shape"], facts["chunks"], facts["compressor"]
        if type(length) is not int or type(chunk) is not int or length < 0 or chunk < 1:
            raise ValueError(f"{length!r} rows in chunks of {chunk!r}")
        if facts["zarr_format"] != 2 or facts.get("filters"):
            raise ValueError("format 2 without filters is expected")
        if packed and packed["id"] not in CODECS:
            raise ValueError(f"codec {packed['id']!r} is none of {', '.join(CODECS)}")
        dtype = np.dtype([(f[0], f[1], *(tuple(shape) for shape in f[2:])) for f in facts["dtype"]])
        codec = numcodecs.get_codec(packed) if packed else None
    except Exception as error:  # text that is no JSON, is too deep, or says what numpy or numcodecs does not know
        raise DataError(
            f"{place} does not describe a table of zarr format 2 ({error!r}). Fetch the data set again."
        ) from error
    _check_fields(dtype, fields, place)
    return ZarrTable(folder, length, chunk, dtype, codec)


def _check_fields(dtype: np.dtype[Any], fields: Mapping[str, Field], place: str) -> None:
    for name, (kinds, shape) in fields.items():
        if name not in (dtype.names or ()):
            raise DataError(f"{place}: no field {name!r}; there are {quote_names(dtype.names or ())}.")
        found = dtype[name]
        if found.shape != shape or found.base.kind not in kinds:
            what = "whole numbers" if "f" not in kinds else "numbers"
            raise DataError(
                f"{place}: field {name!r} must hold {what} of shape {shape}, it holds {found.base} of shape "
                f"{found.shape}. Fetch the data set again."
            )


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

    scenes: ZarrTable
    frames: ZarrTable
    agents: ZarrTable


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
    samples, stride = (
        require_integer("lyft_scenes", "samples", samples),
        require_integer("lyft_scenes", "stride", stride),
    )
    seed = require_integer("lyft_scenes", "seed", seed, 0)
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
        np.concatenate([values, first_differences(values)], axis=1),
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
        open_zarr_table(path / "scenes", SCENE),
        open_zarr_table(path / "frames", FRAME),
        open_zarr_table(path / "agents", AGENT),
    )


def _numbers(scenes: Sequence[int] | None, there: int) -> list[int]:
    if scenes is None:
        return list(range(there))
    if isinstance(scenes, str) or not isinstance(scenes, Iterable):
        raise DataError(f"scenes are several numbers from 0, as in scenes=[0]; got {scenes!r}.")
    numbers = [require_integer("lyft_scenes", "each of scenes", n, 0) for n in scenes]
    if strange := [n for n in numbers if n >= there]:
        raise DataError(f"there are scenes 0 to {there - 1}, no scene {strange[0]}.")
    return numbers


def _scene(data: Scenes, number: int) -> tuple[Array, Array]:
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


def _windows(frames: Array, agents: Array, samples: int, stride: int) -> Iterator[tuple[int, int, Array]]:
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


def _relative(window: Array) -> Floats:
    """`[x and y, time]` from where the car is first, ahead of it and to its left."""
    yaw = float(window["yaw"][0])
    turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    return np.asarray(turn @ (window["centroid"] - window["centroid"][0]).T, dtype=np.float64)
