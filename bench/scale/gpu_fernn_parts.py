"""What `gpu_fernn` measures: restarts on two cores and on a card, and how far the two are apart."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from time import perf_counter
from typing import Any

CORES = 2
"""That the card is compared with."""
BESIDE, EPOCHS, CLOSE = 64, 20, 1e-3
"""Restarts and epochs that are compared weight by weight, and how far apart they may be."""


@dataclass(frozen=True)
class Size:
    """Planted traces, and the network of a length that is trained on them."""

    name: str
    traces: int
    samples: int
    channels: int
    length: int
    quantised: bool = True


def network(size: Size) -> Any:
    """(settings, the network over its data)."""
    from fernn.learners import PaperFernn
    from fernn.learners.fernn.paper_network import PaperNetwork

    settings = PaperFernn(size.length, quantised=size.quantised, epochs=10**6)
    return settings, PaperNetwork(settings, planted(size.traces, size.samples, size.channels), None)


@lru_cache(maxsize=8)
def planted(traces: int, samples: int, channels: int) -> Any:
    """Traces labelled by a formula of length 3, a tenth of them wrongly."""
    from ..planted import plant_formula

    return plant_formula(7, traces, samples, channels, length=3, intervals=False, flip=0.1, way="future").train


def pace(run: Callable[[Any, int], Any], at: Any, size: Size, seconds: float) -> dict[str, Any]:
    """Steps x traces x samples a second, of all restarts together."""
    at = run(at, 1)  # what is compiled or loaded at first is not counted
    done, together, spent = 0, 1, 0.0
    while spent < seconds:
        began, before = perf_counter(), at.epochs
        at = run(at, together)
        took = perf_counter() - began
        spent, done = spent + took, done + at.epochs - before
        together = min(64, 2 * together) if took < 0.25 else together
    rate = done * len(at) * size.traces * size.samples / spent
    return {"restarts": len(at), "epochs": done, "seconds": spent, "rate": rate}


def threads(size: Size, seconds: float, count: int = BESIDE) -> dict[str, Any]:
    """The compiled loops on two threads, as a fit uses them."""
    from fernn.learners.fernn.training import start_restarts
    from fernn.learners.paper import Cores

    settings, made = network(size)
    at = start_restarts(made.engine.size, settings.schedule, 0, count)
    return pace(Cores(made, settings.schedule).run, at, size, seconds)


def worker(core: int, size: Size, seconds: float) -> float:
    """One process on one core: its rate."""
    os.sched_setaffinity(0, {core})
    return float(threads(size, seconds, BESIDE // CORES)["rate"])


def processes(size: Size, seconds: float) -> dict[str, Any]:
    """The compiled loops in two processes, each with a core for itself: no lock is shared."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        rates = list(pool.map(worker, cores, [size] * len(cores), [seconds] * len(cores)))
    return {"restarts": BESIDE, "rate": sum(rates)}


def on_card(
    size: Size, count: int, seconds: float, base: float, dtype: str = "float32", kernel: bool = True
) -> dict[str, Any]:
    """All restarts at once on the card, beside the rate `base` of two cores."""
    import torch

    from fernn.learners.fernn.training import start_restarts

    settings, made = network(size)
    torch.cuda.reset_peak_memory_stats()
    epochs = _epochs(settings, made, dtype, kernel)
    at = start_restarts(made.engine.size, settings.schedule, 0, count)
    told = pace(epochs.run, at, size, seconds)
    times = told["rate"] / base if base > 0 else None
    return told | {"times two cores": times, "dtype": dtype, "memory": torch.cuda.max_memory_allocated()}


def _epochs(settings: Any, made: Any, dtype: str, kernel: bool = True) -> Any:
    import torch

    from fernn.learners.fernn.gpu_training import GpuTask, GpuTrainer

    engine = made.engine
    setting = GpuTask(
        engine.network, engine.traces, engine.deal, engine.loss, not settings.quantised, settings.schedule
    )
    return GpuTrainer(setting, "cuda", getattr(torch, dtype), kernel)


