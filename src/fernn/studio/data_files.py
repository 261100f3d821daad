"""The files that a page may name, their columns, how they are read, and a cache of the datasets that were read."""

from __future__ import annotations

import base64
import csv
import json
import os
import re
import tempfile
import traceback
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np

from ..data import SOURCES, Dataset, Problem, inspect_input, is_named, reorder_classes
from ..data.arrays import Bools
from ..data.datasets import find_installed_series
from ..data.options import ReadOptions
from ..data.problems import ProblemLog
from ..data.readers.dialect import has_header, sniff
from ..data.readers.registry import TEXT, file_format
from ..errors import DataError, FernnError, UnsupportedError
from ..runs import Run, parts, run_folders
from .json_api import Refused

Reading = dict[str, Any]

_WORD, _NUMBER = (str, type(None)), (int, float, type(None))
_KINDS: dict[str, tuple[type, ...]] = {
    "label": _WORD, "case": _WORD, "time": _WORD, "channels": (list, type(None)), "group": _WORD,
    "good": (str, int, float, bool, type(None)), "label_kind": (str,), "layout": (str,), "header": (bool, type(None)),
    "delimiter": _WORD, "decimal": (str,), "encoding": (str,), "bad_rows": (str,), "nonfinite": (str,), "dt": _NUMBER,
    "unit": _WORD, "steps": (bool,), "memory_limit": (int, type(None)),
}  # fmt: skip
"""Every option of reading that a page may set, and what its value may be."""

PLAIN: Reading = {name: getattr(ReadOptions(), name) for name in _KINDS}
"""What is done where nothing is asked for."""

LONGEST_OPTION, MOST_CHANNELS = 1000, 20_000  # letters of a name, names of channels
BETWEEN = "~"  # between a file and how it is read


def check_reading(options: dict[str, Any], under: Reading = PLAIN) -> Reading:
    """All options: those given, in the place of those under them."""
    for name, value in options.items():
        if name not in _KINDS:
            raise Refused(f"there is no option {name[:50]!r} of reading; there are {', '.join(_KINDS)}.")
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and bool not in _KINDS[name]):
            raise Refused(f"the option {name!r} of reading cannot be {json.dumps(value)[:100]}.")
        if isinstance(value, list) and not (value and len(value) <= MOST_CHANNELS and all(map(_is_name, value))):
            raise Refused(f"{name!r} is a list of names, one at least, or null.")
        if isinstance(value, str) and not _is_name(value):
            raise Refused(
                f"the option {name!r} of reading has more than {LONGEST_OPTION} letters, or some that cannot be."
            )
    chosen = {**under, **options}
    if chosen["label"] == "":
        chosen["label"] = None
    ReadOptions(**{**chosen, "channels": None})  # says what is wrong with it
    if chosen["encoding"].lower().replace("-", "_") in ("idna", "punycode", "unicode_escape", "raw_unicode_escape"):
        raise UnsupportedError(f"{chosen['encoding']} is no encoding of recordings; utf-8, latin-1 and utf-16 are.")
    return chosen


def _is_name(value: object) -> bool:
    return value == "\t" or (isinstance(value, str) and len(value) <= LONGEST_OPTION and value.isprintable())


def data_id(file: str, reading: Reading) -> str:
    """The data as a page names them: `drive~`, or with what was asked for in letters that an address may have."""
    special = {name: value for name, value in reading.items() if value != PLAIN[name]}
    if not special:
        return file + BETWEEN
    text = json.dumps(special, sort_keys=True, separators=(",", ":"))
    return file + BETWEEN + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_data_id(word: str) -> tuple[str, Reading]:
    """(file, how it is read)."""
    file, sign, text = word.partition(BETWEEN)
    if not sign:
        raise Refused(f"{word[:100]!r} names no data; look at a file first, the answer names them.", 404)
    try:
        special = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))) if text else {}
    except (ValueError, RecursionError):
        special = None
    if not isinstance(special, dict):
        raise Refused(f"{word[:100]!r} names no data: what is behind {BETWEEN} cannot be read.", 404)
    return file, check_reading(special)


