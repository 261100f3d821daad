"""What a report says of rules for classes: the same page, with a rule a class and the labels that each tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data import Dataset, Problem
from ...data.splits import blocks
from ...evaluation import evaluate_rules
from ...evaluation.intervals import LEVEL, clustered_interval
from ...learners.classes.rules import known_labels
from ...runs import Job, load_rules_result
from ..clock import clock
from ..view import classes, reading, traces
from ..view.classes import Choice, choices
from ..view.plain import Bools, quietly
from ..view.traces import bands
from . import shared
from .fewer import of_reading, of_traces, shown
from .symbols import symbols
from .telling import kept_lanes, telling

FIRST = 600  # wrong traces of a rule that are drawn before others


def class_facts(job: Job, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """Of a run with rules for classes, and its data."""
    done = load_rules_result(job)
    data, rules, (train, held) = job.data, done.rules, job.parts
    test = None if held is None else np.isin(data.cases, held.cases)
    seen = choices(rules, data)
    told = [reading(each.formula, each.data, test) for each in seen]
    wanted = [_telling(rules, data, each, one) for each, one in zip(seen, told, strict=True)]
    first = np.unique(np.concatenate([np.zeros(0, np.int64), *(each[:FIRST] for each in wanted)]).astype(np.int64))
    cases = shown(data, max(1, len(seen)), first.tolist())
    from_end = clock(data, [each.formula for each in seen]).from_end if seen else False
    drawn = of_traces(traces(data, test, from_end, first=first, among=cases), cases)
    about = classes(rules, data, test)
    return {
        "title": data.name,
        "measure": "share",
        "classes": about,
        "text": about["text"],
        "picked": about["pick"],
        "front": [],
        "rules": [
            {**of_reading(one, cases), "symbols": symbols(each.formula), "sensitivity": None, "interval": None}
            for each, one in zip(seen, told, strict=True)
        ],
        "traces": drawn,
        "views": [_labels(each, rules, data, from_end, cases) for each in seen],
        "cases": {"all": len(data), "shown": len(cases), "learned": done.cases[0], "tested": done.cases[1]},
        "lanes": kept_lanes(told, about["pick"], data, cases, [each[:36].tolist() for each in wanted]) or [[]],
        "interval": _interval(rules, data, test),
        "guess": _guess(rules, train, held),
        **shared.doubts(done),
        "baselines": [],
        "blocks": 0 if held is None else int(blocks(held).max()) + 1,
        "level": LEVEL,
        "rivals": None,
        "card": shared.about_data(job),
        "problems": shared.listed(problems),
        "history": [],
        "run": shared.about_run(done),
    }


def _labels(each: Choice, rules: Any, data: Dataset, from_end: bool, cases: Any) -> dict[str, Any]:
    """What takes the place of labels and bands in the payload of the traces, when this rule is looked at."""
    good = "".join("01"[int(value)] for value in each.data.positive[cases]) if len(each.data.classes) == 2 else None
    ranks = known_labels(data, rules.classes)[cases].tolist() if rules.kind == "ranked" else None
    names = list(each.data.classes) if good is not None else []
    drawn = [bands(each.data, channel, from_end) for channel in range(data.n_channels)]
    return {"good": good, "classes": names, "bands": drawn, "labels": ranks}


def _telling(rules: Any, data: Dataset, each: Choice, told: dict[str, Any]) -> Any:
    """Cases that the rule gets wrong, then close calls; of ranks those that get another one."""
    if each.data.classes:
        return telling(told, each.data, FIRST, 12)
    wrong = np.flatnonzero(rules.classify(data) != known_labels(data, rules.classes))
    return np.concatenate([wrong, np.setdiff1d(np.arange(len(data)), wrong)[:12]])


def _interval(rules: Any, data: Dataset, test: Bools | None) -> tuple[float, float] | None:
    """Around the share of traces that get another class, in the test."""
    if test is None:
        return None
    held = data.subset(test)
    with quietly():
        if rules.kind == "one":
            wanted = held.positive if len(held.classes) == 2 else np.ones(len(held), bool)
            lost = (rules.classify(held) == 1) != wanted
        else:
            lost = rules.classify(held) != known_labels(held, rules.classes)
    return clustered_interval(lost.astype(np.float64), blocks(held))


def _guess(rules: Any, train: Dataset, held: Dataset | None) -> float | None:
    """The error of always saying the most common class."""
    return None if held is None or rules.kind == "one" else evaluate_rules(rules, train, held).guess
