"""The time between samples of a file that is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np

from ...errors import DataError
from ...formula.show import computed_number
from ...plain import number, refusing, text, whole
from ..dataset import Floats, Ints
from ..problems import Ledger
from ..times import EVEN, tell_other_step, tell_uneven


@dataclass
class Pace:
    """How many steps there were, how long they took, and the shortest and the longest of them with their place."""

    steps: int = 0
    total: float = 0.0
    shortest: tuple[float, str, int, str] = (inf, "", 0, "")
    longest: tuple[float, str, int, str] = (-inf, "", 0, "")
    dt: float | None = None
    """The step that was asked for."""
    below: int = 0
    above: int = 0
    """Steps that are shorter than that, and longer."""

    def take(self, time: Floats, bounds: Ints, cases: list[str], lines: Ints | int, where: str) -> bool:
        """The rows of whole cases; `lines` are theirs, or that of the first. False where times do not rise."""
        steps = np.diff(time)
        count = len(steps) - (len(bounds) - 2)
        if count <= 0:
            return True
        between = bounds[1:-1] - 1  # from a case to the next
        steps[between] = inf
        low = int(steps.argmin())
        if not steps[low] > 0:
            return False
        steps[between] = -inf
        high = int(steps.argmax())
        for name, at in (("shortest", low), ("longest", high)):
            line = lines + at + 1 if isinstance(lines, int) else int(lines[at + 1])
            case = cases[int(np.searchsorted(bounds, at + 1, side="right")) - 1]
            better = min if name == "shortest" else max
            found = (float(steps[at]), where, line, case)
            setattr(self, name, better(getattr(self, name), found, key=lambda step: step[0]))
        if self.dt is not None:
            self.below += int((steps < self.dt * (1 - EVEN)).sum()) - len(between)
            self.above += int((steps > self.dt * (1 + EVEN)).sum())
        self.steps += count
        self.total += float((time[bounds[1:] - 1] - time[bounds[:-1]]).sum())
        return True

    def join(self, later: Pace) -> None:
        """With the steps of later rows."""
        self.steps += later.steps
        self.total += later.total
        self.below, self.above = self.below + later.below, self.above + later.above
        self.shortest = min(self.shortest, later.shortest, key=lambda step: step[0])
        self.longest = max(self.longest, later.longest, key=lambda step: step[0])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    @refusing(DataError, "these are no steps between samples")
    def from_json(told: Mapping[str, Any]) -> Pace:
        """What `to_json` gave, which may have been changed on the way."""
        dt = None if told["dt"] is None else number(told["dt"])
        ends = _end(told["shortest"]), _end(told["longest"])
        return Pace(whole(told["steps"]), number(told["total"]), *ends, dt, whole(told["below"]), whole(told["above"]))

    @property
    def step(self) -> float | None:
        """The step, the same everywhere; None where steps vary or there are none."""
        return float(f"{self.mean:.9g}") if self.steps and self.is_even else None

    @property
    def mean(self) -> float:
        return self.total / self.steps

    @property
    def is_even(self) -> bool:
        ends = (self.shortest[0], self.longest[0])
        return not any(abs(step - self.mean) > EVEN * abs(self.mean) for step in ends)

    def tell(self, ledger: Ledger) -> None:
        """A warning where steps vary; an error where their median is not the `dt` that was asked for."""
        if not self.steps:
            return
        before = ledger.file
        if self.dt is not None and 2 * max(self.below, self.above) > self.steps:
            ledger.file = self.shortest[1]
            tell_other_step(self.dt, self.mean, ledger, self.shortest[2], self.shortest[3])
        if not self.is_even:
            worst = max(self.shortest, self.longest, key=lambda step: abs(step[0] - self.mean))
            ledger.file = worst[1]
            mean, here = (computed_number(step, 9) for step in (self.mean, worst[0]))
            what = f"sampling is irregular: the mean step is {mean}, here it is {here}"
            tell_uneven(what, self.dt, ledger, worst[2], worst[3])
        ledger.file = before


def _end(row: Any) -> tuple[float, str, int, str]:
    step, where, line, case = row
    return number(step), text(where), whole(line), text(case)
