"""What a report says, as plain JSON: all that `report.js` shows, and nothing that depends on when it is written."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ...data import Dataset, Problem
from ...data.splits import blocks
from ...evaluation.intervals import LEVEL, error_interval
from ...formula import Formula, parse
from ...learners.labels import losses
from ...runs import Job, Outcome, load_result
from ..clock import clock
from ..view import reading, sensitivity, traces
from ..view.plain import Bools, quietly
from . import beside, shared
from .fewer import of_reading, of_traces, shown
from .symbols import symbols
from .telling import kept_lanes, telling

DISPUTED = 12  # traces that rivals dispute and that are taken apart for every rule
WRONG_FIRST = 600  # wrong traces of a rule that are drawn before others
WORK = 400_000_000  # samples judged for the sensitivity of one rule; beyond, only the picked rule has one


def facts(job: Job, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """Of a run that has found something, and its data."""
    assert job.run is not None
    done = load_result(job)
    data, others = job.data, beside.rivals(job)
    rules = [parse(str(entry.formula)) for entry in done.front]
    rules += beside.unlike(others, rules)
    disputed = beside.disputed(others)
    train, held = job.parts
    test = np.zeros(len(data), dtype=bool) if held is None else np.isin(data.cases, held.cases)
    told = [reading(rule, data, test) for rule in rules]
    first = np.unique([i for one in told for i in telling(one, data, WRONG_FIRST, 20)] + disputed).astype(np.int64)
    cases = shown(data, len(rules), first.tolist())
    from_end = clock(data, rules).from_end
    drawn = traces(data, test if held is not None else None, from_end, first=first, among=cases)
    pick = done.front.pick
    wanted = [
        [*telling(one, data, *((24, 12) if k == pick else (8, 4))).tolist(), *disputed[:DISPUTED]]
        for k, one in enumerate(told)
    ]
    heavy = int(data.lengths.sum()) * 12 * len(rules) > WORK
    moving = [pick] if heavy else range(len(done.front))
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
                "sensitivity": sensitivity(rule, data, test) if k in moving else None,
            }
            for k, (rule, one) in enumerate(zip(rules, told, strict=True))
        ],
        "traces": of_traces(drawn, cases),
        "cases": {"all": len(data), "shown": len(cases), "learned": len(train), "tested": int(test.sum())},
        "lanes": kept_lanes(told, pick, data, cases, wanted),
        "baselines": beside.baselines(train, held, job.settings["split"]["seed"]),
        "level": LEVEL,
        "blocks": 0 if held is None else int(blocks(held).max()) + 1,
        **shared.doubts(done),
        "rivals": beside.of_rivals(others, cases),
        "card": shared.about_data(job),
        "problems": shared.listed(problems),
        "history": shared.history(job),
        "run": shared.about_run(done),
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
    return error_interval(lost, data.subset(test))
