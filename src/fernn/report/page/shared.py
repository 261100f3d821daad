"""What every report says besides its rules: of the data, of the run, and how to make it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data import Problem, data_card
from ...evaluation import Detection, evaluate_outcome
from ...runs import METHODS, Job, Outcome, RulesOutcome
from ...runs.class_rules import CLASSES, TIGHTEST
from ...runs.command import command, suggestions
from ...runs.methods import is_weighed
from ..thinning import spread_out
from ..view.plain import quietly

MOST_CHANNELS, MOST_HISTORY, MOST_PROBLEMS = 60, 240, 60


def about_data(job: Job) -> dict[str, Any]:
    """The card, channels up to a number of them."""
    told = data_card(job.data).to_json()
    return {**told, "channels": told["channels"][:MOST_CHANNELS], "n_channels": len(told["channels"])}


def doubts(done: Outcome | RulesOutcome) -> dict[str, Any]:
    """Why what was found should not be used, what to try then, and of one class what is known to be caught."""
    with quietly():
        found = evaluate_outcome(done)
    refusal = None if found is None else found.refusal
    ways = suggestions(done.job.settings, done.job.data) if refusal else ()
    return {
        "refusal": refusal,
        "suggestions": f"What to try: {'; '.join(map(str, ways))}." if ways else None,
        "detection": list(found.lines()) if isinstance(found, Detection) else [],
    }


def listed(problems: Sequence[Problem]) -> list[dict[str, str]]:
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
        "ended": run.ended,
        "notes": list(getattr(done, "notes", ())),
        "seed": settings["split"]["seed"],
        "settings": {k: v for k, v in settings["learner"].items() if k not in plain or v != plain[k]},
        "weighed": is_weighed(settings),
        "command": command(run.settings),
        "versions": {"fernn": run.settings.get("fernn"), **(run.settings.get("versions") or {})},
    }
