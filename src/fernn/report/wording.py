"""Formulas as a legend shows them: no more digits than matter, no longer lines than fit."""

from __future__ import annotations

import re
from textwrap import wrap

import numpy as np

from ..data import Dataset
from ..formula import Formula, thresholds, with_thresholds
from ..semantics import satisfied
from ..semantics.quiet import quiet

FEWEST, MOST = 3, 15  # significant digits tried
FIRM = "\u00a0"  # a blank that no line ends at


def shortened(formula: Formula, data: Dataset) -> Formula:
    """The formula with its thresholds to three digits, or to as many more as leave every verdict on this data."""
    values = thresholds(formula)
    with quiet():
        verdicts = satisfied(formula, data)
        for digits in range(FEWEST, MOST + 1):
            short = with_thresholds(formula, [float(f"{value:.{digits}g}") for value in values])
            if np.array_equal(satisfied(short, data), verdicts):
                return short
    return formula


def wrapped(text: str, width: int) -> str:
    """Lines of at most so many characters where that is possible, all but the first set in.

    No line ends within an atom, or between an operator and the formula that it stands before.
    """
    kept = re.sub(r" (>=|<=|>|<) ", f"{FIRM}\\1{FIRM}", text)
    kept = re.sub(r"\b([GFHO](?:\[\S+)?) (?=[(GFHO!])", f"\\1{FIRM}", kept)
    lines = wrap(kept, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(FIRM, " ")


def percent(rate: float) -> str:
    """`3.2%`, `5%`, `0.02%`: one digit after the point, more where all would be 0."""
    rounded = f"{100 * rate:.1f}".removesuffix(".0")
    return f"{100 * rate:.1g}%" if rate and rounded == "0" else f"{rounded}%"
