"""Cells of a table: what the paper reports, what we measured, which is better, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from fernn.evaluation.comparison import show_spread
from fernn.evaluation.trial_runs import TrialLog
from fernn.evaluation.trials import CONTINUOUS, LABELLING, PAPER_SPLIT, TrialResult, load_trial_data
from fernn.formula import parse
from fernn.semantics import score
from reproduction.experiments import REAL, RECORDED, SEEDS
from reproduction.paper_numbers import DIVISOR, LENGTHS, PaperNumber, best, in_paper

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
    paper: PaperNumber | None
    first: TrialResult | None
    """On the paper's split."""
    others: tuple[TrialResult, ...]
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
        return f"{said} ({show_spread(self.errors)})".strip() if self.others else said


def cell(
    ledger: TrialLog, method: str, data: str, length: int, paper: PaperNumber | None = None,
    seeds: tuple[str, ...] = SEEDS, of: str = "mcr",
) -> Cell:  # fmt: skip
    """From what was measured."""
    first, others = ledger.one(method, data, length, PAPER_SPLIT), ledger.of(method, data, length, seeds)
    return Cell(method, data, length, paper, first, tuple(others), of)


def verdict(paper: float, ours: float, cases: int) -> Verdict:
    """Equal where they differ by no more than rounding and two standard errors of a difference of two shares."""
    middle = (paper + ours) / 2
    noise = ROUNDING + 2 * sqrt(2 * middle * (1 - middle) / cases)
    return "equal" if abs(paper - ours) <= noise else "better" if ours < paper else "worse"


def no_higher(ours: float, paper: PaperNumber) -> bool:
    """Whether ours, rounded as the paper's number is, is not above it."""
    return round(ours + 1e-9, paper.digits) <= paper.mcr + 1e-9


@dataclass(frozen=True)
class Contest:
    """One data set and length: the paper's best beside our default and the exact search."""

    name: str
    paper: PaperNumber
    fernn: Cell
    exact: Cell

    def met(self, alone: bool, split: bool) -> bool | None:
        """Whether FERNN alone, or whichever errs less on the test traces, is no higher than the paper's best.

        On the paper's split, or in the mean of the others. None where one of them was not measured.
        """
        cells = [self.fernn] if alone else [self.fernn, self.exact]
        values = [each.on_paper_split if split else each.mean for each in cells]
        return None if any(map(isnan, values)) else no_higher(min(values), self.paper)


def contests(ledger: TrialLog, formulas_only: bool = False) -> Iterator[Contest]:
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


def _contest(ledger: TrialLog, name: str, data: str, length: int, paper: PaperNumber) -> Contest:
    fernn, exact = (cell(ledger, method, data, length, paper) for method in ("fernn", "exact"))
    return Contest(name, paper, fernn, exact)


OURS = ("fernn", "exact")


def reason(each: Cell) -> str:
    """In a sentence; "not explained" where nothing is known."""
    plain = each.data.removesuffix(CONTINUOUS)
    if each.method in OURS and each.data != plain and each.first is not None:
        theirs = score(parse(LABELLING[plain]), load_trial_data(plain, PAPER_SPLIT).test).mcr
        if abs(each.first["mcr"] - theirs) <= ROUNDING:
            return (
                f"the labels are the robustness of `{LABELLING[plain]}`, which errs {theirs:.3f} on these traces: "
                "what is learned from them is that formula; the paper's network misses the labels, and errs less by "
                "it"
            )
    if len(each.errors) < 2 or each.paper is None:
        return "one split only; the full run has ten others"
    low, high, mean = each.errors.min(), each.errors.max(), each.errors.mean()
    if mean <= each.paper.mcr + ROUNDING:
        return f"this split is harder than others (the files are not in random order): {mean:.3f} in the mean of those"
    who = "one start of one network" if each.method.startswith("paper") else "this method"
    if low <= each.paper.mcr + ROUNDING:
        return f"{who}: on the other splits it errs {low:.3f} to {high:.3f}, so that one number says little"
    return f"not explained: on the other splits it errs {low:.3f} to {high:.3f}"
