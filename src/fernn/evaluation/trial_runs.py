"""Runs of trials: fitted on one part and judged on the other, by several workers, each result logged when it is done.

A trial that is in the log is not run again. What is compiled or loaded once is so before the clock runs.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from math import isnan
from pathlib import Path
from time import monotonic, perf_counter, process_time
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.atomic_write import append_line, write_text
from ..data.readers.dialect import escape_cell
from ..engines import Local, resolve_engine, run_units
from ..engines import Unit as Work
from ..engines.processes import Processes, cores
from ..errors import MALFORMED_DATA, FernnError, RunError, short_repr, suppress_warnings
from ..formula import Formula, length, parse, up_to_length
from ..formula.json_fields import as_int, as_text, read_json
from ..formula.templates import expand_template, merge_template
from ..learners import Entry, Enumerative, Front, PaperFernn
from ..learners.base import is_real, select_entry, silent
from ..learners.baselines import BASELINES
from ..learners.enumerative.enumerative import ExactFit
from ..learners.paper import output
from ..runs import fit_in_run
from ..runs.run import FolderLock, make_folder, writable
from ..semantics import score
from ..semantics.running_metrics import score_verdicts
from .trials import (
    SHAPES,
    Trial,
    TrialData,
    TrialResult,
    describe_settings,
    find_method,
    irreducible_error,
    is_method,
    load_trial_data,
    parse_result,
    provide_data,
    sign_labels,
)

LONGEST_SHAPE = 6


@cache
def formula_shapes(size: int) -> tuple[Formula, ...]:
    """Those of exactly this length, looking ahead, windows over all time."""
    return tuple(
        shape
        for shape in expand_template(merge_template(up_to_length(max(size, LONGEST_SHAPE))))
        if length(shape) == size
    )


def search_shapes(data: TrialData, size: int, seed: int, limit: float) -> TrialResult:
    """Of every shape of this length the least training error, and the test error of the formula that has it.

    `limit` is for each shape.
    """
    began, cpu = perf_counter(), process_time()
    rows: list[list[Any]] = []
    for shape in formula_shapes(size):
        fit = Enumerative(template=shape, folds=0, seed=seed, time_limit=limit).fit(data.train)
        best = fit.front[len(fit.front) - 1]
        proved = fit.certificate is not None and fit.certificate.holds
        test = score(parse(str(best.formula)), data.test).mcr
        rows.append([str(shape), best.train, test, str(best.formula), proved])
    finest = min(rows, key=lambda row: row[1])
    return {
        "mcr": finest[2], "train": finest[1], "formula": finest[3], "found_length": length(parse(finest[3])),
        "seconds": perf_counter() - began, "cpu": process_time() - cpu,
        "ended": "done" if all(row[4] for row in rows) else "time limit", "shapes": rows,
    }  # fmt: skip


DIGITS = 12
"""Digits of a fingerprint that are kept: to see that all methods had the same traces."""


def measure(unit: Trial, limit: float) -> TrialResult:
    """The result of a trial, as plain data. The fit may take `limit` seconds."""
    with suppress_warnings():
        data = load_trial_data(unit.data, unit.split)
        result = _run_trial(unit, data, limit)
    test = data.test
    return result | {
        "settings": describe_settings(unit, limit), "limit": limit, "cases": len(test), "learned_on": len(data.train),
        "trained_on": data.classes.fingerprint[:DIGITS], "tested_on": test.fingerprint[:DIGITS],
        "floor": irreducible_error(test),
    }  # fmt: skip


def _run_trial(unit: Trial, data: TrialData, limit: float) -> TrialResult:
    if unit.method in BASELINES:
        return _baseline(unit, data)
    if unit.method == SHAPES:
        return search_shapes(data, unit.length, unit.seed, limit)
    return _fit_method(unit, data, limit)


def _fit_method(unit: Trial, data: TrialData, limit: float) -> TrialResult:
    method = find_method(unit.method)
    learner = method.make(unit.length, unit.seed, limit)
    train = data.train if method.takes_real or not is_real(data.train) else sign_labels(data.train)
    began, cpu = perf_counter(), process_time()
    fit = fit_in_run(learner, train)
    seconds, busy = perf_counter() - began, process_time() - cpu
    last = fit.front[len(fit.front) - 1]
    result = {
        **_score_entry(choose_entry(fit.front, unit.length), data), "seconds": seconds, "cpu": busy,
        "ended": fit.ended, "last": _score_entry(last, data),
        "front": [[entry.length, entry.train, _number(entry.validation), str(entry.formula)] for entry in fit.front],
    }  # fmt: skip
    if isinstance(learner, PaperFernn) and not learner.quantised:
        result["mixture"] = float(np.mean((output(learner, train, fit, data.test) >= 0) != data.test.positive))
    return result | (_certificate_counts(fit) if isinstance(fit, ExactFit) else {})


def choose_entry(front: Front, longest: int) -> Entry:
    """The picked entry; where it is too long, the one that is picked of those that are not, if there are any."""
    if front.picked.length <= longest:
        return front.picked
    short = [entry for entry in front if entry.length <= longest]
    return short[select_entry(short)] if short else front[0]


def _score_entry(entry: Entry, data: TrialData) -> TrialResult:
    """The formula as it is printed, on traces it has not seen and on those it has."""
    formula = parse(str(entry.formula))
    return {
        "mcr": score(formula, data.test).mcr, "train": score(formula, data.classes).mcr, "loss": entry.train,
        "formula": str(entry.formula), "found_length": length(formula),
    }  # fmt: skip


def _certificate_counts(fit: ExactFit) -> TrialResult:
    counts: TrialResult = {}
    if fit.certificate is not None:
        counts["certified"] = fit.certificate.holds
        counts["looked_at"] = sum(row["generated"] for row in fit.certificate.content["lengths"])
        counts["thresholds"] = fit.certificate.content["space"]["thresholds"]
    if fit.rivals is not None:
        counts["ways"], counts["all_ways"] = len(fit.rivals), fit.rivals.complete
        counts["formulas"] = sum(rival.count for rival in fit.rivals)
    return counts


def _baseline(unit: Trial, data: TrialData) -> TrialResult:
    began, cpu = perf_counter(), process_time()
    verdicts = BASELINES[unit.method].judged(data.classes, data.test, unit.seed)
    seconds, busy = perf_counter() - began, process_time() - cpu
    error = score_verdicts(verdicts, data.test.positive).mcr
    return {"mcr": error, "seconds": seconds, "cpu": busy, "ended": "done", "formula": "", "found_length": 0}


def _number(value: float) -> float | None:
    return None if isnan(value) else value


WARM_TRACES, WARM_LENGTH, WARM_SECONDS = 12, 4, 10.0
"""Traces of each class, the greatest length, and the most time."""


_WARM: set[tuple[str, str]] = set()


def warm(unit: Trial) -> None:
    """Fits the unit's method to a few of its traces, once for every data set."""
    method = "exact" if unit.method == SHAPES else unit.method
    if not is_method(method) or (method, unit.data) in _WARM:
        return
    _WARM.add((method, unit.data))
    with suppress(FernnError):  # whatever is wrong is told when the unit is measured
        compared, few = find_method(method), _few_traces(unit.data, unit.split)
        if is_real(few) and not compared.takes_real:
            few = sign_labels(few)
        learner = compared.make(WARM_LENGTH, 0, WARM_SECONDS)
        (replace(learner, epochs=8) if isinstance(learner, PaperFernn) else learner).fit(few)


