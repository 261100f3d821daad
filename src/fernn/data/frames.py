"""Datasets from memory: arrays, lists of arrays, and data frames (pandas, polars, pyarrow).

In a frame columns are channels, and rows are samples in the order of time.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import DataError, FernnWarning, shorten
from .arrays import Array, Floats, Ints
from .dataset import Dataset, drop_mask, to_floats
from .draft import to_dataset
from .label_parsing import lookalikes, parse_labels
from .options import BadRows, LabelKind, Nonfinite, ReadOptions, as_tuple
from .problems import ProblemLog, did_you_mean, quote_names, require_dataset
from .readers.column_roles import CASES, FEW, TIMES, counting_prefix, find_roles, usual_column
from .readers.layouts import read_tidy, sort_codes
from .readers.table import Table, drop_unused_columns, is_category

HOW = "fernn.from_frame(frame, case='run', time='t', label='label')"


@dataclass(frozen=True)
class FrameTraces:
    """`(channel, time)` arrays with a name for each channel; `cases` where the frame names its runs."""

    traces: tuple[Array, ...]
    channels: tuple[str, ...]
    cases: tuple[str, ...] | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of columns whose values are indices into them."""


def is_frame(X: object) -> bool:
    """Whether this is a data frame: something with columns that can be asked for by name."""
    if type(X) in (np.ndarray, list, tuple) or not hasattr(X, "columns") or not hasattr(X, "__getitem__"):
        return False
    return any(hasattr(X, name) for name in ("iloc", "__dataframe__", "get_column", "column_names"))


def is_series(X: object) -> bool:
    """Whether this is one column of a frame."""
    return type(X) is not np.ndarray and hasattr(X, "name") and hasattr(X, "to_numpy") and not hasattr(X, "columns")


def frame_traces(
    X: Any, wanted: Sequence[str] | None = None, *, one_run: bool = False, texts: Collection[str] | None = None
) -> FrameTraces | None:
    """The traces in a frame, a list of frames or a column; None where X is none of these, or a frame without names.

    `wanted` are the columns to read, by default all but one that is called `time` or the like. Unless `one_run`, a
    frame with nothing that tells its cases apart is refused: its rows are samples, and would be taken for traces.
    Columns of texts become categories: those in `texts`, or where it is None all that have few of them.
    """
    found = _frame_traces(X, wanted, one_run, texts)
    if found is None or not found.categories:
        return found
    order: dict[str, tuple[str, ...]] = {}
    for name, known in found.categories.items():
        place, codes = found.channels.index(name), {text: i for i, text in enumerate(known)}
        for trace in found.traces:
            order[name] = tuple(sort_codes(trace[place], codes))
    return replace(found, categories=order)


def _frame_traces(
    X: Any, wanted: Sequence[str] | None, one_run: bool, texts: Collection[str] | None
) -> FrameTraces | None:
    """The same, with categories in the order in which they come."""
    _check_axes(X)
    if isinstance(X, (list, tuple)):
        if not X or not all(is_frame(each) for each in X):
            return None
        codes = _text_columns(X, texts)
        return _concat_runs([_run(frame, wanted or None, f"frame {i}: ", codes) for i, frame in enumerate(X)], codes)
    if is_series(X) and one_run:
        return _one_column(X, wanted, texts)
    if not is_frame(X):
        return None
    levels = getattr(getattr(X, "index", None), "nlevels", 1)
    if levels == 2:
        return _panel(X, wanted, _text_columns([X], texts))
    if levels > 2:
        raise DataError(f"the frame has an index of {levels} levels. Two are read: the case, then the time.")
    names = column_names(X)
    if _is_nested(X, names):
        return _traces_of_nested(X, names, wanted)
    if one_run and set(wanted or ()) & set(names):
        return _one_run(X, names, wanted, texts)
    if is_table(X):
        if not one_run and isinstance(column_labels(X)[0], str) and len(names) <= FEW:
            _warn_of_counting(names)
        return None
    if one_run:
        return _one_run(X, names, wanted, texts)
    raise DataError(refusal_of_rows(names))


def _one_run(
    frame: Any, names: tuple[str, ...], wanted: Sequence[str] | None, texts: Collection[str] | None
) -> FrameTraces:
    _check_one_case(frame, names, wanted or ())
    codes = _text_columns([frame], texts)
    return _concat_runs([_run(frame, wanted, "", codes)], codes)


