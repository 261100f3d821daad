"""Root causes: few rules about the past that hold where there is a fault, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..errors import UnsupportedError
from ..formula import Formula
from ..learners.clock import Clock
from ..learners.fit import Watch, silent
from ..learners.validating import check_folds
from .forms import check_channels, templates
from .found import CauseFit
from .hunt import Hunt
from .judging import Judge, judge
from .marked import Marked


@dataclass(frozen=True)
class Cause:
    """The settings; `fit` does the work."""

    max_length: int = 4
    """Atoms and operators of one rule, at most."""
    max_rules: int = 3
    templates: tuple[Formula | str, ...] = ()
    """Past-time formulas with open choices to search, instead of the usual ones up to `max_length`."""
    intervals: bool = True
    """Whether O and H look at windows, not at all the past only."""
    reach: int = 32
    """How many samples back a window may look."""
    grid: int = 16
    """Thresholds tried a channel; those of the rules found are then moved to where they err least."""
    tolerance: int = 0
    """Samples on either side of where a fault begins or ends that do not count."""
    miss_cost: float = 1.0
    """Of a faulty sample at which no rule holds."""
    false_alarm_cost: float = 1.0
    """Of a sample without a fault at which a rule holds."""
    max_false_alarms: float | None = None
    """Share of the samples without a fault at which rules may hold."""
    folds: int = 5
    """The search is repeated on so many parts of the traces to learn how well it does on others; 0 for not at all."""
    memory: str = "1GB"
    """For parts of rules."""
    seed: int = 0
    time_limit: float | None = None

    def fit(self, marked: Marked, watch: Watch = silent, resume: dict[str, Any] | None = None) -> CauseFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        Ctrl-C ends the search with the best so far.
        """
        self._check(marked.check())
        return Hunt(self, marked, Clock.of(resume, self.time_limit), watch).finish(resume)

    def judge(self, marked: Marked) -> Judge:
        return judge(marked, self.tolerance, self.miss_cost, self.false_alarm_cost, self.max_false_alarms)

    def space(self) -> tuple[Formula, ...]:
        """The templates that are searched."""
        return templates(self.max_length, self.intervals, self.templates)

    def _check(self, marked: Marked) -> None:
        least = (("max_length", 1), ("max_rules", 1), ("reach", 1), ("grid", 1), ("tolerance", 0))
        for name, number in least:
            if getattr(self, name) < number:
                raise UnsupportedError(f"{name} is at least {number}, got {getattr(self, name)}")
        for name in ("miss_cost", "false_alarm_cost"):
            if not (getattr(self, name) >= 0 and isfinite(getattr(self, name))):
                raise UnsupportedError(f"{name} is a number, 0 or more; got {getattr(self, name)}")
        check_folds(self.folds)
        if self.max_false_alarms is not None and not 0 <= self.max_false_alarms <= 1:
            raise UnsupportedError(f"max_false_alarms is a share, from 0 to 1; got {self.max_false_alarms}")
        check_channels(self.space(), marked)
        if not self.judge(marked).faults:
            raise UnsupportedError(f"with a tolerance of {self.tolerance} no faulty sample counts; take a smaller one")
        if not self.judge(marked).total > 0:
            raise UnsupportedError("with these costs and this tolerance no error counts, so there is nothing to find")