UPLOADS = "uploads"
MADE = ("cruise", "intervals", "wander")
RECORDED = ("cct", "ecg", "hapt", "lyft")
"""Those of the paper, where FERNN_DATA says where they are."""
LONGEST = 100  # letters of a name
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class KnownFile:
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
    """The files that a page may name, listed from disk each time."""

    def __init__(self, folder: Path, given: str | None = None, reading: Reading = PLAIN, limit: int = 0) -> None:
        self.folder, self.limit = folder, limit
        self.given = None if given is None else _resolve_file(given, reading)
        self._generated = [_resolve_file(name) for name in data_sets()]

    def all(self) -> list[KnownFile]:
        """The given one first, then uploads and files of runs, then what can be made."""
        given = [] if self.given is None else [self.given]
        by_name = sorted((*self._uploads(), *self._of_runs()), key=lambda file: file.name)
        return list({file.id: file for file in (*given, *by_name, *self._generated)}.values())

    def find(self, name: str) -> KnownFile:
        """By its id."""
        if self.given is not None and self.given.id == name:
            return self.given
        candidates = chain(self._generated, self._uploads(), self._of_runs())
        if match := next((file for file in candidates if file.id == name), None):
            return match
        raise Refused(f"there is no file {name[:100]!r} here. Drop it on the page again.", 404)

    def of(self, path: str) -> str | None:
        """The id of a file that a run names, if it can be read."""
        with suppress(Refused, ValueError, OSError):
            return self.find(_resolve_file(path).id).id
        return None

    async def take(self, name: str, parts: AsyncIterator[bytes]) -> KnownFile:
        """An upload: on disk when all of it has come, nothing of it otherwise."""
        safe = safe_name(name)
        uploads = self.folder / UPLOADS
        uploads.mkdir(parents=True, exist_ok=True)
        digest, size = sha256(safe.encode() + b"\0"), 0
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=uploads)
        try:
            with os.fdopen(handle, "wb") as file:
                async for part in parts:
                    file.write(part)
                    digest.update(part)
                    size += len(part)
            if not size:
                raise Refused(f"{safe}: the file is empty.")
            place = uploads / digest.hexdigest()[:16]
            place.mkdir(exist_ok=True)
            os.replace(temporary, place / safe)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return KnownFile(place.name, safe, str((place / safe).resolve()), "upload", PLAIN)

    def _uploads(self) -> Iterator[KnownFile]:
        """Plain files in plain folders: links are not followed."""
        with suppress(OSError):
            for place in (self.folder / UPLOADS).iterdir():
                if _ID.fullmatch(place.name) and not place.is_symlink() and place.is_dir():
                    files = [file for file in place.iterdir() if file.is_file() and not file.is_symlink()]
                    yield from (KnownFile(place.name, f.name, str(f.resolve()), "upload", PLAIN) for f in files[:1])

    def _of_runs(self) -> Iterator[KnownFile]:
        """What earlier runs here learned from, where it is still there; uploads have their own ids."""
        uploads, paths = str((self.folder / UPLOADS).resolve()), set()
        for folder in run_folders(self.folder):
            with suppress(FernnError, OSError):
                paths.add(str(Run.open(folder).settings.get("file")))
        outside = (path for path in paths if not path.startswith(uploads + os.sep) and "\0" not in path)
        yield from (_resolve_file(path) for path in sorted(outside) if os.path.isabs(path) and os.path.isfile(path))


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


def _resolve_file(what: str, reading: Reading = PLAIN) -> KnownFile:
    """The file or the data set of this name; the id is the same at every start."""
    if not Path(what).exists() and (what in SOURCES or is_named(what)):
        return KnownFile(what, what, what, "made", reading)
    path = Path(what).resolve()
    if path.parent.parent.name == UPLOADS and _ID.fullmatch(path.parent.name):
        return KnownFile(path.parent.name, path.name, str(path), "upload", reading)
    return KnownFile(sha256(os.fsencode(path)).hexdigest()[:16], path.name, str(path), "given", reading)


MOST_COLUMNS = 5000


def kind(file: KnownFile) -> Literal["text", "parquet", "other"]:
    """Whether it has columns to choose among, and a way in which they are written; `other` has neither."""
    if file.origin == "made":
        return "other"
    form = file_format(Path(file.path))
    if form == TEXT:
        return "text"
    return "parquet" if form.name == "parquet" else "other"


def columns(file: KnownFile, reading: Reading, data: Dataset | None) -> list[str]:
    """Those of the file's first row, in its order; of what has no such row, the channels."""
    channels = [] if data is None else list(data.channels)
    if kind(file) == "other":
        return channels
    names: list[str] = []
    with suppress(FernnError, OSError, UnicodeError, csv.Error, ImportError, IndexError):
        if kind(file) == "parquet":
            names = _of_parquet(file.path)
        else:
            options = ReadOptions(**{**reading, "channels": None})
            begin = sniff(Path(file.path), options, ProblemLog())
            names = begin.first if begin is not None and has_header(begin, options, ProblemLog()) else []
    return [each for each in names if each][:MOST_COLUMNS] or channels