def refusal_of_rows(names: Sequence[str]) -> str:
    """Why a frame with named columns is no table of traces, and what to pass instead."""
    return (
        f"X is one data frame with the columns {quote_names(names)}: its rows are samples, and nothing tells which "
        f"rows are one run. With a column that names the run of each row: data = {HOW}, then fit(data, data.labels). "
        "With a frame for each run: pass the list of frames. If each row is a trace of one channel: pass "
        "frame.to_numpy()."
    )


def is_table(frame: Any) -> bool:
    """Whether the columns are samples: they have numbers for names, or names that count up (t0, t1, t2)."""
    labels = column_labels(frame)
    if not labels or not all(isinstance(label, str) for label in labels):
        return all(not isinstance(label, str) for label in labels)
    return counting_prefix(list(labels)) is not None


def column_labels(frame: Any) -> list[Any]:
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def column_names(frame: Any) -> tuple[str, ...]:
    """The names of the columns, each once."""
    names = tuple(str(label) for label in column_labels(frame))
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"the frame has two columns called {name!r}. Rename one of them.")
    return names


def from_frame(
    frame: Any,
    label: str | None = "label",
    *,
    case: str | None = None,
    time: str | None = None,
    channels: Sequence[str] | None = None,
    group: str | None = None,
    good: object = None,
    label_kind: LabelKind = "auto",
    bad_rows: BadRows = "error",
    nonfinite: Nonfinite = "missing",
    dt: float | None = None,
    unit: str | None = None,
    name: str = "frame",
    quiet: bool = False,
) -> Dataset:
    """The dataset in a data frame with one row a sample; what the arguments mean, `read` says.

    `case`, `time`, `label`, `group` and `channels` name columns, by default those with the usual names. Without a
    column `label` there are no labels. A frame with a MultiIndex of (case, time) has both there.

    Raises DataError listing every error; gives one FernnWarning for all warnings unless `quiet`.
    """
    if not is_frame(frame):
        raise DataError(f"from_frame takes a data frame, found {type(frame).__name__}. For arrays: from_arrays.")
    if getattr(getattr(frame, "index", None), "nlevels", 1) == 2:
        frame, case, time = _index_to_columns(frame, case, time)
    options = ReadOptions(
        label, case, time, as_tuple(channels), group, good, label_kind, bad_rows=bad_rows, nonfinite=nonfinite,
        dt=dt, unit=unit, name=name,
    )  # fmt: skip
    if options.label == "label" and "label" not in map(str.casefold, column_names(frame)):
        options = replace(options, label=None)
    log = ProblemLog(name)
    header = column_names(frame)
    found = None
    parts = find_roles(header, options, log)
    height = len(_column(frame, header[0])) if header else 0
    if parts is not None and not height:
        log.add("empty", "error", "the frame has no rows", "Check how it was made.")
    elif parts is not None:
        words = set(parts.words)
        blocks = tuple([_block(_column(frame, n), as_text=i in words)] for i, n in enumerate(header))
        table = Table(header, blocks, np.arange(1, height + 1, dtype=np.int64))
        parts = drop_unused_columns(table, parts, options, log)
        found = to_dataset(read_tidy(table, parts, options, name, log), options, name, log)
    return require_dataset(found, log.problems(), quiet)


_Codes = dict[str, dict[str, int]]
"""The numbers of the categories of each column that has some."""


def _text_columns(frames: Sequence[Any], texts: Collection[str] | None) -> _Codes:
    """Columns that are read as categories, of which none is known yet."""
    found: _Codes = {}
    for frame in frames:
        for name in column_names(frame):
            if name in found or not (texts is None or name in texts) or not is_text(column := _column(frame, name)):
                continue
            if texts is not None or is_category(_text_table(column, name), 0, ReadOptions()):
                found[name] = {}
    return found


def _text_table(column: Any, name: str) -> Table:
    return Table((name,), ([_block(column, as_text=True)],), np.zeros(0, np.int64))


def is_text(column: Any) -> bool:
    """Whether some cell of a column is a text."""
    if getattr(getattr(column, "dtype", None), "kind", "") in ("f", "i", "u", "b", "M"):
        return False
    cells = column.tolist() if hasattr(column, "tolist") else list(column)
    return any(isinstance(cell.as_py() if hasattr(cell, "as_py") else cell, str) for cell in cells)


