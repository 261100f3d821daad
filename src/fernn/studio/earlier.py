"""Runs that lie on disk: listed, opened with their data, asked for rivals."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ..data import Dataset
from ..errors import FernnError, RunError
from ..formula import length
from ..learners import Front
from ..runs import Run, error, parts, run_folders
from ..runs.command import command
from ..runs.rivals import candidates
from ..semantics import satisfied
from .answers import Refused
from .datasets import Datasets
from .reading import as_word, checked

MOST = 200  # rivals


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
        except (FernnError, OSError, KeyError, TypeError, AttributeError) as problem:
            row["problem"] = f"{place.name} cannot be read ({problem})"
        rows.append(row)
    return rows


def opened(run: Run, datasets: Datasets) -> dict[str, Any]:
    """All that a page shows of a run; `data` is None, and `problem` says why, where they are not as they were."""
    file, word, problem = where(run, datasets)
    front = run.front()
    return {
        "run": run.folder.name, "data": word, "file": file, "problem": problem,
        "front": rows(front, run.test()), "picked": None if front is None else front.pick,
        "notes": list(run.notes), "method": run.settings.get("method"), "settings": run.settings.get("learner"),
        "test": run.settings.get("split", {}).get("test"), "ended": run.ended, "seconds": run.seconds,
        "command": command(run.settings) if {"method", "learner", "split"} <= run.settings.keys() else None,
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
        if data is None:
            return file, None, f"the data cannot be read any more: {path}. Look at the file to see why."
        run.check(data)
    except (Refused, FernnError) as problem:
        return file, None, str(problem)
    return file, as_word(file, reading), None


def rows(front: Front | None, test: Sequence[float] | None) -> list[dict[str, Any]]:
    """The front as the page draws it: what is not known is None."""
    found = []
    for i, entry in enumerate(front or ()):
        row: dict[str, Any] = {"length": entry.length, "formula": str(entry.formula)}
        errors = {"train": entry.train, "validation": entry.validation, "spread": entry.spread}
        errors["test"] = float("nan") if test is None or i >= len(test) else test[i]
        found.append(row | {name: float(value) if isfinite(value) else None for name, value in errors.items()})
    return found


def rivals(run: Run, data: Dataset) -> dict[str, Any]:
    """Formulas as good as the picked one on what was learned from, those of equal verdicts in one group."""
    if "learner" not in run.settings or "split" not in run.settings:
        raise RunError(f"{run.folder.name} was not made by fernn learn: what its formulas competed for is not known.")
    split = run.settings["split"]
    train, _ = parts(data, split["test"], split["seed"])
    found, are_all = candidates(run, train)
    groups: dict[bytes, int] = {}
    told = []
    for formula in found[:MOST]:
        group = groups.setdefault(satisfied(formula, data).tobytes(), len(groups))
        row = {"formula": str(formula), "error": error(formula, train), "length": length(formula), "group": group}
        told.append(row)
    return {"rivals": told, "complete": are_all and len(found) <= MOST, "told": _told(len(found), len(groups), are_all)}


def _told(count: int, groups: int, are_all: bool) -> str:
    """How much the list says, in a sentence or two."""
    some = "formula explains" if count == 1 else "formulas explain"
    text = f"{count} {some} the data as well as the best does"
    text += f", the first {MOST} are listed" if count > MOST else ""
    text += f"; on all the traces they give {groups} different verdicts. " if groups > 1 else ". "
    return text + ("There are no others in the space searched." if are_all else "There may be others.")
