"""The content of a report as plain JSON: all that `report.js` shows, and nothing that depends on when it is written.

The rules with their readings, the examples selected for each, baselines on the same split, rivals, the data, the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ...data import Dataset, Problem, data_card
from ...data.arrays import Bools, Ints
from ...data.splits import blocks
from ...errors import FernnError
from ...evaluation import Detection, evaluate_outcome, evaluate_rules
from ...evaluation.intervals import LEVEL, cluster_interval, error_interval
from ...formula import Formula, parse
from ...formula.expressions import Weights
from ...learners.base import losses
from ...learners.baselines import BASELINES
from ...learners.classes.class_rules import class_losses, labels_among
from ...runs import METHODS, Job, Outcome, RulesOutcome
from ...runs.command import command, suggestions
from ...runs.methods import is_weighed
from ...runs.plan import CLASSES, TIGHTEST
from .. import view
from ..downsample import select_cases, spread_out, subset_reading, subset_traces
from ..quantities import expressions
from ..reach import axis_for
from ..view import classes, expression_points, lanes, reading, sensitivity, traces
from ..view.class_view import RuleChoice, choices
from ..view.encoding import collect_warnings
from ..view.trace_view import BUDGET, bands
from .symbols import symbols

MOST_CHANNELS, MOST_HISTORY, MOST_PROBLEMS = 60, 240, 60


def about_data(job: Job) -> dict[str, Any]:
    """The card, channels up to a number of them."""
    told = data_card(job.data).to_json()
    return {**told, "channels": told["channels"][:MOST_CHANNELS], "n_channels": len(told["channels"])}


def doubts(done: Outcome | RulesOutcome) -> dict[str, Any]:
    """Why what was found should not be used, what to try then, and of one class what is known to be caught."""
    with collect_warnings():
        found = evaluate_outcome(done)
    refusal = None if found is None else found.refusal
    ways = suggestions(done.job.settings, done.job.data) if refusal else ()
    return {
        "refusal": refusal,
        "suggestions": f"What to try: {'; '.join(map(str, ways))}." if ways else None,
        "detection": list(found.lines()) if isinstance(found, Detection) else [],
    }


def problem_rows(problems: Sequence[Problem]) -> list[dict[str, str]]:
    """What came up in reading them."""
    return [
        {"severity": each.severity, "kind": each.kind, "where": each.where, "what": each.what, "fix": each.fix}
        for each in problems[:MOST_PROBLEMS]
    ]


def history(job: Job) -> list[dict[str, Any]]:
    """Formulas as they joined the front."""
    assert job.run is not None
    rows = job.run.history()
    names = ("seconds", "length", "train", "validation", "formula")
    return [{name: rows[k].get(name) for name in names} for k in spread_out(np.arange(len(rows)), MOST_HISTORY)]


def about_run(done: Outcome | RulesOutcome) -> dict[str, Any]:
    """How it came about; the folder is not told, which may lie elsewhere tomorrow."""
    run, settings = done.job.run, done.job.settings
    assert run is not None
    kind = done.job.classes
    method = TIGHTEST if kind == "one" else METHODS.get(settings["method"])
    plain = {} if method is None else method.defaults
    line = "" if method is None else method.line
    return {
        "method": settings["method"],
        "line": line if kind in (None, "one") else f"{CLASSES[kind]}; {line}",
        "started": run.settings.get("started"),
        "seconds": round(done.seconds, 1),
        "ended": None if done.ended == "interrupted" and run.ended is None else done.ended,
        "notes": list(getattr(done, "notes", ())),
        "seed": settings["split"]["seed"],
        "settings": {k: v for k, v in settings["learner"].items() if k not in plain or v != plain[k]},
        "weighed": is_weighed(settings),
        "command": command(run.settings),
        "versions": {"fernn": run.settings.get("fernn"), **(run.settings.get("versions") or {})},
    }


LANE_LETTERS = 360_000  # for the lanes of all rules, at most


def select_examples(told: dict[str, Any], data: Dataset, wrong: int, close: int) -> Ints:
    """At most so many cases that are wrong, the most wrong first, then the closest calls among the others.

    `told` is a reading. Where labels are real numbers those come first that are missed by most.
    """
    values = np.array([np.nan if value is None else value for value in told["robustness"]])
    if not data.classes:
        lost = np.nan_to_num(np.abs(values - data.labels), nan=np.inf)
        return np.argsort(-lost, kind="stable")[: wrong + close]
    size = np.nan_to_num(np.abs(values), nan=np.inf)
    is_wrong = (np.array(list(told["holds"])) == "1") != data.positive
    worst = np.flatnonzero(is_wrong)[np.argsort(-size[is_wrong], kind="stable")]
    nearest = np.flatnonzero(~is_wrong)[np.argsort(size[~is_wrong], kind="stable")]
    return np.concatenate([worst[:wrong], nearest[:close]])


def select_lanes(
    readings: list[dict[str, Any]], picked: int, data: Dataset, cases: Ints, wanted: Sequence[Sequence[int]]
) -> list[list[dict[str, Any]]]:
    """For each rule the lanes of the cases wanted for it, `index` their place in `cases`, as far as there is room.

    The picked rule has first call.
    """
    place = {case: i for i, case in enumerate(cases.tolist())}
    left = LANE_LETTERS
    made: list[list[dict[str, Any]]] = [[] for _ in readings]
    order = sorted(range(len(readings)), key=lambda k: k != picked)
    for k in order:
        rule: Formula = parse(readings[k]["formula"])
        room = left if k != picked else left * 2 // 3
        share = room // max(1, len(order) - 1) if k != picked else room
        for case in dict.fromkeys(wanted[k]):
            if case not in place:
                continue
            told = lanes(rule, data, case) | {"index": place[case]}
            size = len(json.dumps(told, separators=(",", ":")))
            if size > share:
                break
            made[k].append(told)
            share, left = share - size, left - size
    return made


BASELINES_SHOWN = ("majority", "1-NN")
BASELINE_WORK = 1_000_000_000  # differences of samples that 1-NN may take: some seconds
MOST_RIVALS = 5  # rivals that can be seen on the traces


def baselines(train: Dataset, held: Dataset | None, seed: int) -> list[dict[str, Any]]:
    """The test error of each, with its interval; none where nothing was kept for the test."""
    if held is None:
        return []
    if not train.classes:
        assert train.labels is not None
        assert held.labels is not None
        lost = np.abs(held.labels - np.median(train.labels))
        told = _baseline_row(
            "median", "the median label of the training traces, whatever the trace", float(lost.mean())
        )
        return [{**told, "interval": error_interval(lost, held)}]
    return [_baseline(name, train, held, seed) for name in BASELINES_SHOWN]


def _baseline(name: str, train: Dataset, held: Dataset, seed: int) -> dict[str, Any]:
    work = len(train) * len(held) * train.n_channels * int(train.lengths.max())
    if name == "1-NN" and work > BASELINE_WORK:
        return _baseline_row(name, BASELINES[name].what, None) | {
            "why": "left out: too many traces to compare each with each"
        }
    lost = (BASELINES[name].judged(train, held, seed) != held.positive).astype(np.float64)
    told = _baseline_row(name, BASELINES[name].what, float(lost.mean()))
    return told | {"interval": error_interval(lost, held), "wrong": int(lost.sum()), "count": len(held)}


BASELINE_NAMES = {"majority": "always the commonest class", "1-NN": "nearest neighbour"}
"""What baselines are called on the page."""


def _baseline_row(name: str, what: str, error: float | None) -> dict[str, Any]:
    return {"name": BASELINE_NAMES.get(name, name), "what": what, "error": error, "interval": None}


def find_rivals(job: Job) -> dict[str, Any] | None:
    """The rules that explain the data as well as the picked one, as `view.rivals` tells; None where that is not known.

    Real labels have no verdicts to tell rules apart by.
    """
    if job.run is None or not job.data.classes:
        return None
    try:
        return view.rivals(job.run, job.parts[0], job.data)
    except FernnError:
        return None


def rules_unlike(found: dict[str, Any] | None, front: Sequence[Formula]) -> list[Formula]:
    """The simplest rule of each behaviour that the front does not have, to be looked at as its rules are."""
    if found is None:
        return []
    known = {str(formula) for formula in front}
    groups = [[row["formula"] for row in group["formulas"]] for group in found["groups"]]
    return [parse(group[0]) for group in groups if not known & set(group)][:MOST_RIVALS]


def disputes(found: dict[str, Any] | None) -> list[int]:
    """The cases that rivals judge differently."""
    return [] if found is None else [each["index"] for each in found["disputed"]]


def subset_rivals(found: dict[str, Any] | None, cases: Ints) -> dict[str, Any] | None:
    """The same with the places of cases among those that the page tells of; None for a case that is not."""
    if found is None:
        return None
    place = {case: i for i, case in enumerate(cases.tolist())}
    return {**found, "disputed": [{**each, "index": place.get(each["index"])} for each in found["disputed"]]}


DISPUTED = 12  # traces that rivals dispute and that are taken apart for every rule
WRONG_FIRST = 600  # wrong traces of a rule that are drawn before others
MOST_EXPRESSIONS = 8  # of all rules of a page, such as `diff(v)`, those of the picked rule first, that are drawn
WORK = 400_000_000  # samples judged for the sensitivity of one rule; beyond, only the picked rule has one


def facts(done: Outcome, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """Of what was found in a run, and its data."""
    job = done.job
    data, others = job.data, find_rivals(job)
    rules = [parse(str(entry.formula)) for entry in done.front]
    rules += rules_unlike(others, rules)
    between = disputes(others)
    train, held = job.parts
    test = np.zeros(len(data), dtype=bool) if held is None else np.isin(data.cases, held.cases)
    told = [reading(rule, data, test) for rule in rules]
    first = np.unique([i for one in told for i in select_examples(one, data, WRONG_FIRST, 20)] + between).astype(
        np.int64
    )
    cases = select_cases(data, len(rules), first.tolist())
    from_end = axis_for(data, rules).from_end
    pick = done.front.pick
    compared = expressions([rules[pick], *rules])[:MOST_EXPRESSIONS]
    room = BUDGET * data.n_channels // (data.n_channels + len(compared))
    drawn = traces(data, test if held is not None else None, from_end, room, first, among=cases)
    wanted = [
        [*select_examples(one, data, *((24, 12) if k == pick else (8, 4))).tolist(), *between[:DISPUTED]]
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
                **subset_reading(one, cases),
                "symbols": symbols(rule),
                "interval": _error_interval(rule, data, test),
                "sensitivity": sensitivity(rule, data, test) if k in moving else None,
            }
            for k, (rule, one) in enumerate(zip(rules, told, strict=True))
        ],
        "traces": subset_traces(drawn, cases),
        "expressions": _points(compared, data, from_end, drawn["drawn"], cases, BUDGET - room),
        "cases": {"all": len(data), "shown": len(cases), "learned": len(train), "tested": int(test.sum())},
        "lanes": select_lanes(told, pick, data, cases, wanted),
        "baselines": baselines(train, held, job.settings["split"]["seed"]),
        "level": LEVEL,
        "blocks": 0 if held is None else int(blocks(held).max()) + 1,
        **doubts(done),
        "rivals": subset_rivals(others, cases),
        "card": about_data(job),
        "problems": problem_rows(problems),
        "history": history(job),
        "run": about_run(done),
    }


def _points(
    compared: list[Weights], data: Dataset, from_end: bool, drawn: list[int], cases: Ints, budget: int
) -> dict[str, Any] | None:
    """What rules compare that is no channel, for the cases that are drawn; None where there is nothing."""
    if not compared:
        return None
    with collect_warnings():
        told = expression_points(compared, data, from_end, None, drawn, budget)
    place = {case: i for i, case in enumerate(cases.tolist())}
    return {**told, "drawn": [place[case] for case in told["drawn"]]}


def _front(done: Outcome, told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The errors as the learner told them, that of the test as counted on the printed formula."""
    rows = []
    for entry, one in zip(done.front, told, strict=False):  # behind them are rivals
        row = {"length": entry.length, "formula": str(entry.formula), "test": one["error"]["test"]}
        errors = {"train": entry.train, "validation": entry.validation, "spread": entry.spread}
        rows.append(row | {name: value if isfinite(value) else None for name, value in errors.items()})
    return rows


