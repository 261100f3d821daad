"""A dataset is labelled traces of the same channels: one value that every learner takes.

Arrays are `[case, channel, time]`. Traces of unequal length are a tuple of `(channel, time)` arrays.
A dataset never changes: its arrays are read-only copies, and two datasets with the same content
have the same fingerprint on every machine. A channel of categories holds their numbers; where a value
is missing, the last one before it is held, and the mask `missing` says so.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..errors import DataError, FernnError
from .arrays import Array, Bools, Floats, Ints
from .problems import did_you_mean, quote_names


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled traces. All values are finite; names are distinct and hold no surrounding blanks.

    `labels` are indices into `classes` (int), or real numbers (float, then `classes` is empty), or
    None. With two classes the order is (bad, good): the last class is the positive one.
    `dt` is the time between samples in `time_unit`, None when it is unknown or irregular.
    Cases of the same group (a vehicle, a patient) belong on the same side of a split.
    `categories` has the texts of each channel that holds such: its values are indices into them, 0, 1, ...
    `missing` is true where a value is missing, of the shape of `values` (a tuple where that is one), or None where
    none is. Whatever stands there, the last value before it is written instead, before the first one that one;
    where all of a channel is missing in a trace 0, and of categories -1, which is none of them.
    """

    values: Floats | tuple[Floats, ...]
    labels: Ints | Floats | None = None
    classes: tuple[str, ...] = ()
    channels: tuple[str, ...] = ("x",)
    dt: float | None = None
    time_unit: str | None = None
    cases: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    name: str = "data"
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing: Bools | tuple[Bools, ...] | None = None

    def __post_init__(self) -> None:
        values = _clean_values(self.values)
        missing = None if self.missing is None else _clean_mask(self.missing, values)
        if missing is not None:
            empty = np.array([[-1.0 if name in self.categories else 0.0] for name in self.channels])
            values = _hold_values(values, missing, empty)
        n = len(values)
        cases = self.cases or tuple(str(i) for i in range(n))
        tidy: dict[str, object] = {
            "values": values,
            "missing": missing,
            "classes": _names("class", self.classes),
            "channels": _names("channel", self.channels),
            "cases": _names("case", cases),
            "groups": None if self.groups is None else tuple(_name("group", g) for g in self.groups),
            "name": _name("dataset", self.name),
            "time_unit": None if self.time_unit is None else _name("time unit", self.time_unit),
            "dt": None if self.dt is None else float(self.dt),
        }
        for key, value in tidy.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "labels", _clean_labels(self.labels, len(self.classes), n))
        object.__setattr__(self, "categories", self._clean_categories())
        if self.labels is None and self.classes:
            raise DataError(f"classes {quote_names(self.classes)} need labels. Pass both or neither.")
        if len(self.cases) != n:
            raise DataError(f"{n} traces need {n} case ids, got {len(self.cases)}.")
        if self.groups is not None and len(self.groups) != n:
            raise DataError(f"{n} traces need {n} groups, one per case, got {len(self.groups)}.")
        if self.dt is not None and not (np.isfinite(self.dt) and self.dt > 0):
            raise DataError(f"dt is the time between samples and must be above 0, got {self.dt}.")
        for case, trace in zip(self.cases, self.values, strict=True):
            if len(trace) != self.n_channels:
                raise DataError(
                    f"case {case!r} has {len(trace)} channels, but {self.n_channels} are named: "
                    f"{quote_names(self.channels)}. Arrays are [case, channel, time]."
                )
            if not np.isfinite(trace).all():
                row, at = np.argwhere(~np.isfinite(trace))[0]
                raise DataError(
                    f"case {case!r}, channel {self.channels[row]!r}: sample {at} is {trace[row, at]}, but "
                    "every value must be finite. Repair or drop the case first, or say that it is missing (missing=)."
                )
            self._check_codes(case, trace)

    def _clean_categories(self) -> dict[str, tuple[str, ...]]:
        """In the order of the channels."""
        for channel in self.categories:
            if channel not in self.channels:
                raise DataError(
                    f"there are categories of {channel!r}, but no such channel; see {quote_names(self.channels)}."
                )
        known = {name: self.categories[name] for name in self.channels if name in self.categories}
        return {name: _names("category", texts) for name, texts in known.items()}

    def _check_codes(self, case: str, trace: Floats) -> None:
        for name, texts in self.categories.items():
            row = trace[self.channels.index(name)]
            least = 0 if self.missing is None else -1
            wrong = (row != np.floor(row)) | (row < least) | (row >= max(len(texts), least + 1))
            if wrong.any():
                found = row[wrong][0]
                raise DataError(
                    f"case {case!r}, channel {name!r}: it has {len(texts)} categories, so its values are whole numbers "
                    f"from 0 to {len(texts) - 1}; found {found:g}."
                )

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        return self.name == other.name and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash((self.name, self.fingerprint))

    def __repr__(self) -> str:
        spans = f"{self.lengths.min()}..{self.lengths.max()}" if self.is_ragged else f"{self.lengths[0]}"
        kinds = "/".join(self.classes) or ("real" if self.labels is not None else "no")
        return f"<Dataset {self.name!r}: {len(self)} x {self.n_channels} x {spans}, {kinds} labels>"

    @property
    def n_channels(self) -> int:
        return len(self.channels)

    @property
    def numeric_channels(self) -> tuple[str, ...]:
        """Those that hold numbers, not categories."""
        return tuple(name for name in self.channels if name not in self.categories)

    @cached_property
    def missing_counts(self) -> dict[str, int]:
        """How many values of each channel are missing, where some are."""
        if self.missing is None:
            return {}
        counts = np.sum([mask.sum(axis=1) for mask in self.missing], axis=0).tolist()
        return {name: count for name, count in zip(self.channels, counts, strict=True) if count}

    @property
    def is_ragged(self) -> bool:
        """Whether traces differ in length, so that `values` is a tuple."""
        return isinstance(self.values, tuple)

    @cached_property
    def lengths(self) -> Ints:
        """Samples of each case, `[case]`."""
        return np.array([trace.shape[1] for trace in self.values], dtype=np.int64)

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The least and the greatest value of each channel, by its name and in the order of the channels."""
        return dict(zip(self.channels, self._ends, strict=True))

    @cached_property
    def _ends(self) -> tuple[tuple[float, float], ...]:
        lows = np.min([trace.min(axis=1) for trace in self.values], axis=0).tolist()
        highs = np.max([trace.max(axis=1) for trace in self.values], axis=0).tolist()
        return tuple(zip(lows, highs, strict=True))

    @property
    def positive(self) -> Bools:
        """Which cases are of the good class, `[case]`; only for two classes."""
        if self.labels is None or len(self.classes) != 2:
            have = f"{len(self.classes)} ({quote_names(self.classes)})" if self.classes else "no classes"
            raise DataError(f"{self.name}: this needs two classes (bad, good), the data has {have}.")
        return cast(Bools, self.labels == 1)

    @property
    def signs(self) -> Floats:
        """+1 for the good class and -1 for the bad one, `[case]`."""
        return np.where(self.positive, 1.0, -1.0)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything but the name: the same content has the same one everywhere."""
        facts = (self.classes, self.channels, self.dt, self.time_unit, self.cases, self.groups)
        digest = hashlib.sha256(json.dumps(facts, ensure_ascii=True).encode())
        digest.update(self.lengths.astype("<i8").tobytes())
        if self.labels is not None:
            digest.update(b"class" if self.classes else b"real")
            digest.update(self.labels.astype("<i8" if self.classes else "<f8").tobytes())
        for trace in self.values:
            digest.update(np.ascontiguousarray(trace, dtype="<f8").tobytes())
        if self.categories:
            digest.update(b"categories" + json.dumps(self.categories, ensure_ascii=True).encode())
        for mask in self.missing if self.missing is not None else ():
            digest.update(b"missing" + np.packbits(mask).tobytes())
        return digest.hexdigest()

    def trace(self, case: str | int) -> Floats:
        """The `[channel, time]` array of one case, by id or by position."""
        if isinstance(case, str):
            if case not in self._places:
                raise DataError(f"{self.name} has no case {case!r}{did_you_mean(case, self.cases)}.")
            case = self._places[case]
        if not -len(self) <= case < len(self):
            raise DataError(f"{self.name} has {len(self)} cases, there is no case number {case}.")
        return self.values[case]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case: i for i, case in enumerate(self.cases)}

    def subset(
        self, indices: Sequence[int] | npt.NDArray[np.integer] | Bools, cases: tuple[str, ...] | None = None
    ) -> Dataset:
        """The cases at these positions (or where a mask is true), in that order; classes stay.

        One that comes twice needs two names, which are then those in `cases`.
        """
        at = np.asarray(indices)
        at = np.flatnonzero(at) if at.dtype == bool else at.astype(np.int64)
        if not at.size:
            raise DataError(f"a subset of {self.name} needs at least one case, got none.")
        return replace(
            self,
            values=_take(self.values, at),
            missing=None if self.missing is None else _take(self.missing, at),
            labels=None if self.labels is None else self.labels[at],
            cases=tuple(self.cases[i] for i in at) if cases is None else cases,
            groups=None if self.groups is None else tuple(self.groups[i] for i in at),
        )

    def select(self, channels: Sequence[str]) -> Dataset:
        """Only these channels, in this order."""
        for channel in channels:
            if channel not in self.channels:
                hint = did_you_mean(channel, self.channels)
                have = quote_names(self.channels)
                raise DataError(f"{self.name} has no channel {channel!r}{hint}; it has {have}.")
        at = [self.channels.index(c) for c in channels]

        def chosen(arrays: Any) -> Any:
            return tuple(each[at] for each in arrays) if isinstance(arrays, tuple) else arrays[:, at]

        return replace(
            self,
            values=chosen(self.values),
            missing=None if self.missing is None else chosen(self.missing),
            channels=tuple(channels),
            categories={name: texts for name, texts in self.categories.items() if name in channels},
        )


