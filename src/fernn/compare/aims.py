"""Whether our methods err no more than the best that the paper reports, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

from .cells import Cell, cell, no_higher
from .experiments import LENGTHS, REAL, RECORDED
from .ledger import Ledger
from .reported import Reported, best
from .reported import cell as in_paper


@dataclass(frozen=True)
class Contest:
    """One data set and length: the paper's best beside our default and the exact search."""

    name: str
    paper: Reported
    fernn: Cell
    exact: Cell

    def met(self, alone: bool, split: bool) -> bool | None:
        """Whether FERNN alone, or the better of both, is no higher: on the paper's split, or in the mean of the others.

        None where one of them was not measured.
        """
        values = [_value(each, split) for each in ([self.fernn] if alone else [self.fernn, self.exact])]
        known = [value for value in values if not isnan(value)]
        return no_higher(min(known), self.paper.mcr) if known else None


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


def _value(each: Cell, split: bool) -> float:
    if split:
        return float("nan") if each.first is None else float(each.first["mcr"])
    return each.mean
