"""Rows of one case that follow each other in a text file, found without parting every row.

A file without quotes is looked at a block of bytes at a time: where its lines begin, where the cell of the case is in
each, and at which line that differs from the line before. Only there is a row read. With quotes, a cell may hold line
ends, and every row is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from .dataset import Ints
from .sniff import split_rows

BLOCK = 1 << 23
BYTEWISE = "latin-1"  # as which every byte is a letter
Bytes = npt.NDArray[np.uint8]


class Stretch(NamedTuple):
    """The cells of its first row, each byte a letter; the place of its first byte, and of the one after its last."""

    cells: list[str]
    first: int
    end: int


def stretches(handle: IO[bytes], delimiter: str, case: int | None, at: int) -> Iterator[Stretch]:
    """From here, at byte `at`, to the end of the file; without a column for the case each row is one.

    One case may come in several stretches, also one after the other. Lines without such a column are stretches too.
    """
    if case is None or delimiter == " " or _has_quotes(handle):
        yield from _row_by_row(handle, delimiter, at)
    else:
        yield from _by_blocks(handle, delimiter, case, at)


def _row_by_row(handle: IO[bytes], delimiter: str, at: int) -> Iterator[Stretch]:
    end = at

    def lines() -> Iterator[str]:
        nonlocal end
        for line in handle:
            end += len(line)
            yield line.decode(BYTEWISE)

    for row in split_rows(lines(), delimiter):
        yield Stretch(row, at, end)
        at = end


def _by_blocks(handle: IO[bytes], delimiter: str, case: int, at: int) -> Iterator[Stretch]:
    rest = b""
    while read := handle.read(BLOCK):
        whole, line_end, rest = (rest + read).rpartition(b"\n")
        if line_end:
            yield from _of_block(whole + line_end, delimiter, case, at)
            at += len(whole) + 1
    if rest:
        yield from _of_block(rest + b"\n", delimiter, case, at, missing=1)


def _of_block(text: bytes, delimiter: str, case: int, at: int, missing: int = 0) -> Iterator[Stretch]:
    """Of whole lines; the last `missing` bytes are not in the file."""
    block = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(block == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    begin, stop = _cells(block, starts, ends, delimiter, case)
    new = np.flatnonzero(_differs(block, begin, stop)).tolist()
    for row, following in zip(new, [*new[1:], len(starts)], strict=True):
        line = text[int(starts[row]) : int(ends[row])].decode(BYTEWISE)
        end = at + int(ends[following - 1]) + 1 - (missing if following == len(starts) else 0)
        yield Stretch(line.split(delimiter), at + int(starts[row]), end)


def _cells(block: Bytes, starts: Ints, ends: Ints, delimiter: str, case: int) -> tuple[Ints, Ints]:
    """Where the cell of the case begins and stops in every line; an empty stretch where a line has no such cell."""
    marks = np.append(np.flatnonzero(block == ord(delimiter)), len(block))
    first = np.searchsorted(marks, starts)
    before, after = (np.minimum(first + case + k, len(marks) - 1) for k in (-1, 0))
    begin = starts if case == 0 else marks[before] + 1
    stop = np.minimum(marks[after], ends)
    return np.minimum(begin, stop), stop


def _differs(block: Bytes, begin: Ints, stop: Ints) -> npt.NDArray[np.bool_]:
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
    found = any(b'"' in block for block in iter(lambda: handle.read(BLOCK), b""))
    handle.seek(here)
    return found
