"""Branch and bound over boxes of cells.

Every place of a parameter gets its own worst or best value of the box, so the two corners bound the verdicts of all
values inside, also where one name stands in several places that pull apart. One threshold, the swept one, is left open:
with all else settled the verdict on a trace changes once along it. Counted in steps q that make the formula easier
(cells, upwards or downwards), a trace satisfies it from its `turn` on: the robustness at cell 0 when the atoms of the
swept threshold count cells and all others are infinitely true or false.

A box of all parameters but the swept one is judged at its easiest and its hardest corner. Each of them gives the q of
the swept threshold from which few enough good traces are judged bad, and those up to which few enough bad ones are
judged good. Where even the hardest alarms little enough and even the easiest misses little enough, all of the box is
inside; where not even the easiest or not even the hardest does, none of it; what is left is split. Single cells have
one corner, so a search that ends is exact. Traces whose turn is the same at both corners are not looked at again.

Where nothing keeps to both limits, a best-first search finds the fewest misses with false alarms within theirs.
"""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from time import monotonic

import numpy as np

from ..data.arrays import Bools, Floats, Ints
from ..errors import short_repr
from ..formula import Formula, Interval, atom, interval
from ..semantics import robustness
from .parameter_grid import FAR, Cells, Grid, merge_boxes, tighten
from .parametric_formula import ParametricFormula, assemble

Turns = Ints
"""For each trace the first q at which it satisfies the formula."""
NEVER = int(FAR)


@dataclass(frozen=True, eq=False)
class BoxCorners:
    """Verdicts at the corners of boxes. `swept` is the number of the swept parameter, None where there is none."""

    structure: ParametricFormula
    grid: Grid
    swept: int | None
    _bare: dict[tuple[Interval, ...], Formula] = field(default_factory=dict)

    @property
    def rising(self) -> bool:
        """Whether q counts cells upwards."""
        return self.swept is None or self.structure.directions(self.swept) == {True}

    @property
    def reach(self) -> tuple[int, int]:
        """The first q, and the one behind the last."""
        last = 0 if self.swept is None else self.grid.axes[self.swept].last
        return (0, last + 1) if self.rising else (-last, 1)

    def cells(self, first: int, behind: int) -> tuple[int, int]:
        """The first and the last cell of these q."""
        return (first, behind - 1) if self.rising else (1 - behind, -first)

    def turns(self, box: Cells, easy: bool, cases: Turns) -> Turns:
        """Of these traces, at the corner of the box that is easiest, or hardest, to satisfy."""
        traces = self._traces(box, easy, cases)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that empty windows decide is known here
            measured = robustness(self._formula(box, easy), traces, [f"a{j}" for j in range(len(self.grid.signals))])
        if self.swept is None:
            return np.where(measured > 0, -NEVER, NEVER)
        return np.asarray(np.clip(0.5 - measured, -FAR, FAR), np.int64)

    def changes(self, number: int, cases: Turns) -> Turns:
        """The cells of this threshold behind which one of its atoms changes somewhere in these traces."""
        rows = [
            -row if compared.is_upper_bound else row
            for row, at, compared in zip(
                self.grid.of(cases), self.structure.thresholds, self.structure.atoms, strict=True
            )
            if at == number
        ]
        return np.asarray(np.concatenate(rows) - 0.5, np.int64)

    def _traces(self, box: Cells, easy: bool, cases: Turns) -> Floats | list[Floats]:
        """`[case, atom, time]`, or a list for unequal lengths."""
        signals, lengths = self.grid.of(cases), self.grid.lengths
        for row, at, rises, compared in zip(
            signals, self.structure.thresholds, self.structure.rises, self.structure.atoms, strict=True
        ):
            if at is not None and at != self.swept:
                cell = box[at, int(easy == rises)]
                row[:] = np.copysign(FAR, row + (cell if compared.is_upper_bound else -cell))
        if lengths.min() == lengths.max():
            return np.ascontiguousarray(signals.reshape(len(signals), len(cases), -1).swapaxes(0, 1))
        return np.split(signals, np.cumsum(lengths[cases])[:-1], axis=1)

    def _formula(self, box: Cells, easy: bool) -> Formula:
        """The structure with the windows of the corner, over channels that hold the atoms' signals."""
        longest, windows = int(self.grid.lengths.max()), []
        nothing = interval(longest, longest)  # no trace has a sample there
        for over, (start, end), (later, longer) in zip(
            self.structure.windows, self.structure.ends, self.structure.eases, strict=True
        ):
            low = over.start if start is None else int(box[start, int(easy == later)])
            high = over.end if end is None else int(box[end, int(easy == longer)])
            if start is None and end is None:
                windows.append(over)
            elif low > high and later == longer:  # both ends lowest, or both highest: the nearest window that there is
                nearest = int(high) if easy == later else low
                windows.append(interval(nearest, nearest))
            else:
                windows.append(interval(low, high) if low <= high else nothing)
        key = tuple(windows)
        if key not in self._bare:
            atoms = [atom(f"a{j}", ">=", 0.0) for j in range(len(self.structure.atoms))]
            self._bare[key] = assemble(self.structure.shape, atoms, windows)
        return self._bare[key]


def choose_swept(structure: ParametricFormula, grid: Grid) -> int | None:
    """The threshold with the most cells among those that pull one way everywhere."""
    sizes = [
        (axis.last, -number)
        for number, axis in enumerate(grid.axes)
        if not axis.is_end and len(structure.directions(number)) == 1
    ]
    return -max(sizes)[1] if sizes else None


