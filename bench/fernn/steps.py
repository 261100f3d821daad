"""Gradient steps a second: the compiled trace-back beside the torch cells, on the same restarts, traces and samples."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from fernn.formula import paper_up_to
from fernn.learners.fernn.compiled_network import loss_and_gradient, tile_traces
from fernn.learners.fernn.quantised_kernels import TANH, RestartWeights, TileBatch
from fernn.learners.fernn.template_network import compile_template

from ..clock import race
from ..store import Found

RESTARTS, TRACES, SAMPLES, CHANNELS = 32, 1600, 100, ("x", "y")
THREADS, SECONDS = 2, 8.0
WAYS = {
    "one restart after the other, all cores": (1, THREADS),
    "one restart after the other, one core": (1, 1),
    "two restarts at a time, one core each": (2, 1),
}
NEAR = 1e-4
"""Gradients, which are of the order of 1, agree to this."""


def units(thorough: bool) -> Iterator[list[str]]:
    yield ["steps"]


class Steps:
    """One full-batch step, forward and gradient, of every restart, in both ways."""

    def __init__(self) -> None:
        import torch

        from fernn.torch import Network, set_flat_parameters

        rng = np.random.default_rng(0)
        template = paper_up_to(6)
        X = rng.random((TRACES, len(CHANNELS), SAMPLES))
        labels = rng.choice([-1.0, 1.0], TRACES)
        self.wiring = compile_template(template, CHANNELS)
        tiles = tile_traces(X, self.wiring.future)
        self.batch = TileBatch(tiles.values, tiles.ends, tiles.spread(labels), tiles.spread(np.ones(TRACES)))
        thetas = [rng.normal(0, 0.5, self.wiring.learned) for _ in range(RESTARTS)]
        self.weights = [self._quantised(theta) for theta in thetas]
        self.pool = ThreadPoolExecutor(THREADS)
        self.X, self.labels = torch.tensor(X, dtype=torch.float32), torch.tensor(labels, dtype=torch.float32)
        self.networks = []
        for theta in thetas:
            network = Network(template, CHANNELS)
            set_flat_parameters(network, theta)
            self.networks.append(network.float())

    def _quantised(self, theta: np.ndarray) -> RestartWeights:
        wiring = self.wiring
        winners = [int(np.abs(theta[base : base + count]).argmax()) for base, count, _ in wiring.blocks]
        return RestartWeights(np.array(winners), theta.astype(np.float32), wiring.fixed_spans(), False)

    def compiled(self) -> list[np.ndarray]:
        """Every second restart on one thread, the others on another."""

        def some(first: int) -> list[np.ndarray]:
            return [loss_and_gradient(self.wiring, at, self.batch, TANH)[1] for at in self.weights[first::THREADS]]

        parts = list(self.pool.map(some, range(THREADS)))
        return [parts[i % THREADS][i // THREADS] for i in range(RESTARTS)]

    def cells(self, together: int, cores: int) -> list[np.ndarray]:
        """The torch cells, so many restarts at a time, each on so many cores."""
        import torch

        from fernn.torch import flat_gradients

        def some(first: int) -> list[np.ndarray]:
            found = []
            for network in self.networks[first::together]:
                network.zero_grad()
                (self.labels - network(self.X).tanh()).abs().mean().backward()
                found.append(flat_gradients(network))
            return found

        torch.set_num_threads(cores)
        parts = list(self.pool.map(some, range(together)))
        return [parts[i % together][i // together] for i in range(RESTARTS)]


def measured(unit: str) -> Found:
    """Gradients are compared before they are timed. torch counts in the fastest of three ways."""
    steps = Steps()
    pairs = zip(steps.compiled(), steps.cells(1, 1), strict=True)
    apart = max(float(np.abs(ours - theirs).max()) for ours, theirs in pairs)
    if apart > NEAR:
        raise AssertionError(f"gradients differ by {apart}")
    ways = {name: partial(steps.cells, *how) for name, how in WAYS.items()}
    best = race({"compiled": steps.compiled, **ways}, SECONDS)
    way = min(WAYS, key=lambda name: best[name])
    work = RESTARTS * TRACES * SAMPLES
    return {
        "seconds": best,
        "way": way,
        "rate": {"compiled": work / best["compiled"], "torch": work / best[way]},
        "times": best[way] / best["compiled"],
        "apart": apart,
    }


def told(unit: str, found: Found) -> str:
    rates = "  ".join(f"{name} {rate / 1e6:.1f} million/s" for name, rate in found["rate"].items())
    return f"{rates}  {found['times']:.1f} times; torch: {found['way']}"
