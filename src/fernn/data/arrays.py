"""A dataset from arrays at hand."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, FernnWarning
from ..plain import shortened
from .dataset import Dataset, Floats, Ints, to_floats, unmasked
from .frames import frame_traces, is_frame
from .options import LabelKind
from .labels import labelled, lookalikes


def from_arrays(
    X: npt.ArrayLike | Sequence[npt.ArrayLike],
    y: npt.ArrayLike | None = None,
    channels: Sequence[str] | None = None,
    *,
    classes: Sequence[str] | None = None,
    good: object = None,
    label_kind: LabelKind = "auto",
    dt: float | None = None,
    time_unit: str | None = None,
    cases: Sequence[object] | None = None,
    groups: Sequence[object] | None = None,
    name: str = "data",
) -> Dataset:
    """A dataset from `X[case, channel, time]`, `X[case, time]` (one channel), or a list of traces.

    A list holds `(channel, time)` arrays, or 1-D arrays of one channel; lengths may differ. It may also hold
    data frames, a run each, whose columns are the channels. `y` holds
    one label a case: numbers, booleans or words, read as `read` reads them; with `classes` given,
    whole numbers are indices into it and words are its names.
    """
    frames = frame_traces(X, None if channels is None else tuple(channels))
    if frames is not None:
        X, channels, cases = frames.traces, frames.channels, frames.cases if cases is None else cases
    traces = _traces(X)
    width = len(traces[0]) if len(traces) else 1
    channels = default_channels(width) if channels is None else channels
    labels: Ints | Floats | None = None
    names: tuple[str, ...] = ()
    if y is not None:
        given = unmasked(y, "y")
        if given.ndim != 1:
            raise DataError(f"y holds one label a case, got shape {given.shape}.")
        if classes is not None and given.dtype.kind in "iu":
            labels, names = given.astype(np.int64), tuple(classes)
        else:
            texts = spelled(given)
            if "" in texts:
                raise DataError(f"y has no label for case number {texts.index('')}. Give every case one, or drop it.")
            labels, names = labelled(texts, good=good, kind=label_kind, classes=classes)
            if names:
                warn_of_lookalikes(texts, 3)
    return Dataset(
        values=traces,
        labels=labels,
        classes=names,
        channels=tuple(channels),
        dt=dt,
        time_unit=time_unit,
        cases=() if cases is None else tuple(str(c) for c in cases),
        groups=None if groups is None else tuple(str(g) for g in groups),
        name=name,
    )


def _traces(X: npt.ArrayLike | Sequence[npt.ArrayLike]) -> Floats | tuple[Floats, ...]:
    if isinstance(X, np.ndarray) and X.dtype != object:
        X = unmasked(X, "X")
        if X.ndim not in (2, 3):
            raise DataError(f"X must be [case, channel, time], or [case, time]; got shape {X.shape}.")
        return _numbers(X[:, None, :] if X.ndim == 2 else X)
    if is_frame(X):
        return _traces(np.asarray(X, dtype=np.float64))
    traces = [_numbers(unmasked(t, "X")) for t in X]  # type: ignore[union-attr]
    return tuple(t[None, :] if t.ndim == 1 else t for t in traces)


def _numbers(array: npt.NDArray[Any]) -> Floats:
    """As floats; here texts and Python objects may stand for numbers too."""
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"X holds what is no number: {shortened(str(error))}.") from None
    return to_floats(array)


def default_channels(n: int) -> list[str]:
    """`x` for one channel, `x0`, `x1`, ... for more."""
    return ["x"] if n == 1 else [f"x{i}" for i in range(n)]


def warn_of_lookalikes(labels: Sequence[str], level: int = 2) -> None:
    """One FernnWarning for labels that differ from another only in how they are written."""
    counts = Counter(labels)
    told = [
        f"the label {each.label!r} ({counts[each.label]} of {len(labels)} cases) differs from {each.common!r} "
        f"{each.how}, and counts as a class of its own; if it is the same, write it the same way."
        for each in lookalikes(counts)
    ]
    if told:
        warnings.warn("\n".join(told), FernnWarning, stacklevel=level)


def spelled(given: npt.NDArray[np.generic]) -> list[str]:
    """Labels as a file would spell them; floats keep every digit, and what is missing is empty."""
    return [_spelled(x) for x in given.tolist()]


def _spelled(x: object) -> str:
    if isinstance(x, bytes):
        return x.decode("utf-8", "replace").strip()
    if x is None or x != x or type(x).__name__ in ("NAType", "NaTType"):
        return ""
    return repr(x) if isinstance(x, float) else str(x).strip()
