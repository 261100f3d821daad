"""Whether a file is too large to read, asked before reading it."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from .problems import Ledger

SHARE = 4  # by default a file may be as large as a quarter of the free memory


def fits(path: Path, limit: int | None, ledger: Ledger) -> bool:
    """True if the file's size is within `limit` bytes; tells the ledger if not."""
    return within(_size(path), limit, ledger)


def within(size: int, limit: int | None, ledger: Ledger) -> bool:
    """The same of data that are so many bytes once they are unpacked."""
    allowed = most(limit)
    if allowed is None or size <= allowed:
        return True
    source = "a quarter of the free memory" if limit is None else "the memory limit"
    what = f"{shown(size)} of data, more than {source} ({shown(allowed)})"
    fix = "Take some of its cases (fernn sample FILE -o PART.csv), or raise the limit with --memory-limit BYTES. "
    fix += "eval, check and watch can read it in pieces (--stream)."
    ledger.add("too-large", "error", what, fix)
    return False


def most(limit: int | None) -> int | None:
    """Bytes that may be read; None where nothing is known."""
    free = _free()
    return limit if limit is not None else free and free // SHARE


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
