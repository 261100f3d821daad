"""What fernn aims at, and the worst that was measured for each aim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .offline import COPY, FRESH_COPY, VERDICT, WHOLE, Row
from .online import Live
from .tasks import NESTED, UNBOUNDED, WIDE

BATCH = 100
"""Traces. What the aims call a batch."""


@dataclass(frozen=True)
class Aim:
    """`wanted` and `worst` are ratios, larger is better; none when nothing was measured."""

    text: str
    wanted: float
    worst: float | None
    where: str = ""

    @property
    def met(self) -> str:
        return "not measured" if self.worst is None else "met" if self.worst >= self.wanted else "**not met**"


def aims(rows: Sequence[Row], alone: Sequence[Row], watched: Sequence[Live]) -> list[Aim]:
    def worst(
        text: str, wanted: float, rows: Iterable[Row], ratio: Callable[[Row], float | None],
    ) -> Aim:  # fmt: skip
        found = [(value, row) for row in rows if (value := ratio(row)) is not None]
        if not found:
            return Aim(text, wanted, None)
        value, row = min(found, key=lambda each: each[0])
        return Aim(text, wanted, value, str(row.task))

    made = []
    for kind, name, wanted in (
        (UNBOUNDED, "Unbounded G, F, U, H, O, S", 0.6),
        (NESTED, "Nested bounded windows", 0.15),
        (WIDE, "A window of 301 samples", 0.15),
    ):
        for several, threads in ((rows, "same threads"), (alone, "one thread")):
            for copy, which in ((COPY, "a copy"), (FRESH_COPY, "a copy into a fresh array")):
                chosen = [row for row in several if row.task.kind == kind and row.task.cases >= BATCH]
                text = f"{name}, against {which}, {threads}, {BATCH} traces and more"
                made.append(worst(text, wanted, chosen, lambda row, copy=copy: row.times(copy)))
    for kind, name, wanted in ((UNBOUNDED, "Unbounded", 0.6), (NESTED, "Nested windows", 0.15)):
        single = [row for row in rows if row.task.kind == kind and row.task.cases == 1]
        text = f"{name}, against a copy, a single trace"
        made.append(worst(text, wanted, single, lambda row: row.times(COPY)))
    batches = [row for row in rows if row.task.cases >= BATCH]
    made.append(worst(f"rtamt's time, {BATCH} traces and more", 1000, batches, lambda row: row.times("rtamt")))
    made.append(worst(f"torch's time, {BATCH} traces and more", 8, batches, lambda row: row.times("torch")))
    least = [row for row in rows if (row.task.cases, row.task.length) == (1, 100)]
    made.append(worst("NumPy's time, one trace of 100 samples", 0.5, least, lambda row: row.times("numpy")))
    made.append(worst("Only the verdict, against the whole signal", 1, rows, _verdict_gain))
    live = [(each.times, each.formula) for each in watched if each.times is not None]
    made.append(Aim("rtamt's samples a second, live", 50, *(min(live) if live else (None,))))
    return made


def _verdict_gain(row: Row) -> float | None:
    return row.seconds[WHOLE] / row.seconds[VERDICT]
