"""The files that a page may name: given, uploaded, those of earlier runs, and data sets that are made.

A page names a file by its id only, and ids are looked up among what is known: no path comes from a page. Uploads lie in
`uploads/ID/NAME` under the folder of the runs; the same file uploaded twice is there once.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Literal

from ..data import SOURCES, is_named
from ..data.datasets import find_installed_series
from ..errors import FernnError
from ..runs import Run, run_folders
from .answers import Refused
from .reading import PLAIN, Reading

UPLOADS = "uploads"
MADE = ("cruise", "intervals", "wander")
RECORDED = ("cct", "ecg", "hapt", "lyft")
"""Those of the paper, where FERNN_DATA says where they are."""
LONGEST = 100  # letters of a name
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Known:
    """A file that can be read: `path` is what the reader is told, the name of a data set where it is made."""

    id: str
    name: str
    path: str
    origin: Literal["upload", "given", "made"]
    reading: Reading
    """How it is read where a page does not say otherwise."""

    @property
    def size(self) -> int:
        """Bytes; 0 for what is made."""
        if self.origin == "made":
            return 0
        with suppress(OSError):
            return Path(self.path).stat().st_size
        return 0

    def told(self) -> dict[str, object]:
        return {"id": self.id, "name": self.name, "size": self.size, "from": self.origin}


class Files:
    """What is known, looked up anew each time: only what is on disk counts."""

    def __init__(self, folder: Path, given: str | None = None, reading: Reading = PLAIN, limit: int = 0) -> None:
        self.folder, self.limit = folder, limit
        self.given = None if given is None else _found(given, reading)
        self._made = [_found(name) for name in data_sets()]

    def all(self) -> list[Known]:
        """The given one first, then uploads and files of runs, then what can be made."""
        given = [] if self.given is None else [self.given]
        by_name = sorted((*self._uploads(), *self._of_runs()), key=lambda known: known.name)
        return list({known.id: known for known in (*given, *by_name, *self._made)}.values())

    def find(self, name: str) -> Known:
        """By its id."""
        if self.given is not None and self.given.id == name:
            return self.given
        here = chain(self._made, self._uploads(), self._of_runs())
        if found := next((known for known in here if known.id == name), None):
            return found
        raise Refused(f"there is no file {name[:100]!r} here. Drop it on the page again.", 404)

    def of(self, path: str) -> str | None:
        """The id of a file that a run names, if it can be read."""
        with suppress(Refused, ValueError, OSError):
            return self.find(_found(path).id).id
        return None

    async def take(self, name: str, parts: AsyncIterator[bytes]) -> Known:
        """An upload: on disk when all of it has come, nothing of it otherwise."""
        safe = safe_name(name)
        home = self.folder / UPLOADS
        home.mkdir(parents=True, exist_ok=True)
        digest, size = sha256(safe.encode() + b"\0"), 0
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=home)
        try:
            with os.fdopen(handle, "wb") as file:
                async for part in parts:
                    file.write(part)
                    digest.update(part)
                    size += len(part)
            if not size:
                raise Refused(f"{safe}: the file is empty.")
            place = home / digest.hexdigest()[:16]
            place.mkdir(exist_ok=True)
            os.replace(temporary, place / safe)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return Known(place.name, safe, str((place / safe).resolve()), "upload", PLAIN)

    def _uploads(self) -> Iterator[Known]:
        """Plain files in plain folders: links are not followed."""
        with suppress(OSError):
            for place in (self.folder / UPLOADS).iterdir():
                if _ID.fullmatch(place.name) and not place.is_symlink() and place.is_dir():
                    inside = [file for file in place.iterdir() if file.is_file() and not file.is_symlink()]
                    yield from (Known(place.name, f.name, str(f.resolve()), "upload", PLAIN) for f in inside[:1])

    def _of_runs(self) -> Iterator[Known]:
        """What earlier runs here learned from, where it is still there; uploads have their own ids."""
        home, paths = str((self.folder / UPLOADS).resolve()), set()
        for folder in run_folders(self.folder):
            with suppress(FernnError, OSError):
                paths.add(str(Run.open(folder).settings.get("file")))
        there = (path for path in paths if not path.startswith(home + os.sep) and "\0" not in path)
        yield from (_found(path) for path in sorted(there) if os.path.isabs(path) and os.path.isfile(path))


def data_sets() -> list[str]:
    """The names of those that can be made, or are at hand."""
    return [*MADE, *(RECORDED if os.environ.get("FERNN_DATA") else ()), *sorted(find_installed_series())]


def safe_name(name: str) -> str:
    """The last part of a path, in letters that every file system takes; its ending says how it is read."""
    plain = re.sub(r"[^\w.() -]+", "-", re.split(r"[/\\]", name)[-1]).strip(". -")
    stem, dot, ending = plain.rpartition(".")
    plain = f"{stem[: LONGEST - 20]}{dot}{ending[:19]}" if dot else plain[:LONGEST]
    if not plain or plain.startswith("."):
        raise Refused(f"{name[:100]!r} is no name of a file; wanted one such as drive.csv (?name=drive.csv).")
    return plain


def _found(what: str, reading: Reading = PLAIN) -> Known:
    """The file or the data set of this name; the id is the same at every start."""
    if not Path(what).exists() and (what in SOURCES or is_named(what)):
        return Known(what, what, what, "made", reading)
    path = Path(what).resolve()
    if path.parent.parent.name == UPLOADS and _ID.fullmatch(path.parent.name):
        return Known(path.parent.name, path.name, str(path), "upload", reading)
    return Known(sha256(os.fsencode(path)).hexdigest()[:16], path.name, str(path), "given", reading)
