"""Input validation: X as scikit-learn users pass it, as traces; duplicate cases are merged into one of more weight.

[case, channel, time]         traces of equal length
[case, time]                  a table: one channel, a column a sample
list of (channel, time)       traces of unequal length; (time,) means one channel
list of data frames           a run each, with a column a channel
Dataset                       its traces and channels; labels are passed as y
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ...data import Dataset
from ...data.arrays import Array, Floats
from ...data.dataset import drop_mask, to_floats
from ...data.frames import default_channels, frame_traces, is_frame

Traces: TypeAlias = Floats | tuple[Floats, ...]
"""`[case, channel, time]`, or a tuple of `(channel, time)` where lengths differ."""


def split_names(X: Any, wanted: Sequence[str] | None) -> tuple[Any, tuple[str, ...] | None]:
    """X without names, and the names of its channels where it has some: a dataset or data frames.

    `wanted` are the channels to take, by default all.
    """
    if isinstance(X, Dataset):
        X = X if wanted is None else X.select(wanted)
        return X.values, X.channels
    frame = None if type(X) is np.ndarray else frame_traces(X, wanted)
    return (X, None) if frame is None else (frame.traces, frame.channels)


def traces(X: Any, estimator: Any, dtype: Any = np.float64) -> tuple[Traces, bool]:
    """Finite traces, and whether X was a table."""
    if np.ma.isMaskedArray(X):
        X = drop_mask(X, "X")
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = list(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu":
        X = to_floats(X)
    if isinstance(X, (list, tuple)) and len({np.shape(trace) for trace in X}) > 1:
        return _unequal_traces([_trace(trace, i, estimator, dtype) for i, trace in enumerate(X)]), False
    array = check_array(X, dtype=dtype, allow_nd=True, estimator=estimator, input_name="X")
    if array.ndim > 3 or not array.size:
        raise ValueError(f"X is [case, channel, time], or [case, time] for one channel; found shape {array.shape}.")
    return (array[:, None], True) if array.ndim == 2 else (array, False)


def _trace(trace: Any, number: int, estimator: Any, dtype: Any) -> Floats:
    name = f"X[{number}]"
    if isinstance(trace, np.ndarray) and trace.dtype.kind in "iu":
        trace = to_floats(trace)
    array = check_array(trace, dtype=dtype, ensure_2d=False, allow_nd=True, estimator=estimator, input_name=name)
    if array.ndim not in (1, 2) or not array.size:
        raise ValueError(f"{name} must be a (channel, time) array with at least one sample, found shape {array.shape}.")
    return array[None] if array.ndim == 1 else array  # type: ignore[no-any-return]


def _unequal_traces(traces: Sequence[Floats]) -> tuple[Floats, ...]:
    width = len(traces[0])
    for i, trace in enumerate(traces):
        if len(trace) != width:
            raise ValueError(f"X[{i}] has {len(trace)} channels, but X[0] has {width}: traces are (channel, time).")
    return tuple(traces)


def validate_traces(X: Any, estimator: Any, dtype: Any = np.float64) -> Traces:
    """Finite traces of the channels that the estimator was fitted on; tables also have as many samples."""
    if is_frame(X) and hasattr(estimator, "feature_names_in_"):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    X, _ = split_names(X, estimator.channels_)
    values, flat = traces(X, estimator, dtype)
    if flat and estimator._flat:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    names = estimator.channels_
    if width(values) != len(names):
        raise ValueError(
            f"X has {width(values)} channels, but {type(estimator).__name__} is expecting {len(names)} "
            f"channels as input: {', '.join(names)}."
        )
    return values


def width(values: Traces) -> int:
    """The number of channels."""
    return len(values[0])


def heads(values: Traces) -> Floats:
    """The first sample of each trace, `[case, channel]`: a table with a column for every channel."""
    return np.stack([trace[:, 0] for trace in values])


def channel_names(chosen: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """As given, or `x` for one channel and `x0`, `x1`, ... for more."""
    names = tuple(default_channels(count)) if chosen is None else tuple(chosen)
    if len(names) != count:
        raise ValueError(f"X has {count} channels, but channels names {len(names)}: {', '.join(map(str, names))}.")
    return names


def case_weights(given: Any, count: int) -> Floats:
    """`sample_weight` as one number a case; a weight of 2 counts as two cases."""
    if given is None or isinstance(given, Real):
        given = np.full(count, 1.0 if given is None else given)
    weights: Floats = check_array(given, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="sample_weight")
    if weights.shape != (count,):
        raise ValueError(f"sample_weight must hold one number for each of {count} cases, found shape {weights.shape}.")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, found {weights.min()}.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every case: at least one weight must be above zero.")
    return weights


def merge_duplicates(values: Traces, labels: Array, weights: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Where each distinct case stands, and its weight; alike are cases of the same samples and label.

    Cases of no weight are left out. The order depends on nothing but the cases themselves, so data that
    are shuffled, or repeated instead of weighted, give the same answer.
    """
    place: dict[bytes, int] = {}
    total: dict[bytes, float] = {}
    for i, (trace, label, weight) in enumerate(zip(values, labels, weights.tolist(), strict=True)):
        if weight > 0:
            samples = np.add(trace, 0.0, dtype=np.float64)  # -0.0 becomes 0.0
            key = blake2b(samples.tobytes() + label.tobytes(), digest_size=16).digest()
            place.setdefault(key, i)
            total[key] = total.get(key, 0.0) + weight
    order = sorted(place)
    return np.array([place[key] for key in order], dtype=np.intp), np.array([total[key] for key in order])


def take_cases(values: Traces, where: npt.NDArray[np.intp]) -> Traces:
    """The traces at these places."""
    return tuple(values[i] for i in where) if isinstance(values, tuple) else values[where]
