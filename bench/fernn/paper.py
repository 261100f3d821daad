"""The paper's way on the same data: how long its 5000 epochs take on the torch cells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter

from fernn.data import load, split
from fernn.semantics import score

from ..store import Found
from .accuracy import DATA

EPOCHS, WHOLE = 200, 5000
FEW, MOST_SECONDS = 4, 120.0
"""Epochs to see how long one takes; where 200 would take longer than this, fewer are run."""
THREADS = (1, len(os.sched_getaffinity(0)))
"""torch runs on the faster of these: on small tensors, or beside other work, one thread often is."""


def units(thorough: bool) -> Iterator[list[str]]:
    yield [*DATA]


def measured(unit: str) -> Found:
    import torch

    from fernn.learners import PaperFernn

    train, test = split(load(unit), seed=0)

    def trained(epochs: int) -> tuple[float, float]:
        start = perf_counter()
        fit = PaperFernn(length=6, up_to=True, backend="torch", epochs=epochs, seed=0).fit(train)
        return perf_counter() - start, score(fit.formula, test).mcr

    def pace(threads: int) -> float:
        """Seconds an epoch."""
        torch.set_num_threads(threads)
        return trained(FEW)[0] / FEW

    trained(1)  # imports, and whatever else happens once
    paces = {threads: pace(threads) for threads in THREADS}
    threads = min(paces, key=lambda count: paces[count])
    epochs = max(FEW, min(EPOCHS, int(MOST_SECONDS / paces[threads])))
    torch.set_num_threads(threads)
    seconds, mcr = trained(epochs)
    return {"epochs": epochs, "seconds": seconds, "whole": seconds / epochs * WHOLE, "threads": threads, "mcr": mcr}


def told(unit: str, found: Found) -> str:
    return f"{found['epochs']} epochs in {found['seconds']:.1f} s, so {WHOLE} in {found['whole']:.0f} s"
