"""Runs that lie on disk: listed, opened with their data, asked for rivals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ..data import Dataset
from ..errors import FernnError, RunError
from ..learners import Front
from ..report import view
from ..report.page.shared import doubts
from ..report.view.plain import quietly
from ..report.view.rivals import gathered, proved
from ..report.view.rivals import told as rivals_told
from ..runs import Job, Run, load_result, load_rules, load_rules_result, parts, run_folders
from ..runs.command import command
from .answers import Refused
from .datasets import Datasets, Look, held_out, in_order
from .reading import as_word, checked
from .views import viewed

LETTERS = 300  # of the rules of a run in the list of runs
PATIENCE = 10.0  # seconds for proofs that rivals mean the same


def find(folder: Path, name: str) -> Run:
    """By its name, which is that of a run in the folder: names are compared, not put together to paths."""
    for place in run_folders(folder):
        if place.name == name:
            return Run.open(place)
    raise Refused(f"there is no run {name[:100]!r} in {folder}.", 404)


def listed(folder: Path) -> list[dict[str, Any]]:
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


def opened(run: Run, datasets: Datasets) -> dict[str, Any]:
    """All that a page shows of a run; `data` is None, and `problem` says why, where they are not as they were."""
    file, word, problem = where(run, datasets)
    front, rules = run.front(), None
    if word is not None and run.settings.get("classes") and run.rules() is not None:
        rules = of_classes(run, datasets.data(word))
    return {
        "run": run.folder.name, "data": word, "file": file, "problem": problem,
        "rules": rules, "front": rows(front, run.test()), "picked": None if front is None else front.pick,
        "notes": list(run.notes), "method": run.settings.get("method"), "settings": run.settings.get("learner"),
        "test": run.settings.get("split", {}).get("test"), "ended": run.ended, "seconds": run.seconds,
        "command": command(run.settings) if {"method", "learner", "split"} <= run.settings.keys() else None,
        "doubts": [] if word is None else doubts_of(run, datasets.data(word)),
    }  # fmt: skip


def where(run: Run, datasets: Datasets) -> tuple[str | None, str | None, str | None]:
    """(file, data, problem) of a run."""
    path = str(run.settings.get("file"))
    file = datasets.files.of(path)
    if file is None:
        return None, None, f"the data are not there any more: {path}. Bring them back; the formulas stand as they are."
    try:
        known = {name: value for name, value in (run.settings.get("reading") or {}).items() if name != "name"}
        reading = checked(known)
        data = datasets.look(datasets.files.find(file), reading).data
        data = None if data is None else in_order(data, run)
        if data is None:
            return file, None, f"the data cannot be read any more: {path}. Look at the file to see why."
        run.check(data)
    except (Refused, FernnError) as problem:
        return file, None, str(problem)
    return file, as_word(file, reading), None


def of_classes(run: Run, look: Look) -> dict[str, Any]:
    """The rules for classes of a run, as the page shows them."""
    assert look.data is not None
    found: dict[str, Any] = viewed(view.classes, load_rules(run)[0], in_order(look.data, run), held_out(look, run))
    return found


def doubts_of(run: Run, look: Look) -> list[str]:
    """Why the picked rule should not be relied on and what to try, and of one class what it is known to catch."""
    if look.data is None or not {"method", "learner", "split", "reading"} <= run.settings.keys():
        return []
    job = Job(in_order(look.data, run), run.settings, str(run.settings["file"]), run.settings["reading"], run)
    try:
        told = quiet(lambda: doubts(load_rules_result(job) if job.classes else load_result(job)))
    except FernnError:
        return []  # nothing was found yet
    return [line for line in (told["refusal"], told["suggestions"], *told["detection"]) if line]


def rows(front: Front | None, test: Sequence[float] | None) -> list[dict[str, Any]]:
    """The front as the page draws it: what is not known is None."""
    found = []
    for i, entry in enumerate(front or ()):
        row: dict[str, Any] = {"length": entry.length, "formula": str(entry.formula)}
        errors = {"train": entry.train, "validation": entry.validation, "spread": entry.spread}
        errors["test"] = float("nan") if test is None or i >= len(test) else test[i]
        found.append(row | {name: float(value) if isfinite(value) else None for name, value in errors.items()})
    return found


def quiet(work: Callable[..., Any], *given: Any) -> Any:
    """Without a word about what windows do at the edges of traces, and while nobody else draws."""

    def quietly_done() -> Any:
        with quietly():
            return work(*given)

    return viewed(quietly_done)


def rivals(run: Run, data: Dataset, tolerance: float | None = None) -> dict[str, Any]:
    """Formulas as good as the picked one on what was learned from: how they behave, and what they mean."""
    if "learner" not in run.settings or "split" not in run.settings:
        raise RunError(f"{run.folder.name} was not made by fernn learn: what its formulas competed for is not known.")
    if run.settings.get("classes"):
        raise Refused("rules for classes are not set beside rivals.", 409)
    if not data.classes:
        raise Refused("rivals are told apart by their verdicts; real labels have none.", 409)
    split = run.settings["split"]
    train, _ = parts(data, split["test"], split["seed"])
    found = quiet(gathered, run, train, data, tolerance)
    found = proved(found, run if tolerance is None else None, PATIENCE)  # others may draw meanwhile
    told: dict[str, Any] = quiet(rivals_told, found, train)
    return told
