"""Sample a CSV file that is too large to work with: whole cases, the same share of every class.

One pass finds out which bytes belong to which case; what is chosen is then copied. No number is read, and
no more is kept in memory than a few words for each case. A file without quotes is looked at a block of bytes at a
time: where its lines begin, where the cell of the case is in each, and at which line that differs from the line
before. Only there is a row read. With quotes, a cell may hold line ends, and every row is read.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..errors import DataError, UnsupportedError, short_repr
from .arrays import Bools, Bytes, Ints
from .atomic_write import atomic_write
from .file_checks import format_size, report_binary, report_long_line, report_special_file
from .options import ReadOptions, as_tuple
from .problems import ProblemLog, data_error, plural, refusal
from .readers.column_roles import Roles, find_roles, headerless_roles, is_tidy
from .readers.dialect import Dialect, has_header, sniff, split_rows
from .readers.registry import TEXT, file_format

BLOCK_BYTES = 1 << 23
BYTEWISE = "latin-1"  # as which every byte is a letter


class CaseRows(NamedTuple):
    """The cells of its first row, each byte a letter; the place of its first byte, and of the one after its last."""

    cells: list[str]
    first: int
    end: int


def contiguous_rows(handle: IO[bytes], delimiter: str, case: int | None, at: int) -> Iterator[CaseRows]:
    """From here, at byte `at`, to the end of the file; without a column for the case each row is one.

    One case may come in several stretches, also one after the other. Lines without such a column are stretches too.
    """
    if case is None or delimiter == " " or _has_quotes(handle):
        yield from _row_by_row(handle, delimiter, at)
    else:
        yield from _by_blocks(handle, delimiter, case, at)


def _row_by_row(handle: IO[bytes], delimiter: str, at: int) -> Iterator[CaseRows]:
    end = at

    def lines() -> Iterator[str]:
        nonlocal end
        for line in handle:
            end += len(line)
            yield line.decode(BYTEWISE)

    for row in split_rows(lines(), delimiter):
        yield CaseRows(row, at, end)
        at = end


def _by_blocks(handle: IO[bytes], delimiter: str, case: int, at: int) -> Iterator[CaseRows]:
    rest = b""
    while read := handle.read(BLOCK_BYTES):
        whole, line_end, rest = (rest + read).rpartition(b"\n")
        if line_end:
            yield from _of_block(whole + line_end, delimiter, case, at)
            at += len(whole) + 1
    if rest:
        yield from _of_block(rest + b"\n", delimiter, case, at, missing=1)


def _of_block(text: bytes, delimiter: str, case: int, at: int, missing: int = 0) -> Iterator[CaseRows]:
    """Of whole lines; the last `missing` bytes are not in the file."""
    block = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(block == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    begin, stop = _cells(block, starts, ends, delimiter, case)
    new = np.flatnonzero(_differs(block, begin, stop)).tolist()
    for row, following in zip(new, [*new[1:], len(starts)], strict=True):
        line = text[int(starts[row]) : int(ends[row])].decode(BYTEWISE)
        end = at + int(ends[following - 1]) + 1 - (missing if following == len(starts) else 0)
        yield CaseRows(line.split(delimiter), at + int(starts[row]), end)


def _cells(block: Bytes, starts: Ints, ends: Ints, delimiter: str, case: int) -> tuple[Ints, Ints]:
    """Where the cell of the case begins and stops in every line; an empty stretch where a line has no such cell."""
    marks = np.append(np.flatnonzero(block == ord(delimiter)), len(block))
    first = np.searchsorted(marks, starts)
    before, after = (np.minimum(first + case + k, len(marks) - 1) for k in (-1, 0))
    begin = starts if case == 0 else marks[before] + 1
    stop = np.minimum(marks[after], ends)
    return np.minimum(begin, stop), stop


def _differs(block: Bytes, begin: Ints, stop: Ints) -> Bools:
    """Whether the cell of each line is another than that of the line before; the first one's is."""
    width = stop - begin
    differs = np.ones(len(begin), dtype=bool)
    differs[1:] = width[1:] != width[:-1]
    for k in range(int(width.max())):
        letters = block[np.minimum(begin + k, len(block) - 1)]
        differs[1:] |= (letters[1:] != letters[:-1]) & (k < width[1:])
    differs |= width == 0
    return differs


def _has_quotes(handle: IO[bytes]) -> bool:
    here = handle.tell()
    found = any(b'"' in block for block in iter(lambda: handle.read(BLOCK_BYTES), b""))
    handle.seek(here)
    return found


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
        cases = plural(sum(self.kept.values()), "case")
        if self.kept == self.met:
            return f"all of {format_size(self.size)} is little enough to work with: {cases}"
        return f"{format_size(self.size)} are more than is worked with here: this is a sample of {cases} ({parts})"


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


