"""One rule on the data: verdicts, robustness, errors, witnesses; its subformulas over time; its sensitivity."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats, Ints
from ...evaluation.vacuity import ThresholdVerdicts, atom_range, bracket, last_equal_threshold, select_traces
from ...formula import Atom, Formula, channels, direction, length, parse, thresholds, to_sentence, walk, with_thresholds
from ...formula.export import to_latex
from ...formula.expressions import Weights
from ...formula.measures import quantity
from ...formula.nodes import children
from ...formula.printer import format_sum
from ...semantics import Witness, deciding, robustness, satisfied, signals
from ...semantics.function_windows import channel_reach, channel_spans, function_windows
from ...semantics.packed_traces import time_step
from ...semantics.robustness import quantity_values
from ...semantics.running_metrics import score_verdicts
from ..downsample import decimate
from ..quantities import (
    channel_quantity,
    expression_traces,
    expressions,
    finite_rows,
    is_channel,
    quantity_name,
    quantity_rows,
)
from ..reach import axis_for, marks, merge_ranges, reach, time_axis
from ..witness_matrix import find_witnesses
from .encoding import bits, collect_warnings, round_all, round_digits
from .trace_view import expression_ranges

PARTS = ("train", "test", "all")


def reading(formula: Formula | str, data: Dataset, test: Bools | None = None) -> dict[str, Any]:
    """What pages show of a rule. `test`: which cases are kept for the test; None where there is no such part."""
    formula = parse(formula) if isinstance(formula, str) else formula
    with collect_warnings() as told:
        values = np.asarray(robustness(formula, data))
        holds = np.asarray(satisfied(formula, data))
        atom, sample = find_witnesses(formula, data)
        shown = _Quantities(formula, data)
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    places = np.array([shown.place(each) for each in atoms] + [-1])  # the last one for an atom of -1
    return {
        "formula": str(formula),
        "sentence": to_sentence(formula, data.dt, data.time_unit),
        "latex": to_latex(formula),
        "length": length(formula),
        "direction": direction(formula),
        "holds": bits(holds),
        "robustness": round_all(values),
        "score": scores(holds, data, test),
        "error": errors(holds, values, data, test),
        "atoms": [str(each) for each in atoms],
        "deciding": {
            "atom": atom.tolist(), "channel": places[atom].tolist(), "sample": sample.tolist(),
            "value": shown.values(places[atom].tolist(), sample.tolist()),
        },
        "expressions": [] if shown.computed is None else expression_ranges(shown.computed),
        "read": [data.channels.index(name) for name in channels(formula)],
        "windows": [_window(each, data) for each in atoms],
        "thresholds": [
            {"value": each.threshold, "text": str(each), "channel": shown.place(each), "weight": quantity(each)[1]}
            for each in atoms
        ],
        "marks": _marks(formula, data, shown),
        "notes": told,
    }  # fmt: skip


class _Quantities:
    """What the atoms compare, by number: the channels of the data, then the expressions of the rule."""

    def __init__(self, formula: Formula, data: Dataset) -> None:
        self.data, self.compared = data, expressions([formula])
        self.computed = expression_traces(data, self.compared) if self.compared else None

    def place(self, atom: Atom) -> int:
        compared, _ = quantity(atom)
        if is_channel(compared):
            return self.data.channels.index(quantity_name(compared))
        return self.data.n_channels + self.compared.index(compared)

    def values(self, places: list[int], samples: list[int]) -> list[float | None]:
        """What was read at the deciding samples; a page has not all samples of a long trace."""
        found = zip(range(len(self.data)), places, samples, strict=True)
        return [round_digits(self._row(case, place)[at], 6) if place >= 0 else None for case, place, at in found]

    def _row(self, case: int, place: int) -> Floats:
        width = self.data.n_channels
        if self.computed is None or place < width:
            return np.asarray(self.data.values[case][place])
        return np.asarray(self.computed.data.values[case][place - width])


def _window(atom: Atom, data: Dataset) -> dict[int, list[int | None]]:
    """By channel, from how many samples before the deciding one to how many it is read; None: from the start."""
    found = channel_reach(atom, time_step(data.dt, data.time_unit)).items()
    return {
        data.channels.index(name): [None if isinf(far) else int(far), near] for name, (far, near) in found if far > near
    }


def scores(holds: Bools, data: Dataset, test: Bools | None) -> dict[str, Any] | None:
    """Right and wrong verdicts in each part of the data; None without two classes."""
    if len(data.classes) != 2:
        return None
    good = data.positive
    made: dict[str, Any] = {}
    for name, part in _parts(len(data), test).items():
        count = None if part is None else score_verdicts(holds[part], good[part])
        made[name] = count and {
            "true_good": count.true_good, "false_good": count.false_good,
            "true_bad": count.true_bad, "false_bad": count.false_bad,
        }  # fmt: skip
    return made


def errors(holds: Bools, values: Floats, data: Dataset, test: Bools | None) -> dict[str, float | None] | None:
    """The share judged wrongly, or for real labels the mean absolute error; None without labels to compare with."""
    if data.labels is None or len(data.classes) not in (0, 2):
        return None
    lost = (holds != data.positive).astype(float) if data.classes else np.abs(values - data.labels)
    means = {name: None if part is None else float(lost[part].mean()) for name, part in _parts(len(data), test).items()}
    return {name: mean if mean is None or np.isfinite(mean) else None for name, mean in means.items()}


def _parts(count: int, test: Bools | None) -> dict[str, Bools | None]:
    """The cases of each part; None for a part that is not there."""
    every = np.ones(count, dtype=bool)
    if test is None:
        return {"train": None, "test": None, "all": every}
    return {"train": ~test if not test.all() else None, "test": test if test.any() else None, "all": every}


def _marks(formula: Formula, data: Dataset, shown: _Quantities) -> list[dict[str, Any]]:
    """The lines of thresholds, over the samples that are looked at in the longest trace.

    Traces of unequal length share the end that the formula looks from, so a shorter one has no samples of its own.
    """
    found: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    numbered = with_thresholds(formula, [float(k) for k in range(len(thresholds(formula)))])
    samples = axis_for(data, [formula]).samples
    for atom, first, last in reach(numbered, samples):
        above = atom.is_upper_bound == (quantity(atom)[1] > 0)
        found.setdefault((int(atom.threshold), above), []).append((first, last))
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    return [
        {
            "channel": shown.place(atoms[k]),
            "level": atoms[k].threshold / quantity(atoms[k])[1],
            "above_is_bad": above,
            "runs": [list(run) for run in merge_ranges(runs)],
            "threshold": k,
        }
        for (k, above), runs in sorted(found.items())
    ]


ALL = 720  # samples of a trace that are all sent
BINS = 120  # of one row of a longer one
TURNS = 60  # places of a longer one where a row changes its truth


def lanes(formula: Formula | str, data: Dataset, case: int) -> dict[str, Any]:
    """What `Fernn.lanes` draws: the channels that are read, then the formula and all that is inside it."""
    formula = parse(formula) if isinstance(formula, str) else formula
    trace = data.trace(case)
    one, step = trace[None], time_step(data.dt, data.time_unit)
    with collect_warnings():
        values = {part: np.asarray(row[0]) for part, row in signals(formula, one, data.channels, step=step).items()}
        holds = {part: np.asarray(satisfied(part, one, data.channels, at="all", step=step)[0]) for part in values}
        decided = deciding(formula, one, data.channels, step=step)[0]
        alone = data.subset([case])
        compared = [*map(channel_quantity, channels(formula)), *expressions([formula])]
        raw = {each: quantity_rows(alone, each) for each in compared}
        lines = {each: marks(formula, each, time_axis(alone, False)) for each in compared}
        read = {each: finite_rows(raw[each], [mark.level for mark in lines[each]])[0][0] for each in compared}
        windows = () if decided is None else function_windows(decided.atom, decided.sample, alone)
    samples = trace.shape[1]
    judged = samples - 1 if direction(formula) == "past" else 0
    also = [judged]
    if decided is not None:  # with its neighbours, so that a single sample is not drawn as a slope
        ends = [end for window in windows for end in (*window.at, *window.reads)]
        also += [at for at in (*range(decided.sample - 1, decided.sample + 2), *ends) if 0 <= at < samples]
    at = _at([*read.values(), *values.values()], list(holds.values()), also)
    return {
        "case": data.cases[case],
        "index": case % len(data),
        "length": samples,
        "at": at.tolist(),
        "channels": [
            {
                "name": quantity_name(each),
                "values": round_all(row[at], 5),
                "endless": bits(np.isinf(raw[each][0][at])) if np.isinf(raw[each][0]).any() else None,
                "marks": [
                    {"level": mark.level, "above_is_bad": mark.above_is_bad, "runs": [list(run) for run in mark.runs]}
                    for mark in lines[each]
                ],
                "decides": decided is not None and quantity(decided.atom)[0] == each,
                "reads": None if decided is None else _span(decided, each, data),
            }
            for each, row in read.items()
        ],
        "rows": [
            {"text": str(part), "depth": depth, "values": round_all(values[part][at]), "holds": bits(holds[part][at])}
            for part, depth in _down(formula, 0)
        ],
        "verdict": {
            "sample": judged,
            "holds": bool(holds[formula][judged]),
            "robustness": round_digits(float(values[formula][judged])),
        },
        "deciding": decided and {
            "sample": decided.sample,
            "atom": str(decided.atom),
            "value": round_digits(float(quantity_values(decided.atom.weights, alone)[0][decided.sample]), 6),
            "what": format_sum(decided.atom.weights),
            "windows": list(map(str, windows)),
        },
    }  # fmt: skip


def _span(decided: Witness, compared: Weights, data: Dataset) -> list[int] | None:
    """The samples of a channel that the functions of the deciding atom read; None where that is one sample, or none."""
    found = channel_spans(decided.atom, decided.sample, time_step(data.dt, data.time_unit))
    first, last = found.get(quantity_name(compared), (0, 0)) if is_channel(compared) else (0, 0)
    return [first, last] if first < last else None


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
    kept = [decimate(row, BINS) for row in rows]
    for row in holds:
        turns = np.flatnonzero(row[1:] != row[:-1])[:TURNS]
        kept += [turns, turns + 1]
    return np.unique(np.concatenate([*kept, also]))


def sensitivity(
    formula: Formula | str, data: Dataset, test: Bools | None = None, points: int = 61
) -> list[dict[str, Any]]:
    """For every threshold the error over the range of what it is compared with; empty without labels.

    `error` is on the traces that are learned on, or on all where there is no test part. `flat` are the first and the
    last float with all verdicts as they are, None where none ever changes on that side. Real labels have no verdicts
    that could change: there `flat` is None.
    """
    formula = parse(formula) if isinstance(formula, str) else formula
    if data.labels is None or len(data.classes) not in (0, 2):
        return []
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    with collect_warnings():
        return [_one(formula, k, atom, data, test, points) for k, atom in enumerate(atoms) if atom.predicate is None]


def _one(formula: Formula, k: int, atom: Atom, data: Dataset, test: Bools | None, points: int) -> dict[str, Any]:
    values, value = list(thresholds(formula)), atom.threshold

    def moved(to: float) -> Formula:
        return with_thresholds(formula, [*values[:k], to, *values[k + 1 :]])

    def judge(to: float, cases: Ints) -> Bools:
        return np.asarray(
            satisfied(moved(to), select_traces(data, cases), data.channels, step=time_step(data.dt, data.time_unit))
        )

    low, high = atom_range(atom, data)
    at = np.unique(np.append(np.linspace(min(low, value), max(high, value), points), value))
    flat: list[float | None] | None = None
    if data.classes:
        lost = verdicts_along(judge, at, len(data)) != data.positive
        flat = [last_equal_threshold(judge, value, end, len(data)) for end in bracket(at)]
    else:
        lost = np.array([np.abs(robustness(moved(to), data) - data.labels) for to in at.tolist()])
    tested = test is not None and bool(test.any())
    learned = lost[:, ~test] if test is not None and not test.all() else lost
    return {
        "threshold": k,
        "text": str(atom),
        "value": value,
        "at": at.tolist(),
        "error": _means(learned),
        "test": _means(lost[:, test]) if tested else None,
        "flat": flat,
    }


def verdicts_along(judge: ThresholdVerdicts, at: Floats, count: int) -> Bools:
    """`[value, case]`; between two values only the traces are judged that the two judge differently."""
    made = np.empty((len(at), count), dtype=bool)
    every = np.arange(count)
    made[0], made[-1] = judge(float(at[0]), every), judge(float(at[-1]), every)
    left = [(0, len(at) - 1, every)]
    while left:
        low, high, cases = left.pop()
        made[low + 1 : high, cases] = made[low, cases]
        cases = cases[made[low, cases] != made[high, cases]]
        if high - low > 1 and cases.size:
            middle = (low + high) // 2
            made[middle, cases] = judge(float(at[middle]), cases)
            left += [(low, middle, cases), (middle, high, cases)]
    return made


def _means(lost: Floats | Bools) -> list[float | None]:
    return [round_digits(mean, 6) for mean in lost.mean(axis=1).tolist()]
