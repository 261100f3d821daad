"""Traces in the one form the machine reads, from whatever the user has.

`X[case, channel, time]`, `X[case, time]` for one channel, a list of `(channel, time)` arrays of
unequal length, a data frame (one run, its columns are the channels) or a list of them, or a
`Dataset`. Values are float32 or float64 and are judged in that type; whole numbers and floats of
other sizes become float64. Where a value is missing (NaN in an array, the mask of a `Dataset`), only a formula that
asks for it with `missing(x)` is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from ..data import Dataset
from ..data.arrays import Array, Bools, Floats, Ints
from ..data.dataset import hold_last, to_floats
from ..data.frames import frame_traces
from ..data.problems import unknown_channel
from ..errors import DataError, SignalError
from ..formula.expressions import MISSING, Call, Step, Term
from ..formula.expressions import time_step as time_step
from ..formula.measures import channels as channels_of
from ..formula.nodes import Atom, Formula, walk
from ..formula.printer import quote_name
from .category_checks import check_categories, text_channels
from .interpreter import UNIFORM

Traces = Array | Sequence[Array] | Dataset
Nonfinite = Literal["error", "missing", "hold", "interpolate"]


@dataclass(slots=True)
class PackedTraces:
    """Traces end to end in `flat`; `starts` is empty when all have `length` samples."""

    flat: Array
    starts: Ints
    length: int
    count: int
    channels: tuple[Term, ...]
    """Names; or the functions that are computed from them, where a formula reads some."""
    step: Step | None = None
    """The time between samples, where it is known."""
    computed: dict[Call, Floats] | None = field(default_factory=dict)
    """Functions of the channels that were computed before, of all traces end to end; None where they are not kept,
    since one formula is judged and no more."""
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of channels whose values are indices into them."""
    missing: Bools | None = None
    """Which values of `flat` are missing, where that is known beside the values."""

    @property
    def samples(self) -> int:
        """Samples of all traces together, one channel."""
        return self.flat.size // len(self.channels)

    @property
    def traces(self) -> Array:
        """As the interpreter takes them: `[case, channel, time]`, or `[1, channel, all samples]` with `starts`."""
        return self.flat.reshape(1 if self.starts.size else self.count, len(self.channels), -1)

    def split(self, flat: Array) -> Array | list[Array]:
        """One number a sample, as `[case, time]` or a list of rows."""
        if not self.starts.size:
            return flat.reshape(self.count, self.length)
        edges = self.starts // len(self.channels)
        return [flat[a:b] for a, b in pairwise(edges)]

    def row(self, term: Term) -> Array:
        """The values of one channel, of all traces end to end."""
        return self._row(self.flat, term)

    def _row(self, flat: Array, term: Term) -> Array:
        place = self.channels.index(term)
        if not self.starts.size:
            return flat.reshape(self.count, len(self.channels), -1)[:, place].reshape(-1)
        width = len(self.channels)
        return np.concatenate([flat[a:b].reshape(width, -1)[place] for a, b in pairwise(self.starts)])

    def holds(self, predicate: Call) -> Bools:
        """Where a channel has one of the values of an `is`, or where it is `missing`, of all traces end to end."""
        name = predicate.channel
        if predicate.function == MISSING:
            return np.isnan(self.row(name)) if self.missing is None else self._row(self.missing, name)
        values: Any = predicate.values
        if name in self.categories:
            values = [number for number, text in enumerate(self.categories[name]) if text in values]
        return np.isin(self.row(name), np.array(values, self.flat.dtype))

    @property
    def first_samples(self) -> Ints:
        """Of each trace in a row, and where the last one ends."""
        if self.starts.size:
            return self.starts // len(self.channels)
        return np.arange(self.count + 1, dtype=np.int64) * self.length

    def part(self, low: int, high: int) -> PackedTraces:
        """The traces from `low` to below `high`, where they are."""
        if not self.starts.size:
            size = self.length * len(self.channels)
            flat, starts = self.flat[low * size : high * size], self.starts
        else:
            flat, starts = (
                self.flat[self.starts[low] : self.starts[high]],
                self.starts[low : high + 1] - self.starts[low],
            )
        return PackedTraces(flat, starts, self.length, high - low, self.channels, self.step, None)

    def with_rows(self, rows: Mapping[Term, Array]) -> PackedTraces:
        """The same traces with these channels instead."""
        values = np.stack([np.asarray(row, self.flat.dtype) for row in rows.values()])
        edges = self.first_samples
        if not self.starts.size:
            flat = np.ascontiguousarray(values.reshape(len(rows), self.count, self.length).swapaxes(0, 1)).reshape(-1)
            return PackedTraces(flat, UNIFORM, self.length, self.count, tuple(rows), self.step)
        flat = np.concatenate([values[:, a:b].reshape(-1) for a, b in pairwise(edges)])
        return PackedTraces(flat, edges * len(rows), self.length, self.count, tuple(rows), self.step)

    def trace(self, case: int) -> Array:
        """One trace, `[channel, time]`."""
        if self.starts.size:
            return self.flat[self.starts[case] : self.starts[case + 1]].reshape(len(self.channels), -1)
        size = self.length * len(self.channels)
        return self.flat[case * size : (case + 1) * size].reshape(len(self.channels), self.length)