def _run(frame: Any, wanted: Sequence[str] | None, where: str, codes: _Codes) -> tuple[Array, tuple[str, ...]]:
    """One frame as `(channel, time)`; `codes` has the numbers of categories, and grows."""
    names = column_names(frame)
    clock = usual_column(names, TIMES)
    read = tuple(wanted) if wanted is not None else tuple(n for i, n in enumerate(names) if i != clock)
    for name in read:
        if name not in names:
            raise DataError(
                f"{where}no column {name!r}{did_you_mean(name, names)}; the columns are {quote_names(names)}."
            )
    if clock is not None and names[clock] not in read:
        _check_rising(_column(frame, names[clock]), f"{where}column {names[clock]!r}")
    columns = {name: _column(frame, name) for name in read}
    numbers = {
        name: column_values(column, f"{where}column {name!r}") for name, column in columns.items() if name not in codes
    }
    kind = np.result_type(*numbers.values()) if numbers else np.dtype(np.float64)
    rows = [
        numbers[name] if name in numbers else _text_table(column, name).codes(0, codes[name]).astype(kind)
        for name, column in columns.items()
    ]
    length = len(_column(frame, names[0])) if names else 0
    return np.stack(rows) if rows else np.zeros((1, length)), read or ("x",)


def _concat_runs(runs: Sequence[tuple[Array, tuple[str, ...]]], codes: _Codes) -> FrameTraces:
    """Runs of the same channels; those of later frames may stand in another order."""
    first = runs[0][1]
    traces = []
    for i, (trace, names) in enumerate(runs):
        if names != first:
            if set(names) != set(first):
                odd = quote_names(sorted(set(names) ^ set(first)), 3)
                raise DataError(f"frame {i} has other columns than frame 0: {odd} are in one of them only.")
            trace = trace[[names.index(name) for name in first]]
        traces.append(trace)
    return FrameTraces(tuple(traces), first, categories=_categories(codes, first))


def _categories(codes: _Codes, channels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(known) for name, known in codes.items() if name in channels}


def _panel(frame: Any, wanted: Sequence[str] | None, codes: _Codes) -> FrameTraces:
    """Instances in the order in which they come; rows of an instance by time."""
    cases = list(frame.index.get_level_values(0))
    moments = np.asarray(frame.index.get_level_values(1))
    if not cases:
        raise DataError("the frame has no rows.")
    whole, names = _run(frame, wanted, "", codes)
    place: dict[Any, int] = {}
    code = np.array([place.setdefault(case, len(place)) for case in cases])
    traces = []
    for case, number in place.items():
        at = np.flatnonzero(code == number)
        at = at[np.argsort(moments[at], kind="stable")]
        same = np.flatnonzero(moments[at][1:] == moments[at][:-1])
        if same.size:
            raise DataError(f"instance {case!r} of the frame has two rows at time {moments[at][same[0]]!s}.")
        traces.append(whole[:, at])
    return FrameTraces(tuple(traces), names, tuple(str(case) for case in place), _categories(codes, names))


def _index_to_columns(frame: Any, case: str | None, time: str | None) -> tuple[Any, str, str]:
    """The levels of a MultiIndex as columns, and what they are called."""
    taken = set(column_names(frame))
    given = [
        str(name) if name is not None else other
        for name, other in zip(frame.index.names, ("case", "time"), strict=True)
    ]
    for name in given:
        if name in taken:
            raise DataError(f"the frame has a column and a level of its index called {name!r}. Rename one of them.")
    frame = frame.reset_index(names=given)
    return frame, case or given[0], time or given[1]


def _is_nested(frame: Any, names: Sequence[str]) -> bool:
    """Whether cells hold whole series, as sktime's nested frames do."""
    if not hasattr(frame, "iloc") or not len(frame) or not names:
        return False
    cell = frame.iloc[0, 0]
    return is_series(cell) or isinstance(cell, (np.ndarray, list, tuple))


