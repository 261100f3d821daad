"""Branch and bound over boxes of cells.

A box of all parameters but the swept one is judged at its easiest and its hardest corner. Each of them gives the q of
the swept threshold from which few enough good traces are judged bad, and those up to which few enough bad ones are
judged good. Where even the hardest alarms little enough and even the easiest misses little enough, all of the box is
inside; where not even the easiest or not even the hardest does, none of it; what is left is split. Single cells have
one corner, so a search that ends is exact. Traces whose turn is the same at both corners are not looked at again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from time import monotonic

import numpy as np
import numpy.typing as npt

from ..plain import short_repr
from .boxes import merged, tightened
from .corners import NEVER, Corners, Turns
from .grid import Cells

FEW = 64
"""Traces in doubt, of which all values are looked at to find a good place to cut."""
CROWDED = 1 << 28
"""Bytes of waiting boxes, beyond which the newest is split first, so that there are not many more of them."""


@dataclass(frozen=True)
class Progress:
    """How far a search is: boxes looked at, the share of all cells that is undecided, seconds since the start."""

    boxes: int
    undecided: float
    seconds: float

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Judge:
    """Which traces are good, and how many of each class may be judged wrongly."""

    good: npt.NDArray[np.bool_]
    alarms: int
    misses: int

    def first(self, turns: Turns, otherwise: int) -> int:
        """The first q with few enough false alarms: all but so many of the good traces have turned."""
        good = turns[self.good]
        place = len(good) - self.alarms - 1
        return int(np.partition(good, place)[place]) if place >= 0 else otherwise

    def behind(self, turns: Turns, otherwise: int) -> int:
        """The first q with too many misses: more than so many of the bad traces have turned."""
        bad = turns[~self.good]
        return int(np.partition(bad, self.misses)[self.misses]) if self.misses < len(bad) else otherwise


@dataclass(frozen=True, eq=False)
class Part:
    """A box, and what is known of the q of the swept threshold in it.

    Outside `maybe` they are surely outside of the set, in `sure` inside; both are (first, behind the last). `easy` and
    `hard` bound the turns of all traces.
    """

    cells: Cells
    maybe: tuple[int, int]
    sure: tuple[int, int]
    easy: Turns
    hard: Turns

    @property
    def doubtful(self) -> list[tuple[int, int]]:
        """The q that may be inside or not."""
        (a, d), (b, c) = self.maybe, self.sure
        return [ends for ends in ([(a, d)] if b >= c else [(a, b), (c, d)]) if ends[0] < ends[1]]


@dataclass
class Search:
    """A search under way: what it found, `[parameter, 2]` cells each, and what is yet to be split."""

    corners: Corners
    judge: Judge
    inside: list[Cells] = field(default_factory=list)
    todo: list[tuple[float, int, Part]] = field(default_factory=list)
    boxes: int = 0

    def __post_init__(self) -> None:
        self._order = count()
        self.share = 0.0
        cases, reach = len(self.judge.good), self.corners.reach
        never = np.full(cases, NEVER)
        cells = tightened(self.corners.structure, self.corners.grid.whole)
        if cells is not None:
            self._later(Part(cells, reach, (reach[0], reach[0]), -never, never))

    def run(self, seconds: float, most: float, watch: Callable[[Progress], None]) -> str:
        """Until all is decided or this runs out; says why it ended: done, time limit, box limit or interrupted."""
        start, part = monotonic(), None
        try:
            while self.todo:
                passed = monotonic() - start
                if passed > seconds or self.boxes >= most:
                    return "time limit" if passed > seconds else "box limit"
                watch(Progress(self.boxes, self.share, passed))
                part = heapq.heappop(self.todo)[2]
                self.share = max(self.share - self._doubt(part), 0.0)
                self._step(self.judged(part))
                part = None
        except KeyboardInterrupt:
            if part is not None:
                self._later(part)
            return "interrupted"
        self.share = 0.0
        return "done"

    def judged(self, part: Part) -> Part:
        """The same box after a look at its two corners."""
        low, high = part.maybe
        cases = np.flatnonzero(part.easy != part.hard)
        easy, hard = part.easy.copy(), part.hard.copy()
        for turns, is_easy in ((easy, True), (hard, False)):
            if len(cases):
                turns[cases] = np.clip(self.corners.turns(part.cells, is_easy, cases), low, high)
        maybe = max(low, self.judge.first(easy, low)), min(high, self.judge.behind(hard, high))
        sure = max(low, self.judge.first(hard, low)), min(high, self.judge.behind(easy, high))
        if maybe[0] < maybe[1]:
            easy, hard = np.clip(easy, *maybe), np.clip(hard, *maybe)
        return Part(part.cells, maybe, sure, easy, hard)

    def _step(self, part: Part) -> None:
        self.boxes += 1
        if part.maybe[0] >= part.maybe[1]:
            return
        if part.doubtful:
            for half in self.halves(part):
                self._later(half)
        else:
            self.inside.append(self.with_swept(part.cells, part.sure))

    def _later(self, part: Part) -> None:
        doubt, number = self._doubt(part), next(self._order)
        crowded = len(self.todo) * part.easy.nbytes > CROWDED
        heapq.heappush(self.todo, (-1.0 - number if crowded else -doubt, number, part))
        self.share += doubt

    def halves(self, part: Part) -> list[Part]:
        """The box cut in two across its longest side that matters, without windows that end before they start."""
        cells, whole = part.cells, self.corners.grid.whole
        cases = np.flatnonzero(part.easy != part.hard)
        sides = np.argsort((cells[:, 0] - cells[:, 1]) / np.maximum(whole[:, 1], 1), kind="stable")
        side, cut = next(found for side in sides if (found := self._cut(part, int(side), cases)) is not None)
        left, right = cells.copy(), cells.copy()
        left[side, 1], right[side, 0] = cut, cut + 1
        halves = [tightened(self.corners.structure, half) for half in (left, right)]
        return [Part(half, part.maybe, part.sure, part.easy, part.hard) for half in halves if half is not None]

    def _cut(self, part: Part, side: int, cases: Turns) -> tuple[int, int] | None:
        """The side, and the cell behind which to cut it; None where no verdict in doubt changes along it."""
        first, last = part.cells[side].tolist()
        if first == last or side == self.corners.swept:
            return None
        if len(cases) > FEW or self.corners.grid.axes[side].is_end:
            return side, (first + last) // 2
        changes = self.corners.changes(side, cases)
        changes = np.sort(changes[(first <= changes) & (changes < last)])
        return (side, int(changes[len(changes) // 2])) if len(changes) else None

    def with_swept(self, cells: Cells, ends: tuple[int, int]) -> Cells:
        """The box with these q of the swept threshold."""
        made = cells.copy()
        if self.corners.swept is not None:
            made[self.corners.swept] = self.corners.cells(*ends)
        return made

    def sure(self) -> list[Cells]:
        """All that is surely inside."""
        known = [self.with_swept(p.cells, p.sure) for _, _, p in self.todo if p.sure[0] < p.sure[1]]
        return merged(self.inside + known)

    def undecided(self) -> list[Cells]:
        """All that may be inside or not."""
        return merged([self.with_swept(p.cells, ends) for _, _, p in self.todo for ends in p.doubtful])

    def _doubt(self, part: Part) -> float:
        """The share of all cells that is undecided in this box."""
        whole, reach = self.corners.grid.whole, self.corners.reach
        shares = (part.cells[:, 1] - part.cells[:, 0] + 1) / (whole[:, 1] + 1)
        if self.corners.swept is not None:
            shares[self.corners.swept] = sum(b - a for a, b in part.doubtful) / (reach[1] - reach[0])
        return float(shares.prod())
