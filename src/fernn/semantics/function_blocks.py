"""Formulas with functions, a few traces at a time: what the functions give is judged while it is in cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.arrays import Array
from ..errors import SignalError
from ..formula.expressions import Call, Lag, Sum, Term
from ..formula.nodes import Formula
from ..formula.program import Instruction, Op, Operand, compile_program
from .function_signals import trailing_means
from .interpreter import INFINITE, NONFINITE, UNIFORM, Bytecode, run_bytecode
from .mean_kernel import NARROW, extreme_means, means
from .packed_traces import PackedTraces
from .simd import LINE
from .threads import parallel_for

BLOCK = 1 << 17
"""Samples of all terms together that go through the functions and the formula at once."""
FAILED = 4
"""Met by a block, beside what the interpreter meets: an error, which is told when all traces are looked at together."""

Compute = Callable[[PackedTraces], PackedTraces]


def run_blocks(
    formula: Formula, packed: Bytecode, terms: tuple[Term, ...], made: PackedTraces, out: Array, verdict: bool,
    compute: Compute,
) -> int | None:  # fmt: skip
    """Judge all traces by a program that reads these terms; returns what was met, or None where something is wrong.

    `compute` gives some traces with the terms as channels. Results go to `out`, `[case, 1]` or `[1, all samples]`.
    """
    edges = made.first_samples
    together = max(1, BLOCK // max(1, made.length * len(terms)) // LINE * LINE)
    found = [_ChannelMean.find(term, made) for term in terms]
    is_direct = made.flat.dtype == np.float32 and not made.starts.size
    is_direct = is_direct and all(isinstance(t, str) or mean for t, mean in zip(terms, found, strict=True))
    sign = _sign_of_extreme(formula) if verdict and is_direct and len(terms) == 1 else 0.0

    def work(low: int, high: int) -> int:
        met, whole = 0, (high - low) // LINE * LINE
        if sign and found[0] and found[0].size <= NARROW and whole:
            block = found[0].extremes(low, low + whole, sign)
            if block is not None:
                met = run_bytecode(packed, block, UNIFORM, out[low : low + whole], 0, whole)
                low += whole
        room = np.empty((min(together, high - low) if is_direct else 0, len(terms), made.length), made.flat.dtype)
        for first in range(low, high, together):
            last = min(high, first + together)
            part = out[first:last] if verdict else out[:, edges[first] : edges[last]]
            block = _fill(room[: last - first], terms, found, made, first, last) if is_direct else None
            starts = UNIFORM
            if block is None:
                try:
                    some = compute(made.part(first, last))
                except SignalError:
                    return FAILED
                block, starts = some.traces, some.starts
            met |= run_bytecode(packed, block, starts, part, 0, last - first)
        return met

    met = parallel_for(work, made.count, made.samples * (len(packed) - 1 + len(terms)))
    return None if met & (FAILED | NONFINITE) else met & INFINITE


def _sign_of_extreme(formula: Formula) -> float:
    """1 where the verdict is that at the largest value of its one term, -1 at the smallest; 0 where it takes more.

    So it is of `G`, `F`, `H` and `O` over all time whose atom has no sum: what is compared is in the order of its term.
    """
    match compile_program(formula).steps:
        case (Instruction(Op.RUN_MIN | Op.RUN_MAX as op, Operand(weight=weight), None),):
            return 1.0 if (op == Op.RUN_MAX) == (weight > 0) else -1.0
    return 0.0


def _fill(
    block: Any, terms: tuple[Term, ...], found: list[_ChannelMean | None], made: PackedTraces, first: int, last: int
) -> Any:
    """The terms of some traces, each a channel or a mean of one; None where something is not finite."""
    for place, (term, mean) in enumerate(zip(terms, found, strict=True)):
        if mean is None:
            block[:, place] = made.traces[first:last, made.channels.index(term)]
        elif not mean.fill(first, last, block, place):
            return None
    return block


@dataclass(frozen=True, eq=False)
class _ChannelMean:
    """The mean of a channel, as it is, over the last `size` samples."""

    made: PackedTraces
    channel: int
    size: int
    wrong: Any

    @classmethod
    def find(cls, term: Term, made: PackedTraces) -> _ChannelMean | None:
        match term:
            case Call("mean", (Sum(((str() as name, 1.0),), 0.0),), Lag() as lag):
                wrong = np.empty(made.count, np.bool_)
                return cls(made, made.channels.index(name), lag.samples(made.step), wrong)
        return None

    def _address(self, first: int) -> int:
        return int(self.made.flat.ctypes.data) + first * len(self.made.channels) * self.made.length * 4

    def extremes(self, first: int, last: int, sign: float) -> Any:
        """The largest or the smallest of each trace, as traces of one sample; None where something is not finite.

        The number of traces is a multiple of sixteen.
        """
        found = np.empty((last - first, 1, 1), np.float32)
        made, some = self.made, self.wrong[first:last]
        if extreme_means(
            self._address(first), last - first, len(made.channels), self.channel, made.length, self.size, sign,
            found.ctypes.data, some,
        ):  # fmt: skip
            left, means = self._others(first, some)
            if means is None:
                return None
            found[left, 0, 0] = (np.max if sign > 0 else np.min)(means, axis=1)
        return found

    def fill(self, first: int, last: int, block: Any, place: int) -> bool:
        """Put it into a channel of a block; whether all that it is of is finite."""
        made, some = self.made, self.wrong[first:last]
        if not means(
            self._address(first), last - first, len(made.channels), self.channel, made.length, self.size,
            block.ctypes.data, block.shape[1], place, some,
        ):  # fmt: skip
            return True
        left, others = self._others(first, some)
        if others is None:
            return False
        block[left, place] = others
        return True

    def _others(self, first: int, some: Any) -> tuple[Any, Any]:
        """Those traces whose sums are rounded, and their means; None instead where they are not finite."""
        left = np.flatnonzero(some)
        rows = self.made.traces[first + left, self.channel].astype(np.float64)
        if not np.isfinite(rows).all():
            return left, None
        edges = np.arange(left.size + 1) * self.made.length
        return left, trailing_means(rows.reshape(-1), edges, self.size).reshape(rows.shape)