def _few_traces(data: str, split: str) -> Dataset:
    loaded = load_trial_data(data, split)
    good = loaded.classes.positive
    return loaded.train.subset(np.sort([*np.flatnonzero(good)[:WARM_TRACES], *np.flatnonzero(~good)[:WARM_TRACES]]))


def measure_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> TrialResult:
    """One fit, and how well it does; `data` stand in for those that the unit names, where it names a file."""
    unit = Trial(**settings["unit"])
    if data is not None:
        provide_data(unit.data, data)
    warm(unit)
    return measure(unit, settings["limit"])


TASK = "fernn.evaluation.trial_runs:measure_on_worker"
TRIES = 2
PATIENCE, GRACE = 4.0, 600.0
"""A unit that takes this many time limits, and these seconds more, is ended."""


def measure_all(
    units: Sequence[Trial], limit: float, workers: int | None = None, data: Dataset | None = None
) -> Iterator[tuple[Trial, TrialResult]]:
    """Every unit with what was found of it, in the order in which they are done.

    On the engine that is chosen for all, and else by processes of this machine. `data` are those of all units, unless
    they name others. Leaving the loop, by Ctrl-C or otherwise, ends what is under way, which is lost.
    """
    if not units:
        return
    engine = resolve_engine()
    if own := isinstance(engine, Local):
        engine = Processes(min(workers or cores(), len(units)), PATIENCE * limit + GRACE)
    by_key = {unit.key: unit for unit in units}
    work = [Work({"unit": asdict(unit), "limit": limit}, unit.seed) for unit in units]
    try:
        for answer in run_units(engine, TASK, data, work, tries=TRIES, read=lambda unit, row: parse_result(row)):
            unit = by_key[Trial(**answer.unit.settings["unit"]).key]
            problem = answer.problem if answer.tries == 1 else answer.failure
            yield unit, answer.found if answer.problem is None else {"problem": problem}
    finally:
        if own:
            engine.close()


