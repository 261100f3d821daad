"""Which samples of a trace each atom of a formula is read at.

From the sample at which the formula is judged, windows carry the look on: `F[1,2] G[0,3] p` looks at p from 1 to 5.
Windows are clipped to the trace, as everywhere in fernn. An atom that sits under an odd number of negations (the left
side of `->` is one) comes negated, so that every atom returned is one that helps the formula where it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from ..errors import FormulaError, SignalError
from ..formula import (
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    Or,
    Since,
    Until,
    direction,
)
from ..formula.negation import NEGATED

Run = tuple[int, int]
"""First and last sample, both included."""


def reach(formula: Formula, samples: int, at: int | None = None) -> list[tuple[Atom, int, int]]:
    """(atom, first, last) for every stretch of samples that an atom is read at, in the order of the formula.

    Judged at sample `at`: if None, the last one for past formulas and the first for others. An atom whose window
    has gaps comes once for each piece; one whose window is empty on a trace of so many samples does not come.
    """
    looks = direction(formula)
    if at is None and looks == "mixed":
        raise SignalError(f"{formula} looks both back and ahead: pass `at`, the sample it is judged at")
    start = at if at is not None else samples - 1 if looks == "past" else 0
    if not 0 <= start < samples:
        raise SignalError(f"a trace of {samples} samples has no sample {start}")
    found = _read(formula, ((start, start),), samples, True)
    return list(dict.fromkeys((atom, first, last) for atom, runs in found for first, last in runs))


def window(formula: Formula, part: Formula, at: int, samples: int) -> tuple[Run, ...]:
    """The samples of `part`, which is right below the formula, that a temporal operator looks at when judged `at`.

    None where it is no temporal operator.
    """
    match formula:
        case Eventually(_, over) | Always(_, over):
            return _ahead(((at, at),), over, samples)
        case Once(_, over) | Historically(_, over):
            return _turned(_ahead(_turned(((at, at),), samples), over, samples), samples)
        case Until(_, goal, over):
            return _ahead(((at, at),), over, samples) if part == goal else _before(((at, at),), over, samples)
        case Since(_, goal, over):
            turned = _turned(((at, at),), samples)
            runs = _ahead(turned, over, samples) if part == goal else _before(turned, over, samples)
            return _turned(runs, samples)
    return ()


def _read(formula: Formula, at: tuple[Run, ...], samples: int, helps: bool) -> Iterator[tuple[Atom, tuple[Run, ...]]]:
    match formula:
        case Constant():
            return
        case Atom(weights, relation, threshold):
            yield formula if helps else Atom(weights, NEGATED[relation], threshold), at
        case Not(a):
            yield from _read(a, at, samples, not helps)
        case And(a, b) | Or(a, b) | Implies(a, b):
            yield from _read(a, at, samples, helps != isinstance(formula, Implies))
            yield from _read(b, at, samples, helps)
        case Eventually(a, over) | Always(a, over):
            yield from _read(a, _ahead(at, over, samples), samples, helps)
        case Once(a, over) | Historically(a, over):
            yield from _read(a, _turned(_ahead(_turned(at, samples), over, samples), samples), samples, helps)
        case Until(a, b, over):
            yield from _read(a, _before(at, over, samples), samples, helps)
            yield from _read(b, _ahead(at, over, samples), samples, helps)
        case Since(a, b, over):
            turned = _turned(at, samples)
            yield from _read(a, _turned(_before(turned, over, samples), samples), samples, helps)
            yield from _read(b, _turned(_ahead(turned, over, samples), samples), samples, helps)
        case _:
            raise FormulaError(f"{formula} has open choices: fill them before asking where it looks")


def _ahead(at: Iterable[Run], over: Interval, samples: int) -> tuple[Run, ...]:
    """What a window looks at from all these samples together."""
    runs = ((first + a, _clipped(last + b, samples)) for first, last in at for a, b in over)
    return merged((low, high) for low, high in runs if low <= high)


def _before(at: Iterable[Run], over: Interval, samples: int) -> tuple[Run, ...]:
    """From each sample up to just before the farthest that a window looks at: where the left side of U is read."""
    runs = (
        (first, _clipped(min(last, samples - 1 - a) + b, samples) - 1)
        for first, last in at
        for a, b in over
        if b > 0 and first + a < samples  # some window has a sample, and not only the one it starts from
    )
    return merged((low, high) for low, high in runs if low <= high)


def _turned(runs: Iterable[Run], samples: int) -> tuple[Run, ...]:
    """The same stretches on the trace reversed."""
    return merged((samples - 1 - last, samples - 1 - first) for first, last in runs)


def _clipped(sample: float, samples: int) -> int:
    return samples - 1 if sample == inf else min(int(sample), samples - 1)


def merged(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The same samples in as few stretches as can be, in order."""
    kept: list[Run] = []
    for first, last in sorted(runs):
        if kept and first <= kept[-1][1] + 1:
            kept[-1] = (kept[-1][0], max(kept[-1][1], last))
        else:
            kept.append((first, last))
    return tuple(kept)
