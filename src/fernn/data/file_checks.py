"""Checks of a file before it is read: its magic bytes, its lines, and the memory that reading takes.

What counts is the memory that reading takes, not the bytes on disk: a cell of a table is read into eight bytes, which
are copied twice, and each row has some more. It is estimated from a few looks into the file.
"""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

from .problems import ProblemLog
from .readers.registry import TEXT, file_format

UNPACK = "Unpack it first."
SAVE = "Name the recording itself: CSV, Parquet, NPZ, .trace or .ts."
# How files of each kind begin, what they are, and what to do.
MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "a gzip archive", "Unpack it first: gunzip NAME.gz."),
    (b"BZh", "a bzip2 archive", UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"PK\x03\x04", "a zip archive", "Unpack it; save a workbook as CSV; let the name of an NPZ file end in .npz."),
    (b"\x93NUMPY", "a NumPy array (.npy)", "Save it with numpy.savez(path, X=traces, y=labels) as .npz."),
    (b"PAR1", "a Parquet file", "Let its name end in .parquet."),
    (b"\x89HDF", "an HDF5 file", "Export it as CSV or Parquet."),
    (b"MATLAB 5.0", "a MATLAB file", "Export it as CSV."),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", "Save it as CSV."),
    (b"SQLite format 3", "an SQLite database", "Export the table as CSV."),
    (b"\x89PNG", "a PNG image", SAVE),
    (b"\xff\xd8\xff", "a JPEG image", SAVE),
    (b"GIF8", "a GIF image", SAVE),
    (b"%PDF-", "a PDF document", SAVE),
    (b"ARROW1", "an Arrow file", "Export it as CSV or Parquet."),
    (b"\x7fELF", "a program", SAVE),
    (b"\x80\x04\x95", "a Python pickle", "Write it as CSV or NPZ; pickles are not safe to load."),
    (b"\x80\x05\x95", "a Python pickle", "Write it as CSV or NPZ; pickles are not safe to load."),
)
KINDS = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device"}


def report_other_format(lines: list[str], log: ProblemLog) -> bool:
    """Whether the first lines of a table are those of a series or a TRACE file under another name; an error."""
    body = [line.strip() for line in lines if line.strip() and not line.startswith(("#", "%"))]
    if not body:
        return False
    dashes = next((i for i, line in enumerate(body) if set(line) == {"-"}), 0)
    if body[0].casefold().startswith(("@problemname", "@univariate", "@dimensions", "@classlabel", "@timestamps")):
        what, ending = "this is a series file of aeon and sktime, not a table", ".ts"
    elif dashes and all(set(line) <= set("01,; ") for line in body[:dashes]):
        what, ending = "this is a TRACE file of propositional traces, not a table", ".trace"
    else:
        return False
    log.add("other-format", "error", what, f"Let its name end in {ending}.", line=1)
    return True


def report_special_file(path: Path, log: ProblemLog) -> bool:
    """Whether the path is a pipe, socket or device, which is an error: a file is read more than once."""
    mode = path.stat().st_mode
    kind = next((name for asks, name in KINDS.items() if asks(mode)), None)
    if kind is not None:
        fix = "Write the recording to a file first: some-command > drive.csv."
        log.add("not-a-file", "error", f"{str(path)!r} is {kind}, and only files can be read", fix)
    return kind is not None


def report_binary(path: Path, encoding: str, log: ProblemLog) -> bool:
    """Whether the file is not text, which is an error."""
    with open(path, "rb") as handle:
        head = handle.read(4096)
    is_text = head.isascii() and not any(byte < 9 for byte in head)
    for magic, what, fix in MAGIC:
        if head.startswith(magic) and (not is_text or magic == b"%PDF-"):  # PAR1 may be the name of a column
            if magic == b"PK\x03\x04" and b"[Content_Types].xml" in head:
                what, fix = "an Excel workbook or another office document", "Save the sheet as CSV."
            log.add("binary", "error", f"this is {what}, not text", fix)
            return True
    if is_text:
        return False
    wide = encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32", "utf16", "utf32"))
    if wide or head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" not in head:
        return False
    if len(head) > 3 and not any(head[1:40:2]) and all(head[0:40:2]):
        what, fix = "every second byte is NUL, as in UTF-16 text", "Pass --encoding utf-16-le if it was written so."
    else:
        what = f"byte {head.index(0) + 1} is NUL, so this is not text"
        fix = "Export the recording as CSV, or name the file for what it is (.parquet, .npz)."
    log.add("binary", "error", what, fix, line=head.count(b"\n", 0, head.index(0)) + 1)
    return True


SHARE = 4  # by default, columns that are unpacked from a file may take a quarter of the free memory
HALF = 2  # and reading a text file half of it, all of it counted
CELL, ROW = 24, 16  # bytes that reading takes for each cell and for each row of a text file, about
LOOK = 1 << 18  # bytes that are looked at, at the beginning and in the middle
LONGEST = 8_000_000  # bytes of a line that are always read
LEAST_LINE = 1_000_000  # and with any memory limit


def fits_memory(path: Path, limit: int | None, log: ProblemLog) -> bool:
    """True if the memory that reading the file takes is within `limit` bytes; tells the log if not."""
    form = file_format(path)
    if not form.is_text:
        return fits_unpacked(_size(path), limit, log)
    if form == TEXT and report_long_line(path, limit, log):
        return False
    size, need = path.stat().st_size, text_memory(path)
    allowed = memory_budget(limit, HALF)
    if allowed is None or max(size, need) <= allowed:
        return True
    source = "half of the free memory" if limit is None else "the memory limit"
    what = f"reading this file of {format_size(size)} takes about {format_size(need)} of memory, "
    what += f"more than {source} ({format_size(allowed)})"
    log.add("too-large", "error", what, WAYS)
    return False


WAYS = (
    "Take some of its cases (fernn sample FILE -o PART.csv), or raise the limit with --memory-limit BYTES. "
    "eval, check and watch can read it in pieces (--stream), and a folder of Parquet files is always read so."
)


def text_memory(path: Path) -> int:
    """Bytes of memory that reading a text file takes, about; told by its size and by rows here and there."""
    size = path.stat().st_size
    if factor := file_format(path).memory_per_byte:
        return size * factor
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


def report_long_line(path: Path, limit: int | None, log: ProblemLog) -> bool:
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
            what = (
                f"from byte {at + 1} on, {format_size(longest)} come without a line end; no row of a table is so long"
            )
            log.add("long-line", "error", what, "Check how the file was written: a row a line is wanted.")
            return True
    return False


def fits_unpacked(size: int, limit: int | None, log: ProblemLog) -> bool:
    """Whether data that are so many bytes once they are unpacked may be read; tells the log if not."""
    allowed = memory_budget(limit)
    if allowed is None or size <= allowed:
        return True
    source = "a quarter of the free memory" if limit is None else "the memory limit"
    log.add("too-large", "error", f"{format_size(size)} of data, more than {source} ({format_size(allowed)})", WAYS)
    return False


def memory_budget(limit: int | None, share: int = SHARE) -> int | None:
    """Bytes that may be read; None where nothing is known."""
    free = _free()
    return limit if limit is not None else free and free // share


def format_size(size: int) -> str:
    """`12.3 MB`."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def _size(path: Path) -> int:
    """Bytes on disk; of an NPZ file, the bytes it unpacks to."""
    if file_format(path).name == "npz" and zipfile.is_zipfile(path):
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