RUNS, TABLE = "runs.jsonl", "runs.csv"
COLUMNS = (
    "data", "split", "method", "length", "mcr", "train", "cases", "learned_on", "floor", "found_length", "seconds",
    "cpu", "ended", "formula", "settings", "trained_on", "tested_on", "source", "load",
)  # fmt: skip


@dataclass
class TrialLog:
    """The runs in a folder, of which only this process writes. Of two runs of a unit the later one counts."""

    folder: Path
    source: str
    """The mark of the code that runs now: what another version measured is done again, unless it is kept."""
    keep: bool = False
    runs: dict[Trial, TrialResult] = field(default_factory=dict)
    _lock: FolderLock | None = None

    __repr__ = short_repr

    @classmethod
    def open(cls, folder: Path, source: str, keep: bool = False) -> TrialLog:
        """With what earlier runs left; the folder is made where it is not there."""
        make_folder(folder)
        with writable(folder):
            ledger = cls(folder, source, keep, _lock=FolderLock(folder))
        path = folder / RUNS
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for number, line in enumerate(lines, 1):
            try:
                result = parse_result(read_json(line), ())
                unit = Trial(**{name: result.pop(name) for name in ("data", "split", "method", "length")})
                as_text(unit.data), as_text(unit.split), as_text(unit.method), as_int(unit.length)
            except (FernnError, *MALFORMED_DATA) as error:
                if number == len(lines):  # cut off while it was written
                    write_text(path, "".join(f"{complete}\n" for complete in lines[:-1]))
                    break
                raise RunError(f"{path} line {number} is no run of a comparison. Mend or remove the line.") from error
            ledger.runs[unit] = result
        return ledger

    def has(self, unit: Trial, settings: str = "") -> bool:
        """Whether the unit was measured with these settings, by this version if that matters."""
        result = self.runs.get(unit)
        if result is None or result.get("settings", "") != settings:
            return False
        return self.keep or result.get("source") == self.source

    def put(self, unit: Trial, result: TrialResult) -> None:
        record = result | {"source": self.source, "load": round(os.getloadavg()[0], 1)}
        self.runs[unit] = record
        append_line(self.folder / RUNS, json.dumps({**asdict(unit), **record}))

    def drop(self, unit: Trial) -> None:
        """Forgets what was measured earlier."""
        self.runs.pop(unit, None)

    def close(self) -> None:
        """Others may write in the folder from now on."""
        if self._lock is not None:
            self._lock.release()

    def of(self, method: str, data: str, length: int, splits: Iterable[str]) -> list[TrialResult]:
        """What was measured there, in the order of the splits."""
        results = (self.runs.get(Trial(data, split, method, length)) for split in splits)
        return [result for result in results if result is not None]

    def one(self, method: str, data: str, length: int, split: str) -> TrialResult | None:
        return next(iter(self.of(method, data, length, [split])), None)

    def uneven(self) -> list[str]:
        """The splits, as `ecg/3`, of which not all runs had the same traces; there should be none."""
        marks: dict[str, set[tuple[str, str]]] = {}
        for unit, result in self.runs.items():
            if "trained_on" in result:
                marks.setdefault(f"{unit.data}/{unit.split}", set()).add((result["trained_on"], result["tested_on"]))
        return [split for split, fingerprints in marks.items() if len(fingerprints) > 1]

    @property
    def sources(self) -> list[str]:
        return sorted({result["source"] for result in self.runs.values()})

    def write_table(self) -> Path:
        """All runs as CSV, without what does not fit in a table."""
        out = io.StringIO()
        writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for unit, result in self._in_order():
            cells = {**result, **asdict(unit)}
            writer.writerow({k: escape_cell(v) if isinstance(v, str) else v for k, v in cells.items()})
        path = self.folder / TABLE
        write_text(path, out.getvalue())
        return path

    def write_runs(self) -> None:
        """One line for each unit, in order: what was measured twice is there once."""
        write_text(self.folder / RUNS, "".join(json.dumps({**asdict(u), **f}) + "\n" for u, f in self._in_order()))

    def _in_order(self) -> Iterator[tuple[Trial, TrialResult]]:
        yield from sorted(self.runs.items(), key=lambda item: item[0])


