"""Whether FERNN's network has to be written more than once: epochs of each version beside the torch cells.

    python -m bench.networks            quantised and mixed, compiled for the processor, beside torch
    python -m bench.networks --cuda     and all restarts at once on an NVIDIA GPU, beside the torch cells there

One training of the paper's network of length 6 (all choices of lengths 2 to 6) over 400 traces of 100 samples and two
channels; of the best of several fits, what an epoch more takes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter

import numpy as np

from fernn.data import Dataset, from_arrays
from fernn.learners import PaperFernn

TRACES, SAMPLES, TURNS = 400, 100, 3
FEW, MANY = {"numba": 10, "torch": 2}, {"numba": 110, "torch": 6}
"""Epochs of the shorter and of the longer fit: the difference is without what a fit does once."""
RESTARTS, STEPS = 64, 20


def made() -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.random((TRACES, 2, SAMPLES))
    return from_arrays(X, (X[:, 0].max(axis=1) > 0.99).astype(int), ["x", "y"])


def epoch_seconds(learner: PaperFernn, few: int, many: int, data: Dataset) -> float:
    """What an epoch more takes, of the best of several turns."""

    def best(epochs: int) -> float:
        found = []
        for _ in range(TURNS):
            began = perf_counter()
            replace(learner, epochs=epochs).fit(data)
            found.append(perf_counter() - began)
        return min(found)

    best(few)  # compiles
    return (best(many) - best(few)) / (many - few)


def compare_backends(data: Dataset) -> None:
    for quantised in (True, False):
        name = "quantised" if quantised else "mixed"
        times = {
            backend: epoch_seconds(
                PaperFernn(6, up_to=True, quantised=quantised, backend=backend), FEW[backend], MANY[backend], data
            )
            for backend in ("numba", "torch")
        }
        ratio = times["torch"] / times["numba"]
        ours, theirs = (f"{times[backend] * 1e3:.2f} ms" for backend in ("numba", "torch"))
        print(f"{name}: an epoch compiled {ours}, torch {theirs}: {ratio:.0f} times")


def compare_on_gpu(data: Dataset) -> None:
    """All restarts at once by generated code, beside the torch cells on the same card, one restart after the other."""
    import torch

    from fernn.torch import Network

    learner = PaperFernn(6, up_to=True, device="cuda", restarts=RESTARTS)
    ours = epoch_seconds(learner, 10, 210, data)
    network = Network(learner.network, data.channels).float().cuda()
    X = torch.tensor(data.values, dtype=torch.float32, device="cuda")
    y = torch.tensor(np.where(data.positive, 1.0, -1.0), dtype=torch.float32, device="cuda")

    def step() -> None:
        network.zero_grad()
        (y - network(X).tanh()).abs().mean().backward()

    step()
    torch.cuda.synchronize()
    began = perf_counter()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    theirs = (perf_counter() - began) / STEPS * RESTARTS
    told = f"{ours * 1e3:.2f} ms, torch cells {theirs * 1e3:.0f} ms: {theirs / ours:.0f} times"
    print(f"on a GPU: an epoch of {RESTARTS} restarts {told}")


if __name__ == "__main__":
    data = made()
    compare_on_gpu(data) if "--cuda" in sys.argv else compare_backends(data)
