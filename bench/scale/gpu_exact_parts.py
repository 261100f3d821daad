"""What `gpu_exact` measures: single jobs of pairs, and whole searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from fernn.data import Dataset, from_arrays
from fernn.formula import interval
from fernn.learners import Enumerative
from fernn.learners.enumerative import gpu_prefilter
from fernn.learners.enumerative.bitpack import pack_data
from fernn.learners.enumerative.exploration import ExactSpace, Exploration
from fernn.learners.enumerative.scoring_jobs import EVER, NONE, Pairs
from fernn.learners.enumerative.word_operators import AND, HISTORICALLY, ONCE, OR, SINCE
from fernn.semantics import satisfied

from .gpu_exact import Found, shapes, timed, told

WINDOW = interval(1, 20)
JOBS = {
    "a & b": (NONE, AND),
    "O (a & b)": ((ONCE, EVER), AND),
    "H (a | b)": ((HISTORICALLY, EVER), OR),
    "a S b": (NONE, SINCE),
    "H (a S b)": ((HISTORICALLY, EVER), SINCE),
    "O[1,20] (a S b)": ((ONCE, 2), SINCE),
}
MEMORY = 3 * 10**9
PROCESSOR = 5e8
"""Pairs times words of traces that the processor is asked for; it ends most pairs early."""


def parts(small: bool) -> Iterator[tuple[str, Callable[[], Found]]]:
    """The rows of a side become fewer where traces become more."""
    if small:
        gpu_prefilter.MIN_BYTES = 0
    sizes = ((40, 60),) if small else ((500, 30_000), (5_000, 8_000), (50_000, 1_500))
    yield "compiling", compiling
    for traces, rows in sizes:
        for name in JOBS:
            yield f"{traces} traces, {name}", lambda t=traces, r=rows, n=name: scoring(t, r, n)  # type: ignore[misc]
        if traces == sizes[0][0]:
            yield "whole search", lambda: whole(40, 3, 4) if small else whole(500, 6, 32)
            yield "whole search, 5000 traces", lambda: whole(40, 3, 4) if small else whole(5000, 5, 32)


def sweep(text: str, small: bool) -> Iterator[tuple[str, Callable[[], Found]]]:
    """Other tiles, on the first size."""
    for name in list(JOBS)[: 1 if small else None]:
        for tile in list(shapes(text))[: 1 if small else None]:
            size = (40, 60) if small else (500, 30_000)
            yield f"tile {told(tile)}, {name}", lambda n=name, t=tile, s=size: with_tile(t, n, *s)  # type: ignore[misc]


def walks(traces: int, samples: int = 100, seed: int = 0) -> Dataset:
    """Two channels; good where one is high while the other is low, but for one label in fifty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 0.3, (traces, 2, samples)).cumsum(axis=2) * 0.3 + rng.normal(0, 0.5, (traces, 2, 1))
    X = X.round(3)
    plain = from_arrays(X, np.arange(traces) % 2, classes=["bad", "good"], channels=["x", "y"])
    good = np.asarray(satisfied("F (x >= 0.6 & y <= -0.2)", plain))
    good ^= rng.random(traces) < 0.02
    return from_arrays(X, good.astype(int), classes=["bad", "good"], channels=["x", "y"])


@cache
def searches(traces: int, rows: int) -> tuple[Exploration, Any]:
    """Families up to length 3, words on the card, and bounds of what the first three lengths reach.

    Nothing is left out by bounds, so that every pair is scored.
    """
    data = walks(traces)
    space = ExactSpace(max_length=8, grid=32)
    made = Exploration(pack_data(data, np.ones(traces), True), space, MEMORY, prune=False, device="cuda")
    made.search.window(WINDOW)
    for stage in (1, 2, 3):
        made.race(stage)
    made.prepare(4)
    made.shelf.most = min(made.shelf.most, made.shelf.count + rows)
    made.prepare(5)
    return made, made.bounds.copy()


