"""Which format a file has, told by the ending of its name; and files that hold something else than their name says."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Literal

from .problems import Ledger

Format = Literal["text", "parquet", "npz", "trace", "ts"]
FORMATS: dict[str, Format] = {
    ".parquet": "parquet", ".pq": "parquet", ".npz": "npz", ".trace": "trace", ".traces": "trace", ".ts": "ts",
}  # fmt: skip
"""The formats by the ending of the name; files with any other ending are tables as text (CSV)."""
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


def file_format(path: Path) -> Format:
    """The format that the name of a file says; every command asks here."""
    return FORMATS.get(path.suffix.lower(), "text")


def told_other_format(lines: list[str], ledger: Ledger) -> bool:
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
    ledger.add("other-format", "error", what, f"Let its name end in {ending}.", line=1)
    return True


def told_special(path: Path, ledger: Ledger) -> bool:
    """Whether the path is a pipe, socket or device, which is an error: a file is read more than once."""
    mode = path.stat().st_mode
    kind = next((name for asks, name in KINDS.items() if asks(mode)), None)
    if kind is not None:
        fix = "Write the recording to a file first: some-command > drive.csv."
        ledger.add("not-a-file", "error", f"{str(path)!r} is {kind}, and only files can be read", fix)
    return kind is not None


def told_binary(path: Path, encoding: str, ledger: Ledger) -> bool:
    """Whether the file is not text, which is an error."""
    with open(path, "rb") as handle:
        head = handle.read(4096)
    is_text = head.isascii() and not any(byte < 9 for byte in head)
    for magic, what, fix in MAGIC:
        if head.startswith(magic) and (not is_text or magic == b"%PDF-"):  # PAR1 may be the name of a column
            if magic == b"PK\x03\x04" and b"[Content_Types].xml" in head:
                what, fix = "an Excel workbook or another office document", "Save the sheet as CSV."
            ledger.add("binary", "error", f"this is {what}, not text", fix)
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
    ledger.add("binary", "error", what, fix, line=head.count(b"\n", 0, head.index(0)) + 1)
    return True
