"""Labelled series in `.ts` files: yours, or those that come with aeon and sktime."""

from __future__ import annotations

import importlib.util
from os import PathLike
from pathlib import Path
from typing import Literal

from ...errors import DataError, UnsupportedError
from ..dataset import Dataset
from ..disguise import told_binary
from ..options import Nonfinite, Options
from ..problems import Ledger, did_you_mean, listed
from ..ts import PARTS, SUFFIX, Rows, read_rows, together

PACKAGES = ("aeon", "sktime")  # which bring data along, in this order


def series(
    name: str | PathLike[str],
    part: Literal["train", "test", "both"] = "both",
    *,
    good: object = None,
    nonfinite: Nonfinite = "error",
) -> Dataset:
    """A `.ts` file, or the files `NAME_TRAIN.ts` and `NAME_TEST.ts` of a folder or of an installed aeon or sktime.

    Names such as `ItalyPowerDemand`, `GunPoint` and `BasicMotions` are found without importing the package. Channels
    are `x`, or `x0`, `x1`, ...; cases are `train-1`, `test-1`, ... by part and row. `good` names the positive class:
    of more than two classes it is set against the rest, `not NAME`; without it all are kept. `nonfinite` says what to
    do with missing values.

    Know before use: the archive's series are often scaled to mean 0 and deviation 1, each by itself, so that
    a threshold is not in the sensor's units. Its training parts can be small, and its classes are numbers: of two, the
    larger is taken for the good one. There are no groups, so series of one person may be in both parts.
    """
    if part not in (*PARTS, "both"):
        raise UnsupportedError(f"part is 'train', 'test' or 'both'; got {part!r}.")
    options = Options(good=good, nonfinite=nonfinite)
    files = _files(name, part)
    ledger = Ledger()
    read = [_rows(file, options) for file in files]
    widths = [len(rows.draft.channels) for rows in read]
    if len(set(widths)) > 1:
        named = " and ".join(f"{n} in {file.name}" for n, file in zip(widths, files, strict=True))
        raise DataError(f"both parts must have the same channels, there are {named}. Read one part alone.")
    dataset = together(read, options, _title(files[0]), ledger)
    if dataset is None:
        raise DataError("\n".join(f"{name}: {p}" for p in ledger.problems()), ledger.problems())
    return dataset


def bundled() -> dict[str, Path]:
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
    folder = path if path.is_dir() else _bundled(name)
    files = [folder / f"{folder.name}_{p.upper()}{SUFFIX}" for p in wanted]
    for file in files:
        if not file.is_file():
            there = listed(sorted(p.name for p in folder.glob(f"*{SUFFIX}"))) or "none"
            raise DataError(
                f"{folder} has no file {file.name!r}; its series files: {there}. Name one of them by its path."
            )
    return files


def _bundled(name: str | PathLike[str]) -> Path:
    known = bundled()
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


def _rows(file: Path, options: Options) -> Rows:
    ledger = Ledger(file.name)
    rows = None
    try:
        if not told_binary(file, options.encoding, ledger):
            rows = read_rows(file, options, ledger)
    except UnicodeError as error:
        raise DataError(f"{file.name}: the text is not {options.encoding} ({error}). Write it so.") from error
    if rows is None or ledger.failed:
        raise DataError("\n".join(map(str, ledger.problems())), ledger.problems())
    return rows


def _title(file: Path) -> str:
    """`GunPoint` of `GunPoint_TRAIN.ts`."""
    stem, _, part = file.stem.rpartition("_")
    return stem if stem and part.lower() in PARTS else file.stem
