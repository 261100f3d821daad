"""What learning found: a table for people, one object for programs, and what to type next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .output import counted, table
from .progress import clock

if TYPE_CHECKING:
    from ..data import Dataset
    from ..evaluation import HoldoutTest
    from ..formula import Formula
    from ..learners import Front
    from ..runs import Job, Outcome
    from ..runs.command import Suggestion

MEASURES = {"mcr": "share of traces judged wrongly", "mae": "mean absolute error"}


def printed(done: Outcome, picture: str = "", report: Path | None = None) -> str:
    """The front from simple to accurate, the picked rule in words, and the next commands."""
    said = sentence(done, done.front.picked.formula)
    found = front_table(done.front, done.test)
    doubt = refusal(done)
    doubts = [doubt, *to_try(done.job), ""] if doubt else []
    lines = [found, "", said, "", *doubts, *([picture, ""] if picture else [])]
    lines += [*_notes(done, report), "", "next:"]
    return "\n".join([*lines, *(f"  {command}" for command in commands(done))])


def told(done: Outcome, report: Path | None = None) -> dict[str, Any]:
    """All of it as plain data."""
    rows = done.front.to_json()["entries"]
    for i, (row, entry) in enumerate(zip(rows, done.front, strict=True)):
        row |= {"test": None if done.test is None else done.test[i], "picked": i == done.front.pick}
        row["sentence"] = sentence(done, entry.formula)
    picked = rows[done.front.pick]
    beside = judged(done)
    return {
        "formula": picked["formula"],
        "sentence": picked["sentence"],
        "front": rows,
        "measure": _measure(done),
        "learned_on": done.cases[0],
        "tested_on": done.cases[1],
        "seed": done.job.settings["split"]["seed"],
        "tested": None if beside is None else beside.to_json(),
        "refusal": None if beside is None else beside.refusal,
        "suggestions": told_suggestions(done.job) if beside is not None and beside.refusal else [],
        "notes": list(done.notes),
        "ended": done.ended,
        "seconds": round(done.seconds, 3),
        "run": None if done.job.run is None else str(done.job.run.folder),
        "report": None if report is None else str(report),
        "resume": resume_command(done),
        "next": commands(done),
    }


def judged(done: Outcome) -> HoldoutTest | None:
    """The picked rule beside chance and guessing; None without a test, or with real labels."""
    from ..evaluation import HoldoutTest, evaluate_outcome

    found = evaluate_outcome(done)
    return found if isinstance(found, HoldoutTest) else None


def to_try(job: Job) -> list[str]:
    """What to try where nothing better than chance is shown, each as a command to paste."""
    lines = ["What to try, one at a time:"]
    for each in suggestions_of(job):
        lines += [f"- {each.what}", *([f"    {each.command}"] if each.command else [])]
    return [
        *lines,
        "The more is tried, the likelier something fits by chance: check what you find on runs recorded later.",
    ]


def suggestions_of(job: Job) -> tuple[Suggestion, ...]:
    from ..runs.command import suggestions

    return suggestions(job.settings, job.data, job.file)


def told_suggestions(job: Job) -> list[dict[str, str | None]]:
    return [each.to_json() for each in suggestions_of(job)]


def refusal(done: Outcome) -> str | None:
    """Why the picked rule should not be used; None if no reason is known."""
    beside = judged(done)
    return None if beside is None else beside.refusal


def front_table(front: Front, test: Sequence[float] | None) -> str:
    """A row a formula, an arrow before the picked one."""
    rows = []
    for i, entry in enumerate(front):
        mark = "->" if i == front.pick else ""
        tested = [] if test is None else [_short(test[i])]
        checked = "-" if isnan(entry.validation) else f"{_short(entry.validation)} ± {_short(entry.spread)}"
        rows.append([mark, str(entry.length), _short(entry.train), checked, *tested, str(entry.formula)])
    return table(["", "length", "train", "validation", *([] if test is None else ["test"]), "formula"], rows)


def sentence(done: Outcome, formula: Formula) -> str:
    from ..formula import to_sentence

    return to_sentence(formula, done.job.data.dt, done.job.data.time_unit)


def resume_command(done: Outcome) -> str | None:
    """How to go on, when there is something left to do."""
    if done.ended == "done" or done.job.run is None:
        return None
    from ..runs import resume_command as resume

    return resume(done.job.run.folder)


def commands(done: Outcome) -> list[str]:
    """What to type next, each as it stands."""
    from ..data import suggest_command

    rule, file, read = str(done.front.picked.formula), done.job.file, done.job.reading
    return [
        suggest_command("eval", [rule, file], read),
        suggest_command("explain", [rule, file], read, ["--case", _telling_case(done)]),
        *live_commands(rule, done.job.data, read),
    ]


def live_commands(rule: str, data: Dataset, reading: Mapping[str, object], every: bool = False) -> list[str]:
    """How to run a learned rule on samples as they come, told how far apart they are."""
    from ..data import suggest_command

    clock = {"dt": data.dt, "unit": data.time_unit} if data.dt is not None else {}
    return [
        suggest_command("monitor", [rule], reading, ["--every"] if every else []),
        suggest_command("export", [rule], {**reading, **clock}, ["--to", "c", "-o", "monitor.c"]),
    ]


def _telling_case(done: Outcome) -> str:
    """A trace that is judged wrongly, or the one that is furthest from satisfying the rule."""
    from ..semantics import robustness, satisfied

    rule, data = str(done.front.picked.formula), done.job.data
    values = robustness(rule, data)
    if not data.classes:
        return data.cases[int(abs(values - data.labels).argmax())]
    wrong = satisfied(rule, data) != data.positive
    return data.cases[int(wrong.argmax() if wrong.any() else values.argmin())]


def _notes(done: Outcome, report: Path | None) -> list[str]:
    learned, tested = done.cases
    on = f"learned on {counted(learned, 'trace')} in {clock(done.seconds)}"
    lines = [f"{on}, tested on {tested} others" if tested else f"{on}; no test error is known (--test 0)"]
    rule = (
        "; -> the least in training, as no validation was made"
        if isnan(done.front.picked.validation)
        else "; -> the simplest within one standard error of the best validation"
    )
    lines.append(f"error: {MEASURES[_measure(done)]}{rule}")
    lines += done.notes
    if done.job.run is not None:
        lines.append(f"run: {done.job.run.folder}")
    if report is not None:
        lines.append(f"report: {report}")
    why = {"interrupted": "interrupted, the best so far is kept", "time limit": "stopped at the time limit"}
    if done.ended in why:
        go_on = resume_command(done)
        lines.append(why[done.ended] + (f"; to go on: {go_on}" if go_on else ""))
    return lines


def _measure(done: Outcome) -> str:
    return "mcr" if done.job.data.classes else "mae"


def _short(value: float) -> str:
    return f"{value:.4f}"