def _job(made: Exploration, name: str, lefts: int, rows: int) -> Pairs:
    """Pairs of a family of length 3, drawn evenly from it."""
    around, op = JOBS[name]
    family = made.families[3]
    right = family[:: max(1, len(family) // rows)][:rows]
    left = right[:: max(1, len(right) // lefts)][:lefts]
    return Pairs(around, op, left, right, (("left", lefts), ("right", rows)), closed=False)


def scoring(traces: int, rows: int, name: str) -> Found:
    """Candidates a second. What leads, and how many errors it makes, has to be the same."""
    made, bounds = searches(traces, rows)
    rows = min(rows, len(made.families[3]))
    words = made.ground.layout.lines if name == "a & b" else made.ground.layout.row // 2
    lefts = int(min(rows, max(8, PROCESSOR / (rows * words))))
    part, whole = _job(made, name, lefts, rows), _job(made, name, rows, rows)
    took, first = timed(lambda: _raced(made, part, bounds, False), 3)
    second = _raced(made, part, bounds)
    _raced(made, whole, bounds)
    card, third = timed(lambda: _raced(made, whole, bounds), 5)
    cpu_rate, card_rate = first["scored"] / took, third["scored"] / card
    return {
        "traces": traces, "rights": rows, "lefts_cpu": lefts, "lefts_card": len(whole.left), "cpu_seconds": took,
        "card_seconds": card, "cpu_scored": first["scored"], "card_scored": third["scored"], "cpu_rate": cpu_rate,
        "card_rate": card_rate, "times": card_rate / cpu_rate, "same": first == second, **_kernel(made, whole, bounds),
    }  # fmt: skip


def _raced(made: Exploration, job: Pairs, bounds: Any, on_card: bool = True) -> Found:
    """What a race finds, as plain data."""
    search, own = made.search, bounds.copy()
    search.lead.state[0] = 0
    card = search.gpu
    search.gpu = card if on_card else None
    try:
        counts = search.run(job, own, None)
    finally:
        search.gpu = card
    lead = search.lead
    best = [float(lead.errors[0]), lead.made[0, 0].tolist()] if lead.state[0] else None
    return {"scored": counts.scored, "bounds": own.tolist(), "lead": best}


def _kernel(made: Exploration, job: Pairs, bounds: Any) -> Found:
    """Seconds of the kernels alone, of the last stretch that was asked about."""
    import torch

    took: list[float] = []
    plain = gpu_prefilter.Launch.find

    def find(*args: Any) -> Any:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        start = perf_counter()
        found = plain(*args)
        took.append(perf_counter() - start)
        return found

    gpu_prefilter.Launch.find = find  # type: ignore[method-assign]
    try:
        _raced(made, job, bounds)
    finally:
        gpu_prefilter.Launch.find = plain  # type: ignore[method-assign]
    return {"kernel_seconds": sum(took), "launches": len(took)}


def with_tile(tile: Any, name: str, traces: int, rows: int) -> Found:
    """The card alone, in a fresh search, since words are laid out for the tiles."""
    kept = dict(gpu_prefilter.TILES)
    try:
        gpu_prefilter.TILES.update(dict.fromkeys(gpu_prefilter.TILES, tile))
        made, bounds = searches(traces, rows)
        made.search.gpu._builder = None  # type: ignore[union-attr]
        job = _job(made, name, *[min(rows, len(made.families[3]))] * 2)
        _raced(made, job, bounds)
        took, found = timed(lambda: _raced(made, job, bounds), 2, 1.0)
        return {"tile": told(tile), "seconds": took, "rate": found["scored"] / took}
    finally:
        gpu_prefilter.TILES.update(kept)
        searches(traces, rows)[0].search.gpu._builder = None  # type: ignore[union-attr]


def compiling() -> Found:
    """Both ways once on little data, so that the next measurements find everything compiled."""
    start, worth = perf_counter(), gpu_prefilter.MIN_BYTES
    gpu_prefilter.MIN_BYTES = 0
    for device in ("cpu", "cuda"):
        Enumerative(max_length=4, grid=2, thresholds="grid", folds=0, device=device).fit(walks(40))
    gpu_prefilter.MIN_BYTES = worth
    return {"seconds": perf_counter() - start}


def whole(traces: int, longest: int, grid: int) -> Found:
    """A search to its end. Fronts, certificates and rivals have to be the same."""
    data, found = walks(traces), {}
    for device in ("cpu", "cuda"):
        learner = Enumerative(
            max_length=longest, grid=grid, thresholds="grid", folds=0, exhaust=True, memory="6GB", device=device,
        )  # fmt: skip
        learner.fit(data)  # kernels are compiled for what they meet
        start = perf_counter()
        fit = learner.fit(data)
        found[device] = perf_counter() - start, fit
    (cpu, one), (card, other) = found["cpu"], found["cuda"]
    assert one.certificate is not None
    assert other.certificate is not None
    scored = sum(row["scored"] for row in one.certificate.content["lengths"])
    return {
        "traces": traces, "max_length": longest, "grid": grid, "cpu_seconds": cpu, "card_seconds": card,
        "certified": one.certificate.holds, "scored": scored, "cpu_rate": scored / cpu, "card_rate": scored / card,
        "times": cpu / card,
        "same": one.certificate.to_json() == other.certificate.to_json()
        and [str(entry) for entry in one.front] == [str(entry) for entry in other.front]
        and one.artifacts == other.artifacts,
    }  # fmt: skip
