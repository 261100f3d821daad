"""Online monitors: a formula followed live, one sample at a time.

A past formula has a value at every sample: its program is written out as Python and run, in amortised constant time an
operator and sample, with memory no larger than the windows. The source holds numbers and positions only, never a name:
no text of the user is executed. All that can go wrong with a sample does so before any state has changed.

A future formula is judged at the first sample, so what is known of it is the interval of values still possible: it
narrows, and once it lies on one side of zero the verdict is known, whatever follows (`future_monitor`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from ..data.dataset import LARGEST_WHOLE
from ..data.frames import is_frame
from ..errors import FormulaError, SignalError, UnsupportedError
from ..formula.export.python import SourceWriter, rebound_names
from ..formula.export.target import JUST_VIOLATED
from ..formula.expressions import Step
from ..formula.measures import channels as channels_of
from ..formula.measures import direction, needs_step
from ..formula.nodes import Atom, Formula, walk
from ..formula.parser import parse
from ..formula.program import Op, Program, compile_with_functions

Sample = Mapping[str, Any] | Sequence[Any]
"""Values by channel name, or in the order of the channels: numbers, or texts where the formula compares with texts."""


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


def make_reading(low: float, high: float) -> Reading:
    """The verdict is in the signs; the float that stands for a violated zero is shown as zero."""
    verdict = True if low >= 0 else False if high < 0 else None
    return Reading(_hide_zero_marker(low), _hide_zero_marker(high), verdict)


def _hide_zero_marker(value: float) -> float:
    return 0.0 if value in (JUST_VIOLATED, -JUST_VIOLATED) else value


def compile_values(
    formulas: Sequence[Formula], channels: tuple[str, ...], step: Step | None = None
) -> Callable[[Sample], tuple[float, ...]]:
    """A function that takes the next sample and gives the value of each formula now.

    Values are robustness, but for the smallest negative float, which says zero and not satisfied.
    """
    code = compile_with_functions(tuple(formulas), step)
    results = [f"s{root}" for root in code.roots]
    update: Callable[[Sample], tuple[float, ...]] = _compile_update(
        formulas, code, channels, [], [f"return {', '.join(results)},"]
    )
    return update


def compile_past_monitor(
    formula: Formula, channels: tuple[str, ...], step: Step | None = None
) -> tuple[Callable[[Sample], Reading], Callable[[], Any]]:
    """A function that takes the next sample and gives the reading now; and one that gives (count, last reading)."""
    code = compile_with_functions((formula,), step)
    strict = any(o is not None and o.strict for each in code.steps for o in (each.a, each.b))
    shown = f"0.0 if v == {JUST_VIOLATED} else v" if strict else "v"
    ending = [
        f"v = s{code.roots[0]}",
        "if v != last:",  # most samples change nothing, and a reading can be handed out again
        "    last = v",
        f"    z = {shown}",
        "    current = new(Reading, (z, z, v >= 0.0))",
        "return current",
    ]
    made: tuple[Any, Any] = _compile_update([formula], code, channels, ["last = None", "current = None"], ending)
    return made


def _compile_update(
    formulas: Sequence[Formula], code: Program, channels: tuple[str, ...], setup: list[str], ending: list[str]
) -> Any:
    """`update`, or with a setup of its own `update` and a function that gives its state."""
    read = code.channels
    names = {name: f"x{i}" for i, name in enumerate(read)}
    labels = [label for _, label in code.labels]
    asked = list(dict.fromkeys(each.values for each in code.steps if each.op == Op.IS))
    writer, single = (
        SourceWriter(code, names, lambda label: f"labels[{labels.index(label)}]", find, is_single)
        for find, is_single in (
            (lambda values: f"doubles[{asked.index(values)}]", False),
            (lambda values: f"singles[{asked.index(values)}]", True),
        )
    )
    for each in (writer, single):
        each.write(range(len(code.steps)))
    taken = writer.take_channels(
        "raise TypeError", f"raise ValueError({NO_VALUE!r})",
        "if {x}.__class__ is not float: {x} = as_number({x}); others += 1",
    )  # fmt: skip
    start = ["n = -1", *setup, *writer.start]
    numbers = [i for i, name in enumerate(read) if name in code.numbers]
    typed = numbers or [i for i, name in enumerate(read) if name not in code.texts]  # whose type is that of the sample
    source = [
        "def make():",
        "    by_name = True",
        *(f"    {line}" for line in start),
        "    def update(sample):",
        f"        nonlocal {', '.join(['by_name', *rebound_names(start)])}",
        "        try:",
        "            if by_name:",
        *(f"                x{i} = sample[NAME{i}]" for i in range(len(read))),
        "                pass",
        "            else:",
        f"                [{', '.join(names.get(name, '_') for name in channels)}] = sample",
        f"            others = {0 if numbers else len(typed)}",
        *(f"            {line}" for line in taken),
        *(f"            if not x{i} < 1e999 or not x{i} > -1e999: raise ValueError" for i in numbers),
        f"            if others and not ({' and '.join(f'x{i}.__class__ is single' for i in typed) or 'False'}):",
        "                others = 0",  # of several types, all are judged in double precision
        *(f"                x{i} = double(x{i})" for i in numbers),
        "            if others:",
        *(f"                {line}" for line in [*single.first, "pass"]),
        "            else:",
        *(f"                {line}" for line in [*writer.first, "pass"]),
        "        except (LookupError, TypeError, ValueError, ArithmeticError) as error:",
        "            by_name = other_way(sample, by_name, error)",
        "            return update(sample)",
        *(f"        {line}" for line in ["n += 1", *writer.body, *ending]),
        "    return update, lambda: (n + 1, current)" if setup else "    return update",
    ]

    def other_way(sample: Any, by_name: bool, error: Exception) -> bool:
        """Samples come one way, by name or in order, until one comes the other way; anything else is refused."""
        named = hasattr(sample, "keys")
        listed = hasattr(sample, "__len__") and not isinstance(sample, (str, bytes))
        if named != by_name and (named or listed):
            return named
        told = (
            f"{error} is not a number: it overflows"
            if error.args and error.args[0] in labels
            else _describe_bad_sample(sample, formulas, code, channels, error.args == (NO_VALUE,))
        )
        raise SignalError(f"{told} (found {_short_repr(sample)})") from None

    space: dict[str, Any] = {"deque": deque, "inf": inf, "other_way": other_way, "Reading": Reading, "sqrt": sqrt}
    space |= {"labels": labels, "single": np.float32, "double": float, "new": tuple.__new__, "as_number": as_float}
    space |= {f"NAME{i}": name for i, name in enumerate(read)}
    with np.errstate(over="ignore"):
        singles = [tuple(v if isinstance(v, str) else np.float32(v) for v in values) for values in asked]
    space |= {"doubles": asked, "singles": singles, "is_missing": is_missing}
    exec("\n".join(source), space)
    return space["make"]()


def as_float(value: Any) -> Any:
    """As a float64, in which a monitor computes; a float32 stays one, and is compared as `robustness` compares it.

    Whole numbers that a float64 does not tell apart, and what is no number, are refused.
    """
    if isinstance(value, np.float32):
        return value
    if not hasattr(type(value), "__float__"):
        raise TypeError("not a number")
    if hasattr(type(value), "__index__") and not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
        raise ValueError(f"beyond {LARGEST_WHOLE}, up to which float64 tells whole numbers apart")
    return float(value)


NO_VALUE = "no value yet"


def is_missing(value: Any) -> bool:
    """Whether a sample has no value in a channel: None, NaN, the NA of pandas, or a text of blanks."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)
    except TypeError:  # that of pandas says of itself that it is neither true nor false
        return type(value).__name__ == "NAType"


