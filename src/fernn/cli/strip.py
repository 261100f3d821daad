"""One trace in text: what the rules read, where the fault is, and where they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formula import channels

if TYPE_CHECKING:
    from ..causes import Marked
    from ..formula import Formula

HEIGHT = 6
MOST = 3  # channels drawn
DOT, FAULT, ALARM = "o", "#", "^"


def strip(rules: Sequence[Formula], marked: Marked, width: int = 80) -> str:
    """The trace with the most faults, from shortly before the first of them, a column a sample."""
    from ..causes.judging import either, everywhere
    from ..causes.marked import runs

    rule = either(rules)
    place = max(range(len(marked)), key=lambda i: len(list(runs(marked.faulty[i]))))
    one = marked.subset([marked.data.cases[place]])
    room, size = width - 11, int(one.data.lengths[0])
    first = int(one.faulty[0].argmax())
    low = max(0, min(first - room // 3, size - room))
    shown = slice(low, min(low + room, size))
    trace = one.data.values[0]
    lines = [f"{marked.data.name}, case {one.data.cases[0]!r}, samples {low} to {shown.stop - 1}"]
    for name in channels(rule)[:MOST]:
        lines += [f"{name}:", *_curve(trace[one.data.channels.index(name)][shown])]
    lines.append(_marks("fault", one.faulty[0][shown], FAULT))
    lines.append(_marks("rules", everywhere(rule, one)[shown], ALARM))
    return "\n".join(lines)


def _curve(row: Any) -> list[str]:
    bottom, top = float(row.min()), float(row.max())
    level = np.round((row - bottom) / ((top - bottom) or 1.0) * (HEIGHT - 1)).astype(int)
    lines = []
    for height in range(HEIGHT - 1, -1, -1):
        name = {HEIGHT - 1: f"{top:.4g}", 0: f"{bottom:.4g}"}.get(height, "")
        cells = "".join(DOT if here == height else " " for here in level)
        lines.append(f"{name:>8} |{cells.rstrip()}")
    return lines


def _marks(name: str, flags: Any, mark: str) -> str:
    return f"{name:>8} |" + "".join(mark if flag else "." for flag in flags)
