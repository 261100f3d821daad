"""The same formula on other traces: judged without looking at it again.

Parsing a formula, packing it and finding its channels take longer than judging a few short traces. What was found right
once is kept, under the formula's text or identity, and the formula with it so that the identity stays its own.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..formula.nodes import Formula
from .machine import judge
from .tables import Tables

MOST_KEPT = 2048
UNIFORM = np.empty(0, np.int64)

Wanted = Literal["verdict", "all"]
Names = tuple[str, ...] | None
_KEPT: dict[tuple[str | int, Names, str, Wanted, bool], tuple[Tables, int, Formula | str]] = {}


def keep(
    formula: Formula | str, channels: Names, width: int, dtype: Any, wanted: Wanted, closed: bool, packed: Tables
) -> None:
    """Remember how a formula is judged on `width` channels."""
    if len(_KEPT) >= MOST_KEPT:
        _KEPT.clear()
    name = formula if isinstance(formula, str) else id(formula)
    _KEPT[name, channels, dtype.char, wanted, closed] = packed, width, formula


def again(formula: Formula | str, X: Any, channels: Names, wanted: Wanted, closed: bool) -> npt.NDArray[Any] | None:
    """What `robustness` gives; None where there is something to look at: the first time, or in these traces."""
    kind = X.dtype
    kept = _KEPT.get((formula if type(formula) is str else id(formula), channels, kind.char, wanted, closed))
    if kept is None or not X.flags.c_contiguous or not kind.isnative:
        return None
    if X.ndim == 2:
        X = X[:, None]
    packed, width, _ = kept
    try:
        count, found, length = X.shape
    except ValueError:
        return None
    if found != width or not X.size:
        return None
    if wanted == "all":
        out = np.empty((count, length), kind)
        return None if judge(packed, X, UNIFORM, out, count, length) else out
    out = np.empty((count, 1), kind)
    return None if judge(packed, X, UNIFORM, out, count, length) else out.ravel()
