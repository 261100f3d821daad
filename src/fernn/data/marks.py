"""Labels at every sample: which of them say that there is a fault."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from .dataset import Floats
from .labels import BAD, GOOD, named
from .numbers import MISSING, number
from .options import Options
from .problems import did_you_mean, listed, refusal

YES = frozenset(("true", "yes", "positive", "pos"))
NO = frozenset(("false", "no", "negative", "neg"))
FAULT, FINE = (BAD - NO) | YES | {"alarm"}, (GOOD - YES) | NO


def marks(cells: Sequence[str], faulty: object, column: str) -> Floats:
    """1 where a cell says fault, 0 where it does not, NaN where it says nothing.

    There must be both: a column that never changes has nothing to explain.
    """
    said = {cell: _plain(cell) for cell in dict.fromkeys(cells)}
    values = sorted({text for text in said.values() if text is not None})
    if not values:
        raise refusal("one-mark", "no row says whether there is a fault", "Fill in the column.", column=column)
    fault = _fault(values, faulty, column)
    if len(values) == 1:
        what = f"it is {values[0]!r} on every row, so there is {'no fault' if fault is None else 'nothing but faults'}"
        fix = "A rule needs samples with and without a fault. Check the column, or name its fault with --faulty."
        raise refusal("one-mark", what, fix, column=column)
    worth = {cell: np.nan if text is None else float(text == fault) for cell, text in said.items()}
    return np.fromiter((worth[cell] for cell in cells), np.float64, len(cells))


def check_no_marks(options: Options, what: str) -> None:
    """Where a row is not a sample, there are no labels at every sample."""
    if options.marks is not None:
        fix = "Write a row a sample, with columns such as case,time,v,fault. If it is so, pass --layout tidy."
        raise refusal("wide-marks", f"labels at every sample need a row a sample, here it is: {what}", fix)


def _fault(values: list[str], faulty: object, column: str) -> str | None:
    """The value that stands for a fault; None where there is only one value, and it does not."""
    if faulty is not None:
        match = named(str(faulty).strip(), values)
        if match is None:
            what = f"no row says {str(faulty)!r}{did_you_mean(str(faulty), values)}; the values are {listed(values)}"
            raise refusal("faulty", what, "Pass one of them with --faulty.", column=column)
        return match
    if set(values) <= {"0", "1"}:
        return "1" if "1" in values else None
    known = [text for text in values if text.casefold() in FAULT]
    if len(known) == 1:
        return known[0]
    if not known and len(values) == 1 and values[0].casefold() in FINE:
        return None
    what = f"cannot tell which of the values {listed(values)} is the fault"
    fix = f"Pass it with --faulty, as in --faulty {shlex.quote((known or values)[-1])}."
    raise refusal("faulty", what, fix, column=column)


def _plain(cell: str) -> str | None:
    """1, 1.0 and +1 are one value."""
    if cell.casefold() in MISSING:
        return None
    value = number(cell)
    if value is None or not np.isfinite(value):
        return cell
    return str(int(value)) if value.is_integer() else repr(value)
