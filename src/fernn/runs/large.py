"""Learning from more than fits into memory: a sample is learned from, all of it judges what was found.

One pass counts, for every formula of the front, the errors on all traces, and for every threshold of the picked one
the errors at some thousand values of it. The best of these is never worse on all the data than what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset, save
from ..data.streaming import Source, Stream
from ..data.streaming.partition import PartitionMerger
from ..data.streaming.stratified_sample import StreamSample
from ..engine import Where
from ..formula import Formula, parse
from ..learners import Front
from ..plain import short_repr
from ..semantics.chunks import settled
from ..semantics.critical import Counts
from ..semantics.tally import Tally
from .counting import Counting, as_lot, blank
from .parted import Heard, joined, parts, silent

SAMPLE = "sample.npz"


@dataclass(frozen=True)
class OnAll:
    """What all the data say of a front that was learned from a sample of them."""

    file: str
    traces: int
    samples: int
    errors: tuple[float, ...]
    """The share of wrong verdicts of each formula, as printed."""
    polished: Formula | None
    """The picked formula with its best threshold on all the data; None where none is better."""
    error: float | None
    complete: bool = True
    tried: int = 0
    """Values of thresholds, beside those that were learned."""

    __repr__ = short_repr

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file, "traces": self.traces, "samples": self.samples, "errors": list(self.errors),
            "polished": None if self.polished is None else str(self.polished), "polished_error": self.error,
            "complete": self.complete, "tried": self.tried,
        }  # fmt: skip

    def notes(self, front: Front) -> tuple[str, ...]:
        """For people."""
        whole = "all" if self.complete else "the first"
        listed = "; ".join(f"{e:.4f} at length {entry.length}" for e, entry in zip(self.errors, front, strict=True))
        said = [f"errors on {whole} {self.traces} traces of {self.file}: {listed}"]
        if self.polished is not None and self.error is not None:
            said.append(f"with a threshold set by {whole} of them, error {self.error:.4f}: {self.polished}")
        elif self.complete and self.tried:
            said.append(f"none of {self.tried} other values of thresholds of the picked rule errs less on all of them")
        return tuple(said)


def planned_sample(planned: Mapping[str, Any], found: StreamSample, file: str, out: Path) -> dict[str, Any]:
    """The settings of a run whose data are a sample, which it keeps itself."""
    about = {
        "of": str(Path(file).resolve()),
        "reading": planned["reading"],
        "kept": found.kept,
        "met": found.met,
        "samples": found.samples,
    }
    return {**planned, "file": str((out / SAMPLE).resolve()), "reading": {}, "sample": about}


def kept_sample(data: Dataset, folder: Path) -> None:
    """The sample as a file of the run."""
    save(data, folder / SAMPLE)


def on_all(
    front: Front,
    data: Dataset,
    source: Source,
    rows: int | None = None,
    watch: Callable[[Stream], bool] | None = None,
) -> OnAll:
    """One pass over what `data` are a sample of."""
    count = _counting(front, data)
    stream = Stream(source, rows)
    for lot in stream:
        count.take(lot)
        if watch is not None and watch(stream):
            break
    return _settled(count, front, source, stream.is_over)


def on_all_by_parts(front: Front, data: Dataset, source: Source, engine: Where = None, told: Heard = silent) -> OnAll:
    """The same, a file of the folder at a time, on an engine. Ctrl-C gives what came so far."""
    count, joining = _counting(front, data), PartitionMerger(source)
    with joined(source, engine):
        try:
            for part in parts("fernn.runs.counting:counted_there", source, {"asked": count.asked()}, engine, told):
                joining.take(part)
                count.join(part["counts"])
        except KeyboardInterrupt:
            if not joining.files:
                raise
        joining.close()
        return _settled(count, front, source, joining.is_over)


def _counting(front: Front, data: Dataset) -> Counting:
    """Nothing counted yet; thresholds are tried where traces of the sample lie, and between."""
    rules = [parse(str(entry.formula)) for entry in front]
    return blank(rules, rules[front.pick], as_lot(data))


def _settled(count: Counting, front: Front, source: Source, complete: bool) -> OnAll:
    tallies = count.tallies
    errors = tuple(_error(tally, source) for tally in tallies)
    told = settled(tallies[front.pick], source)
    good = {label for label, name in told.of.items() if name == told.classes[1]}
    best, least = _best(count.moving, good)
    total = tallies[0].traces
    error = None if best is None else least / total
    tried = sum(len(each.grid) - 1 for each in count.moving)
    return OnAll(str(source.path), total, tallies[0].samples, errors, best, error, complete, tried)


def _error(tally: Tally, source: Source) -> float:
    found = settled(tally, source).score
    assert found is not None
    return found.mcr


def _best(moving: list[Counts], good: set[str]) -> tuple[Formula | None, int]:
    """The one move of a threshold that leaves the fewest errors; of equals the nearest. None if none is better."""
    best: tuple[Formula | None, int] = (None, 0)
    for each in moving:
        errors = each.errors(good)
        now = int(errors[each.now])
        least = int(errors.min())
        if least < (now if best[0] is None else best[1]):
            at = np.flatnonzero(errors == least)
            best = each.at(int(at[np.argmin(np.abs(each.grid[at] - each.grid[each.now]))])), least
    return best