FEW = 64
"""Traces in doubt, of which all values are looked at to find a good place to cut."""
CROWDED = 1 << 28
"""Bytes of waiting boxes, beyond which the newest is split first, so that there are not many more of them."""


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is: boxes looked at, the share of all cells that is undecided, seconds since the start."""

    boxes: int
    undecided: float
    seconds: float

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class ErrorLimits:
    """Which traces are good, and how many of each class may be judged wrongly."""

    good: Bools
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
class SearchBox:
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
class BoxSearch:
    """The state of the search: boxes inside the set, `[parameter, 2]` cells each, and a queue of those to split."""

    corners: BoxCorners
    judge: ErrorLimits
    inside: list[Cells] = field(default_factory=list)
    todo: list[tuple[float, int, SearchBox]] = field(default_factory=list)
    boxes: int = 0

    def __post_init__(self) -> None:
        self._order = count()
        self.share = 0.0
        cases, reach = len(self.judge.good), self.corners.reach
        never = np.full(cases, NEVER)
        cells = tighten(self.corners.structure, self.corners.grid.whole)
        if cells is not None:
            self._push(SearchBox(cells, reach, (reach[0], reach[0]), -never, never))

    def run(self, seconds: float, most: float, watch: Callable[[SearchProgress], None]) -> str:
        """Until all is decided or this runs out; says why it ended: done, time limit, box limit or interrupted."""
        start, part = monotonic(), None
        try:
            while self.todo:
                elapsed = monotonic() - start
                if elapsed > seconds or self.boxes >= most:
                    return "time limit" if elapsed > seconds else "box limit"
                watch(SearchProgress(self.boxes, self.share, elapsed))
                part = heapq.heappop(self.todo)[2]
                self.share = max(self.share - self._undecided_share(part), 0.0)
                self._step(self.bound_errors(part))
                part = None
        except KeyboardInterrupt:
            if part is not None:
                self._push(part)
            return "interrupted"
        self.share = 0.0
        return "done"

    def bound_errors(self, part: SearchBox) -> SearchBox:
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
        return SearchBox(part.cells, maybe, sure, easy, hard)

    def _step(self, part: SearchBox) -> None:
        self.boxes += 1
        if part.maybe[0] >= part.maybe[1]:
            return
        if part.doubtful:
            for half in self.halves(part):
                self._push(half)
        else:
            self.inside.append(self.with_swept(part.cells, part.sure))

    def _push(self, part: SearchBox) -> None:
        doubt, number = self._undecided_share(part), next(self._order)
        crowded = len(self.todo) * part.easy.nbytes > CROWDED
        heapq.heappush(self.todo, (-1.0 - number if crowded else -doubt, number, part))
        self.share += doubt

    def halves(self, part: SearchBox) -> list[SearchBox]:
        """The box cut in two across its longest side that matters, without windows that end before they start."""
        cells, whole = part.cells, self.corners.grid.whole
        cases = np.flatnonzero(part.easy != part.hard)
        sides = np.argsort((cells[:, 0] - cells[:, 1]) / np.maximum(whole[:, 1], 1), kind="stable")
        side, cut = next(split for side in sides if (split := self._cut(part, int(side), cases)) is not None)
        left, right = cells.copy(), cells.copy()
        left[side, 1], right[side, 0] = cut, cut + 1
        halves = [tighten(self.corners.structure, half) for half in (left, right)]
        return [SearchBox(half, part.maybe, part.sure, part.easy, part.hard) for half in halves if half is not None]

    def _cut(self, part: SearchBox, side: int, cases: Turns) -> tuple[int, int] | None:
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
        box = cells.copy()
        if self.corners.swept is not None:
            box[self.corners.swept] = self.corners.cells(*ends)
        return box

    def sure(self) -> list[Cells]:
        """All that is surely inside."""
        partly = [self.with_swept(p.cells, p.sure) for _, _, p in self.todo if p.sure[0] < p.sure[1]]
        return merge_boxes(self.inside + partly)

    def undecided(self) -> list[Cells]:
        """All that may be inside or not."""
        return merge_boxes([self.with_swept(p.cells, ends) for _, _, p in self.todo for ends in p.doubtful])

    def _undecided_share(self, part: SearchBox) -> float:
        """The share of all cells that is undecided in this box."""
        whole, reach = self.corners.grid.whole, self.corners.reach
        shares = (part.cells[:, 1] - part.cells[:, 0] + 1) / (whole[:, 1] + 1)
        if self.corners.swept is not None:
            shares[self.corners.swept] = sum(b - a for a, b in part.doubtful) / (reach[1] - reach[0])
        return float(shares.prod())


def fewest_misses(corners: BoxCorners, judge: ErrorLimits, seconds: float) -> tuple[Cells, bool] | None:
    """A cell with the fewest misses, and whether it is proved that none has fewer; None where none was found.

    The cell is `[parameter, 2]`, first and last the same.
    """
    bad = ~judge.good
    search = BoxSearch(corners, ErrorLimits(judge.good, judge.alarms, int(bad.sum())))
    start, order = monotonic(), count()
    todo = [(0, next(order), part) for _, _, part in search.todo]
    fewest, best = int(bad.sum()) + 1, None
    while todo and todo[0][0] < fewest:
        if monotonic() - start > seconds:
            return (best, False) if best is not None else None
        part = search.bound_errors(heapq.heappop(todo)[2])
        if part.maybe[0] >= part.maybe[1]:
            continue
        least = int(np.count_nonzero(part.hard[bad] <= part.maybe[0]))
        if part.sure[0] < part.maybe[1]:
            most = int(np.count_nonzero(part.easy[bad] <= part.sure[0]))
            if most < fewest:
                fewest, best = most, search.with_swept(part.cells, (part.sure[0], part.sure[0] + 1))
                best[:, 1] = best[:, 0]
        if least < fewest:
            for half in search.halves(part):
                heapq.heappush(todo, (least, next(order), half))
    return (best, True) if best is not None else None
