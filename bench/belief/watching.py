"""Watching a rule: false alarms where nothing changes, and how soon a change is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fernn import parse
from fernn.data import load
from fernn.evaluation.drift import DriftMonitor

from ..store import Found

STREAMS, ALARM = 100, 0.05
RULE = "G (v <= 34.3)"


def units(thorough: bool) -> Iterator[list[str]]:
    yield ["nothing changes", "2% faster", "5% faster"]


def measured(unit: str) -> Found:
    """Streams of 300 traces; alarms are allowed in 5% of those where nothing changes."""
    scale = 1.0 if unit.startswith("nothing") else 1 + float(unit.partition("%")[0]) / 100
    known = load("cruise", cases=100, seed=10_000)
    wrong = _wrong(known)
    raised, after = 0, []
    for seed in range(STREAMS):
        data = load("cruise", cases=150, seed=seed)
        order = np.random.default_rng(seed).permutation(len(data))
        follow = DriftMonitor(parse(RULE), known, wrong, len(known), ALARM)
        list(follow.take(replace(data.subset(order), values=data.values[order] * scale)))
        alarms = follow.alarms
        raised += bool(alarms)
        after += [min(alarm.at for alarm in alarms) + 1] if alarms else []
    return {"raised": raised / STREAMS, "after": float(np.median(after)) if after else None}


def _wrong(data: object) -> int:
    from fernn.semantics import score

    found = score(RULE, data)  # type: ignore[arg-type]
    return found.false_good + found.false_bad


def told(unit: str, found: Found) -> str:
    return f"alarm in {found['raised']:.0%} of streams, after {found['after']} traces (median)"
