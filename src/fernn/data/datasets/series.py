"""Labelled series in `.ts` files: yours, or those that come with aeon and sktime."""

from __future__ import annotations

import importlib.util
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from ...errors import DataError, UnsupportedError
from ..checks import check_data
from ..dataset import Dataset
from ..file_checks import fits_memory, report_binary
from ..options import Nonfinite, ReadOptions, as_tuple
from ..problems import Problem, ProblemLog, did_you_mean, quote_names, require_dataset
from ..readers.ts import PARTS, SUFFIX, SeriesRows, merge_series, read_rows
from ..transform import with_steps

PACKAGES = ("aeon", "sktime")  # which bring data along, in this order


def series(
    name: str | PathLike[str],
    part: Literal["train", "test", "both"] = "both",
    *,
    good: object = None,
    nonfinite: Nonfinite = "missing",
    quiet: bool = False,
) -> Dataset:
    """A `.ts` file, or the files `NAME_TRAIN.ts` and `NAME_TEST.ts` of a folder or of an installed aeon or sktime.

    Names such as `ItalyPowerDemand`, `GunPoint` and `BasicMotions` are found without importing the package. Channels
    are `x`, or `x0`, `x1`, ...; cases are `train-1`, `test-1`, ... by part and row. `good` names the positive class:
    of more than two classes it is set against the rest, `not NAME`; without it all that the header names are kept.
    `nonfinite` says what to do with missing values. Warnings are given as `read` gives them, unless `quiet`.

    Know before use: the archive's series are often scaled to mean 0 and deviation 1, each by itself, so that
    a threshold is not in the sensor's units. Its training parts can be small, and its classes are numbers: of two, the
    larger is taken for the good one. There are no groups, so series of one person may be in both parts.
    """
    return require_dataset(*inspect_series(name, part, good=good, nonfinite=nonfinite), quiet)


def inspect_series(
    name: str | PathLike[str], part: Literal["train", "test", "both"] = "both", **options: Any
) -> tuple[Dataset | None, tuple[Problem, ...]]:
    """The dataset that `series` gives, if there can be one, and every problem found; takes what `read` takes."""
    if part not in (*PARTS, "both"):
        raise UnsupportedError(f"part is 'train', 'test' or 'both'; got {part!r}.")
    options["channels"] = as_tuple(options.get("channels"))
    asked = ReadOptions(**options)
    files = _files(name, part)
    whole = ProblemLog(files[0].name if len(files) == 1 else _title(files[0]))
    logs = [ProblemLog(file.name) for file in files]
    read = [rows for file, log in zip(files, logs, strict=True) if (rows := _rows(file, asked, log))]
    dataset = None
    if len(read) == len(files) and not any(log.failed for log in logs):
        _agree(files, ["1 channel" if n == 1 else f"{n} channels" for n in (len(r.draft.channels) for r in read)])
        _agree(files, [rows.head.kind for rows in read])
        dataset = merge_series(read, asked, _title(files[0]), whole)
    if dataset is not None:
        dataset = with_steps(dataset) if asked.steps else dataset
        check_data(dataset, whole)
    found = [p for log in (*logs, whole) for p in log.problems()]
    return dataset, tuple(sorted(found, key=lambda p: p.severity))  # a stable sort, "error" < "warning"


def find_installed_series() -> dict[str, Path]:
    """The folder of each set of series that comes with an installed aeon or sktime, by name."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for root in (spec and spec.submodule_search_locations) or ():
            for file in sorted(Path(root, "datasets", "data").glob(f"*/*_TRAIN{SUFFIX}")):
                if file.parent.name == _title(file):
                    found.setdefault(file.parent.name, file.parent)
    return found


def _files(name: str | PathLike[str], part: str) -> list[Path]:
    path = Path(name)
    if path.is_file():
        if part != "both":
            raise UnsupportedError(f"part={part!r} is for names and folders; {path.name} is one file, read as a whole.")
        return [path]
    wanted = PARTS if part == "both" else (part,)
    folder = path if path.is_dir() else _folder_of_series(name)
    files = [folder / f"{folder.name}_{p.upper()}{SUFFIX}" for p in wanted]
    for file in files:
        if not file.is_file():
            there = quote_names(sorted(p.name for p in folder.glob(f"*{SUFFIX}"))) or "none"
            raise DataError(
                f"{folder} has no file {file.name!r}; its series files: {there}. Name one of them by its path."
            )
    return files


def _folder_of_series(name: str | PathLike[str]) -> Path:
    known = find_installed_series()
    if str(name) in known:
        return known[str(name)]
    if Path(name).suffix.lower() == SUFFIX:
        raise DataError(f"there is no file {str(name)!r}. Check the path.")
    if not known:
        raise DataError(
            f"there is no file or folder {str(name)!r}, and neither aeon nor sktime is installed to look in. "
            "Run: pip install 'fernn[sktime]', or name a .ts file."
        )
    raise DataError(
        f"no series {str(name)!r}{did_you_mean(str(name), known)}; installed are {', '.join(sorted(known))}. "
        "Or name a .ts file, or a folder with NAME_TRAIN.ts and NAME_TEST.ts."
    )


def _agree(files: list[Path], facts: list[str]) -> None:
    """Both parts must have the same of what is told of each."""
    if len(set(facts)) > 1:
        told = " and ".join(f"{fact} in {file.name}" for fact, file in zip(facts, files, strict=True))
        raise DataError(f"both parts must have the same channels and kind of labels, there are {told}. Read one alone.")


def _rows(file: Path, options: ReadOptions, log: ProblemLog) -> SeriesRows | None:
    try:
        if fits_memory(file, options.memory_limit, log) and not report_binary(file, options.encoding, log):
            return read_rows(file, options, log)
    except UnicodeError as error:
        what = f"the text is not {options.encoding} ({error})"
        log.add("encoding", "error", what, "Write it so, or pass its --encoding.")
    return None


def _title(file: Path) -> str:
    """`GunPoint` of `GunPoint_TRAIN.ts`."""
    stem, _, part = file.stem.rpartition("_")
    return stem if stem and part.lower() in PARTS else file.stem
