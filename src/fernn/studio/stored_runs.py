"""Runs on disk as pages show them: listed, opened with their data, drawn one at a time, asked for rivals.

The warnings of a formula are caught for the whole process, not for one thread: hence one drawing at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..data import Dataset, from_arrays
from ..errors import FernnError, RunError
from ..evaluation import relate, sufficient_length
from ..formula import Formula
from ..learners import Front
from ..report import view
from ..report.page.facts import doubts
from ..report.view.encoding import collect_warnings
from ..report.view.rival_view import find_question, gather_rivals, prove_meanings, rivals_to_json, synthetic_lanes
from ..runs import Job, Run, load_result, load_rules, parts, run_folders
from ..runs.command import command
from .data_files import CachedRead, DatasetCache, check_reading, data_id, in_order, test_mask
from .json_api import Refused, field

LENGTH, LONGEST = 20, 60
"""Samples of the traces on which two formulas are compared, unless asked otherwise, and at most."""
PATIENCE = 20.0
"""Seconds for the proof."""
_drawing = Lock()


def draw_alone(what: Callable[..., Any], *given: Any) -> Any:
    """One of `traces`, `reading`, `lanes`, `sensitivity`, of these."""
    with _drawing, np.errstate(all="ignore"):
        return what(*given)


def draw_recording(what: Callable[..., Any], *given: Any) -> Any:
    """One of `traces` and `part`: no formula is judged, so nobody is waited for who compiles or judges one."""
    with np.errstate(all="ignore"):
        return what(*given)


def differences(a: str, b: str, data: Dataset) -> list[dict[str, Any]]:
    """The cases of which two readings say different things: `a` and `b` are their `holds`."""
    good = data.positive.tolist() if len(data.classes) == 2 else [None] * len(data)
    both = enumerate(zip(a, b, strict=True))
    return [{"index": i, "a": x == "1", "b": y == "1", "good": good[i]} for i, (x, y) in both if x != y]


def equivalence(a: Formula, b: Formula, given: dict[str, Any], data: Dataset) -> dict[str, Any]:
    """Whether two formulas say the same of all traces up to a length; else the shortest traces that show it, drawn."""
    samples = field({"length": min(LONGEST, max(LENGTH, sufficient_length(a, b))), **given}, "length", int)
    if not 1 <= samples <= LONGEST:
        raise Refused(f"'length' is of the longest traces to look at, from 1 to {LONGEST}; found {str(samples)[:30]}.")
    found = relate(a, b, samples, data.ranges, PATIENCE)
    sides = (("only_first", found.only_first), ("only_second", found.only_second))
    return {
        "relation": found.word, "told": ". ".join([str(found), *found.caveats]), "length": found.length or None,
        "a": str(a), "b": str(b),
        "traces": [
            {
                "only": side, "samples": int(trace.shape[1]),
                "lanes": draw_alone(
                    synthetic_lanes, (a, b), trace, found.channels, f"a trace of {trace.shape[1]} samples", data
                ),
            }
            for side, trace in sides
            if trace is not None
        ],
    }  # fmt: skip


def warm_up() -> None:
    """Has the kernels compiled, or read from disk, before somebody waits for them."""
    draw_alone(view.reading, "G (x <= 0)", from_arrays(np.zeros((2, 1, 3)), np.array([0, 1])))


LETTERS = 300  # of the rules of a run in the list of runs
RIVALS_PATIENCE = 10.0  # seconds for proofs that rivals mean the same


def find_run(folder: Path, name: str) -> Run:
    """By its name, which is that of a run in the folder: names are compared, not put together to paths."""
    for place in run_folders(folder):
        if place.name == name:
            return Run.open(place)
    raise Refused(f"there is no run {name[:100]!r} in {folder}.", 404)


def list_runs(folder: Path) -> list[dict[str, Any]]:
    """A row a run, the latest first; what cannot be read says so in the place of its formula."""
    rows = []
    for place in run_folders(folder):
        row: dict[str, Any] = {"run": place.name, "data": None, "method": None, "started": None, "formula": None}
        row |= {"ended": None, "problem": None}
        try:
            run = Run.open(place)
            row |= {"data": run.settings["data"].get("name"), "method": run.settings.get("method")}
            front = run.front()
            row |= {"started": run.settings.get("started"), "ended": run.ended}
            row["formula"] = None if front is None else str(front.picked.formula)
            if run.settings.get("classes") and run.rules() is not None:
                row["formula"] = "; ".join(str(load_rules(run)[0]).splitlines())[:LETTERS]
        except (FernnError, OSError, KeyError, TypeError, AttributeError) as problem:
            row["problem"] = f"{place.name} cannot be read ({problem})"
        rows.append(row)
    return rows


def open_run(run: Run, datasets: DatasetCache) -> dict[str, Any]:
    """All that a page shows of a run; `data` is None, and `problem` says why, where they are not as they were."""
    file, word, problem = locate_data(run, datasets)
    front, rules = run.front(), None
    if word is not None and run.settings.get("classes") and run.rules() is not None:
        rules = class_rules(run, datasets.data(word))
    return {
        "run": run.folder.name, "data": word, "file": file, "problem": problem,
        "rules": rules, "front": front_rows(front, run.test()), "picked": None if front is None else front.pick,
        "notes": list(run.notes), "method": run.settings.get("method"), "settings": run.settings.get("learner"),
        "test": run.settings.get("split", {}).get("test"), "ended": run.ended, "seconds": run.seconds,
        "command": command(run.settings) if {"method", "learner", "split"} <= run.settings.keys() else None,
        "doubts": [] if word is None else doubts_of(run, datasets.data(word)),
    }  # fmt: skip


def locate_data(run: Run, datasets: DatasetCache) -> tuple[str | None, str | None, str | None]:
    """(file, data, problem) of a run."""
    path = str(run.settings.get("file"))
    file = datasets.files.of(path)
    if file is None:
        return None, None, f"the data are not there any more: {path}. Bring them back; the formulas stand as they are."
    try:
        known = {name: value for name, value in (run.settings.get("reading") or {}).items() if name != "name"}
        reading = check_reading(known)
        data = datasets.look(datasets.files.find(file), reading).data
        data = None if data is None else in_order(data, run)
        if data is None:
            return file, None, f"the data cannot be read any more: {path}. Look at the file to see why."
        run.check(data)
    except (Refused, FernnError) as problem:
        return file, None, str(problem)
    return file, data_id(file, reading), None


def class_rules(run: Run, look: CachedRead) -> dict[str, Any]:
    """The rules for classes of a run, as the page shows them."""
    assert look.data is not None
    found: dict[str, Any] = draw_alone(view.classes, load_rules(run)[0], in_order(look.data, run), test_mask(look, run))
    return found


def doubts_of(run: Run, look: CachedRead) -> list[str]:
    """Why the picked rule should not be relied on and what to try, and of one class what it is known to catch."""
    if look.data is None or not {"method", "learner", "split", "reading"} <= run.settings.keys():
        return []
    job = Job(in_order(look.data, run), run.settings, str(run.settings["file"]), run.settings["reading"], run)
    try:
        told = draw_quietly(lambda: doubts(load_result(job)))
    except FernnError:
        return []  # nothing was found yet
    return [line for line in (told["refusal"], told["suggestions"], *told["detection"]) if line]


def front_rows(front: Front | None, test: Sequence[float] | None) -> list[dict[str, Any]]:
    """The front as the page draws it: what is not known is None."""
    found = []
    for i, entry in enumerate(front or ()):
        row: dict[str, Any] = {"length": entry.length, "formula": str(entry.formula)}
        errors = {"train": entry.train, "validation": entry.validation, "spread": entry.spread}
        errors["test"] = float("nan") if test is None or i >= len(test) else test[i]
        found.append(row | {name: float(value) if isfinite(value) else None for name, value in errors.items()})
    return found


def draw_quietly(work: Callable[..., Any], *given: Any) -> Any:
    """Without a word about what windows do at the edges of traces, and while nobody else draws."""

    def quietly_done() -> Any:
        with collect_warnings():
            return work(*given)

    return draw_alone(quietly_done)


def describe_rivals(run: Run, data: Dataset, tolerance: float | None = None) -> dict[str, Any]:
    """Formulas as good as the picked one on what was learned from: how they behave, and what they mean."""
    if "learner" not in run.settings or "split" not in run.settings:
        raise RunError(f"{run.folder.name} was not made by fernn learn: what its formulas competed for is not known.")
    if run.settings.get("classes"):
        raise Refused("rules for classes are not set beside rivals.", 409)
    if not data.classes:
        raise Refused("rivals are told apart by their verdicts; real labels have none.", 409)
    split = run.settings["split"]
    train, _ = parts(data, split["test"], split["seed"])
    found = draw_quietly(gather_rivals, run, train, data, tolerance)
    kept = run if tolerance is None else None
    found = prove_meanings(found, kept, RIVALS_PATIENCE)  # others may draw meanwhile
    question = draw_quietly(find_question, found, kept)
    told: dict[str, Any] = draw_quietly(rivals_to_json, found, train, question)
    return told
