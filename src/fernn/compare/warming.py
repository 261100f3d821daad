"""What is compiled or loaded once, before a clock runs: loops are made for data of a shape, so a few traces do."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..data import Dataset
from ..errors import FernnError
from ..learners import PaperFernn
from ..learners.labels import is_real
from .methods import SHAPES, compared, is_method
from .tasks import signs, task
from .unit import Unit

FEW, LONGEST, SECONDS = 12, 4, 10.0
"""Traces of each class, the greatest length, and the most time."""


_warmed: set[tuple[str, str]] = set()


def warm(unit: Unit) -> None:
    """Fits the unit's method to a few of its traces, once for every data set."""
    method = "exact" if unit.method == SHAPES else unit.method
    if not is_method(method) or (method, unit.data) in _warmed:
        return
    _warmed.add((method, unit.data))
    with suppress(FernnError):  # whatever is wrong is told when the unit is measured
        way, few = compared(method), _few(unit.data, unit.split)
        if is_real(few) and not way.takes_real:
            few = signs(few)
        learner = way.make(LONGEST, 0, SECONDS)
        (replace(learner, epochs=8) if isinstance(learner, PaperFernn) else learner).fit(few)


def _few(data: str, split: str) -> Dataset:
    made = task(data, split)
    good = made.classes.positive
    return made.train.subset(np.sort([*np.flatnonzero(good)[:FEW], *np.flatnonzero(~good)[:FEW]]))
