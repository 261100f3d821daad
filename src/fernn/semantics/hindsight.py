"""The outlook of the few formulas that need the whole trace: a window of its own around an operator over all time.

`F[0,5] G p` under another temporal operator is such a one. All samples are kept and judged anew at
each sample; memory and time grow with the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from ..formula.interval import Interval
from ..formula.nodes import Always, And, Atom, Eventually, Formula, Implies, Not, Or, Until
from .leaves import over_signals
from .stream import Sample, values

Signal = tuple[list[float], float | None]
"""Values at the samples seen, and the one value of all that are not (None: the trace has ended)."""


class Hindsight:
    """As `Outlook`, for any formula without a past operator around a future one."""

    def __init__(self, formula: Formula, channels: tuple[str, ...]) -> None:
        signals: list[Formula] = []
        self.formula = over_signals(formula, True, signals)
        self.next_signals = values(signals, channels)
        self.rows: list[list[float]] = [[] for _ in signals]

    def update(self, sample: Sample) -> tuple[float, float]:
        for row, number in zip(self.rows, self.next_signals(sample), strict=True):
            row.append(number)
        return self._judged(self.formula, -inf)[0][0], self._judged(self.formula, inf)[0][0]

    def ended(self) -> float:
        return self._judged(self.formula, None)[0][0]

    def _judged(self, formula: Formula, world: float | None) -> Signal:
        match formula:
            case Atom(((name, _),), _, _):
                return self.rows[int(name[1:])], world
            case Not(a):
                row, tail = self._judged(a, world)
                return [-v for v in row], None if tail is None else -tail
            case And(a, b):
                return _both(min, self._judged(a, world), self._judged(b, world))
            case Or(a, b):
                return _both(max, self._judged(a, world), self._judged(b, world))
            case Implies(a, b):
                return self._judged(Or(Not(a), b), world)
            case Eventually(a, over):
                return _until(None, self._judged(a, world), over)
            case Always(a, over):
                return self._judged(Not(Eventually(Not(a), over)), world)
            case Until(a, b, over):
                return _until(self._judged(a, world), self._judged(b, world), over)
        raise TypeError(f"not a formula over signals: {formula!r}")


def _both(best: Callable[[float, float], float], a: Signal, b: Signal) -> Signal:
    tail = None if a[1] is None or b[1] is None else best(a[1], b[1])
    return [best(x, y) for x, y in zip(a[0], b[0], strict=True)], tail


def _until(hold: Signal | None, goal: Signal, over: Interval) -> Signal:
    size, tail = len(goal[0]), goal[1]
    held = hold[0] if hold is not None else [inf] * size
    held_tail = hold[1] if hold is not None else None if tail is None else inf
    result = [-inf] * size
    if over.is_all_time:
        r = -inf if tail is None else tail
        for t in reversed(range(size)):
            r = result[t] = max(goal[0][t], min(held[t], r))
    else:
        for t in range(size):
            worst = inf
            for u in range(t, size if over.end == inf else min(size, t + int(over.end) + 1)):
                if any(a <= u - t <= b for a, b in over):
                    result[t] = max(result[t], min(worst, goal[0][u]))
                worst = min(worst, held[u])
            if tail is not None and held_tail is not None and t + over.end >= size:
                reached = min(worst, tail)
                if not any(a <= size - t <= b for a, b in over):
                    reached = min(reached, held_tail)
                result[t] = max(result[t], reached)
    if tail is None or held_tail is None:
        return result, None
    return result, tail if over.start == 0 else min(tail, held_tail)