def sample_file(
    path: str | PathLike[str], into: str | PathLike[str], most: int = 20_000_000, seed: int = 0, **options: Any
) -> Sample:
    """Write so many bytes, at most, of a tidy or wide CSV file: whole cases, the same share of every class.

    `options` are those of `read`. At least one case of each class is kept, whatever its size.
    """
    file, into = Path(path), Path(into)
    options["channels"] = as_tuple(options.get("channels"))
    asked = ReadOptions(**options)
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
    if (form := file_format(file)) != TEXT:
        what = f"a sample is taken of tables as text (CSV), and the name says that this is a {form.name} file"
        raise refusal(
            "not-text", what, "Convert it to CSV; of Parquet files, fernn learn takes a sample itself.", file=file.name
        )
    found = _index_file(file, asked)
    chosen = _choose_cases(found, most, np.random.default_rng(seed))
    with file.open("rb") as source, atomic_write(into) as part, part.open("wb") as target:
        target.write(source.read(found.head))
        for case, first, last in zip(found.case, found.first, found.last, strict=True):
            if chosen[case]:
                source.seek(first)
                target.write(source.read(last - first))
    kept = Counter(label for label, is_in in zip(found.labels, chosen, strict=True) if is_in)
    return Sample(into, dict(kept), dict(Counter(found.labels)), file.stat().st_size)


def _index_file(file: Path, options: ReadOptions) -> _Index:
    log = ProblemLog(file.name)
    try:
        is_unreadable = file.exists() and (
            report_special_file(file, log)
            or report_binary(file, options.encoding, log)
            or report_long_line(file, options.memory_limit, log)
        )
        begin = None if is_unreadable else sniff(file, options, log)
    except OSError as error:
        raise DataError(f"{file}: the file cannot be read ({error.strerror}). Check the path.") from None
    except (UnicodeError, csv.Error) as error:
        raise DataError(f"{file.name}: its first lines cannot be read ({error}). Check --encoding.") from None
    parts = None
    if begin is not None:
        options = options.with_note(begin.note)
        parts = _roles(begin, options, log)
    if begin is None or parts is None:
        raise data_error(log.problems())
    who, tidy, named = parts
    if tidy and who.case is None:
        raise DataError(
            f"{file.name}: all rows are of one case, so there is no part of it to take. "
            "Name the column of the cases with --case-column."
        )
    with file.open("rb") as handle:
        return _index_rows(handle, begin, who, tidy, named)


def _roles(begin: Dialect, options: ReadOptions, log: ProblemLog) -> tuple[Roles, bool, bool] | None:
    """Who plays what, whether a row is a sample, whether there is a header; labels may be missing."""
    named = has_header(begin, options, log)
    header = begin.first if named else None
    tidy = is_tidy(header, begin, options, log)
    if header is None:
        who = headerless_roles(begin, options, log)
    else:
        has_label = options.label is None or options.label in header
        if not has_label and options.label == "label":
            options = ReadOptions(**{**vars(options), "label": None})
        who = find_roles(header, options, log, wide=not tidy)
    return None if who is None else (who, tidy, named)


def _index_rows(handle: IO[bytes], begin: Dialect, who: Roles, tidy: bool, named: bool) -> _Index:
    """Every row once, in the order of the file."""
    at = sum(len(handle.readline()) for _ in range(begin.skip))
    if named and not begin.commented:
        for heading in contiguous_rows(handle, begin.delimiter, None, at):
            at = heading.end
            if any(heading.cells):
                break
        handle.seek(at)
    found, place = _Index([], [], [], [], at), dict[str, int]()
    width = max(i for i in (who.case, who.label, 0) if i is not None) + 1
    column = who.case if tidy else None
    for row, first, end in contiguous_rows(handle, begin.delimiter, column, at):
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


def _choose_cases(found: _Index, most: int, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Per case: of each class, in random order, as many as its share of the bytes allows, and one at least."""
    sizes = np.zeros(len(found.labels), dtype=np.int64)
    np.add.at(sizes, found.case, np.subtract(found.last, found.first))
    chosen = np.zeros(len(sizes), dtype=bool)
    share = min(1.0, max(most - found.head, 0) / int(sizes.sum()))
    labels = np.array(found.labels)
    for label in dict.fromkeys(found.labels):
        of_class = rng.permutation(np.flatnonzero(labels == label))
        space = share * int(sizes[of_class].sum())
        fits = int(np.searchsorted(np.cumsum(sizes[of_class]), space, side="right"))
        chosen[of_class[: max(fits, 1)]] = True
    return chosen
