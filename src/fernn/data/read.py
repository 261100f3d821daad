"""Read a dataset, from a file or by its name, or say everything that is wrong with it."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import DataError, UnsupportedError
from .checks import check_data
from .dataset import Dataset
from .datasets import SOURCES, find_installed_series, inspect_series, is_named, load
from .file_checks import fits_memory, report_binary, report_special_file
from .options import BadRows, LabelKind, Layout, Nonfinite, ReadOptions, as_tuple, flags, suggest_command
from .problems import Problem, ProblemLog, plural, require_dataset
from .readers.dialect import broken_line
from .readers.registry import file_format
from .transform import with_steps

FOLDER = "Name one file in it; of folders of Parquet files, eval, check, drift and learn read all."


def read(
    path: str | PathLike[str],
    label: str | None = "label",
    *,
    case: str | None = None,
    time: str | None = None,
    channels: Sequence[str] | None = None,
    group: str | None = None,
    good: object = None,
    label_kind: LabelKind = "auto",
    layout: Layout = "auto",
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    bad_rows: BadRows = "error",
    nonfinite: Nonfinite = "missing",
    dt: float | None = None,
    unit: str | None = None,
    steps: bool = False,
    name: str | None = None,
    memory_limit: int | None = None,
    quiet: bool = False,
) -> Dataset:
    """The dataset in a CSV (tidy or wide), Parquet (tidy), NPZ, TRACE or TS file; `inspect` shows all problems.

    label, case, time, group, channels: column names. None for `label` reads no labels; None for the
        others looks for the usual names, and every other column is a channel.
    good: the label of the positive class. By default the larger number, or a word such as 'normal'.
    label_kind: 'class' or 'real'; 'auto' takes many distinct numbers for real-valued labels.
    layout: 'tidy' is a row a sample, 'wide' a row a trace; there `label` may be 'first' or 'last'.
    header, delimiter: found by looking when None. decimal: '.' or ','.
    bad_rows: 'skip' leaves out rows that cannot be read.
    nonfinite: what to do with missing values: 'missing' keeps them as missing and holds the last value, 'error'
        refuses them; 'hold' the last value, 'interpolate' and 'drop_case' take infinite ones too, and forget the gaps.
    steps: also the change from sample to sample, as channels `NAME_diff`.
    dt, unit: the time between samples and its unit; dt is read from an even time column.
    memory_limit: bytes of memory that reading may take; when None, half of what is free for text, else a quarter.

    Raises DataError listing every error; gives one FernnWarning for all warnings unless `quiet`.
    """
    asked = {key: value for key, value in locals().items() if key not in ("path", "quiet")}
    return require_dataset(*inspect(path, **asked), quiet)


def inspect(
    path: str | PathLike[str], label: str | None = "label", **options: Any
) -> tuple[Dataset | None, tuple[Problem, ...]]:
    """The dataset, if there can be one, and every problem found; takes what `read` takes."""
    options["channels"] = as_tuple(options.get("channels"))
    asked = ReadOptions(label=label, **options)
    file = Path(path)
    log = ProblemLog(file.name)
    dataset = None
    if _is_file(file, log) and fits_memory(file, asked.memory_limit, log):
        try:
            dataset = _dataset(file, asked, log)
            if dataset is not None and asked.steps:
                dataset = with_steps(dataset)
        except DataError as error:
            log.take(error.problems or [Problem("invalid", "error", str(error).rstrip("."), "")])
        except UnicodeError:
            _report_encoding(file, asked.encoding, log)
        except csv.Error as error:
            line = broken_line(file, asked.encoding, asked.delimiter)
            what = f"the row that starts here is not readable as CSV ({error})"
            fix = "Close the quotes, and check the --delimiter."
            if "field limit" in str(error):
                what = f"a cell of the row that starts here is longer than {csv.field_size_limit():,} characters"
            log.add("csv", "error", what, fix, line=line)
        except OSError as error:
            log.add("unreadable", "error", f"the file cannot be read ({error.strerror})", "Check its permissions.")
    if dataset is not None and not log.failed:
        check_data(dataset, log)
    return (None if log.failed else dataset), log.problems()


def _dataset(file: Path, options: ReadOptions, log: ProblemLog) -> Dataset | None:
    form = file_format(file)
    if form.is_text and report_binary(file, options.encoding, log):
        return None
    return form.read(file, options, log)


def _is_file(file: Path, log: ProblemLog) -> bool:
    if file.is_dir():
        log.add("folder", "error", f"{str(file)!r} is a folder", FOLDER)
    elif not file.exists():
        what = f"there is no file {str(file)!r}{_similar_names(file)}"
        log.add("not-found", "error", what, "Check the path.")
    else:
        report_special_file(file, log)
    return not log.failed


def _similar_names(file: Path) -> str:
    """`; near it are 'drive.csv' and the data set 'cruise'`, as far as there are any."""
    try:
        there = sorted(p.name for p in file.parent.iterdir() if p.is_file())
    except OSError:
        there = []
    near = [repr(name) for name in difflib.get_close_matches(file.name, there, n=3)]
    near += [
        f"the data set {name!r}"
        for name in difflib.get_close_matches(str(file), [*SOURCES, *find_installed_series()], n=1)
    ]
    return f"; near it: {', '.join(near)}" if near else ""


def _report_encoding(file: Path, encoding: str, log: ProblemLog) -> None:
    """Which byte is not in the encoding, and on which line."""
    data = file.read_bytes()
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        what = f"byte 0x{data[error.start]:02x} at position {place} is not {encoding}"
        other = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1"
        log.add("encoding", "error", what, f"Pass --encoding {other} if the file was written so.", line=line)
    else:
        log.add("encoding", "error", f"the text is not {encoding}", "Pass the right --encoding.")


def inspect_input(
    file: str, options: Mapping[str, Any], forgiving: bool = False
) -> tuple[Dataset | None, tuple[Problem, ...]]:
    """The dataset, None where it cannot be read, with every problem; `options` are those of `read`.

    A file without a column `label` has no labels; if `forgiving`, one without the column that was asked for, too.
    """
    if not Path(file).exists() and is_named(file):
        return _inspect_named(file, options) if file in SOURCES else inspect_series(file, **options)
    found = inspect(file, **options)
    if (forgiving or options.get("label", "label") == "label") and any(p.kind == "no-label-column" for p in found[1]):
        return inspect(file, **{**options, "label": None, "good": None})  # recordings to be judged may have no labels
    return found


def read_input(
    file: str,
    options: Mapping[str, Any],
    warned: Callable[[str, tuple[Problem, ...]], None] | None = None,
    forgiving: bool = False,
) -> Dataset:
    """The dataset, or an error with all that is wrong; warnings, if there are any, go to `warned`, with a command that
    shows them."""
    again = suggest_command("check", [file], options)
    dataset, problems = inspect_input(file, options, forgiving)
    if dataset is None:
        errors = [str(p) for p in problems if p.severity == "error"]
        shown, total = sum(p.severity == "error" and p.count == 1 for p in problems), sum(p.count for p in problems)
        more = f"{shown} of {plural(total, 'problem')} shown; to look it over: {again}"
        raise DataError("\n".join([*errors, more]), problems)
    if problems and warned is not None:
        warned(again, problems)
    return dataset


def _inspect_named(name: str, options: Mapping[str, Any]) -> tuple[Dataset, tuple[Problem, ...]]:
    """A data set that has a name, to which changes can be added and from which labels can be taken, no more."""
    strange = [words[0] for key, value in options.items() if key != "steps" and (words := flags({key: value}))]
    unlabelled = "label" in options and options["label"] is None
    if strange := [flag for flag in strange if not (flag == "--label" and unlabelled)]:
        raise UnsupportedError(
            f"{name} is a data set that is taken as it is: {', '.join(strange)} cannot apply. Leave it out, or write "
            "the data to a file (fernn.data.write_csv) and read that."
        )
    data = load(name)
    data = replace(data, labels=None, classes=()) if unlabelled else data
    data = with_steps(data) if options.get("steps") else data
    log = ProblemLog(name)
    check_data(data, log)
    return data, log.problems()