def _error_interval(rule: Formula, data: Dataset, test: Bools) -> tuple[float, float] | None:
    """Around the error in the test."""
    if not test.any():
        return None
    with collect_warnings():
        lost = losses(rule, data)[test]
    return error_interval(lost, data.subset(test))


CLASS_WRONG_FIRST = 600  # wrong traces of a rule that are drawn before others


def class_facts(done: RulesOutcome, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """Of rules for classes that were found in a run, and its data."""
    job = done.job
    data, rules, (train, held) = job.data, done.rules, job.parts
    test = None if held is None else np.isin(data.cases, held.cases)
    seen = choices(rules, data)
    told = [reading(each.formula, each.data, test) for each in seen]
    wanted = [_select_class_examples(rules, data, each, one) for each, one in zip(seen, told, strict=True)]
    first = np.unique(
        np.concatenate([np.zeros(0, np.int64), *(each[:CLASS_WRONG_FIRST] for each in wanted)]).astype(np.int64)
    )
    cases = select_cases(data, max(1, len(seen)), first.tolist())
    from_end = axis_for(data, [each.formula for each in seen]).from_end if seen else False
    compared = expressions(each.formula for each in seen)[:MOST_EXPRESSIONS]
    room = BUDGET * data.n_channels // (data.n_channels + len(compared))
    drawn = traces(data, test, from_end, room, first, among=cases)
    about = classes(rules, data, test)
    return {
        "title": data.name,
        "measure": "share",
        "classes": about,
        "text": about["text"],
        "picked": about["pick"],
        "front": [],
        "rules": [
            {**subset_reading(one, cases), "symbols": symbols(each.formula), "sensitivity": None, "interval": None}
            for each, one in zip(seen, told, strict=True)
        ],
        "traces": subset_traces(drawn, cases),
        "expressions": _points(compared, data, from_end, drawn["drawn"], cases, BUDGET - room),
        "views": [_labels(each, rules, data, from_end, cases) for each in seen],
        "cases": {"all": len(data), "shown": len(cases), "learned": done.cases[0], "tested": done.cases[1]},
        "lanes": select_lanes(told, about["pick"], data, cases, [each[:36].tolist() for each in wanted]) or [[]],
        "interval": _class_error_interval(rules, data, test),
        "guess": _guess(rules, train, held),
        **doubts(done),
        "baselines": [],
        "blocks": 0 if held is None else int(blocks(held).max()) + 1,
        "level": LEVEL,
        "rivals": None,
        "card": about_data(job),
        "problems": problem_rows(problems),
        "history": [],
        "run": about_run(done),
    }


def _labels(each: RuleChoice, rules: Any, data: Dataset, from_end: bool, cases: Any) -> dict[str, Any]:
    """What takes the place of labels and bands in the payload of the traces, when this rule is looked at."""
    good = "".join("01"[int(value)] for value in each.data.positive[cases]) if len(each.data.classes) == 2 else None
    ranks = labels_among(data, rules.classes)[cases].tolist() if rules.kind == "ranked" else None
    names = list(each.data.classes) if good is not None else []
    drawn = [bands(each.data, channel, from_end) for channel in range(data.n_channels)]
    return {"good": good, "classes": names, "bands": drawn, "labels": ranks}


def _select_class_examples(rules: Any, data: Dataset, each: RuleChoice, told: dict[str, Any]) -> Any:
    """Cases that the rule gets wrong, then close calls; of ranks those that get another one."""
    if each.data.classes:
        return select_examples(told, each.data, CLASS_WRONG_FIRST, 12)
    wrong = np.flatnonzero(rules.classify(data) != labels_among(data, rules.classes))
    return np.concatenate([wrong, np.setdiff1d(np.arange(len(data)), wrong)[:12]])


def _class_error_interval(rules: Any, data: Dataset, test: Bools | None) -> tuple[float, float] | None:
    """Around the share of traces that get another class, in the test."""
    if test is None:
        return None
    held = data.subset(test)
    with collect_warnings():
        return cluster_interval(class_losses(rules, held), blocks(held))


def _guess(rules: Any, train: Dataset, held: Dataset | None) -> float | None:
    """The error of always saying the most common class."""
    return None if held is None or rules.kind == "one" else evaluate_rules(rules, train, held).guess
