"""Datasets as NumPy archives: exact, compact, and without pickled objects.

Arrays: `X[case, channel, time]` (or `[case, time]`), `y`, and optionally `channels`, `classes`, `dt`,
`time_unit`, `cases`, `groups`, `name`. Unequal lengths: `X[channel, all samples]` with `lengths[case]`.
`missing`, of the shape of X, says which values are missing (so does NaN in X); `categories` is a text, the JSON of
{channel: texts}, of channels whose values are indices into these texts.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DataError, convert_errors, describe_error
from ...formula.json_fields import as_object, as_text, read_json
from ...formula.printer import format_number
from ..arrays import Array, Floats
from ..atomic_write import atomic_write
from ..dataset import Dataset, to_floats
from ..draft import Draft, gap_mask, report_gap, to_dataset
from ..frames import default_channels, spell_labels
from ..label_parsing import parse_marks
from ..options import ReadOptions
from ..problems import ProblemLog, did_you_mean, quote_names, refusal
from .registry import file_format
from .timestamps import EVEN

SCHEMA = 1


def save(dataset: Dataset, path: str | PathLike[str]) -> Path:
    """Write the dataset as an NPZ file that `load` and `read` give back equal; returns its path."""
    target = Path(path)
    if file_format(target).name != "npz":
        raise DataError(f"a saved dataset ends in .npz, got {target.name!r}. Use write_csv for a CSV file.")
    with atomic_write(target) as part, open(part, "wb") as handle:
        np.savez_compressed(handle, allow_pickle=False, **to_arrays(dataset))
    return target


def to_arrays(dataset: Dataset) -> dict[str, Array]:
    """All of a dataset, as an archive has it."""
    if isinstance(dataset.values, tuple):
        values: Array = np.concatenate(dataset.values, axis=1)
        arrays: dict[str, Array] = {"X": values, "lengths": dataset.lengths}
    else:
        arrays = {"X": dataset.values}
    if isinstance(dataset.missing, tuple):
        arrays["missing"] = np.concatenate(dataset.missing, axis=1)
    elif dataset.missing is not None:
        arrays["missing"] = dataset.missing
    if dataset.categories:
        arrays["categories"] = np.array(json.dumps(dataset.categories))
    if dataset.labels is not None:
        arrays["y"] = dataset.labels
        arrays["classes"] = np.array(dataset.classes, dtype=np.str_)
    facts: dict[str, Any] = {
        key: getattr(dataset, key) for key in ("channels", "cases", "groups", "name", "dt", "time_unit")
    }
    facts["schema"] = SCHEMA
    arrays |= {key: np.array(fact) for key, fact in facts.items() if fact is not None}
    return arrays


def read_npz(path: Path, options: ReadOptions, log: ProblemLog) -> Dataset | None:
    """The dataset in an NPZ file; `options.label` names the array of labels, by default `y`."""
    if not zipfile.is_zipfile(path):
        raise refusal("npz", "it is not an NPZ archive", "Write it with numpy.savez or fernn.data.save.")
    with convert_errors(DataError, f"{path.name}: an array in it is damaged"):
        return _read(path, _arrays(path), options, log)


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        for key, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise ValueError(f"{key!r} is not an array")
            if array.nbytes < array.size:  # any number of them would fit into a file
                raise ValueError(f"{key!r} has {array.size} values of no bytes")
    except Exception as error:  # zip, zlib and the reader of headers have errors of their own, and so has memory
        what = f"the archive cannot be read ({describe_error(error)})"
        if "pickle" in str(error):
            what = "it holds pickled objects, which are not safe to load"
        fix = "Save X as a float array; unequal lengths as X[channel, all samples] with lengths[case]."
        raise refusal("npz", what, fix) from error
    return arrays


def _read(path: Path, arrays: dict[str, Array], options: ReadOptions, log: ProblemLog) -> Dataset | None:
    traces = _with_gaps(arrays, _traces(arrays))
    names = _words(arrays, "channels") or default_channels(len(traces[0]))
    if options.marks is not None:
        traces, names = _with_marks(arrays, traces, options), [*names, options.marks]
    classes = _words(arrays, "classes")
    if classes is not None and options.good is None:
        options = replace(options, classes=tuple(classes) or None, label_kind="class" if classes else "real")
    draft = Draft(
        traces=traces,
        cases=_words(arrays, "cases") or [str(i) for i in range(len(traces))],
        channels=names,
        labels=_labels(arrays, classes, options),
        groups=_words(arrays, "groups"),
        dt=_step(arrays),
        unit=next(iter(_words(arrays, "time_unit") or ()), None),
        categories=_categories(arrays),
    )
    if options.dt is not None and draft.dt is not None and abs(options.dt - draft.dt) > EVEN * draft.dt:
        own, given = format_number(draft.dt), format_number(options.dt)
        what = f"the file says that samples are {own} apart, --dt says {given}, which is taken"
        log.add("other-dt", "warning", what, "Leave out --dt if the file is right.")
    for case, trace in zip(draft.cases, traces, strict=False):
        for channel, at in np.argwhere(gap_mask(trace, options)):
            report_gap(float(trace[channel, at]), options, log, None, names[channel], case, int(at))
    dataset = to_dataset(draft, options, (_words(arrays, "name") or [path.stem])[0], log)
    if dataset is None or options.channels is None:
        return dataset
    return dataset.select((*options.channels, *([] if options.marks is None else [options.marks])))


def _traces(arrays: Mapping[str, Array]) -> list[Floats]:
    X = _require_array(arrays, "X")
    if X.dtype.kind not in "fiub":
        raise refusal("npz", f"X must hold numbers, it holds {X.dtype}", "Save X as a float array.")
    if "lengths" in arrays:
        return _split_traces(X, arrays["lengths"])
    if X.ndim in (2, 3) and not X.size:
        axes = ("cases", "channels", "samples") if X.ndim == 3 else ("cases", "samples")
        none = axes[X.shape.index(0)]
        raise refusal("npz", f"X has shape {X.shape}, so there are no {none}", "Check how the file was written.")
    if X.ndim not in (2, 3):
        what = f"X must be [case, channel, time], or [case, time] for one channel; it has shape {X.shape}"
        raise refusal("npz", what, "Reshape it, and give unequal lengths as X[channel, all samples] with lengths.")
    return list(_floats(X[:, None, :] if X.ndim == 2 else X))


def _with_gaps(arrays: Mapping[str, Array], traces: list[Floats]) -> list[Floats]:
    """With NaN where `missing` says that a value is missing."""
    if "missing" not in arrays:
        return traces
    mask = arrays["missing"]
    if mask.dtype != bool or mask.shape != arrays["X"].shape:
        what = (
            f"missing must be true or false for every value of X {arrays['X'].shape}, it is {mask.dtype} {mask.shape}"
        )
        raise refusal("npz", what, "Save numpy.isnan(X), or leave it out and save X with NaN.")
    masks = _traces({**arrays, "X": mask})
    return [np.where(absent > 0, np.nan, trace) for trace, absent in zip(traces, masks, strict=True)]


def _categories(arrays: Mapping[str, Array]) -> dict[str, tuple[str, ...]]:
    """Of each channel that has some."""
    if "categories" not in arrays:
        return {}
    try:
        found = as_object(read_json(str(arrays["categories"].item())))
        return {name: tuple(map(as_text, texts)) for name, texts in found.items()}
    except (TypeError, ValueError) as error:
        what = f"categories is no JSON of texts by channel ({describe_error(error)})"
        raise refusal("npz", what, 'Save it as a text, as in {"mode": ["HOLD", "LAND"]}.') from None


def _floats(X: Array) -> Floats:
    try:
        return to_floats(X).astype(np.float64, copy=False)
    except DataError as error:
        raise refusal("npz", str(error).partition(".")[0], "Save X as a float array.") from None


def _split_traces(X: Array, lengths: Array) -> list[Floats]:
    """The traces that stand behind each other in X[channel, all samples]."""
    whole = lengths.ndim == 1 and lengths.size > 0 and lengths.dtype.kind in "iu" and bool((lengths > 0).all())
    if X.ndim != 2 or not whole or sum(lengths.tolist()) != X.shape[1]:
        what = f"lengths must be whole numbers above 0 that add up to the samples of X[channel, all samples] {X.shape}"
        raise refusal("npz", what, "Save the number of samples of each case.")
    return np.split(_floats(X), np.cumsum(lengths)[:-1], axis=1)


def _step(arrays: Mapping[str, Array]) -> float | None:
    """The time between samples."""
    if "dt" not in arrays:
        return None
    if arrays["dt"].size != 1 or arrays["dt"].dtype.kind not in "fiu":
        raise refusal("npz", f"dt must be one number, it is an array of {arrays['dt'].dtype}", "Save it as a number.")
    return float(arrays["dt"].item())


def _labels(arrays: Mapping[str, Array], classes: list[str] | None, options: ReadOptions) -> list[str] | None:
    """Labels as a file would spell them; indices into `classes` become names."""
    if options.label is None or (options.label == "label" and "y" not in arrays):
        return None
    y = np.atleast_1d(_require_array(arrays, "y" if options.label == "label" else options.label))
    if classes and y.dtype.kind in "iu":
        if y.size and not 0 <= y.min() <= y.max() < len(classes):
            what = f"labels are indices 0..{len(classes) - 1} into the classes, found {y.min()} to {y.max()}"
            raise refusal("npz", what, "Save the position of the class of each case.")
        return [classes[i] for i in y.ravel().tolist()]
    return spell_labels(y)


def _with_marks(arrays: Mapping[str, Array], traces: list[Floats], options: ReadOptions) -> list[Floats]:
    """The traces with one more channel, from an array with a label for every sample of every case."""
    name = str(options.marks)
    if name not in arrays:
        what = f"no array {name!r}{did_you_mean(name, arrays)}; the arrays are {quote_names(arrays)}"
        raise refusal("no-label-per-sample-column", what, "Pass --label-per-sample with one of them.")
    lengths = [trace.shape[1] for trace in traces]
    shape = arrays[name].shape
    in_rows = len(set(lengths)) == 1 and shape == (len(lengths), lengths[0])
    in_line = shape == (sum(lengths),) and shape != (len(traces),)
    if not in_rows and not in_line:
        what = f"it has shape {shape}, but {len(traces)} traces of X have {sum(lengths)} samples together"
        raise refusal(
            "npz", what, "Save a label for every sample: [case, time], or one trace behind the other.", column=name
        )
    flat = parse_marks(spell_labels(arrays[name].reshape(-1)), options.faulty, name)
    rows = np.split(flat, np.cumsum(lengths)[:-1])
    for case, row in enumerate(rows):
        if np.isnan(row).any():
            what = f"at sample {int(np.isnan(row).argmax())} of trace {case} nothing says whether there is a fault"
            raise refusal("missing-mark", what, "Fill it in, or leave out the trace.", column=name)
    return [np.vstack([trace, row]) for trace, row in zip(traces, rows, strict=True)]


def _require_array(arrays: Mapping[str, Array], key: str) -> Array:
    if key not in arrays:
        what = f"no array {key!r}{did_you_mean(key, arrays)}; the arrays are {quote_names(arrays)}"
        raise refusal("npz", what, "Name the traces X[case, channel, time] and the labels y (or pass --label).")
    return arrays[key]


def _words(arrays: Mapping[str, Array], key: str) -> list[str] | None:
    if key not in arrays:
        return None
    try:
        words = np.atleast_1d(arrays[key])
        return [word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word) for word in words]
    except SystemError as error:  # a number that stands for no letter
        raise refusal("npz", f"{key} holds what is no text", "Save the names as an array of texts.") from error