def _take(arrays: Any, at: Ints) -> Any:
    """Those of the cases at these positions."""
    return tuple(arrays[i] for i in at) if isinstance(arrays, tuple) else arrays[at]


def check_dataset(data: object) -> None:
    """An error, with the way to make one, where this is no dataset: an array, a data frame, a path."""
    if not isinstance(data, Dataset):
        raise DataError(
            f"a Dataset is wanted here, found {type(data).__name__}. Make one with fernn.read(path), with "
            "fernn.from_frame(frame, case='run', time='t', label='label') of a data frame, or with "
            "fernn.data.from_arrays(X, y) of arrays."
        )


def _clean_values(values: Floats | Iterable[Floats]) -> Floats | tuple[Floats, ...]:
    """Read-only float64 copies; -0.0 becomes 0.0, so that equal numbers have equal bytes."""
    if hasattr(values, "columns") or (isinstance(values, (list, tuple)) and any(hasattr(v, "columns") for v in values)):
        raise DataError(
            "a Dataset holds arrays, found data frames. Make it with fernn.from_frame(frame, case='run', time='t', "
            "label='label') of one frame, or with fernn.data.from_arrays(frames, y) of a list of frames, a run each."
        )
    if np.ma.isMaskedArray(values) or not isinstance(values, np.ndarray):
        values = drop_mask(values) if np.ma.isMaskedArray(values) else tuple(drop_mask(v) for v in values)
    traces = to_floats(values) if isinstance(values, np.ndarray) else tuple(map(to_floats, values))
    if len(traces) == 0:
        raise DataError("a dataset needs at least one trace, got none.")
    for trace in traces:
        if trace.ndim != 2 or not trace.size:
            raise DataError(
                f"a trace is a (channel, time) array with at least one sample, got shape {trace.shape}. "
                "Whole datasets are [case, channel, time]; `from_arrays` also takes [case, time]."
            )
    if len({trace.shape for trace in traces}) == 1:
        array = np.empty((len(traces), *traces[0].shape))
        if isinstance(traces, np.ndarray):
            np.add(traces, 0.0, out=array)
        else:
            for to, trace in zip(array, traces, strict=True):  # without another copy of all of them together
                np.add(trace, 0.0, out=to)
        return _freeze(array)
    return tuple(_freeze(np.add(trace, 0.0, dtype=np.float64)) for trace in traces)


