"""What a report says, as plain JSON: all that `report.js` shows, and nothing that depends on when it is written."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ...belief import tested
from ...belief.interval import LEVEL, of_error
from ...data import Dataset, Problem, card
from ...data.split import blocks
from ...formula import Formula, parse
from ...learners.labels import losses
from ...runs import METHODS, Job, Outcome, as_found
from ...runs.command import command
from ...runs.methods import is_weighed
from ..clock import clock
from ..thinning import spread_out
from ..view import reading, sensitivity, traces
from ..view.plain import Bools, quietly
from . import beside
from .fewer import of_reading, of_traces, shown
from .symbols import symbols
from .telling import kept_lanes, telling

MOST_CHANNELS, MOST_HISTORY, MOST_PROBLEMS = 60, 240, 60
WRONG_FIRST = 600  # wrong traces of a rule that are drawn before others
WORK = 400_000_000  # samples judged for the sensitivity of one rule; beyond, only the picked rule has one


def facts(job: Job, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """Of a run that has found something, and its data."""
    assert job.run is not None
    done = as_found(job)
    data, others = job.data, beside.rivals(job)
    rules = [parse(str(entry.formula)) for entry in done.front]
    rules += beside.unlike(others, rules)
    disputed = beside.disputed(others)
    train, held = job.parts
    test = np.zeros(len(data), dtype=bool) if held is None else np.isin(data.cases, held.cases)
    told = [reading(rule, data, test) for rule in rules]
    first = np.unique(np.concatenate([*(telling(one, data, WRONG_FIRST, 20) for one in told), disputed])).astype(
        np.int64
    )
    cases = shown(data, len(rules), first.tolist())
    from_end = clock(data, rules).from_end
    drawn = traces(data, test if held is not None else None, from_end, first=first, among=cases)
    heavy = int(data.lengths.sum()) * 12 * len(rules) > WORK
    return {
        "title": data.name,
        "measure": "share" if data.classes else "mean",
        "picked": done.front.pick,
        "front": _front(done, told),
        "rules": [
            {
                **of_reading(one, cases),
                "symbols": symbols(rule),
                "interval": _interval(rule, data, test),
                "sensitivity": sensitivity(rule, data, test)
                if k == done.front.pick or (k < len(done.front) and not heavy)
                else None,
            }
            for k, (rule, one) in enumerate(zip(rules, told, strict=True))
        ],
        "traces": of_traces(drawn, cases),
        "cases": {"all": len(data), "shown": len(cases), "learned": len(train), "tested": int(test.sum())},
        "lanes": kept_lanes(told, done.front.pick, data, cases, disputed),
        "baselines": beside.baselines(train, held, job.settings["split"]["seed"]),
        "level": LEVEL,
        "blocks": 0 if held is None else int(blocks(held).max()) + 1,
        "refusal": _refusal(done, train, held),
        "rivals": beside.of_rivals(others, cases),
        "card": _card(job),
        "problems": _problems(problems),
        "history": _history(job),
        "run": _run(done),
    }


def _front(done: Outcome, told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The errors as the learner told them, that of the test as counted on the printed formula."""
    rows = []
    for entry, one in zip(done.front, told, strict=False):  # behind them are rivals
        row = {"length": entry.length, "formula": str(entry.formula), "test": one["error"]["test"]}
        errors = {"train": entry.train, "validation": entry.validation, "spread": entry.spread}
        rows.append(row | {name: value if isfinite(value) else None for name, value in errors.items()})
    return rows


def _interval(rule: Formula, data: Dataset, test: Bools) -> tuple[float, float] | None:
    """Around the error in the test."""
    if not test.any():
        return None
    with quietly():
        lost = losses(rule, data)[test]
    return of_error(lost, data.subset(test))


def _refusal(done: Outcome, train: Dataset, held: Dataset | None) -> str | None:
    """Why the picked rule should not be used, if that is known."""
    if held is None or not train.classes:
        return None
    with quietly():
        return tested(done.front.picked.formula, train, held, is_weighed(done.job.settings)).refusal


def _card(job: Job) -> dict[str, Any]:
    told = card(job.data).to_json()
    return {**told, "channels": told["channels"][:MOST_CHANNELS], "n_channels": len(told["channels"])}


def _problems(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [
        {"severity": each.severity, "kind": each.kind, "where": each.where, "what": each.what, "fix": each.fix}
        for each in problems[:MOST_PROBLEMS]
    ]


def _history(job: Job) -> list[dict[str, Any]]:
    assert job.run is not None
    rows = job.run.history()
    names = ("seconds", "length", "train", "validation", "formula")
    return [{name: rows[k].get(name) for name in names} for k in spread_out(np.arange(len(rows)), MOST_HISTORY)]


def _run(done: Outcome) -> dict[str, Any]:
    """How it came about; the folder is not told, which may lie elsewhere tomorrow."""
    run, settings = done.job.run, done.job.settings
    assert run is not None
    method = METHODS.get(settings["method"])
    plain = {} if method is None else method.defaults
    return {
        "method": settings["method"],
        "line": "" if method is None else method.line,
        "started": run.settings.get("started"),
        "seconds": round(done.seconds, 1),
        "ended": run.ended,
        "notes": list(done.notes),
        "seed": settings["split"]["seed"],
        "settings": {k: v for k, v in settings["learner"].items() if k not in plain or v != plain[k]},
        "weighed": is_weighed(settings),
        "command": command(run.settings),
        "versions": {"fernn": run.settings.get("fernn"), **(run.settings.get("versions") or {})},
    }