def _traces_of_nested(frame: Any, names: tuple[str, ...], wanted: Sequence[str] | None) -> FrameTraces:
    read = tuple(wanted) if wanted is not None else names
    for name in read:
        if name not in names:
            raise DataError(f"no column {name!r}{did_you_mean(name, names)}; the columns are {quote_names(names)}.")
    traces = []
    for i in range(len(frame)):
        rows = [np.asarray(frame.iloc[i, names.index(name)], dtype=np.float64) for name in read]
        if len({row.shape for row in rows}) != 1 or rows[0].ndim != 1:
            raise DataError(f"row {i} of the frame holds series of different lengths; a case has one for all channels.")
        traces.append(np.stack(rows))
    return FrameTraces(tuple(traces), read)


def _one_column(column: Any, wanted: Sequence[str] | None, texts: Collection[str] | None) -> FrameTraces | None:
    """A column is one run of one channel, called as the column is."""
    name = column.name if isinstance(column.name, str) and column.name else None
    if name is None and len(wanted or ()) > 1:
        return None
    if name is not None and wanted and tuple(wanted) != (name,):
        missing = next(each for each in wanted if each != name)
        raise DataError(f"no column {missing!r}; there is one column, {name!r}. Pass the data frame.")
    channel = name or (wanted or ("x",))[0]
    if channel in (texts or ()) and is_text(column):
        codes: _Codes = {channel: {}}
        values: Array = _text_table(column, channel).codes(0, codes[channel])
        return FrameTraces((values[None],), (channel,), categories=_categories(codes, (channel,)))
    values = column_values(column, f"column {name!r}" if name else "the column")
    return FrameTraces((values[None],), (channel,))


def _column(frame: Any, name: str) -> Any:
    """The column with this name, also where the label is another thing than its text."""
    label = next(label for label in column_labels(frame) if str(label) == name)
    return frame[label]


def column_values(column: Any, where: str) -> Array:
    """A column as an array of numbers, NaN where there is none; an error names the first cell that is no number."""
    kind = getattr(column.dtype, "kind", None) if hasattr(column, "dtype") else None
    if hasattr(column, "dtype") and hasattr(column.dtype, "is_numeric"):  # polars
        if column.dtype.is_numeric():
            column = column if column.dtype.is_float() and not column.null_count() else column.cast(float)
            return np.asarray(column.to_numpy())
    elif kind in ("f", "i", "u", "b"):
        if hasattr(column, "isna") and bool(column.isna().any()):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy())
    cells = column.tolist() if hasattr(column, "tolist") else list(column)
    cells = [cell.as_py() if hasattr(cell, "as_py") else cell for cell in cells]
    for i, cell in enumerate(cells):
        if not isinstance(cell, (Real, np.bool_)) and not _is_missing(cell):
            raise DataError(
                f"{where}, row {i}: {str(cell)[:40]!r} is not a number. Convert the column, or leave it out; a formula "
                'may compare it with texts: mode == "LAND".'
            )
    return np.array([np.nan if _is_missing(cell) else float(cell) for cell in cells], dtype=np.float64)


def _is_missing(cell: Any) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _block(column: Any, *, as_text: bool) -> Floats | list[str]:
    """A column for a table: numbers, or texts with an empty one where nothing is."""
    if not as_text:
        moments = _moments(column)
        if moments is not None:
            return moments
        try:
            return np.asarray(column_values(column, ""), dtype=np.float64)
        except DataError:
            pass
    cells = column.tolist() if hasattr(column, "tolist") else list(column)
    cells = [cell.as_py() if hasattr(cell, "as_py") else cell for cell in cells]
    return ["" if _is_missing(cell) or cell != cell else str(cell).strip() for cell in cells]


