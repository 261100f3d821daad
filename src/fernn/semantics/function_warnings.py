"""Warnings about functions in rules: windows that no trace fills, and divisions by zero that decide a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from ..data.arrays import Array, Bools
from ..formula.expressions import QUOTIENT, Call, Step, Sum, own_reach, reach
from ..formula.nodes import Atom, Formula, walk
from .explain import explain_trace
from .packed_traces import PackedTraces
from .robustness import is_asked_for_someone, quantity_column, signals_of, warn_asker, warn_of_empty_windows


def warn_of_functions(formula: Formula, made: PackedTraces, values: Array) -> None:
    """What there is to say where verdicts are asked for; `values` are the robustness, `[case]`."""
    if not is_asked_for_someone():
        return
    warn_of_short_traces(formula, made)
    endless = np.isinf(values)
    zeros = {call: mask for call in _quotients(formula) if (mask := _divisor_is_zero(call, made)).any()}
    if not endless.any() and not zeros:
        return
    parts = signals_of(formula, made)
    starts = made.first_samples
    empty, divided, named = np.zeros(made.count, bool), np.zeros(made.count, bool), ""
    for case in np.flatnonzero(endless | bool(zeros)).tolist():
        found = explain_trace(formula, {part: np.asarray(rows[case]) for part, rows in parts.items()}, "verdict")
        if found is None:
            empty[case] = endless[case]
            continue
        for call in set(found.atom.calls) & set(zeros):
            far = max(reach(each, made.step) for each in found.atom.calls)
            first = 0 if far == inf else max(0, found.sample - int(far))
            if zeros[call][starts[case] + first : starts[case] + found.sample + 1].any():
                divided[case], named = True, named or str(call)
    warn_of_empty_windows(formula, empty)
    if divided.any():
        warn_asker(
            f"for {divided.sum()} of {divided.size} traces (first: number {divided.argmax()}) a division by zero "
            f"decides the verdict of {formula}: where the divisor of {named} is 0 it counts as infinite, by the sign "
            "of what is divided, and 0/0 as 0"
        )


def warn_of_short_traces(formula: Formula, made: PackedTraces) -> None:
    """Of functions whose window is longer than every trace."""
    for call in dict.fromkeys(_all_calls(formula)):
        size = _window_size(call, made.step)
        if size > made.length:
            warn_asker(
                f"{call} never sees a full window in these traces: it is over {size} samples, and the longest trace "
                f"has {made.length}"
            )


def _window_size(call: Call, step: Step | None) -> int:
    """Samples from the first to the last that it reads; 0 where it reads all of the past."""
    far = own_reach(call, step)
    return 0 if far == inf else int(far) + (call.function != "count")


def _all_calls(formula: Formula) -> Iterator[Call]:
    """Also of the formulas that functions are of."""
    for node in walk(formula):
        for call in node.calls if isinstance(node, Atom) else ():
            yield call
            for part in call.arguments:
                if not isinstance(part, Sum):
                    yield from _all_calls(part)


def _quotients(formula: Formula) -> list[Call]:
    atoms = (node for node in walk(formula) if isinstance(node, Atom))
    return [call for call in dict.fromkeys(call for atom in atoms for call in atom.calls) if call.function == QUOTIENT]


def _divisor_is_zero(call: Call, made: PackedTraces) -> Bools:
    """At each sample, of all traces end to end."""
    divisor = call.sums[1]
    if not divisor.weights:
        return np.full(made.samples, divisor.constant == 0)
    return np.asarray(quantity_column(divisor.weights, made) + divisor.constant == 0)
