"""How two formulas stand to each other on all traces up to a length, not only on those recorded.

Laws first: what simplifies to the same formula is the same on every trace. Where they are silent z3 is asked, from
the shortest traces to the longest, so that a trace which tells the formulas apart is as short as it can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ..data.dataset import Floats
from ..errors import FernnError
from ..formula import FALSE, And, Formula, Not, channels, parse, simplify
from ..plain import short_repr


@dataclass(frozen=True, eq=False)
class Relation:
    """Traces `[channel, time]` that satisfy only the first formula, and only the second; None where there are none."""

    first: Formula
    second: Formula
    length: int
    """Of the longest traces that were looked at; 0 where a law says it for all lengths."""
    channels: tuple[str, ...]
    only_first: Floats | None
    only_second: Floats | None

    __repr__ = short_repr

    @property
    def is_equivalent(self) -> bool:
        return self.only_first is None and self.only_second is None

    @property
    def word(self) -> str:
        """`equivalent`, `stronger` (the first asks for more), `weaker`, or `different`."""
        if self.is_equivalent:
            return "equivalent"
        if self.only_first is None:
            return "stronger"
        return "weaker" if self.only_second is None else "different"

    @property
    def scope(self) -> str:
        return "on all traces" if not self.length else f"on all traces of up to {self.length} samples"

    def __str__(self) -> str:
        said = {
            "equivalent": f"equivalent {self.scope}",
            "stronger": f"the first is stronger: where it holds the second does, {self.scope}, but not the other way",
            "weaker": f"the first is weaker: where the second holds it does, {self.scope}, but not the other way",
            "different": "different: neither implies the other",
        }
        return said[self.word]

    def to_json(self) -> dict[str, Any]:
        told = {"relation": self.word, "length": self.length or None, "channels": list(self.channels)}
        traces = {"only_first": self.only_first, "only_second": self.only_second}
        return told | {name: None if trace is None else trace.tolist() for name, trace in traces.items()}


def related(
    first: Formula | str,
    second: Formula | str,
    length: int,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    time_limit: float = 60.0,
    shortest: int = 1,
) -> Relation:
    """How the formulas stand to each other on traces of `shortest` up to `length` samples.

    `ranges` has the values that samples of a channel may take; without it, all numbers. No answer within
    `time_limit` seconds is an error. Needs z3 (`fernn[verify]`), unless a law says that they are the same.
    """
    f, g = (parse(each) if isinstance(each, str) else each for each in (first, second))
    names = tuple(dict.fromkeys([*channels(f), *channels(g)])) or ("x",)
    at = _place(f, g)
    if f == g or simplify(f) == simplify(g):
        return Relation(f, g, 0, names, None, None)
    from ..verify.difference import difference

    kept = {name: span for name, span in (ranges or {}).items() if name in names}
    deadline = perf_counter() + time_limit
    found: list[Floats | None] = [None, None]
    for samples in range(max(shortest, 1), max(length, 1) + 1):
        for side, (holds, fails) in enumerate(((f, g), (g, f))):
            if found[side] is None:
                left = deadline - perf_counter()
                if left <= 0:
                    raise FernnError(
                        f"no answer within {time_limit:g} s: up to {samples - 1} samples {_so_far(found)}. "
                        "Pass a larger time limit or a smaller length."
                    )
                asked = And(holds, Not(fails))
                found[side] = difference(asked, FALSE, samples, names, kept, at=at, time_limit=left)
        if all(trace is not None for trace in found):
            break
    return Relation(f, g, length, names, *found)


def _so_far(found: Sequence[Floats | None]) -> str:
    return (
        "the formulas are the same"
        if all(trace is None for trace in found)
        else "one of the formulas implies the other"
    )


def _place(f: Formula, g: Formula) -> int | None:
    """The sample at which both are judged, where they do not say it themselves."""
    from ..formula import direction

    looks = {direction(f), direction(g)} - {"now"}
    if looks == {"past"}:
        return -1
    if looks <= {"future"}:
        return 0
    raise FernnError(f"{f} and {g} are judged at different samples, one looks back and the other ahead; mirror one")
