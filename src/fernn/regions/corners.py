"""The verdicts at the corners of a box, for all values of one threshold at once.

Every place of a parameter gets its own worst or best value of the box, so the two corners bound the verdicts of all
values inside, also where one name stands in several places that pull apart.

One threshold, the swept one, is left open: with all else settled the verdict on a trace changes once along it.
Counted in steps q that make the formula easier (cells, upwards or downwards), a trace satisfies it from its `turn` on:
the robustness at cell 0 when the atoms of the swept threshold count cells and all others are infinitely true or false.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..formula import Formula, Interval, atom, interval
from ..semantics import robustness
from .grid import FAR, Cells, Floats, Grid
from .structure import Structure, assembled

Turns = npt.NDArray[np.int64]
"""For each trace the first q at which it satisfies the formula."""
NEVER = int(FAR)


@dataclass(frozen=True, eq=False)
class Corners:
    """What judges the corners of boxes. `swept` is the number of the swept parameter, None where there is none."""

    structure: Structure
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
        for over, (start, end), wide in zip(
            self.structure.windows, self.structure.ends, self.structure.widens, strict=True
        ):
            low = over.start if start is None else int(box[start, int(easy != wide)])
            high = over.end if end is None else int(box[end, int(easy == wide)])
            if start is None and end is None:
                windows.append(over)
            else:
                windows.append(interval(low, high) if low <= high else nothing)
        key = tuple(windows)
        if key not in self._bare:
            atoms = [atom(f"a{j}", ">=", 0.0) for j in range(len(self.structure.atoms))]
            self._bare[key] = assembled(self.structure.shape, atoms, windows)
        return self._bare[key]


def swept(structure: Structure, grid: Grid) -> int | None:
    """The threshold with the most cells among those that pull one way everywhere."""
    found = [
        (axis.last, -number)
        for number, axis in enumerate(grid.axes)
        if not axis.is_end and len(structure.directions(number)) == 1
    ]
    return -max(found)[1] if found else None