def _describe_bad_sample(
    sample: Any, formulas: Sequence[Formula], code: Program, channels: tuple[str, ...], is_early: bool
) -> str:
    read = code.channels
    if isinstance(sample, Mapping):
        missing = [name for name in read if name not in sample]
        if missing:
            from ..data.problems import unknown_channel

            return unknown_channel(missing[0], map(str, sample), "it has", "the sample lacks the channel")
        return _describe_bad_value({name: sample[name] for name in read}, formulas, code, is_early)
    if is_frame(sample):
        return (
            "a monitor takes one sample at a time, and this is a data frame: pass its rows one after the other, "
            "as in `for row in frame.to_dict('records'): monitor.update(row)`; of polars, `frame.iter_rows(named=True)`"
        )
    if not isinstance(sample, (str, bytes)) and hasattr(sample, "__len__") and len(sample) == len(channels):
        found = {name: sample[channels.index(name)] for name in read}
        return _describe_bad_value(found, formulas, code, is_early)
    return f"a sample is a mapping, or {len(channels)} values in the order {', '.join(channels)}"


def _describe_bad_value(sample: dict[str, Any], formulas: Sequence[Formula], code: Program, is_early: bool) -> str:
    """Which value is not what is wanted, or which sum overflows; `is_early`: one is missing before there was any."""
    numbers: dict[str, float] = {}
    for name, value in sample.items():
        if name in code.gaps and is_missing(value):
            if is_early and name in code.numbers | code.texts:
                return (
                    f"channel {name!r} is missing, and its value is read: it would be the first that comes, which is "
                    "not known yet. Begin with a sample that has one"
                )
            continue
        if name in code.texts and not isinstance(value, str):
            return f"channel {name!r} is compared with texts, and is not a text"
        if name not in code.numbers:
            continue
        try:
            numbers[name] = as_float(value)
        except (TypeError, ArithmeticError):
            return f"channel {name!r} is not a finite number"
        except ValueError as error:
            return f"channel {name!r} is a whole number {error}" if str(error)[:6] == "beyond" else f"{name!r}: {error}"
        if not -inf < numbers[name] < inf:
            return f"channel {name!r} is not a finite number"
    for atom in (node for formula in formulas for node in walk(formula) if isinstance(node, Atom)):
        if not atom.calls and all(name in numbers for name, _ in atom.plain):
            total = sum(weight * numbers[name] for name, weight in atom.plain)
            if len(atom.weights) > 1 and not -inf < total < inf:
                return f"the sum in {atom} overflows; scale the channels"
    return "its values cannot be computed with"


