"""A trace on which two formulas differ, or the proof that there is none of its length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

import numpy as np
import numpy.typing as npt
import z3

from ..data.problems import unknown_channel
from ..errors import FernnError, SignalError
from ..formula import Atom, Formula, parse, walk
from ..formula import channels as read_by
from ..semantics import satisfied
from ..semantics.robustness import At
from .floats import OutOfTime
from .patience import asked
from .unrolled import exact, sums, unrolled

ROOM = 1e-6
"""How far from a threshold, as a share of it, values are looked for first, so that rounding them changes nothing."""
Floats = npt.NDArray[np.float64]


class TooClose(FernnError):
    """The formulas differ in real numbers; the trace that shows it, rounded to floats, does not."""


def difference(
    f: Formula | str,
    g: Formula | str,
    length: int,
    channels: Sequence[str],
    ranges: Mapping[str, tuple[float, float]] | None = None,
    near: npt.ArrayLike | None = None,
    at: int | None = None,
    time_limit: float = 10.0,
    first_only: bool = False,
) -> Floats | None:
    """A trace `[channel, time]` of so many samples that satisfies only one of the formulas; None if there is none.

    `ranges` says between which values the samples of a channel are. With `near`, a trace of that shape, few of its
    samples are changed: as few as can be, where the time is enough to find out. `at` is the sample to judge at, by
    default the one of each formula. With `first_only` the trace satisfies the first. None is a proof for real numbers,
    and so for floats where no atom has a sum (see `floats`); no answer within `time_limit` seconds is an error.
    """
    question = _Question(f, g, length, channels, ranges or {}, near, at, first_only)
    deadline = perf_counter() + time_limit
    trace = None
    for room in (ROOM, 0.0):
        try:
            trace = question.answer(room, deadline)
        except OutOfTime:
            raise FernnError(
                f"z3 did not find out within {time_limit:g} s whether {f} and {g} differ on {length} samples; "
                "pass a larger time_limit or a smaller length."
            ) from None
        if trace is not None and question.differ(trace):
            return trace
    if trace is None:
        return None
    raise TooClose(
        f"{f} and {g} differ only so close to a threshold that floats do not show it; rounded, z3's trace is "
        f"{trace.tolist()}."
    )


class _Question:
    """What is asked of z3: unknown samples within their ranges, and two formulas that differ on them."""

    def __init__(
        self,
        f: Formula | str,
        g: Formula | str,
        length: int,
        channels: Sequence[str],
        ranges: Mapping[str, tuple[float, float]],
        near: npt.ArrayLike | None,
        at: int | None,
        first_only: bool,
    ) -> None:
        self.formulas = [parse(each) if isinstance(each, str) else each for each in (f, g)]
        self.channels, self.at = list(channels), at
        self.near = None if near is None else np.asarray(near, np.float64)
        self._check(length, ranges)
        ctx = z3.Context()
        self.samples = {name: [z3.Real(f"{name}@{t}", ctx) for t in range(length)] for name in channels}
        verdicts = [unrolled(formula, self.samples, at) for formula in self.formulas]
        self.first_only = first_only
        self.wanted = [z3.And(verdicts[0], z3.Not(verdicts[1])) if first_only else z3.Xor(*verdicts)]
        for name, (low, high) in ranges.items():
            self.wanted += [z3.And(x >= exact(low), x <= exact(high)) for x in self.samples[name]]

    def _check(self, length: int, ranges: Mapping[str, tuple[float, float]]) -> None:
        if length < 1:
            raise SignalError(f"a trace has one sample or more, got length {length}")
        if not self.channels:
            raise SignalError("a trace has one channel or more, got none; name those of the formulas")
        used = [name for formula in self.formulas for name in read_by(formula)]
        for name in [*used, *ranges]:
            if name not in self.channels:
                raise SignalError(unknown_channel(name, self.channels, "the trace has", "a formula or a range names"))
        for name, (low, high) in ranges.items():
            if not -np.inf < low <= high < np.inf:
                raise SignalError(f"a range is two finite numbers, the lower first; {name!r} has {low}, {high}")
        shape = len(self.channels), length
        if self.near is not None and (self.near.shape != shape or not np.isfinite(self.near).all()):
            raise SignalError(f"near is {shape[0]} channels of {length} finite samples, got shape {self.near.shape}")

    def answer(self, room: float, deadline: float) -> Floats | None:
        """A trace, the nearest one where time allows; every changed value so far from thresholds."""

        def pulse() -> None:
            if perf_counter() > deadline:
                raise OutOfTime

        wanted = [*self.wanted, *(self._away(room) if room else ())]
        solver = z3.SolverFor("QF_LRA", ctx=wanted[0].ctx)
        solver.add(*wanted)
        result = asked(solver, pulse)
        if result == z3.unsat:
            return None
        if result != z3.sat:
            raise FernnError(f"z3 gave up: {solver.reason_unknown()}")
        trace = self._trace(solver.model())
        if self.near is None:
            return trace
        nearest = z3.Optimize(ctx=wanted[0].ctx)
        nearest.add(*wanted)
        for same in self._unchanged().values():
            nearest.add_soft(same)
        try:
            return self._trace(nearest.model()) if asked(nearest, pulse) == z3.sat else trace
        except OutOfTime:
            return trace

    def differ(self, trace: Floats) -> bool:
        """By the one exact judge."""
        at: At = "verdict" if self.at is None else self.at
        try:
            held = [satisfied(formula, trace[None], self.channels, at)[0] for formula in self.formulas]
        except SignalError:  # a sum overflows
            return False
        return bool(held[0] and not held[1]) if self.first_only else bool(held[0] != held[1])

    def _away(self, room: float) -> Iterator[z3.BoolRef]:
        """That no atom has its threshold, unless all that it reads is as in `near`."""
        atoms = {node for formula in self.formulas for node in walk(formula) if isinstance(node, Atom)}
        largest = max((abs(node.threshold) for node in atoms), default=0.0) or 1.0
        same = self._unchanged()
        for node in atoms:
            far = room * (abs(node.threshold) or largest)
            low, high = exact(node.threshold - far), exact(node.threshold + far)
            for t, left in enumerate(sums(node, self.samples)):
                kept = [z3.And([same[name, t] for name in node.channels])] if same else []
                yield z3.Or(left <= low, left >= high, *kept)

    def _unchanged(self) -> dict[tuple[str, int], z3.BoolRef]:
        """That a sample is as in `near`."""
        if self.near is None:
            return {}
        rows = zip(self.channels, self.near.tolist(), strict=True)
        return {(name, t): self.samples[name][t] == exact(value) for name, row in rows for t, value in enumerate(row)}

    def _trace(self, model: z3.ModelRef) -> Floats:
        rows = [[model.eval(x, model_completion=True) for x in self.samples[name]] for name in self.channels]
        return np.array([[float(value.as_fraction()) for value in row] for row in rows])
