"""Data that were read, kept while there is room: by file, time of change, and how they were read."""

from __future__ import annotations

import os
import traceback
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset, Problem, inspect_input, reorder_classes
from ..errors import DataError, FernnError
from ..runs import Run, parts
from .answers import Refused
from .files import Files, Known
from .reading import Reading, checked, from_word

MOST = 8
ROOM = 1_000_000_000
"""Datasets kept, and bytes of values in them; the last one stays, however large."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Look:
    """What a reader found."""

    data: Dataset | None
    problems: tuple[Problem, ...]
    masks: dict[tuple[float, int, str | None], Mask | None] = field(default_factory=dict)
    """Which cases a split keeps for the test."""

    @property
    def room(self) -> int:
        return 0 if self.data is None else sum(trace.nbytes for trace in self.data.values)


class Datasets:
    """Reads, and remembers what it read; several may ask at once, and what two ask for is read once."""

    def __init__(self, files: Files, most: int = MOST, room: int = ROOM) -> None:
        self.files, self._most, self._room = files, most, room
        self._kept: OrderedDict[Any, Look] = OrderedDict()
        self._locks: dict[Any, Lock] = {}
        self._changing = Lock()

    def look(self, file: Known, reading: Reading) -> Look:
        """The dataset with its problems, from the shelf or from the file."""
        key = (file.path, _version(file), repr(sorted(reading.items())))
        with self._changing:
            lock = self._locks.setdefault(key, Lock())
        try:
            with lock:
                with self._changing:
                    if key in self._kept:
                        self._kept.move_to_end(key)
                        return self._kept[key]
                found = _look(file, reading)
                with self._changing:
                    self._kept[key] = found
                    self._tidy()
                return found
        finally:
            with self._changing:
                self._locks.pop(key, None)

    def data(self, word: str) -> Look:
        """What a page calls by this word; it must be readable."""
        name, reading = from_word(word)
        file = self.files.find(name)
        found = self.look(file, reading)
        if found.data is None:
            errors = [str(problem) for problem in found.problems if problem.severity == "error"]
            raise DataError("\n".join(errors), found.problems)
        return found

    def __len__(self) -> int:
        return len(self._kept)

    def _tidy(self) -> None:
        """The longest unused goes first."""
        while len(self._kept) > 1 and (
            len(self._kept) > self._most or sum(look.room for look in self._kept.values()) > self._room
        ):
            self._kept.popitem(last=False)


def held_out(look: Look, run: Run | None) -> Mask | None:
    """Which cases the run kept for its test; None where there is no run, or no test, or the data are others."""
    data = None if look.data is None or run is None else in_order(look.data, run)
    if run is None or data is None or data.fingerprint != run.settings["data"].get("fingerprint"):
        return None
    split = run.settings.get("split", {"test": 0.0, "seed": 0})
    key = (float(split["test"]), int(split["seed"]), run.settings.get("classes"))
    if key not in look.masks:
        _, held = parts(data, *key)
        names = set(() if held is None else held.cases)
        look.masks[key] = None if held is None else np.array([case in names for case in data.cases], dtype=np.bool_)
    return look.masks[key]


def in_order(data: Dataset, run: Run) -> Dataset:
    """With the classes from low to high, where the run is of ranks."""
    order = run.settings.get("order")
    return reorder_classes(data, order) if order else data


def _look(file: Known, reading: Reading) -> Look:
    try:
        return Look(*inspect_input(file.path, reading))
    except (FernnError, MemoryError):
        raise
    except Exception as error:  # a file that no reader was ready for is still only a bad file
        traceback.print_exception(error)
        what = f"the reader gave up on it ({type(error).__name__}: {error})"
        fix = "Check how it was written; if it is well, this is a fault of fernn to report."
        return Look(None, (Problem("unreadable", "error", what, fix, file.name),))


def _version(file: Known) -> tuple[int, int]:
    if file.origin == "made":
        return 0, 0
    try:
        now = os.stat(file.path)
    except OSError:
        raise Refused(f"{file.name} is not there any more. Bring it back, or drop it on the page again.", 404) from None
    return now.st_mtime_ns, now.st_size


def asked(file: Known, given: dict[str, Any]) -> Reading:
    """How this file is to be read: as given, otherwise as the command line said."""
    return checked(given, file.reading)
