"""The values of expressions on the traces of a dataset: what atoms compare, and what learners read as channels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats, Ints
from ..formula.expressions import Call, Sum, time_step
from ..formula.nodes import Atom, Formula
from .function_signals import sum_values
from .robustness import satisfied


class SignalTable:
    """Expressions on traces end to end; functions that several of them share are computed once while they are kept."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.starts: Ints = np.concatenate([[0], np.cumsum(data.lengths)]).astype(np.int64)
        """The first sample of each trace in a row of values, and where the last one ends."""
        self._step = time_step(data.dt, data.time_unit)
        self._known: dict[Call, Floats] = {}
        self._rows: dict[str, Floats] = {}

    def values(self, expression: Sum) -> Floats:
        """What the expression gives at every sample, of all traces end to end."""
        row = sum_values(expression, self._row, self._holds, self.starts, self._step, self._known)
        return np.ascontiguousarray(row, np.float64)

    def forget(self) -> None:
        """Free what was computed."""
        self._known.clear()
        self._rows.clear()

    def _row(self, name: str) -> Floats:
        if name not in self._rows:
            place = self.data.channels.index(name)
            self._rows[name] = np.concatenate([trace[place] for trace in self.data.values])
        return self._rows[name]

    def _holds(self, asked: Formula | Call) -> Floats:
        formula = Atom(((asked, 1.0),), ">=", 0.0) if isinstance(asked, Call) else asked
        found = satisfied(formula, self.data, at="all")
        return np.concatenate([np.asarray(row, np.float64) for row in found])


def expression_values(expressions: Iterable[Sum], data: Dataset) -> list[Floats]:
    """Of each expression, the values at every sample of all traces end to end."""
    table = SignalTable(data)
    return [table.values(each) for each in expressions]