def _short_repr(sample: Any) -> str:
    try:
        text = repr(sample)
    except ValueError:  # a whole number of more digits than Python prints
        text = f"a {type(sample).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


MOST_WINDOW_SAMPLES = 20_000_000
"""Samples in all windows together; more would fill the memory of a small machine."""


class Monitor:
    """Watches a formula. `update(sample)` takes a mapping, or values in the order of `channels`.

    Past formulas, and future ones without a window of their own around an operator over all time,
    need no more memory than their widest window. A sample that is refused leaves the monitor as it was.
    `step` is the time between samples, `Step(0.1, "s")`: functions over times, and those per second, need it.
    """

    update: Callable[[Sample], Reading]
    """Take the next sample; returns what is known now."""

    def __init__(self, formula: Formula | str, channels: Sequence[str] | None = None, step: Step | None = None) -> None:
        self.formula = parse(formula) if isinstance(formula, str) else formula
        self.step = step
        self.channels = channels_of(self.formula) if channels is None else tuple(channels)
        for name in channels_of(self.formula):
            if name not in self.channels:
                from ..data.problems import unknown_channel

                raise SignalError(unknown_channel(name, self.channels, "the samples have"))
        try:
            steps = compile_with_functions((self.formula,), step).steps
        except FormulaError as error:
            if step is not None or not needs_step(self.formula):
                raise
            hint = 'For a monitor in Python: Monitor(formula, step=fernn.formula.Step(0.1, "s")).'
            raise FormulaError(error.message, error.text, error.at, hint) from None
        kept = sum(each.amount for each in steps)
        if kept > MOST_WINDOW_SAMPLES:
            raise UnsupportedError(f"the windows of {self.formula} span {kept} samples, more than a monitor will keep")
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._future: Any = None
        if direction(self.formula) == "past":
            self.update, self._state = compile_past_monitor(self.formula, self.channels, self.step)
        else:
            self._future = _make_future_monitor(self.formula, self.channels, self.step)
            self.update, self._state = self._follow_future()

    @property
    def samples(self) -> int:
        """How many samples have been taken."""
        count: int = self._state()[0]
        return count

    @property
    def reading(self) -> Reading | None:
        """The last reading; None before the first sample."""
        last: Reading | None = self._state()[1]
        return last

    def finish(self) -> Reading:
        """The reading if the trace ends here: what `robustness` says of the samples so far."""
        last = self.reading
        if last is None:
            raise SignalError("no sample has been seen, so there is nothing to judge")
        if self._future is None:
            return last
        value = self._future.final_value()
        return make_reading(value, value)

    def _follow_future(self) -> tuple[Callable[[Sample], Reading], Callable[[], tuple[int, Reading | None]]]:
        advance = self._future.update
        count, current, known = 0, None, None

        def update(sample: Sample) -> Reading:
            nonlocal count, current, known
            found = advance(sample)
            count += 1
            if found != known or current is None:
                known = found
                current = make_reading(*found)
            return current

        return update, lambda: (count, current)


def _make_future_monitor(formula: Formula, channels: tuple[str, ...], step: Step | None) -> Any:
    from .future_monitor import FullHistoryMonitor, FutureMonitor, NeedsFullHistory

    try:
        return FutureMonitor(formula, channels, step)
    except NeedsFullHistory:
        return FullHistoryMonitor(formula, channels, step)