def _clean_mask(missing: Any, values: Floats | tuple[Floats, ...]) -> Bools | tuple[Bools, ...] | None:
    """Read-only copies; None where nothing is missing."""
    masks = tuple(np.asarray(mask) for mask in missing)
    shapes = [mask.shape for mask in masks]
    if shapes != [trace.shape for trace in values] or any(mask.dtype != bool for mask in masks):
        raise DataError("missing says of every value whether it is missing: true or false, in the shape of the values.")
    if not any(mask.any() for mask in masks):
        return None
    copies = tuple(mask.copy() for mask in masks) if isinstance(values, tuple) else np.stack(masks)
    for mask in copies if isinstance(copies, tuple) else (copies,):
        mask.flags.writeable = False
    return copies


def _hold_values(values: Any, missing: Any, empty: Floats) -> Any:
    """The values, read-only, with the last one before it where one is missing."""
    if isinstance(values, tuple):
        return tuple(_hold_values(trace, mask, empty) for trace, mask in zip(values, missing, strict=True))
    if len(empty) != values.shape[-2]:
        return values  # which is an error that is told later
    return _freeze(hold_last(values, ~missing, empty))


def hold_last(values: Array, is_known: Bools, empty: Floats | float = 0.0) -> Array:
    """Along the last axis, each gap takes the last known value before it, one at the start the first after it.

    Where nothing is known, it takes that of `empty`.
    """
    places = np.where(is_known, np.arange(values.shape[-1]), -1)
    last = np.maximum.accumulate(places, axis=-1)
    first = np.argmax(is_known, axis=-1)[..., None]
    held = np.take_along_axis(values, np.where(last < 0, first, last), -1)
    return np.where(is_known.any(axis=-1, keepdims=True), held, np.asarray(empty, values.dtype))


