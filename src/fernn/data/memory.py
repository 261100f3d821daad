"""Whether a file is too large to read, asked before reading it.

What counts is the memory that reading takes, not the bytes on disk: a cell of a table is read into eight bytes, which
are copied twice, and each row has some more. It is estimated from a few looks into the file.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from .disguise import file_format
from .problems import Ledger

SHARE = 4  # by default, columns that are unpacked from a file may take a quarter of the free memory
HALF = 2  # and reading a text file half of it, all of it counted
CELL, ROW = 24, 16  # bytes that reading takes for each cell and for each row of a text file, about
LETTER = 40  # bytes for each byte of a TRACE file
LOOK = 1 << 18  # bytes that are looked at, at the beginning and in the middle
LONGEST = 8_000_000  # bytes of a line that are always read
LEAST_LINE = 1_000_000  # and with any memory limit


def fits(path: Path, limit: int | None, ledger: Ledger) -> bool:
    """True if the memory that reading the file takes is within `limit` bytes; tells the ledger if not."""
    form = file_format(path)
    if form in ("npz", "parquet"):
        return within(_size(path), limit, ledger)
    if form == "text" and told_long_line(path, limit, ledger):
        return False
    size, need = path.stat().st_size, text_memory(path)
    allowed = most(limit, HALF)
    if allowed is None or max(size, need) <= allowed:
        return True
    source = "half of the free memory" if limit is None else "the memory limit"
    what = (
        f"reading this file of {shown(size)} takes about {shown(need)} of memory, more than {source} ({shown(allowed)})"
    )
    ledger.add("too-large", "error", what, WAYS)
    return False


WAYS = (
    "Take some of its cases (fernn sample FILE -o PART.csv), or raise the limit with --memory-limit BYTES. "
    "eval, check and watch can read it in pieces (--stream), and a folder of Parquet files is always read so."
)


def text_memory(path: Path) -> int:
    """Bytes of memory that reading a text file takes, about; told by its size and by rows here and there."""
    size = path.stat().st_size
    if file_format(path) == "trace":
        return size * LETTER
    with open(path, "rb") as handle:
        looks = [handle.read(LOOK)]
        if size > 3 * LOOK:
            handle.seek(size // 2)
            looks.append(handle.read(LOOK))
    text = b"".join(looks)
    lines = max(text.count(b"\n"), text.count(b"\r"), 1)
    cells = max(text.count(mark) for mark in (b"\t", b";", b",", b"|"))
    cells = (cells or max(text.count(b" "), text.count(b":"))) + lines
    return int(size / max(len(text), 1) * (cells * CELL + lines * ROW))


def told_long_line(path: Path, limit: int | None, ledger: Ledger) -> bool:
    """Whether a line is so long that it is no row of a table, which is an error; found without reading the file."""
    longest = LONGEST if limit is None else min(LONGEST, max(limit // 32, LEAST_LINE))
    line_ends = (b"\n", b"\r")
    with open(path, "rb") as handle:
        for at in range(0, path.stat().st_size, longest):
            handle.seek(at)
            some = handle.read(1 << 12)
            if any(end in some for end in line_ends):
                continue
            rest = handle.read(longest - len(some))
            if len(some) + len(rest) < longest or any(end in rest for end in line_ends):
                continue
            what = f"from byte {at + 1} on, {shown(longest)} come without a line end; no row of a table is so long"
            ledger.add("long-line", "error", what, "Check how the file was written: a row a line is wanted.")
            return True
    return False


def within(size: int, limit: int | None, ledger: Ledger) -> bool:
    """Whether data that are so many bytes once they are unpacked may be read; tells the ledger if not."""
    allowed = most(limit)
    if allowed is None or size <= allowed:
        return True
    source = "a quarter of the free memory" if limit is None else "the memory limit"
    ledger.add("too-large", "error", f"{shown(size)} of data, more than {source} ({shown(allowed)})", WAYS)
    return False


def most(limit: int | None, share: int = SHARE) -> int | None:
    """Bytes that may be read; None where nothing is known."""
    free = _free()
    return limit if limit is not None else free and free // share


def shown(size: int) -> str:
    """`12.3 MB`."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def _size(path: Path) -> int:
    """Bytes on disk; of an NPZ file, the bytes it unpacks to."""
    if path.suffix.lower() == ".npz" and zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                return sum(entry.file_size for entry in archive.infolist())
        except Exception:  # a directory of members that zipfile cannot read; the reader of the file will say so
            pass
    return path.stat().st_size


def _free() -> int | None:
    """Free memory in bytes where the system tells."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