def pack_traces(
    formula: Formula, X: Traces, channels: Sequence[str] | None, nonfinite: Nonfinite = "error",
    step: Step | None = None,
) -> PackedTraces:  # fmt: skip
    """The traces, with a name for every channel that the formula reads."""
    categories: Mapping[str, tuple[str, ...]] = {}
    missing = None
    if isinstance(X, Dataset):
        channels = X.channels if channels is None else channels
        step = time_step(X.dt, X.time_unit) if step is None else step
        categories, missing = X.categories, X.missing
        X = X.values
    if type(X) is np.ndarray and X.ndim == 3 and X.dtype.char in "fd" and X.dtype.isnative and X.flags.c_contiguous:
        flat, starts, (count, width, length) = X.reshape(-1), UNIFORM, X.shape
    else:
        if type(X) is not np.ndarray:
            try:
                wanted = channels_of(formula) if channels is None else channels
                found = frame_traces(X, wanted, one_run=True, texts=text_channels(formula))
            except DataError as error:
                raise SignalError(str(error)) from None
            if found is not None:
                X, channels, categories = found.traces, found.channels, found.categories
        flat, starts, count, width, length = _concatenate(X)
    names = _name_channels(formula, tuple(channels) if channels is not None else None, width)
    if flat.size == 0 or (starts.size and (starts[1:] == starts[:-1]).any()):
        raise SignalError("there is nothing to judge: no traces, or a trace without samples")
    made = PackedTraces(flat, starts, length, count, names, step, categories=categories)
    if missing is not None:
        made.missing = np.concatenate([mask.reshape(-1) for mask in missing])
    if nonfinite != "error":
        _repair(made, nonfinite)
    if categories:
        check_categories(formula, names, categories)
    return made


def _concatenate(X: Any) -> tuple[Array, Ints, int, int, int]:
    ragged = isinstance(X, (list, tuple)) and len({np.shape(x) for x in X}) > 1
    if not ragged:
        array = _floats(np.asanyarray(X))
        if array.ndim == 2:
            array = array[:, None, :]
        if array.ndim != 3:
            raise SignalError(
                f"X is [case, channel, time], or [case, time] for one channel; found shape {array.shape}. "
                "For one trace pass X[None]."
            )
        return np.ascontiguousarray(array).reshape(-1), UNIFORM, *array.shape
    rows = [_floats(np.asanyarray(x)) for x in X]
    rows = [row[None] if row.ndim == 1 else row for row in rows]
    for i, row in enumerate(rows):
        if row.ndim != 2 or len(row) != len(rows[0]):
            raise SignalError(
                f"trace {i} has shape {row.shape}; every trace is (channel, time), {len(rows[0])} channels"
            )
    dtype = np.result_type(*rows)
    starts = np.concatenate([[0], np.cumsum([row.size for row in rows])]).astype(np.int64)
    flat = np.concatenate([np.asarray(row, dtype).reshape(-1) for row in rows])
    return flat, starts, len(rows), len(rows[0]), max(row.shape[1] for row in rows)


