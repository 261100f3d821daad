"""A cell of a table: what the paper reports, what we measured, and which is better."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from .experiments import SEEDS
from .ledger import Ledger
from .reported import DIVISOR, Reported
from .unit import PAPER, Found

Verdict = Literal["better", "equal", "worse"]
MARKS: dict[Verdict, str] = {"better": "+", "equal": "=", "worse": "-"}
ROUNDING = 0.005
"""The paper has two decimals."""
REBUILT = ("lyft",)
"""Data that are not the paper's own, so that a single split of them says nothing of the paper's."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """One method on one data set up to one length."""

    method: str
    data: str
    length: int
    paper: Reported | None
    first: Found | None
    """On the paper's split."""
    others: tuple[Found, ...]
    """On seeded splits."""
    of: str = "mcr"
    """What is compared: the error of the printed formula, or `mixture`, that of an unquantised network."""

    @property
    def errors(self) -> Floats:
        return np.array([found[self.of] for found in self.others])

    @property
    def mean(self) -> float:
        return float(self.errors.mean()) if self.others else float("nan")

    @property
    def on_paper_split(self) -> float:
        """Our errors on the paper's split, divided as the authors divide theirs."""
        if self.first is None:
            return float("nan")
        cases = int(self.first["cases"])
        return float(self.first[self.of]) * cases / DIVISOR.get(self.data, cases)

    @property
    def ours(self) -> float:
        """What stands beside the paper's number: the same split of the same traces; of rebuilt data the mean."""
        if self.first is None or (self.data in REBUILT and self.others):
            return self.mean
        return self.on_paper_split

    @property
    def verdict(self) -> Verdict | None:
        if self.paper is None or isnan(self.paper.mcr) or isnan(self.ours):
            return None
        return verdict(self.paper.mcr, self.ours, int((self.first or self.others[0])["cases"]))

    @property
    def seconds(self) -> float:
        """Median of all splits."""
        found = [*([] if self.first is None else [self.first]), *self.others]
        return float(np.median([each["seconds"] for each in found])) if found else float("nan")

    def __str__(self) -> str:
        """`0.10 → 0.107 (0.120 ± 0.050) =`"""
        if isnan(self.ours):
            return ""
        said = self.measured()
        if self.paper is not None and self.verdict is not None:
            said = f"{self.paper.mcr:.{self.paper.digits}f} → {said} {MARKS[self.verdict]}"
        return said

    def measured(self) -> str:
        """Ours: on the paper's split, and over the seeded splits in brackets."""
        said = "" if self.first is None else f"{self.first[self.of]:.3f}"
        return f"{said} ({spread(self.errors)})".strip() if self.others else said


def cell(
    ledger: Ledger, method: str, data: str, length: int, paper: Reported | None = None,
    seeds: tuple[str, ...] = SEEDS, of: str = "mcr",
) -> Cell:  # fmt: skip
    """From what was measured."""
    first, others = ledger.one(method, data, length, PAPER), ledger.of(method, data, length, seeds)
    return Cell(method, data, length, paper, first, tuple(others), of)


def verdict(paper: float, ours: float, cases: int) -> Verdict:
    """Equal where they differ by no more than rounding and two standard errors of a difference of two shares."""
    middle = (paper + ours) / 2
    noise = ROUNDING + 2 * sqrt(2 * middle * (1 - middle) / cases)
    return "equal" if abs(paper - ours) <= noise else "better" if ours < paper else "worse"


def no_higher(ours: float, paper: Reported) -> bool:
    """Whether ours, rounded as the paper's number is, is not above it."""
    return round(ours + 1e-9, paper.digits) <= paper.mcr + 1e-9


def spread(errors: Floats) -> str:
    """Mean and standard deviation; of one, the number."""
    return f"{errors.mean():.3f} ± {errors.std(ddof=1):.3f}" if len(errors) > 1 else f"{errors.mean():.3f}"
