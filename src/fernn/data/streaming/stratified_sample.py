"""A part of a recording larger than memory that can be learned from: whole traces, the same share of each label.

One pass. Every trace gets a number from 0 to 1, and those with the smallest are kept, as many as there is room for. Of
64 traces of a label that follow each other one gets a number in each 64th, so that shares are kept closely; of each
label one trace is kept whatever its number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import short_repr
from ..arrays import Floats
from ..dataset import Dataset
from ..draft import Draft, to_dataset
from ..problems import Problem, ProblemLog, data_error, plural
from ..readers.layouts import sort_codes
from .source import Source
from .trace_stream import Stream

BLOCK = 64


@dataclass(frozen=True)
class StreamSample:
    """What was kept; `kept` and `met` count traces by label."""

    data: Dataset
    kept: dict[str, int]
    met: dict[str, int]
    samples: int
    problems: tuple[Problem, ...] = ()
    """Warnings about all that was read."""

    __repr__ = short_repr

    def __str__(self) -> str:
        if self.kept == self.met:
            return f"all of its {plural(sum(self.met.values()), 'trace')}"
        parts = ", ".join(f"{self.kept.get(name, 0)} of {self.met[name]}{f' {name}' * bool(name)}" for name in self.met)
        return f"a sample of {sum(self.kept.values())} of {sum(self.met.values())} traces ({parts})"


@dataclass(frozen=True)
class _Candidate:
    draw: float
    number: int
    case: str
    label: str
    group: str
    trace: Floats


class StratifiedDraws:
    """Numbers from 0 to 1 for the traces of one label: of each 64 in a row, one in each 64th."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._left: list[float] = []

    def next(self) -> float:
        if not self._left:
            self._left = ((self._random.permutation(BLOCK) + self._random.random(BLOCK)) / BLOCK).tolist()
        return self._left.pop()


def sample_stream(
    source: Source, size: int, seed: int = 0, rows: int | None = None, watch: Callable[[Stream], bool] | None = None
) -> StreamSample:
    """A sample of at most `size` bytes of numbers; the same seed takes the same traces, whatever `rows`."""
    random = np.random.default_rng(seed)
    stream = Stream(source, rows)
    draws: dict[str, StratifiedDraws] = {}
    least: dict[str, _Candidate] = {}
    met: Counter[str] = Counter()
    kept: list[_Candidate] = []
    total, below, number = 0, 1.0, 0
    for batch in stream:
        labels, groups = batch.labels or [""] * len(batch), batch.groups or [""] * len(batch)
        for case, label, group, trace in zip(batch.cases, labels, groups, batch.traces(gaps=True), strict=True):
            met[label] += 1
            draw = draws.setdefault(label, StratifiedDraws(random.spawn(1)[0])).next()
            first = label not in least or draw < least[label].draw
            if draw < below or first:
                one = _Candidate(draw, number, case, label, group, trace.copy())
                least[label] = one if first else least[label]
                if draw < below:
                    kept.append(one)
                    total += trace.nbytes
            number += 1
            if total > size:
                kept, total, below = _shrink(kept, size)
        if watch is not None and watch(stream):
            break
    chosen = sorted({one.number: one for one in (*kept, *least.values())}.values(), key=lambda one: one.number)
    data = _dataset(chosen, source, stream)
    return StreamSample(data, dict(Counter(one.label for one in chosen)), dict(met), stream.rows, stream.problems())


def _shrink(kept: list[_Candidate], size: int) -> tuple[list[_Candidate], int, float]:
    """Those with the smallest draws that take three quarters of the room; and what draws are below from now on."""
    order = sorted(kept, key=lambda one: one.draw)
    sizes = np.cumsum([one.trace.nbytes for one in order])
    space = max(int(np.searchsorted(sizes, size * 3 // 4, side="right")), 1)
    return order[:space], int(sizes[space - 1]), order[space].draw if space < len(order) else 1.0


def _dataset(chosen: list[_Candidate], source: Source, stream: Stream) -> Dataset:
    log = ProblemLog(source.path.name)
    categories = {}
    for channel, known in stream.codes.items():
        for one in chosen:
            categories[channel] = tuple(sort_codes(one.trace[stream.channels.index(channel)], known))
    has_label, has_group = source.roles.label is not None, source.roles.group is not None
    draft = Draft(
        [one.trace for one in chosen],
        [one.case for one in chosen],
        list(stream.channels),
        [one.label for one in chosen] if has_label else None,
        [one.group for one in chosen] if has_group else None,
        stream.dt,
        stream.unit,
        categories,
    )
    found = to_dataset(draft, source.options, source.name, log)
    if found is None:
        raise data_error(log.problems())
    return found
