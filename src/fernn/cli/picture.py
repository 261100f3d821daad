"""A rule against the traces, drawn in text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formula import Atom, walk
from ..formula.show import number, weighted_sum

if TYPE_CHECKING:
    from ..data import Dataset
    from ..formula import Formula

GOOD, BAD, BOTH, LINE = "o", "x", "*", "-"
MOST = 2  # pictures of one formula


def picture(formula: Formula, data: Dataset, width: int = 80, height: int = 12) -> str:
    """What the rule compares over time, the middle trace of each class, and the thresholds as lines.

    One picture for each quantity that the rule reads, two at most.
    """
    limits: dict[tuple[tuple[str, float], ...], list[Atom]] = {}
    for node in walk(formula):
        if isinstance(node, Atom):
            limits.setdefault(node.weights, []).append(node)
    drawn = [_one(weights, atoms, data, width, height) for weights, atoms in list(limits.items())[:MOST]]
    return "\n\n".join(drawn)


def _one(weights: tuple[tuple[str, float], ...], atoms: list[Atom], data: Dataset, width: int, height: int) -> str:
    columns = width - 11
    curves = {mark: _middle(weights, data, good, columns) for mark, good in ((BAD, False), (GOOD, True))}
    thresholds = [atom.threshold for atom in atoms]
    every = [*thresholds, *np.concatenate(list(curves.values())).tolist()]
    low, high = min(every), max(every)
    step = (high - low) / (height - 1) or 1.0

    def row(value: float) -> int:
        return int(height - 1 - round((value - low) / step))

    grid = [[" "] * columns for _ in range(height)]
    for threshold in thresholds:
        grid[row(threshold)] = [LINE if i % 2 == 0 else " " for i in range(columns)]
    for mark, curve in curves.items():
        for i, value in enumerate(curve):
            there = grid[row(value)][i]
            grid[row(value)][i] = BOTH if there in (GOOD, BAD) else mark
    named = {row(low): low, row(high): high} | {row(t): t for t in thresholds}
    lines = [f"{_label(named.get(i)):>8} |{''.join(cells).rstrip()}" for i, cells in enumerate(grid)]
    bad, good = data.classes
    name = weighted_sum(weights)
    limit = ", ".join(f"{name} {atom.relation} {number(atom.threshold)}" for atom in atoms)
    foot = f"{'':>9}+{'-' * columns}\n{'':>10}{_axis(data, columns)}"
    key = f"the median {name}: {GOOD} {good}, {BAD} {bad}, {BOTH} both; {LINE} {LINE} {LINE} {limit}"
    return "\n".join([key, *lines, foot])


def _middle(weights: tuple[tuple[str, float], ...], data: Dataset, good: bool, columns: int) -> Any:
    """The median over the traces of a class, `[column]`; shorter traces count as far as they go."""
    longest = int(data.lengths.max())
    rows = np.full((int((data.positive == good).sum()), longest), np.nan)
    for into, i in zip(rows, np.flatnonzero(data.positive == good), strict=True):
        trace = data.values[i]
        into[: trace.shape[1]] = sum(weight * trace[data.channels.index(name)] for name, weight in weights)
    last = int(np.flatnonzero(~np.isnan(rows).all(axis=0)).max())
    middle = np.nanmedian(rows[:, : last + 1], axis=0)
    at = np.arange(columns) * (longest - 1) / (columns - 1)
    return np.interp(at[at <= last], np.arange(last + 1), middle)


def _axis(data: Dataset, columns: int) -> str:
    end = int(data.lengths.max()) - 1
    last = f"sample {end}" if data.dt is None else f"{end * data.dt:g} {data.time_unit or ''}".rstrip()
    return "0" + last.rjust(columns - 1)


def _label(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.4g}"
