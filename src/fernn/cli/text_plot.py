"""Traces and rules drawn in text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formula import Atom, channels, walk
from ..formula.printer import format_duration, format_number, format_sum

if TYPE_CHECKING:
    from ..data import Dataset
    from ..formula import Formula
    from ..formula.expressions import Weights
    from ..mining import FaultMarks


GOOD, BAD, BOTH, LINE, CHANGED = "o", "x", "*", "-", "#"
MOST = 2  # pictures of one formula


def picture(formula: Formula, data: Dataset, width: int = 80, height: int = 12) -> str:
    """What the rule compares over time, the middle trace of each class, and the thresholds as lines.

    One picture for each quantity that the rule reads, two at most.
    """
    limits: dict[Weights, list[Atom]] = {}
    for node in walk(formula):
        if isinstance(node, Atom):
            limits.setdefault(node.weights, []).append(node)
    plots = [_one(weights, atoms, data, width, height) for weights, atoms in list(limits.items())[:MOST]]
    return "\n\n".join(plots)


def _one(weights: Weights, atoms: list[Atom], data: Dataset, width: int, height: int) -> str:
    columns = width - 11
    curves = {mark: _middle(weights, data, good, columns) for mark, good in ((BAD, False), (GOOD, True))}
    lines = grid_of(curves, [atom.threshold for atom in atoms], columns, height)
    bad, good = data.classes
    name = format_sum(weights)
    limit = ", ".join(f"{name} {atom.relation} {format_number(atom.threshold)}" for atom in atoms)
    foot = f"{'':>9}+{'-' * columns}\n{'':>10}{_axis(int(data.lengths.max()), data, columns)}"
    key = f"the median {name}: {GOOD} {good}, {BAD} {bad}, {BOTH} both; {LINE} {LINE} {LINE} {limit}"
    return "\n".join([key, *lines, foot])


def trace_picture(
    trace: Any, changed: Iterable[int], channel: str, thresholds: list[float], data: Dataset, width: int = 80
) -> str:
    """One channel of one trace, the samples that were changed marked, and the thresholds it is compared with."""
    samples = len(trace)
    columns = min(width - 11, max(samples, 10)) if samples <= width - 11 else width - 11
    at = np.round(np.linspace(0, samples - 1, columns)).astype(int) if samples > columns else np.arange(samples)
    marked = np.full(samples, np.nan)
    marked[list(changed)] = trace[list(changed)]
    near = {int(np.abs(at - t).argmin()): t for t in changed}  # so that no change falls between two columns
    curve, marks = trace[at].astype(float), np.full(len(at), np.nan)
    for column, t in near.items():
        marks[column] = marked[t]
    lines = grid_of({GOOD: curve, CHANGED: marks}, thresholds, columns, 9)
    foot = f"{'':>9}+{'-' * columns}\n{'':>10}{_axis(samples, data, columns)}"
    key = f"{channel}: {GOOD} the trace, {CHANGED} changed, {LINE} {LINE} {LINE} what the rules compare it with"
    return "\n".join([key, *lines, foot])


def grid_of(curves: dict[str, Any], thresholds: list[float], columns: int, height: int) -> list[str]:
    """Rows of text, the highest first; curves are `[column]`, NaN where there is nothing to draw."""
    every = [*thresholds, *np.concatenate(list(curves.values())).tolist()]
    every = [value for value in every if math.isfinite(value)]
    low, high = (min(every), max(every)) if every else (0.0, 0.0)
    step = (high - low) / (height - 1) or 1.0

    def row(value: float) -> int:
        """What is infinite lies at the edge."""
        return int(height - 1 - round((min(max(value, low), high) - low) / step))

    grid = [[" "] * columns for _ in range(height)]
    for threshold in thresholds:
        grid[row(threshold)] = [LINE if i % 2 == 0 else " " for i in range(columns)]
    for mark, curve in curves.items():
        for i, value in enumerate(curve):
            if not math.isnan(value):
                cell = grid[row(value)][i]
                grid[row(value)][i] = BOTH if mark != CHANGED and cell in (GOOD, BAD) else mark
    levels = {row(low): low, row(high): high} | {row(t): t for t in thresholds}
    return [f"{_label(levels.get(i)):>8} |{''.join(cells).rstrip()}" for i, cells in enumerate(grid)]


def _middle(weights: Weights, data: Dataset, good: bool, columns: int) -> Any:
    """The median over the traces of a class, `[column]`; shorter traces count as far as they go."""
    from ..semantics.robustness import quantity_values

    longest = int(data.lengths.max())
    rows = np.full((int((data.positive == good).sum()), longest), np.nan)
    some = quantity_values(weights, data.subset(data.positive == good))
    for into, row in zip(rows, some, strict=True):
        into[: len(row)] = row
    last = int(np.flatnonzero(~np.isnan(rows).all(axis=0)).max())
    with np.errstate(invalid="ignore"):  # between infinity and a number lies infinity
        middle = np.nanmedian(rows[:, : last + 1], axis=0)
        at = np.arange(columns) * (longest - 1) / (columns - 1)
        found = np.interp(at[at <= last], np.arange(last + 1), middle)
    nearest = middle[np.round(at[at <= last]).astype(int)]
    return np.where(np.isfinite(found), found, nearest)


def _axis(samples: int, data: Dataset, columns: int) -> str:
    end = samples - 1
    last = f"sample {end}" if data.dt is None else f"{format_duration(end, data.dt)} {data.time_unit or ''}".rstrip()
    return "0" + last.rjust(columns - 1)


def _label(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.4g}"


HEIGHT = 6
CHANNELS_DRAWN = 3  # channels drawn
DOT, FAULT, ALARM = "o", "#", "^"


def strip(rules: Sequence[Formula], marked: FaultMarks, width: int = 80) -> str:
    """The trace with the most faults, from shortly before the first of them, a column a sample."""
    from ..mining.fault_costs import disjunction, holds_at_samples
    from ..mining.fault_marks import true_runs

    rule = disjunction(rules)
    place = max(range(len(marked)), key=lambda i: len(list(true_runs(marked.faulty[i]))))
    one = marked.subset([marked.data.cases[place]])
    columns, size = width - 11, int(one.data.lengths[0])
    first = int(one.faulty[0].argmax())
    low = max(0, min(first - columns // 3, size - columns))
    part = slice(low, min(low + columns, size))
    trace = one.data.values[0]
    lines = [f"{marked.data.name}, case {one.data.cases[0]!r}, samples {low} to {part.stop - 1}"]
    for name in channels(rule)[:CHANNELS_DRAWN]:
        row = trace[one.data.channels.index(name)][part]
        lines += [f"{name}:", *grid_of({DOT: row}, [], len(row), HEIGHT)]
    lines.append(_marks("fault", one.faulty[0][part], FAULT))
    lines.append(_marks("rules", holds_at_samples(rule, one)[part], ALARM))
    return "\n".join(lines)


def _marks(name: str, flags: Any, mark: str) -> str:
    return f"{name:>8} |" + "".join(mark if flag else "." for flag in flags)
