"""Beats and rhythms from the annotation files of PhysioNet, through the optional wfdb."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DataError
from ..dataset import Floats

# The codes of annotations that mark a heartbeat.
BEATS = frozenset("NLRBAaJSVrFejnE/fQ?")
RHYTHM = "+"  # marks a change of rhythm; notes such as (ST0+ stand on other codes


@dataclass(frozen=True)
class Rhythms:
    """Which rhythm begins when: `names[i]` from `times[i]` (seconds) until the next."""

    times: Floats
    names: tuple[str, ...]

    def between(self, first: float, last: float) -> set[str]:
        """The rhythms from one time to another; `""` where none has been told yet."""
        before = int(np.searchsorted(self.times, first, side="right")) - 1
        after = int(np.searchsorted(self.times, last, side="left"))
        names = set(self.names[max(before, 0) : after])
        return names if before >= 0 else names | {""}


def beats_in(record: Path, extension: str) -> Floats:
    """The times of the beats in seconds, each once and in order."""
    times, found = _annotations(record, extension)
    beats = np.unique(times[[symbol in BEATS for symbol in found.symbol]])
    if len(beats) < 2:
        raise DataError(
            f"{record.name}.{extension} has {len(beats)} beats, a heart rate needs two. "
            "Name the file of the beats with beats=, as in beats='qrs'."
        )
    return beats


def rhythms_in(record: Path, extension: str) -> Rhythms:
    """The rhythms, told by notes such as `(AFIB` where the rhythm changes."""
    times, found = _annotations(record, extension)
    marks = zip(times.tolist(), found.symbol, found.aux_note, strict=True)
    notes = [(t, note.strip("\x00 ")) for t, symbol, note in marks if symbol == RHYTHM]
    told = [(t, note[1:]) for t, note in notes if note.startswith("(") and len(note) > 1]
    if not told:
        raise DataError(
            f"{record.name}.{extension} tells no rhythm, such as (N or (AFIB. "
            "Name the file that does with rhythms=, or give each record a label with labels=."
        )
    return Rhythms(np.array([t for t, _ in told]), tuple(name for _, name in told))


def _annotations(record: Path, extension: str) -> tuple[Floats, Any]:
    """The times of the annotations in seconds, and wfdb's object."""
    try:
        import wfdb
    except ImportError as error:
        raise DataError(
            "reading PhysioNet records needs wfdb, which is not installed. Run: pip install 'fernn[wfdb]'."
        ) from error
    file = record.with_name(f"{record.name}.{extension}")
    if not file.is_file():
        there = sorted(p.suffix[1:] for p in record.parent.glob(f"{record.name}.*"))
        have = f"with that name there are: {', '.join(there)}" if there else "nor any other file of that record"
        raise DataError(f"there is no annotation file {str(file)!r}, {have}. Records are named without extension.")
    try:
        found = wfdb.rdann(str(record), extension)
    except Exception as error:  # wfdb raises whatever its parsing meets
        raise DataError(f"{file.name} is not a readable annotation file ({error!r}). Fetch it again.") from error
    if not found.fs:
        raise DataError(f"{file.name} does not say its time resolution. Put the header {record.name}.hea beside it.")
    return np.asarray(found.sample, dtype=np.float64) / float(found.fs), found
