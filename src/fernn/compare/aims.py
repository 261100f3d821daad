"""Whether our methods err no more than the best that the paper reports, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

from .cells import Cell, cell, no_higher
from .experiments import REAL, RECORDED
from .ledger import Ledger
from .reported import LENGTHS, Reported, best, in_paper


@dataclass(frozen=True)
class Contest:
    """One data set and length: the paper's best beside our default and the exact search."""

    name: str
    paper: Reported
    fernn: Cell
    exact: Cell

    def met(self, alone: bool, split: bool) -> bool | None:
        """Whether FERNN alone, or whichever errs less on the test traces, is no higher than the paper's best.

        On the paper's split, or in the mean of the others. None where one of them was not measured.
        """
        cells = [self.fernn] if alone else [self.fernn, self.exact]
        values = [each.on_paper_split if split else each.mean for each in cells]
        return None if any(map(isnan, values)) else no_higher(min(values), self.paper)


def contests(ledger: Ledger, formulas_only: bool = False) -> Iterator[Contest]:
    """One for every length of every data set, and one for the free choice of the length.

    With `formulas_only` unquantised networks, which are no formulas, are left out of the paper's best.
    """
    for data in RECORDED + REAL:
        for length in LENGTHS:
            paper = best(data, length, formulas_only)
            if paper is not None:
                yield _contest(ledger, f"{data}, length {length}", data, length, paper)
        paper = in_paper("paper, up to", data, 6, "free")
        if paper is not None:
            yield _contest(ledger, f"{data}, up to length 6", data, 6, paper)


def _contest(ledger: Ledger, name: str, data: str, length: int, paper: Reported) -> Contest:
    fernn, exact = (cell(ledger, method, data, length, paper) for method in ("fernn", "exact"))
    return Contest(name, paper, fernn, exact)
