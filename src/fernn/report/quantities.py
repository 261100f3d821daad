"""What the atoms of a rule compare, as signals to be drawn: channels, and expressions such as `diff(v, 0.5 s)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..formula import Atom, Formula, walk
from ..formula.expressions import Weights
from ..formula.measures import quantity
from ..formula.printer import format_sum
from ..semantics.robustness import quantity_values

BEYOND = 0.1
"""Of the range of what is finite: how far outside of it lies what is infinite."""
LARGEST = float(np.finfo(np.float64).max)


def channel_quantity(name: str) -> Weights:
    """A channel as it is."""
    return ((name, 1.0),)


def is_channel(compared: Weights) -> bool:
    return len(compared) == 1 and isinstance(compared[0][0], str)


def quantity_name(compared: Weights) -> str:
    """A channel by its name, an expression as it is written."""
    ((term, _), *_) = compared
    return term if isinstance(term, str) and is_channel(compared) else format_sum(compared)


def expressions(formulas: Iterable[Formula]) -> list[Weights]:
    """What the formulas compare that is no channel: `2*x - y`, `diff(x)`; each once, in the order of the formulas."""
    atoms = (node for formula in formulas for node in walk(formula) if isinstance(node, Atom))
    compared = dict.fromkeys(quantity(atom)[0] for atom in atoms)
    return [each for each in compared if not is_channel(each)]


def quantity_rows(data: Dataset, compared: Weights) -> list[Floats]:
    """One row a case; functions may be infinite."""
    if is_channel(compared):
        place = data.channels.index(quantity_name(compared))
        return [np.asarray(trace[place]) for trace in data.values]
    return [np.asarray(row, np.float64) for row in quantity_values(compared, data)]


def finite_rows(rows: list[Floats], levels: Sequence[float] = ()) -> tuple[list[Floats], tuple[bool, bool]]:
    """The rows with what is infinite a tenth of the range beyond all that is finite; whether some is, below and above.

    Beyond these levels too: what exceeds a threshold is drawn above it.
    """
    endless = any(np.isneginf(row).any() for row in rows), any(np.isposinf(row).any() for row in rows)
    if not any(endless):
        return rows, endless
    known = np.concatenate([*(row[np.isfinite(row)] for row in rows), levels])
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    room = (BEYOND * high - BEYOND * low) or BEYOND * abs(high) or 1.0
    return [np.clip(row, max(low - room, -LARGEST), min(high + room, LARGEST)) for row in rows], endless


@dataclass(frozen=True, eq=False)
class ExpressionTraces:
    """Expressions over the traces of some data, finite: what is infinite lies beyond all else."""

    compared: tuple[Weights, ...]
    data: Dataset
    """The expressions are its channels, numbered; cases, labels and times are those of the data."""
    endless: tuple[tuple[bool, bool], ...]
    """For each whether some value is infinite, below and above: it is the least, the greatest there is."""

    @property
    def names(self) -> list[str]:
        return list(map(quantity_name, self.compared))


def expression_traces(data: Dataset, compared: Sequence[Weights]) -> ExpressionTraces:
    """These expressions, one at least, as the channels of traces."""
    found = [finite_rows(quantity_rows(data, each)) for each in compared]
    traces = tuple(np.stack(rows) for rows in zip(*(rows for rows, _ in found), strict=True))
    named = tuple(str(k) for k in range(len(compared)))
    return ExpressionTraces(tuple(compared), replace(data, values=traces, channels=named), tuple(e for _, e in found))
