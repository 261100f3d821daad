"""From a structure and labelled traces to the set of parameter values that keep to both limits."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, inf

from ..data import Dataset
from ..data.problems import unknown_channel
from ..errors import DataError, FormulaError
from ..formula import Formula, channels
from .corners import Corners, swept
from .found import ParameterSet
from .grid import Cells, Grid, grid
from .nearest import nearest
from .pick import deepest, middle
from .rates import Point, point, profiles
from .reading import structure
from .search import Judge, Progress, Search
from .structure import Structure

NEAREST = 5.0
"""Seconds for what to say of an empty set."""


def silent(progress: Progress) -> None:
    """Watches, and says nothing."""


def parameter_set(
    text: str | Formula,
    data: Dataset,
    false_alarms: float = 0.05,
    misses: float = 0.05,
    *,
    time_limit: float = inf,
    box_limit: float = inf,
    watch: Callable[[Progress], None] = silent,
) -> ParameterSet:
    """All values of the open numbers of `text` for which at most these shares of the traces are judged wrongly.

    `false_alarms` is the share of good traces that violate the formula, `misses` that of bad ones that satisfy it.
    What is not decided within `time_limit` seconds, `box_limit` boxes, or until Ctrl-C, is told as undecided.
    """
    asked = structure(text)
    _check(asked, data, false_alarms, misses)
    good = data.positive
    cells = grid(asked, data)
    corners = Corners(asked, cells, swept(asked, cells))
    judge = Judge(good, _count(false_alarms, int(good.sum())), _count(misses, int((~good).sum())))
    search = Search(corners, judge)
    ended = search.run(time_limit, box_limit, watch)
    sure = search.sure()
    boxes, undecided = (tuple(map(cells.box, found)) for found in (sure, search.undecided()))
    picked, margin, near, proved = None, 0.0, None, False
    if sure:
        values, margin = deepest(asked, cells, sure)
        picked = point(asked, values, data)
    elif not undecided:
        near, proved = _nearest(corners, judge, data)
    at = picked or near
    return ParameterSet(
        asked.text, false_alarms, misses, int(good.sum()), int((~good).sum()), boxes, undecided,
        search.share, ended, picked, margin, near, proved,
        () if at is None else profiles(asked, cells, at.values, data),
    )  # fmt: skip


def _nearest(corners: Corners, judge: Judge, data: Dataset) -> tuple[Point | None, bool]:
    found = nearest(corners, judge, NEAREST)
    if found is None:
        return None, False
    cell, proved = found
    return point(corners.structure, _inside(corners.grid, cell), data), proved


def _inside(cells: Grid, cell: Cells) -> dict[str, float]:
    """Values in one cell."""
    return {axis.name: middle(axis, r) for axis, r in zip(cells.axes, cells.box(cell), strict=True)}


def _count(share: float, traces: int) -> int:
    """How many traces that is at most; a share of a whole number may be rounded."""
    return floor(share * traces + 1e-9)


def _check(asked: Structure, data: Dataset, false_alarms: float, misses: float) -> None:
    for what, rate in (("false_alarms", false_alarms), ("misses", misses)):
        if not 0 <= rate <= 1:
            raise FormulaError(f"{what} is a share of traces, 0 to 1; got {rate!r}")
    for name in channels(asked.shape):
        if name not in data.channels:
            raise FormulaError(unknown_channel(name, data.channels, f"{data.name} has", "the structure reads"))
    good = data.positive
    if good.all() or not good.any():
        raise DataError(
            f"{data.name}: all traces are {data.classes[int(good[0])]!r}; traces of both classes are needed."
        )
