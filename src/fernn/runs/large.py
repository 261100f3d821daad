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
from ..data.chunks import Lot, Source, Stream, opened
from ..data.chunks.drawing import Drawn
from ..formula import Formula, parse
from ..learners import Front
from ..semantics.chunks import Verdicts, as_batch, settled
from ..semantics.critical import Counts, counts, movable
from ..semantics.robustness import both
from ..semantics.tally import Tally

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

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file, "traces": self.traces, "samples": self.samples, "errors": list(self.errors),
            "polished": None if self.polished is None else str(self.polished), "polished_error": self.error,
            "complete": self.complete,
        }  # fmt: skip

    def notes(self, front: Front) -> tuple[str, ...]:
        """For people."""
        whole = "all" if self.complete else "the first"
        listed = "; ".join(f"{e:.4f} at length {entry.length}" for e, entry in zip(self.errors, front, strict=True))
        said = [f"errors on {whole} {self.traces} traces of {self.file}: {listed}"]
        if self.polished is not None and self.error is not None:
            said.append(f"with a threshold set by {whole} of them, error {self.error:.4f}: {self.polished}")
        elif self.complete:
            said.append("no other value of a threshold of the picked rule that was tried errs less on all of them")
        return tuple(said)


def planned_sample(planned: Mapping[str, Any], found: Drawn, file: str, out: Path) -> dict[str, Any]:
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
    sample: Mapping[str, Any],
    rows: int | None = None,
    watch: Callable[[Stream], bool] | None = None,
) -> OnAll:
    """One pass over what `data` are a sample of; `sample` is what the run's settings say of that."""
    source = opened(sample["of"], sample["reading"])
    rules = [parse(str(entry.formula)) for entry in front]
    picked = rules[front.pick]
    known = as_lot(data)
    moving = [counts(picked, k, known) for k in movable(picked)]
    tallies = [Tally() for _ in rules]
    stream = Stream(source, rows)
    for lot in stream:
        made = as_batch(lot)
        for i, rule in enumerate(rules):
            tallies[i] += Verdicts(lot, *both(rule, made)).tally
        for each in moving:
            each.take(lot)
        if watch is not None and watch(stream):
            break
    errors = tuple(_error(tally, source) for tally in tallies)
    told = settled(tallies[front.pick], source)
    good = {label for label, name in told.of.items() if name == told.classes[1]}
    best, least = _best(moving, good)
    total = tallies[0].traces
    error = None if best is None else least / total
    return OnAll(sample["of"], total, tallies[0].samples, errors, best, error, stream.is_over)


def as_lot(data: Dataset) -> Lot:
    """A dataset as a lot without labels."""
    bounds = np.concatenate([[0], np.cumsum(data.lengths)]).astype(np.int64)
    flat = np.concatenate([np.ascontiguousarray(trace).reshape(-1) for trace in data.values])
    return Lot(list(data.cases), flat, bounds, data.channels)


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
