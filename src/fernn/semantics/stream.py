"""A past formula one sample at a time: its program written out as Python and run.

Amortised constant time an operator and sample, memory no larger than the windows. The source holds
numbers and positions only; names are looked up in a dictionary, so no text of the user is executed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from ..errors import SignalError
from ..formula.export.python import stepwise
from ..formula.nodes import Formula
from ..formula.program import program

Sample = Mapping[str, float] | Sequence[float]
"""Values by channel name, or in the order of the channels."""


def stream(formulas: Sequence[Formula], channels: tuple[str, ...]) -> Callable[[Sample], Any]:
    """A function that takes the next sample and gives the value of each formula now.

    A tuple, or the bare value when there is one formula. Values are robustness, but for the
    smallest negative float, which says zero and not satisfied.
    """
    read = tuple(dict.fromkeys(name for formula in formulas for name in program(formula).channels))
    names = {name: f"x{i}" for i, name in enumerate(read)}
    start: list[str] = []
    body: list[str] = []
    results: list[str] = []
    for k, formula in enumerate(formulas):
        setup, lines = stepwise(program(formula), names)
        start += [_own(line, k) for line in setup]
        body += [_own(line, k) for line in lines]
        results.append(_own(f"s{len(program(formula).steps) - 1}", k))
    rebound = [line.split(" = ")[0] for line in start if " = deque" not in line]
    lines = [
        "def make():",
        *(f"    {line}" for line in start),
        "    def update(sample):",
        *([f"        nonlocal {', '.join(rebound)}"] if rebound else []),
        "        try:",
        "            if type(sample) is dict or hasattr(sample, 'keys'):",
        *(f"                x{i} = sample[NAMES[{i}]]" for i in range(len(read))),
        "                pass",
        "            else:",
        *(f"                x{i} = sample[{channels.index(name)}]" for i, name in enumerate(read)),
        f"                if len(sample) != {len(channels)}: raise IndexError",
        *(line for i in range(len(read)) for line in _checked(f"x{i}")),
        "        except (LookupError, TypeError, ValueError) as error:",
        "            refuse(sample, error)",
        *(f"        {line}" for line in body),
        f"        return {results[0]}" if len(results) == 1 else f"        return {', '.join(results)},",
        "    return update",
    ]

    def refuse(sample: Any, error: Exception) -> None:
        raise SignalError(f"{_complaint(sample, read, channels)} (found {_shown(sample)})") from None

    space: dict[str, Any] = {"deque": deque, "inf": inf, "refuse": refuse, "NAMES": read, "number": _number}
    exec("\n".join(lines), space)
    return space["make"]()  # type: ignore[no-any-return]


def _own(line: str, k: int) -> str:
    """The line with its state named for the k-th formula."""
    import re

    return re.sub(r"\b([snqr]\d*)\b", rf"\1_{k}", line) if k else line


def _checked(name: str) -> list[str]:
    return [
        f"            if type({name}) is not float: {name} = number({name})",
        f"            if not -inf < {name} < inf: raise ValueError",
    ]


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def _complaint(sample: Any, read: tuple[str, ...], channels: tuple[str, ...]) -> str:
    if isinstance(sample, Mapping):
        missing = [name for name in read if name not in sample]
        if missing:
            return f"the sample lacks the channel {missing[0]!r}; the formula reads {', '.join(read)}"
        wrong = next((name for name in read if not _is_finite(sample[name])), read[0])
        return f"channel {wrong!r} is not a finite number"
    if not isinstance(sample, (str, bytes)) and hasattr(sample, "__len__") and len(sample) == len(channels):
        wrong = next((name for name in read if not _is_finite(sample[channels.index(name)])), read[0])
        return f"channel {wrong!r} is not a finite number"
    return f"a sample is a mapping, or {len(channels)} values in the order {', '.join(channels)}"


def _is_finite(value: Any) -> bool:
    try:
        return -inf < _number(value) < inf
    except (TypeError, ValueError):
        return False


def _shown(sample: Any) -> str:
    text = repr(sample)
    return text if len(text) <= 80 else text[:77] + "..."