MEASURED_SOURCE = (
    "formula", "data", "semantics", "learners", "evaluation/trials.py", "evaluation/trial_runs.py"
)  # fmt: skip
"""The code whose change makes runs old, as other settings do."""


@dataclass(frozen=True)
class TrialProgress:
    """Told after every unit."""

    unit: Trial
    found: TrialResult
    done: int
    total: int
    seconds: float

    __repr__ = short_repr

    @property
    def seconds_left(self) -> float:
        """At this pace."""
        return self.seconds / self.done * (self.total - self.done)


@dataclass(frozen=True)
class TrialsOutcome:
    """The summary of a run of trials."""

    failed: tuple[str, ...]
    """Units without a result, each with the reason."""
    interrupted: bool
    missing: int
    """Units that were not reached."""
    made: int = 0
    seconds: float = 0.0
    """How many units were made, and how long all of that took."""

    __repr__ = short_repr


def run_trials(
    units: Sequence[Trial], ledger: TrialLog, limit: float, workers: int | None = None,
    watch: Callable[[TrialProgress], None] = silent, data: Dataset | None = None,
) -> TrialsOutcome:  # fmt: skip
    """Measures what the ledger does not have; of `data`, unless units name others.

    `limit` is the time in seconds that any method has for a fit. Ctrl-C ends it; the ledger is whole at every moment.
    """
    left = [unit for unit in units if not ledger.has(unit, describe_settings(unit, limit))]
    failed: list[str] = []
    began, number, interrupted = monotonic(), 0, False
    try:
        for number, (unit, result) in enumerate(measure_all(left, limit, workers, data), 1):
            if "problem" in result:
                failed.append(f"{unit.key}: {result['problem']}")
                ledger.drop(unit)
            else:
                ledger.put(unit, result)
            watch(TrialProgress(unit, result, number, len(left), monotonic() - began))
    except KeyboardInterrupt:
        interrupted = True
    succeeded = number - len(failed)
    return TrialsOutcome(tuple(failed), interrupted, len(left) - number, succeeded, monotonic() - began)
