"""A file too large to work with, and a part of it that is not: whole cases, each class by its share.

One pass finds out which bytes belong to which case; what is chosen is then copied. No number is read, and
no more is kept in memory than a few words for each case.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import DataError, UnsupportedError
from ..plain import short_repr
from .disguise import file_format, told_binary, told_special
from .layout import is_tidy
from .memory import shown, told_long_line
from .options import Options, as_tuple
from .problems import Ledger, counted, refusal
from .roles import Roles, roles
from .sniff import Start, has_header, start
from .stretches import BYTEWISE, stretches
from .unbroken import unbroken
from .heading import headerless_roles

PLAIN = ("ascii", "latin", "iso", "utf-8", "utf8", "cp", "windows")
"""How encodings begin in which delimiters and line ends are bytes of their own."""


@dataclass(frozen=True)
class Sample:
    """What was kept of a file: cases by label, of how many."""

    path: Path
    kept: dict[str, int]
    met: dict[str, int]
    size: int
    """Bytes of the file it is taken from."""

    __repr__ = short_repr

    def __str__(self) -> str:
        parts = ", ".join(f"{self.kept.get(name, 0)} of {self.met[name]}{f' {name}' * bool(name)}" for name in self.met)
        said = counted(sum(self.kept.values()), "case")
        if self.kept == self.met:
            return f"all of {shown(self.size)} is little enough to work with: {said}"
        return f"{shown(self.size)} are more than is worked with here: this is a sample of {said} ({parts})"


@dataclass
class _Index:
    """Which bytes are whose: runs of rows of one case."""

    case: list[int]
    first: list[int]
    last: list[int]
    labels: list[str]
    """Of each case."""
    head: int
    """Bytes before the first row."""


def sampled(
    path: str | PathLike[str], into: str | PathLike[str], most: int = 20_000_000, seed: int = 0, **options: Any
) -> Sample:
    """Write so many bytes, at most, of a tidy or wide CSV file: whole cases, the same share of every class.

    `options` are those of `read`. At least one case of each class is kept, whatever its size.
    """
    file, into = Path(path), Path(into)
    options["channels"] = as_tuple(options.get("channels"))
    asked = Options(**options)
    if most < 1:
        raise UnsupportedError(f"a sample has a size in bytes, 1 or more; got {most}")
    if not asked.encoding.lower().replace("_", "-").startswith(PLAIN):
        raise UnsupportedError(
            f"a sample is taken of text in utf-8 and the like, not {asked.encoding}; convert it first"
        )
    if file.is_dir():
        raise UnsupportedError(
            f"a sample is taken of one CSV file, {file} is a folder. Of folders of Parquet files, fernn learn takes a "
            "sample itself (--sample), and eval, check and watch read all"
        )
    if (kind := file_format(file)) != "text":
        what = f"a sample is taken of tables as text (CSV), and the name says that this is a {kind} file"
        raise refusal(
            "not-text", what, "Convert it to CSV; of Parquet files, fernn learn takes a sample itself.", file=file.name
        )
    found = _indexed(file, asked)
    chosen = _chosen(found, most, np.random.default_rng(seed))
    with file.open("rb") as source, unbroken(into) as part, part.open("wb") as target:
        target.write(source.read(found.head))
        for case, first, last in zip(found.case, found.first, found.last, strict=True):
            if chosen[case]:
                source.seek(first)
                target.write(source.read(last - first))
    kept = Counter(label for label, is_in in zip(found.labels, chosen, strict=True) if is_in)
    return Sample(into, dict(kept), dict(Counter(found.labels)), file.stat().st_size)


def _indexed(file: Path, options: Options) -> _Index:
    ledger = Ledger(file.name)
    try:
        told = file.exists() and (
            told_special(file, ledger)
            or told_binary(file, options.encoding, ledger)
            or told_long_line(file, options.memory_limit, ledger)
        )
        begin = None if told else start(file, options, ledger)
    except OSError as error:
        raise DataError(f"{file}: the file cannot be read ({error.strerror}). Check the path.") from None
    except (UnicodeError, csv.Error) as error:
        raise DataError(f"{file.name}: its first lines cannot be read ({error}). Check --encoding.") from None
    parts = None
    if begin is not None:
        options = options.noted(begin.note)
        parts = _roles(begin, options, ledger)
    if begin is None or parts is None:
        raise DataError("\n".join(str(p) for p in ledger.problems() if p.severity == "error"), ledger.problems())
    who, tidy, named = parts
    if tidy and who.case is None:
        raise DataError(
            f"{file.name}: all rows are of one case, so there is no part of it to take. "
            "Name the column of the cases with --case-column."
        )
    with file.open("rb") as handle:
        return _walked(handle, begin, who, tidy, named)


def _roles(begin: Start, options: Options, ledger: Ledger) -> tuple[Roles, bool, bool] | None:
    """Who plays what, whether a row is a sample, whether there is a header; labels may be missing."""
    named = has_header(begin, options, ledger)
    header = begin.first if named else None
    tidy = is_tidy(header, begin, options, ledger)
    if header is None:
        who = headerless_roles(begin, options, ledger)
    else:
        has_label = options.label is None or options.label in header
        if not has_label and options.label == "label":
            options = Options(**{**vars(options), "label": None})
        who = roles(header, options, ledger, wide=not tidy)
    return None if who is None else (who, tidy, named)


def _walked(handle: IO[bytes], begin: Start, who: Roles, tidy: bool, named: bool) -> _Index:
    """Every row once, in the order of the file."""
    at = sum(len(handle.readline()) for _ in range(begin.skip))
    if named and not begin.commented:
        for heading in stretches(handle, begin.delimiter, None, at):
            at = heading.end
            if any(heading.cells):
                break
        handle.seek(at)
    found, place = _Index([], [], [], [], at), dict[str, int]()
    width = max(i for i in (who.case, who.label, 0) if i is not None) + 1
    column = who.case if tidy else None
    for row, first, end in stretches(handle, begin.delimiter, column, at):
        if len(row) < width:
            continue
        case = row[column] if column is not None else str(first)
        if case not in place:
            place[case] = len(found.labels)
            found.labels.append("")
        if who.label is not None and not found.labels[place[case]]:
            found.labels[place[case]] = row[who.label].strip()
        found.case.append(place[case])
        found.first.append(first)
        found.last.append(end)
    if not found.case:
        raise DataError("there is a header, but no row under it. Check how the file was written.")
    found.labels = [label.encode(BYTEWISE).decode("utf-8", "replace") for label in found.labels]
    return found


def _chosen(found: _Index, most: int, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Per case: of each class, in random order, as many as its share of the bytes allows, and one at least."""
    sizes = np.zeros(len(found.labels), dtype=np.int64)
    np.add.at(sizes, found.case, np.subtract(found.last, found.first))
    chosen = np.zeros(len(sizes), dtype=bool)
    share = min(1.0, max(most - found.head, 0) / int(sizes.sum()))
    labels = np.array(found.labels)
    for label in dict.fromkeys(found.labels):
        of_class = rng.permutation(np.flatnonzero(labels == label))
        room = share * int(sizes[of_class].sum())
        fits = int(np.searchsorted(np.cumsum(sizes[of_class]), room, side="right"))
        chosen[of_class[: max(fits, 1)]] = True
    return chosen