def _floats(array: Array) -> Array:
    if isinstance(array, np.ma.MaskedArray):  # what is masked is missing
        array = np.ma.filled(array.astype(np.result_type(array.dtype, np.float32)), np.nan)
    return to_floats(array, SignalError)


def _name_channels(formula: Formula, names: tuple[str, ...] | None, width: int) -> tuple[str, ...]:
    wanted = channels_of(formula)
    if names is None:
        if width == 1 and len(wanted) <= 1:
            return wanted or ("x",)
        raise SignalError(
            f"X has {width} channels and the formula reads {', '.join(wanted) or 'none'}: "
            f"say which is which with channels=[...], {width} names in the order of X"
        )
    if len(names) != width:
        raise SignalError(f"{len(names)} channel names for {width} channels: {', '.join(names)}")
    if len(set(names)) != len(names):
        raise SignalError(f"a channel name occurs twice: {', '.join(names)}")
    for name in wanted:
        if name not in names:
            raise SignalError(unknown_channel(name, names, "the traces have"))
    return names


def raise_nonfinite(made: PackedTraces, formula: Formula) -> None:
    """Raise for the first NaN or infinity in a channel that is read, or the first sum that overflows, if any."""
    sums = [node for node in walk(formula) if isinstance(node, Atom) and len(node.weights) > 1]
    for case in range(made.count):
        trace = made.trace(case)
        for name in channels_of(formula, values_only=True):
            if name not in made.channels:
                continue  # read by a function, and looked at before that was computed
            row = trace[made.channels.index(name)]
            wrong = np.flatnonzero(~np.isfinite(row))
            if wrong.size:
                raise SignalError(
                    f"case {case}, channel {name!r}, sample {wrong[0]}: found {row[wrong[0]]}, "
                    f"wanted a finite number ({wrong.size} such in this trace). Repair the data, or pass "
                    f"nonfinite='hold' (repeat the last value), 'missing' (the same, and missing({quote_name(name)}) "
                    "tells where) or 'interpolate'."
                )
        for atom in sums:
            with np.errstate(all="ignore"):
                total = sum(trace.dtype.type(w) * trace[made.channels.index(term)] for term, w in atom.weights)
            wrong = np.flatnonzero(np.isnan(total) if atom.calls else ~np.isfinite(total))  # `since` may be infinite
            if wrong.size:
                raise SignalError(
                    f"case {case}, sample {wrong[0]}: {atom} overflows {made.flat.dtype}. Scale the channels."
                )


def _repair(made: PackedTraces, policy: Nonfinite) -> None:
    """Replace what is NaN or infinite in a copy of the values, channel by channel."""
    if policy not in get_args(Nonfinite):
        raise SignalError(f"nonfinite is one of {', '.join(get_args(Nonfinite))}; found {policy!r}")
    if np.isfinite(made.flat).all():
        return
    if policy == "missing":
        made.missing = np.isnan(made.flat)
    made.flat = made.flat.copy()
    for case in range(made.count):
        for name, row in zip(made.channels, made.trace(case), strict=True):
            if policy == "missing":
                row[:] = hold_last(row, ~np.isnan(row), -1.0 if name in made.categories else 0.0)
                continue
            good = np.flatnonzero(np.isfinite(row))
            if not good.size:
                raise SignalError(f"case {case}, channel {name!r} has no finite value to repair it from")
            at = np.arange(row.size)
            if policy == "interpolate" and name not in made.categories:
                row[:] = np.interp(at, good, row[good])
            else:
                row[:] = row[good[np.maximum(np.searchsorted(good, at, "right") - 1, 0)]]