LARGEST_WHOLE = 2**53
"""Whole numbers beyond this are not all float64 numbers: two that differ may become the same."""


def to_floats(array: Array, error: type[FernnError] = DataError) -> Array:
    """The numbers as float32 where they are that, else as float64, in the byte order of this machine.

    Wider floats are rounded to float64. Whole numbers that float64 does not tell apart are refused, as is what is no
    number.
    """
    kind = array.dtype.kind
    if kind == "f":
        return array.astype(np.float32 if array.dtype.itemsize == 4 else np.float64, copy=False)
    if kind not in "iub":
        advice = "; X.astype(float) makes numbers of it, if they are numbers" if kind in "OUS" else ""
        raise error(f"traces are numbers, found an array of {array.dtype}{advice}.")
    if kind in "iu" and array.dtype.itemsize > 6 and array.size:
        largest = max(abs(int(array.min())), abs(int(array.max())))
        if largest > LARGEST_WHOLE:
            raise error(
                f"traces are judged in float64, which tells whole numbers apart up to {LARGEST_WHOLE}; found one of "
                f"size {largest}. Subtract an offset first, or pass X.astype(float) to have them rounded."
            )
    return array.astype(np.float64)


def drop_mask(array: Any, what: str = "a trace") -> Array:
    """The array without its mask, which must hide nothing: a masked value is a missing one."""
    if np.ma.is_masked(array):
        hidden = int(np.ma.getmaskarray(array).sum())
        raise DataError(
            f"{what} has {hidden} masked value{'s' * (hidden != 1)}, but every value must be there. "
            "Fill them, or drop the cases."
        )
    return np.asarray(array)


def _clean_labels(labels: object, n_classes: int, n: int) -> Ints | Floats | None:
    if labels is None:
        return None
    array = drop_mask(labels, "labels")
    if array.shape != (n,):
        raise DataError(f"{n} traces need {n} labels, got an array of shape {array.shape}.")
    if not n_classes:
        real = array.astype(np.float64) + 0.0
        if not np.isfinite(real).all():
            raise DataError(f"real-valued labels must be finite, got {quote_names(real[~np.isfinite(real)], 3)}.")
        return _freeze(real)
    whole = array.astype(np.int64)
    if (whole != array).any() or whole.min() < 0 or whole.max() >= n_classes:
        seen = quote_names(np.unique(array))
        raise DataError(f"labels are indices 0..{n_classes - 1} into the classes, got {seen}.")
    whole.flags.writeable = False
    return whole


def _freeze(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


def plain_names(what: str, names: list[str]) -> list[str]:
    """Names as a dataset has them, blanks inside as one; an error for one that cannot be printed."""
    text = "".join(names)
    if text.isprintable() and "  " not in text and all(names):
        return names
    return [_name(what, name) for name in names]


def _name(what: str, name: object) -> str:
    text = " ".join(str(name).split())
    if not text or not text.isprintable():
        raise DataError(f"a {what} name must be printable and not empty, got {name!r}.")
    return text


def _names(what: str, names: Iterable[object]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise DataError(f"{what} names must be a sequence of names, got the text {names!r}.")
    clean = tuple(_name(what, name) for name in names)
    if len(set(clean)) != len(clean):
        twice = Counter(clean).most_common(1)[0][0]
        raise DataError(f"{what} names must be distinct, {twice!r} comes twice.")
    return clean
