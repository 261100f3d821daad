"""What fernn aims at, and the worst that was measured for each aim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .offline import COPY, FRESH_COPY, VERDICT, WHOLE, Row
from .online import Live
from .tasks import NESTED, UNBOUNDED, WIDE

BATCH = 100
"""Traces. What the aims call a batch."""
AGAINST_COPY = (
    (UNBOUNDED, "unbounded G, F, U, H, O, S", 0.6),
    (NESTED, "nested windows", 0.15),
    (WIDE, "a window of 301 samples", 0.15),
)


@dataclass(frozen=True)
class Aim:
    """`wanted` and `worst` are ratios, larger is better; none when nothing was measured."""

    text: str
    wanted: float
    worst: float | None = None
    where: str = ""
    reached: int = 0
    cases: int = 0

    @property
    def met(self) -> str:
        return "not measured" if self.worst is None else "met" if self.worst >= self.wanted else "not met"


def aims(rows: Sequence[Row], alone: Sequence[Row], live: Sequence[Live]) -> list[Aim]:
    batches = [row for row in rows if row.task.cases >= BATCH]
    alone = [row for row in alone if row.task.cases >= BATCH]
    single = [row for row in rows if row.task.cases == 1]
    least = [row for row in single if row.task.length == 100]
    made = []
    for kind, name, wanted in AGAINST_COPY:
        for several, which in (
            (batches, "batches, same threads"),
            (alone, "batches, one thread"),
            (single, "one trace"),
        ):
            chosen = [row for row in several if row.task.kind == kind]
            for copy in (COPY, FRESH_COPY):
                text = f"{name}: speed of a {copy}; {which}"
                made.append(_aim(text, wanted, [(row.times(copy), str(row.task)) for row in chosen]))
    return [
        *made,
        _aim("rtamt's time; batches", 1000, [(row.times("rtamt"), str(row.task)) for row in batches]),
        _aim("best torch's time; batches", 8, [(row.times("torch"), str(row.task)) for row in batches]),
        _aim("NumPy's time; one trace of 100 samples", 0.5, [(row.times("numpy"), str(row.task)) for row in least]),
        _aim("whole signal's time, for the verdict only", 1, [(_verdict_gain(row), str(row.task)) for row in rows]),
        _aim("rtamt's samples a second; live", 50, [(each.times, each.formula) for each in live]),
    ]


def _aim(text: str, wanted: float, ratios: Iterable[tuple[float | None, str]]) -> Aim:
    found = [(ratio, where) for ratio, where in ratios if ratio is not None]
    if not found:
        return Aim(text, wanted)
    return Aim(text, wanted, *min(found), sum(ratio >= wanted for ratio, _ in found), len(found))


def _verdict_gain(row: Row) -> float:
    return row.seconds[WHOLE] / row.seconds[VERDICT]