def _moments(column: Any) -> Floats | None:
    """Dates as seconds since 1970; None for another column."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if not kind.startswith(("datetime", "timestamp", "date")):
        return None
    if hasattr(column, "dt") and hasattr(column.dt, "tz_convert") and getattr(column.dt, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    stamps = np.asarray(column.to_numpy()).astype("datetime64[us]")
    seconds = stamps.astype(np.int64).astype(np.float64) / 1e6
    seconds[np.isnat(stamps)] = np.nan
    return seconds


def _check_one_case(frame: Any, names: tuple[str, ...], read: Sequence[str]) -> None:
    """A frame of several runs is no run: glued together they would be judged as one."""
    at = usual_column(names, CASES)
    if at is None or names[at] in read:
        return
    cells = _column(frame, names[at])
    distinct = {str(cell) for cell in (cells.tolist() if hasattr(cells, "tolist") else list(cells))}
    if len(distinct) > 1:
        raise DataError(
            f"the column {names[at]!r} of the frame names {len(distinct)} runs, and one frame is read as one run. Make "
            f"a dataset of it: fernn.from_frame(frame, case={names[at]!r}). If it is one run: drop the column."
        )


def _check_rising(column: Any, where: str) -> None:
    """Rows are read in their order, so times must rise."""
    times = _moments(column)
    if times is None:
        try:
            times = np.asarray(column_values(column, where), dtype=np.float64)
        except DataError:
            return
    falls = np.flatnonzero(~(np.diff(times) > 0))
    if falls.size:
        raise DataError(
            f"{where}: the time does not rise from row {falls[0]} to row {falls[0] + 1}. Sort the rows by time; if the "
            "frame holds several runs, make a dataset of it with fernn.from_frame, and name the column of the runs."
        )


def _check_axes(X: Any) -> None:
    """A labelled array whose last axis is not the time would be read the wrong way round."""
    axes = getattr(X, "dims", None)
    if not isinstance(axes, tuple) or not hasattr(X, "transpose"):
        return
    at = usual_column([str(axis) for axis in axes], TIMES)
    if at is not None and at != len(axes) - 1:
        order = ", ".join(repr(axis) for axis in (*axes[:at], *axes[at + 1 :], axes[at]))
        raise DataError(f"X has the axes {quote_names(axes)}, and time is wanted last. Pass X.transpose({order}).")


def _warn_of_counting(names: Sequence[str]) -> None:
    warnings.warn(
        f"the columns {quote_names(names, 3)} of the frame count up, so each row is read as a trace of one channel. If "
        f"rows are samples, make a dataset of it: {HOW}.",
        FernnWarning,
        stacklevel=5,
    )


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
    nonfinite: Literal["error", "missing"] = "error",
) -> Dataset:
    """A dataset from `X[case, channel, time]`, `X[case, time]` (one channel), or a list of traces.

    A list holds `(channel, time)` arrays, or 1-D arrays of one channel; lengths may differ. It may also hold
    data frames, a run each, whose columns are the channels; one of few texts has categories. `y` holds
    one label a case: numbers, booleans or words, read as `read` reads them; with `classes` given,
    whole numbers are indices into it and words are its names. NaN and infinity are refused; with
    `nonfinite="missing"` NaN is a missing value, as in a file.
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
        given = drop_mask(y, "y")
        if given.ndim != 1:
            raise DataError(f"y holds one label a case, got shape {given.shape}.")
        if classes is not None and given.dtype.kind in "iu":
            labels, names = given.astype(np.int64), tuple(classes)
        else:
            texts = spell_labels(given)
            if "" in texts:
                raise DataError(f"y has no label for case number {texts.index('')}. Give every case one, or drop it.")
            labels, names = parse_labels(texts, good=good, kind=label_kind, classes=classes)
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
        categories={} if frames is None else frames.categories,
        missing=tuple(np.isnan(trace) for trace in traces) if nonfinite == "missing" else None,
    )


def _traces(X: npt.ArrayLike | Sequence[npt.ArrayLike]) -> Floats | tuple[Floats, ...]:
    if isinstance(X, np.ndarray) and X.dtype != object:
        X = drop_mask(X, "X")
        if X.ndim not in (2, 3):
            raise DataError(f"X must be [case, channel, time], or [case, time]; got shape {X.shape}.")
        return _numbers(X[:, None, :] if X.ndim == 2 else X)
    if is_frame(X):
        return _traces(np.asarray(X, dtype=np.float64))
    traces = [_numbers(drop_mask(t, "X")) for t in X]  # type: ignore[union-attr]
    return tuple(t[None, :] if t.ndim == 1 else t for t in traces)


def _numbers(array: Array) -> Floats:
    """As floats; here texts and Python objects may stand for numbers too."""
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"X holds what is no number: {shorten(str(error))}.") from None
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


def spell_labels(given: npt.NDArray[np.generic]) -> list[str]:
    """Labels as a file would spell them; floats keep every digit, and what is missing is empty."""
    return [_spell_label(x) for x in given.tolist()]


def _spell_label(x: object) -> str:
    if isinstance(x, bytes):
        return x.decode("utf-8", "replace").strip()
    if x is None or x != x or type(x).__name__ in ("NAType", "NaTType"):
        return ""
    return repr(x) if isinstance(x, float) else str(x).strip()
