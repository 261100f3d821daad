"""Which samples the functions of an atom read, where its verdict falls.

    mean(x, 20) at sample 140 reads samples 121 to 140
    diff(x, 5) at sample 140 reads samples 135 and 140

Windows end where the trace begins. What stands inside a function is read at every sample of its window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isinf

from ..data import Dataset
from ..errors import short_repr
from ..formula.expressions import ELAPSED, Call, Step, Sum, Weights, looks_back, own_reach, samples_to_time
from ..formula.measures import channels, horizon
from ..formula.nodes import Atom
from ..formula.printer import format_duration
from .packed_traces import time_step
from .robustness import quantity_values

SampleSpan = tuple[int, int]
"""First and last sample, both included."""


@dataclass(frozen=True, slots=True)
class FunctionWindow:
    """A function, the samples at which its value was needed, and the samples that entered its window for that."""

    function: str
    at: SampleSpan
    reads: SampleSpan
    value: float | None
    """What it gave, where it was needed at one sample."""
    text: str
    """In words, with times where the clock is known."""

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, object]:
        return {
            "function": self.function, "at": list(self.at), "reads": list(self.reads), "value": self.value,
            "text": self.text,
        }  # fmt: skip


def function_windows(atom: Atom, sample: int, one: Dataset) -> tuple[FunctionWindow, ...]:
    """Of the functions of an atom that look back, outer ones first; `one` is the trace that is judged."""
    step = time_step(one.dt, one.time_unit)
    found = dict.fromkeys(_windows(atom.weights, (sample, sample), step))
    return tuple(_describe(call, at, reads, step, one) for call, at, reads in found)


def channel_reach(atom: Atom, step: Step | None) -> dict[str, tuple[float, int]]:
    """By channel, from how many to how many samples before the judged one the atom reads it; `inf`: from the start."""
    found: dict[str, tuple[float, int]] = {}
    for name, far, near in _reaches(atom.weights, 0.0, 0, step):
        known = found.get(name, (far, near))
        found[name] = max(known[0], far), min(known[1], near)
    return found


def channel_spans(atom: Atom, sample: int, step: Step | None) -> dict[str, SampleSpan]:
    """By channel, the first and the last sample that the atom reads where it is judged at this one."""
    found = channel_reach(atom, step).items()
    return {name: (int(max(0, sample - far)), sample - near) for name, (far, near) in found}


def _reaches(weights: Weights, far: float, near: int, step: Step | None) -> Iterator[tuple[str, float, int]]:
    for term, _ in weights:
        if isinstance(term, str):
            yield term, far, near
            continue
        farther, nearer = far + own_reach(term, step), near + (term.function == "integral")
        for part in term.arguments:
            if isinstance(part, Sum):
                yield from _reaches(part.weights, farther, nearer, step)
            else:
                back = farther + horizon(part)[0]
                yield from ((name, back, nearer) for name in channels(part))


def _windows(weights: Weights, at: SampleSpan, step: Step | None) -> Iterator[tuple[Call, SampleSpan, SampleSpan]]:
    """(function, samples at which it is needed, samples that it reads); the last is before the first for none."""
    for term, _ in weights:
        if isinstance(term, str):
            continue
        reads = _reads(term, at, step)
        if looks_back(term):
            yield term, at, reads
        for part in term.sums:
            yield from _windows(part.weights, reads, step)


def _reads(call: Call, at: SampleSpan, step: Step | None) -> SampleSpan:
    if not looks_back(call):
        return at
    far = own_reach(call, step)
    first = 0 if isinf(far) else max(0, at[0] - int(far))
    return first, at[1] - (call.function == "integral")


def _describe(call: Call, at: SampleSpan, reads: SampleSpan, step: Step | None, one: Dataset) -> FunctionWindow:
    where = f"sample {at[0]}" if at[0] == at[1] else f"samples {at[0]} to {at[1]}"
    value = float(quantity_values(((call, 1.0),), one)[0][at[0]]) if at[0] == at[1] else None
    text = f"{call} at {where} reads {_describe_span(call, at, reads, one)}"
    if value is not None and call.function in ("since", ELAPSED):
        (held,) = call.arguments
        sample = float(samples_to_time(call, step)) if call.function == ELAPSED else 1.0
        last = "never held up to then" if isinf(value) else f"last held at sample {at[0] - round(value / sample)}"
        text += f"; {held} {last}"
    elif at[0] < own_reach(call, step) < inf:
        text += ", where the trace begins"
    return FunctionWindow(str(call), at, reads, value, text)


def _describe_span(call: Call, at: SampleSpan, reads: SampleSpan, one: Dataset) -> str:
    """`samples 121 to 140 (12.1 to 14 s)`"""
    first, last = reads
    if first > last:
        return "no sample"
    is_pair = call.function in ("diff", "rate") and at[0] == at[1]
    word = "and" if is_pair else "to"
    text = f"sample {first}" if first == last else f"samples {first} {word} {last}"
    if one.dt is None:
        return text
    ends = [format_duration(each, one.dt) for each in dict.fromkeys(reads)]
    return f"{text} ({f' {word} '.join(ends)} {one.time_unit or 'time units'})"
