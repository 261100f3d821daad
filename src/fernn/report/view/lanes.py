"""Every part of a rule over time, for one trace: what holds when, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Floats, Ints
from ...formula import Formula, channels, direction, parse
from ...formula.nodes import children
from ...semantics import deciding, satisfied, signals
from ..thinning import decimated
from .plain import Bools, bits, quietly, rounded, rounded_all

ALL = 720  # samples of a trace that are all sent
BINS = 120  # of one row of a longer one
TURNS = 60  # places of a longer one where a row changes its truth


def lanes(formula: Formula | str, data: Dataset, case: int) -> dict[str, Any]:
    """What `Fernn.lanes` draws: the channels that are read, then the formula and all that is inside it."""
    formula = parse(formula) if isinstance(formula, str) else formula
    trace = data.trace(case)
    one = trace[None]
    with quietly():
        values = {part: np.asarray(row[0]) for part, row in signals(formula, one, data.channels).items()}
        holds = {part: np.asarray(satisfied(part, one, data.channels, at="all")[0]) for part in values}
        decided = deciding(formula, one, data.channels)[0]
    samples = trace.shape[1]
    judged = samples - 1 if direction(formula) == "past" else 0
    read = {name: trace[data.channels.index(name)] for name in channels(formula)}
    also = [judged]
    if decided is not None:  # with its neighbours, so that a single sample is not drawn as a slope
        also += [at for at in range(decided.sample - 1, decided.sample + 2) if 0 <= at < samples]
    at = _at([*read.values(), *values.values()], list(holds.values()), also)
    return {
        "case": data.cases[case],
        "index": case % len(data),
        "length": samples,
        "at": at.tolist(),
        "channels": [{"name": name, "values": rounded_all(row[at], 5)} for name, row in read.items()],
        "rows": [
            {"text": str(part), "depth": depth, "values": rounded_all(values[part][at]), "holds": bits(holds[part][at])}
            for part, depth in _down(formula, 0)
        ],
        "verdict": {
            "sample": judged,
            "holds": bool(holds[formula][judged]),
            "robustness": rounded(float(values[formula][judged])),
        },
        "deciding": decided and {
            "sample": decided.sample,
            "channel": data.channels.index(decided.channels[0]) if len(decided.channels) == 1 else -1,
            "atom": str(decided.atom),
        },
    }  # fmt: skip


def _down(formula: Formula, depth: int) -> Iterator[tuple[Formula, int]]:
    """The formula and everything inside it, outermost first, each with how deep it lies."""
    yield formula, depth
    for child in children(formula):
        yield from _down(child, depth + 1)


def _at(rows: list[Floats], holds: list[Bools], also: list[int]) -> Ints:
    """All samples, or those of a long trace that matter: peaks of every row, and where truth changes."""
    samples = len(rows[0])
    if samples <= ALL:
        return np.arange(samples)
    kept = [decimated(row, BINS) for row in rows]
    for row in holds:
        turns = np.flatnonzero(row[1:] != row[:-1])[:TURNS]
        kept += [turns, turns + 1]
    return np.unique(np.concatenate([*kept, also]))
