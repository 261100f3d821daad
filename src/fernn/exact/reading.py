"""From what a search kept back to formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..formula import And, Formula, Historically, Implies, Not, Once, Or, Since
from ..formula.measures import facing
from .operators import AND, ATOM, HISTORICALLY, IMPLIES, NOT, NOT_SINCE, ONCE, OR
from .search import Search


@dataclass(eq=False)
class Reader:
    """`atoms[k]` is the formula, looking back, that was filed under number k."""

    search: Search
    atoms: list[Formula] = field(default_factory=list)

    def number(self, formula: Formula) -> int:
        """A number to file this formula under."""
        self.atoms.append(formula)
        return len(self.atoms) - 1

    def row(self, row: int) -> Formula:
        """The formula of a behaviour, looking back."""
        op, left, right, window = self.search.shelf.rows.made[row].tolist()
        return self.atoms[left] if op == ATOM else self._joined(op, window, left, right)

    def hit(self, made: Sequence[int]) -> Formula:
        """The formula of a way to come by a hit, looking back."""
        around, over, op, left, right, window = (int(k) for k in made)
        inner = self.row(left) if op == ATOM else self._joined(op, window, left, right)
        return inner if around < 0 else self._around(around, over, inner)

    def _joined(self, op: int, window: int, left: int, right: int) -> Formula:
        if op in (ONCE, HISTORICALLY, NOT):
            return self._around(op, window, self.row(left))
        a, b = self.row(left), self.row(right)
        if op == NOT_SINCE:
            return Not(Since(a, b))
        return {AND: And, OR: Or, IMPLIES: Implies}.get(op, Since)(a, b)

    def _around(self, op: int, window: int, inner: Formula) -> Formula:
        if op == NOT:
            return Not(inner)
        return (Once if op == ONCE else Historically)(inner, self.search.windows[window])

    def facing(self, formula: Formula) -> Formula:
        """The formula in the direction of the data."""
        return facing(formula, self.search.layout.future)
