"""One trace in text: what the rules read, where the fault is, and where they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..formula import channels
from .picture import grid_of

if TYPE_CHECKING:
    from ..formula import Formula
    from ..mining import FaultMarks

HEIGHT = 6
MOST = 3  # channels drawn
DOT, FAULT, ALARM = "o", "#", "^"


def strip(rules: Sequence[Formula], marked: FaultMarks, width: int = 80) -> str:
    """The trace with the most faults, from shortly before the first of them, a column a sample."""
    from ..mining.fault_costs import disjunction, holds_at_samples
    from ..mining.fault_marks import true_runs

    rule = disjunction(rules)
    place = max(range(len(marked)), key=lambda i: len(list(true_runs(marked.faulty[i]))))
    one = marked.subset([marked.data.cases[place]])
    room, size = width - 11, int(one.data.lengths[0])
    first = int(one.faulty[0].argmax())
    low = max(0, min(first - room // 3, size - room))
    shown = slice(low, min(low + room, size))
    trace = one.data.values[0]
    lines = [f"{marked.data.name}, case {one.data.cases[0]!r}, samples {low} to {shown.stop - 1}"]
    for name in channels(rule)[:MOST]:
        row = trace[one.data.channels.index(name)][shown]
        lines += [f"{name}:", *grid_of({DOT: row}, [], len(row), HEIGHT)]
    lines.append(_marks("fault", one.faulty[0][shown], FAULT))
    lines.append(_marks("rules", holds_at_samples(rule, one)[shown], ALARM))
    return "\n".join(lines)


def _marks(name: str, flags: Any, mark: str) -> str:
    return f"{name:>8} |" + "".join(mark if flag else "." for flag in flags)
