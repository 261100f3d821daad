"""Heart rates from records of PhysioNet in their own format, through the optional wfdb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import DataError
from ...arrays import Floats
from ...dataset import Dataset
from ...problems import did_you_mean, quote_names
from ..paper_recordings import first_differences
from ..synthetic import require_integer

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


def read_beats(record: Path, extension: str) -> Floats:
    """The times of the beats in seconds, each once and in order."""
    times, found = _annotations(record, extension)
    beats = np.unique(times[[symbol in BEATS for symbol in found.symbol]])
    if len(beats) < 2:
        raise DataError(
            f"{record.name}.{extension} has {len(beats)} beats, a heart rate needs two. "
            "Name the file of the beats with beats=, as in beats='qrs'."
        )
    return beats


def read_rhythms(record: Path, extension: str) -> Rhythms:
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


Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def physionet(
    records: Paths,
    *,
    beats: str = "atr",
    rhythms: str = "atr",
    good: str | Sequence[str] = "N",
    bad: str | Sequence[str] = "AFIB",
    labels: Mapping[str, bool] | Sequence[bool] | None = None,
    groups: Mapping[str, str] | None = None,
    samples: int = 10,
    shortest: float = 0.2,
    longest: float = 3.0,
) -> Dataset:
    """Fragments of `samples` seconds of heart rate, from local WFDB records.

    `records` are paths without extension, or a folder of them. Channels: heart rate `hr` in beats a minute, once a
    second, and `hr_diff`, its change since the last sample with 0 at the first. The heart rate at a second is 60 /
    RR, where RR is the interval in seconds from the last beat at or before it to the next one. Beats are read from
    the annotation file `beats`, rhythms from `rhythms`: in the MIT-BIH arrhythmia database both are `atr`, in the
    atrial fibrillation database beats are `qrs`. A fragment is of the class `good` or `bad` if all of it, from the
    beat before it to the beat behind it, is in these rhythms; others are left out. `labels` gives instead one label
    (true is good) to each whole record, in their order or by name. Cases are called after the record and their first
    second. Groups are the records; `groups` names the person of those that share one, as in
    `groups={"201": "a", "202": "a"}`.

    Know before use: fragments with an interval of more than `longest` seconds are left out, for there beats are
    missing, and so are those with one below `shortest`, for there a beat was marked twice. Premature beats are beats
    too, and make the rate jump in sinus rhythm. A record is not always a person: 201 and 202 of the MIT-BIH
    arrhythmia database are one, and the 90 records of the European ST-T database are of 79. Records of one rhythm
    only make the person and the rhythm hard to tell apart.
    """
    samples = require_integer("physionet", "samples", samples)
    if not 0 <= shortest < longest:
        raise DataError(f"intervals are 0 <= shortest < longest, in seconds; got {shortest} and {longest}.")
    paths = _records(records)
    given = None if labels is None else _record_labels(labels, paths)
    persons = _persons(groups or {}, paths)
    kinds = [(bad,) if isinstance(bad, str) else tuple(bad), (good,) if isinstance(good, str) else tuple(good)]
    kinds = [tuple(name.lstrip("(") for name in kind) for kind in kinds]
    if given is None and (set(kinds[0]) & set(kinds[1]) or not all(kinds)):
        raise DataError(
            f"good and bad need rhythms of their own, got {quote_names(kinds[1])} and {quote_names(kinds[0])}."
        )
    traces: list[Floats] = []
    classes: list[int] = []
    cases: list[str] = []
    whose: list[str] = []
    seen: set[str] = set()
    for i, path in enumerate(paths):
        times = read_beats(path, beats)
        told = read_rhythms(path, rhythms) if given is None else None
        seen |= set(told.names) if told else set()
        for first, trace, span in _fragments(times, samples, shortest, longest):
            kind = int(given[i]) if given is not None else _kind(told, span, kinds)
            if kind is not None:
                traces.append(trace)
                classes.append(kind)
                cases.append(f"{path.name}-{first}")
                whose.append(persons[i])
    for asked, names in (("bad", kinds[0]), ("good", kinds[1])) if given is None else ():
        if int(asked == "good") not in classes:
            hint = did_you_mean(names[0], seen)
            raise DataError(
                f"no fragment of {samples} seconds is {asked}, in {quote_names(names)}{hint}; the rhythms there are "
                f"{quote_names(sorted(seen))}. Choose others with good= and bad=, more records, or fewer samples."
            )
    if not traces:
        raise DataError(f"no record has a fragment of {samples} seconds. Ask for fewer samples.")
    hr = np.stack(traces)
    return Dataset(
        np.stack([hr, first_differences(hr)], axis=1),
        np.array(classes),
        ("bad", "good") if given is not None else ("/".join(kinds[0]), "/".join(kinds[1])),
        ("hr", "hr_diff"),
        dt=1.0,
        time_unit="s",
        cases=tuple(cases),
        groups=tuple(whose),
        name="physionet",
    )


def _fragments(
    beats: Floats, samples: int, shortest: float, longest: float
) -> list[tuple[int, Floats, tuple[float, float]]]:
    """The first second of each fragment, its heart rate, and the times of the beats around it."""
    seconds = np.arange(np.ceil(beats[0]), np.ceil(beats[-1]))
    interval = np.searchsorted(beats, seconds, side="right") - 1  # which RR interval each second is in
    rr = np.diff(beats)
    found = []
    for at in range(0, len(seconds) - samples + 1, samples):
        inside = interval[at : at + samples]
        around = rr[inside[0] : inside[-1] + 1]
        if shortest <= around.min() and around.max() <= longest:
            found.append((int(seconds[at]), 60.0 / rr[inside], (float(beats[inside[0]]), float(beats[inside[-1] + 1]))))
    return found


def _kind(told: Rhythms | None, span: tuple[float, float], kinds: list[tuple[str, ...]]) -> int | None:
    """1 where all rhythms of the span are good, 0 where all are bad, else None."""
    names = told.between(*span) if told else set()
    return next((i for i, kind in enumerate(kinds) if names <= set(kind)), None)


def _records(records: Paths) -> list[Path]:
    asked = [records] if isinstance(records, str | PathLike) else list(records)
    paths: list[Path] = []
    for path in map(Path, asked):
        if path.is_dir():
            inside = [file.with_suffix("") for file in sorted(path.glob("*.hea"))]
            if not inside:
                raise DataError(f"the folder {str(path)!r} has no headers (.hea), so no records. Name records in it.")
            paths += inside
        else:
            paths.append(path.with_suffix("") if path.suffix == ".hea" else path)
    names = [path.name for path in paths]
    if not names or len(set(names)) < len(names):
        raise DataError(
            f"records must have names of their own, and there must be one; got {quote_names(names) or 'none'}."
        )
    return paths


def _record_labels(labels: Mapping[str, bool] | Sequence[bool], paths: list[Path]) -> list[bool]:
    """The label of each record."""
    names = [path.name for path in paths]
    if not isinstance(labels, Mapping):
        if len(labels) != len(names):
            raise DataError(f"{len(names)} records need {len(names)} labels, got {len(labels)}.")
        labels = dict(zip(names, labels, strict=True))
    _check_known("labels", labels, names)
    for name in names:
        if labels.get(name) not in (True, False):
            raise DataError(f"record {name!r} needs a label, True (good) or False (bad); got {labels.get(name)!r}.")
    return [bool(labels[name]) for name in names]


def _persons(groups: Mapping[str, str], paths: list[Path]) -> list[str]:
    """Who each record is of: as `groups` says, else its own name."""
    names = [path.name for path in paths]
    if not isinstance(groups, Mapping):
        raise DataError(f"groups gives persons to names of records, as in {{'201': 'a', '202': 'a'}}; got {groups!r}.")
    _check_known("groups", groups, names)
    return [str(groups.get(name, name)) for name in names]


def _check_known(what: str, given: Mapping[str, object], names: list[str]) -> None:
    for name in given:
        if name not in names:
            hint = did_you_mean(str(name), names)
            raise DataError(f"{what} names a record {name!r}{hint} that is not read; there are {quote_names(names)}.")