def beside(size: Size) -> dict[str, Any]:
    """The same restarts on both: how far losses and weights are apart after some epochs, which formulas are equal."""
    import numpy as np

    from fernn.learners.fernn.training import start_restarts
    from fernn.learners.paper import Cores

    settings, made = network(size)
    first = start_restarts(made.engine.size, settings.schedule, 0, BESIDE)
    card, cores = _epochs(settings, made, "float32"), Cores(made, settings.schedule)
    one, other = card.run(first, 1), cores.run(first, 1)
    told = slopes(card, made.engine) | {"loss apart after 1 epoch": float(np.abs(one.loss - other.loss).max())}
    one, other = card.run(one, EPOCHS - 1), cores.run(other, EPOCHS - 1)
    apart = np.abs(one.theta - other.theta).max(1)
    same = [made.formula(a) == made.formula(b) for a, b in zip(one.theta, other.theta, strict=True)]
    alike = [
        made.error(made.formula(a)) == made.error(made.formula(b)) for a, b in zip(one.theta, other.theta, strict=True)
    ]
    return told | {
        "epochs": EPOCHS,
        "restarts": BESIDE,
        "loss apart": float(np.abs(one.loss - other.loss).max()),
        "weights apart, median": float(np.median(apart)),
        "weights apart, most": float(apart.max()),
        f"restarts within {CLOSE}": int((apart <= CLOSE).sum()),
        "equal formulas": sum(same),
        "equal errors": sum(alike),
    }


def slopes(card: Any, engine: Any) -> dict[str, Any]:
    """How far losses and gradients at random weights are apart."""
    import numpy as np
    import torch

    theta = 0.5 * np.random.default_rng(0).standard_normal((16, engine.size))
    cases = card.dealt.new_tensor(card.filled(engine.deal.cases(0)))
    loss, grad = card.loss_and_gradient(torch.from_numpy(theta).to(card.device), cases)
    wanted = [engine.loss_and_gradient(one, 0) for one in theta]
    return {
        "losses apart at random weights": float(np.abs(loss.cpu().numpy() - [each for each, _ in wanted]).max()),
        "gradients apart at random weights": float(np.abs(grad.cpu().numpy() - [each for _, each in wanted]).max()),
    }


def whole_fit(size: Size, device: str, restarts: int, epochs: int) -> dict[str, Any]:
    """`fit`, from data to front."""
    settings, made = network(size)
    began = perf_counter()
    fit = replace(settings, restarts=restarts, epochs=epochs, device=device).fit(made.data)
    front = [(entry.length, entry.train, str(entry.formula)) for entry in fit.front]
    return {"device": device, "restarts": restarts, "epochs": epochs, "seconds": perf_counter() - began, "front": front}


def fernn_time(size: Size, intervals: bool) -> dict[str, Any]:
    """Where the time of `Fernn` goes, in its first rounds: seconds of both cores together."""
    from fernn.learners import Fernn
    from fernn.learners.fernn.objectives import ClassificationObjective

    spent = {"train": 0.0, "polish": 0.0}
    whole = {name: getattr(ClassificationObjective, name) for name in spent}

    def timed(name: str) -> Callable[..., Any]:
        def run(*args: Any, **more: Any) -> Any:
            began = perf_counter()
            try:
                return whole[name](*args, **more)
            finally:
                spent[name] += perf_counter() - began

        return run

    data = planted(size.traces, size.samples, size.channels)
    try:
        for name in spent:
            setattr(ClassificationObjective, name, timed(name))
        fit = Fernn(rounds=4, intervals=intervals, time_limit=10.0).fit(data)
    finally:
        for name, was in whole.items():
            setattr(ClassificationObjective, name, was)
    share = spent["train"] / sum(spent.values())
    return {"intervals": intervals, "seconds": fit.seconds, **spent, "share of training": share}
