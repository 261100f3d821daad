"""A past formula one sample at a time: its program written out as Python and run.

Amortised constant time an operator and sample, memory no larger than the windows. The source holds
numbers and positions only, never a name: no text of the user is executed. All that can go wrong with
a sample does so before any state has changed.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from ..errors import SignalError
from ..formula.export.python import stepwise
from ..formula.export.streams import JUST_VIOLATED
from ..formula.nodes import Formula
from ..formula.program import program

Sample = Mapping[str, float] | Sequence[float]
"""Values by channel name, or in the order of the channels."""


class Reading(NamedTuple):
    """What is known so far: the robustness lies between `low` and `high`."""

    low: float
    high: float
    verdict: bool | None
    """True: satisfied, False: violated, None: not decided yet."""

    @property
    def robustness(self) -> float | None:
        """The value, once it is one."""
        return self.low if self.low == self.high else None


def reading(low: float, high: float) -> Reading:
    """The verdict is in the signs; the float that stands for a violated zero is shown as zero."""
    verdict = True if low >= 0 else False if high < 0 else None
    return Reading(_zeroed(low), _zeroed(high), verdict)


def _zeroed(value: float) -> float:
    return 0.0 if value in (JUST_VIOLATED, -JUST_VIOLATED) else value


def values(formulas: Sequence[Formula], channels: tuple[str, ...]) -> Callable[[Sample], tuple[float, ...]]:
    """A function that takes the next sample and gives the value of each formula now.

    Values are robustness, but for the smallest negative float, which says zero and not satisfied.
    """
    results = [_own(f"s{len(program(formula).steps) - 1}", k) for k, formula in enumerate(formulas)]
    update: Callable[[Sample], tuple[float, ...]] = _compiled(formulas, channels, [], [f"return {', '.join(results)},"])
    return update


def readings(formula: Formula, channels: tuple[str, ...]) -> tuple[Callable[[Sample], Reading], Callable[[], Any]]:
    """A function that takes the next sample and gives the reading now; and one that gives (count, last reading)."""
    strict = any(o is not None and o.strict for step in program(formula).steps for o in (step.a, step.b))
    shown = f"0.0 if v == {JUST_VIOLATED} else v" if strict else "v"
    ending = [
        f"v = s{len(program(formula).steps) - 1}",
        "if v != last:",  # most samples change nothing, and a reading can be handed out again
        "    last = v",
        f"    z = {shown}",
        "    current = new(Reading, (z, z, v >= 0.0))",
        "return current",
    ]
    made: tuple[Any, Any] = _compiled([formula], channels, ["last = None", "current = None"], ending)
    return made


def _compiled(formulas: Sequence[Formula], channels: tuple[str, ...], setup: list[str], ending: list[str]) -> Any:
    """`update`, or with a setup of its own `update` and a function that gives its state."""
    read = tuple(dict.fromkeys(name for formula in formulas for name in program(formula).channels))
    names = {name: f"x{i}" for i, name in enumerate(read)}
    start, atoms, body = ["n = -1", *setup], [], ["n += 1"]
    for k, formula in enumerate(formulas):
        before, first, lines = stepwise(program(formula), names)
        start += [_own(line, k) for line in before if line != "n = -1"]
        atoms += [_own(line, k) for line in first]
        body += [_own(line, k) for line in lines if line != "n += 1"]
    rebound = [line.split(" = ")[0] for line in start if " = deque" not in line]
    source = [
        "def make():",
        "    by_name = True",
        *(f"    {line}" for line in start),
        "    def update(sample):",
        f"        nonlocal {', '.join(['by_name', *rebound])}",
        "        try:",
        "            if by_name:",
        *(f"                x{i} = sample[NAME{i}]" for i in range(len(read))),
        "                pass",
        "            else:",
        f"                [{', '.join(names.get(name, '_') for name in channels)}] = sample",
        *(f"            if not x{i} < 1e999 or not x{i} > -1e999: raise ValueError" for i in range(len(read))),
        *(f"            {line}" for line in atoms),
        "        except (LookupError, TypeError, ValueError, ArithmeticError):",
        "            by_name = other_way(sample, by_name)",
        "            return update(sample)",
        *(f"        {line}" for line in [*body, *ending]),
        "    return update, lambda: (n + 1, current)" if setup else "    return update",
    ]

    def other_way(sample: Any, by_name: bool) -> bool:
        """Samples come one way, by name or in order, until one comes the other way; anything else is refused."""
        named = hasattr(sample, "keys")
        listed = hasattr(sample, "__len__") and not isinstance(sample, (str, bytes))
        if named != by_name and (named or listed):
            return named
        raise SignalError(f"{_complaint(sample, read, channels)} (found {_shown(sample)})") from None

    space: dict[str, Any] = {"deque": deque, "inf": inf, "other_way": other_way, "Reading": Reading}
    space |= {"new": tuple.__new__} | {f"NAME{i}": name for i, name in enumerate(read)}
    exec("\n".join(source), space)
    return space["make"]()


def _own(line: str, k: int) -> str:
    """The line with its state named for the k-th formula."""
    return re.sub(r"\b([sqke]\d+)\b", rf"\1_{k}", line) if k else line


def _complaint(sample: Any, read: tuple[str, ...], channels: tuple[str, ...]) -> str:
    if isinstance(sample, Mapping):
        missing = [name for name in read if name not in sample]
        if missing:
            from ..data.problems import unknown_channel

            return unknown_channel(missing[0], map(str, sample), "it has", "the sample lacks the channel")
        wrong = next((name for name in read if not _is_finite(sample[name])), read[0])
        return f"channel {wrong!r} is not a finite number"
    if not isinstance(sample, (str, bytes)) and hasattr(sample, "__len__") and len(sample) == len(channels):
        wrong = next((name for name in read if not _is_finite(sample[channels.index(name)])), read[0])
        return f"channel {wrong!r} is not a finite number"
    return f"a sample is a mapping, or {len(channels)} values in the order {', '.join(channels)}"


def _is_finite(value: Any) -> bool:
    try:
        return bool(-inf < value < inf) and value - 1.0 is not None
    except (TypeError, ValueError):
        return False


def _shown(sample: Any) -> str:
    text = repr(sample)
    return text if len(text) <= 80 else text[:77] + "..."