def _of_parquet(path: str) -> list[str]:
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except Exception:  # polars has many; that the file is bad is told by the reader
        return []


MOST_DATASETS = 8
CACHE_BYTES = 1_000_000_000
"""Datasets kept, and bytes of values in them; the last one stays, however large."""


@dataclass(frozen=True)
class CachedRead:
    """The result of reading a file: the dataset, or None, and its problems."""

    data: Dataset | None
    problems: tuple[Problem, ...]
    masks: dict[tuple[float, int, str | None], Bools | None] = field(default_factory=dict)
    """Which cases a split keeps for the test."""

    @property
    def nbytes(self) -> int:
        return 0 if self.data is None else sum(trace.nbytes for trace in self.data.values)


class DatasetCache:
    """An LRU cache of datasets, safe for threads; what two ask for at once is read once."""

    def __init__(self, files: Files, most: int = MOST_DATASETS, limit: int = CACHE_BYTES) -> None:
        self.files, self._most, self._limit = files, most, limit
        self._cache: OrderedDict[Any, CachedRead] = OrderedDict()
        self._locks: dict[Any, Lock] = {}
        self._changing = Lock()

    def look(self, file: KnownFile, reading: Reading) -> CachedRead:
        """The dataset with its problems, from the cache or from the file."""
        key = (file.path, _version(file), repr(sorted(reading.items())))
        with self._changing:
            lock = self._locks.setdefault(key, Lock())
        try:
            with lock:
                with self._changing:
                    if key in self._cache:
                        self._cache.move_to_end(key)
                        return self._cache[key]
                result = _look(file, reading)
                with self._changing:
                    self._cache[key] = result
                    self._tidy()
                return result
        finally:
            with self._changing:
                self._locks.pop(key, None)

    def data(self, word: str) -> CachedRead:
        """What a page calls by this word; it must be readable."""
        name, reading = parse_data_id(word)
        file = self.files.find(name)
        result = self.look(file, reading)
        if result.data is None:
            errors = [str(problem) for problem in result.problems if problem.severity == "error"]
            raise DataError("\n".join(errors), result.problems)
        return result

    def __len__(self) -> int:
        return len(self._cache)

    def _tidy(self) -> None:
        """The longest unused goes first."""
        while len(self._cache) > 1 and (
            len(self._cache) > self._most or sum(look.nbytes for look in self._cache.values()) > self._limit
        ):
            self._cache.popitem(last=False)


def test_mask(look: CachedRead, run: Run | None) -> Bools | None:
    """Which cases the run kept for its test; None where there is no run, or no test, or the data are others."""
    data = None if look.data is None or run is None else in_order(look.data, run)
    if run is None or data is None or data.fingerprint != run.settings["data"].get("fingerprint"):
        return None
    split = run.settings.get("split", {"test": 0.0, "seed": 0})
    key = (float(split["test"]), int(split["seed"]), run.settings.get("classes"))
    if key not in look.masks:
        _, test_set = parts(data, *key)
        names = set(() if test_set is None else test_set.cases)
        look.masks[key] = None if test_set is None else np.array([case in names for case in data.cases], dtype=np.bool_)
    return look.masks[key]


def in_order(data: Dataset, run: Run) -> Dataset:
    """With the classes from low to high, where the run is of ranks."""
    order = run.settings.get("order")
    return reorder_classes(data, order) if order else data


def _look(file: KnownFile, reading: Reading) -> CachedRead:
    try:
        return CachedRead(*inspect_input(file.path, reading))
    except (FernnError, MemoryError):
        raise
    except Exception as error:  # a file that no reader was ready for is still only a bad file
        traceback.print_exception(error)
        what = f"the reader gave up on it ({type(error).__name__}: {error})"
        fix = "Check how it was written; if it is well, this is a fault of fernn to report."
        return CachedRead(None, (Problem("unreadable", "error", what, fix, file.name),))


def _version(file: KnownFile) -> tuple[int, int]:
    if file.origin == "made":
        return 0, 0
    try:
        status = os.stat(file.path)
    except OSError:
        raise Refused(f"{file.name} is not there any more. Bring it back, or drop it on the page again.", 404) from None
    return status.st_mtime_ns, status.st_size


def reading_for(file: KnownFile, options: dict[str, Any]) -> Reading:
    """How this file is to be read: as given, otherwise as the command line said."""
    return check_reading(options, file.reading)
