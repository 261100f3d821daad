"""Every run of a comparison as a line of JSON, written when it is done: what is there is not done again."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..data.atomic_write import append_line, write_text
from ..data.readers.dialect import escape_cell
from ..errors import FernnError, RunError
from ..plain import BROKEN, read_json, short_repr, text, whole
from ..runs.run import FolderLock, make_folder, writable
from .unit import Found, Unit, read_found

RUNS, TABLE = "runs.jsonl", "runs.csv"
COLUMNS = (
    "data", "split", "method", "length", "mcr", "train", "cases", "learned_on", "floor", "found_length", "seconds",
    "cpu", "ended", "formula", "settings", "trained_on", "tested_on", "source", "load",
)  # fmt: skip


@dataclass
class Ledger:
    """The runs in a folder, of which only this process writes. Of two runs of a unit the later one counts."""

    folder: Path
    source: str
    """The mark of the code that runs now: what another version measured is done again, unless it is kept."""
    keep: bool = False
    runs: dict[Unit, Found] = field(default_factory=dict)
    _lock: FolderLock | None = None

    __repr__ = short_repr

    @classmethod
    def opened(cls, folder: Path, source: str, keep: bool = False) -> Ledger:
        """With what earlier runs left; the folder is made where it is not there."""
        make_folder(folder)
        with writable(folder):
            ledger = cls(folder, source, keep, _lock=FolderLock(folder))
        path = folder / RUNS
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for number, line in enumerate(lines, 1):
            try:
                found = read_found(read_json(line), ())
                unit = Unit(**{name: found.pop(name) for name in ("data", "split", "method", "length")})
                text(unit.data), text(unit.split), text(unit.method), whole(unit.length)
            except (FernnError, *BROKEN) as error:
                if number == len(lines):  # cut off while it was written
                    write_text(path, "".join(f"{whole}\n" for whole in lines[:-1]))
                    break
                raise RunError(f"{path} line {number} is no run of a comparison. Mend or remove the line.") from error
            ledger.runs[unit] = found
        return ledger

    def has(self, unit: Unit, settings: str = "") -> bool:
        """Whether the unit was measured with these settings, by this version if that matters."""
        found = self.runs.get(unit)
        if found is None or found.get("settings", "") != settings:
            return False
        return self.keep or found.get("source") == self.source

    def put(self, unit: Unit, found: Found) -> None:
        record = found | {"source": self.source, "load": round(os.getloadavg()[0], 1)}
        self.runs[unit] = record
        append_line(self.folder / RUNS, json.dumps({**asdict(unit), **record}))

    def drop(self, unit: Unit) -> None:
        """Forgets what was measured earlier."""
        self.runs.pop(unit, None)

    def close(self) -> None:
        """Others may write in the folder from now on."""
        if self._lock is not None:
            self._lock.release()

    def of(self, method: str, data: str, length: int, splits: Iterable[str]) -> list[Found]:
        """What was measured there, in the order of the splits."""
        there = (self.runs.get(Unit(data, split, method, length)) for split in splits)
        return [found for found in there if found is not None]

    def one(self, method: str, data: str, length: int, split: str) -> Found | None:
        return next(iter(self.of(method, data, length, [split])), None)

    def uneven(self) -> list[str]:
        """The splits, as `ecg/3`, of which not all runs had the same traces; there should be none."""
        marks: dict[str, set[tuple[str, str]]] = {}
        for unit, found in self.runs.items():
            if "trained_on" in found:
                marks.setdefault(f"{unit.data}/{unit.split}", set()).add((found["trained_on"], found["tested_on"]))
        return [split for split, seen in marks.items() if len(seen) > 1]

    @property
    def sources(self) -> list[str]:
        return sorted({found["source"] for found in self.runs.values()})

    def write_table(self) -> Path:
        """All runs as CSV, without what does not fit in a table."""
        out = io.StringIO()
        writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for unit, found in self._sorted():
            cells = {**found, **asdict(unit)}
            writer.writerow({k: escape_cell(v) if isinstance(v, str) else v for k, v in cells.items()})
        path = self.folder / TABLE
        write_text(path, out.getvalue())
        return path

    def write_runs(self) -> None:
        """One line for each unit, in order: what was measured twice is there once."""
        write_text(self.folder / RUNS, "".join(json.dumps({**asdict(u), **f}) + "\n" for u, f in self._sorted()))

    def _sorted(self) -> Iterator[tuple[Unit, Found]]:
        yield from sorted(self.runs.items(), key=lambda item: item[0])
