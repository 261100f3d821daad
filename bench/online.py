"""Live monitoring, one sample at a time: fernn's Monitor beside rtamt's online specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from fernn.formula import channels, parse, to_rtamt
from fernn.semantics import Monitor

from .clock import race
from .peers import Cannot

Samples = list[tuple[float, ...]]

FORMULAS = (
    "H (x >= 0.5)",
    "O[0,20] H[0,10] (x >= 0.5)",
    "x >= 0.5 S y >= 0.9",
    "H (x >= 0.5 -> O[0,10] (y >= 0.9))",
)
SAMPLES, COMPARED = 20_000, 2_000


@dataclass
class Live:
    """Samples a second; none for rtamt when it is not timed, and then the reason."""

    formula: str
    fernn: float
    rtamt: float | None = None
    reason: str = ""

    @property
    def times(self) -> float | None:
        return None if self.rtamt is None else self.fernn / self.rtamt


def live(formula: str, seconds: float) -> Live:
    names = channels(parse(formula))
    samples = [tuple(row) for row in np.random.default_rng(0).random((SAMPLES, len(names))).tolist()]
    monitor = Monitor(formula, names)
    calls = {"fernn": lambda: _all(monitor.update, samples)}
    reason = ""
    try:
        calls["rtamt"] = _theirs(formula, names, samples[:COMPARED])
    except ImportError:
        reason = "not installed"
    except Cannot as why:
        reason = str(why)
    best = race(calls, seconds)
    theirs = COMPARED / best["rtamt"] if "rtamt" in best else None
    return Live(formula, SAMPLES / best["fernn"], theirs, reason)


def _theirs(formula: str, names: tuple[str, ...], samples: Samples) -> Callable[[], None]:
    """rtamt fed with the samples, over and over, once its values are known to be ours."""
    import rtamt

    spec = rtamt.StlDiscreteTimeOnlineSpecification()
    for name in names:
        spec.declare_var(name, "float")
    spec.spec = to_rtamt(parse(formula))
    spec.parse()
    update = spec.update
    fed = [list(zip(names, sample, strict=True)) for sample in samples]
    theirs = [update(i, sample) for i, sample in enumerate(fed)]
    monitor = Monitor(formula, names)
    ours = [monitor.update(sample).robustness for sample in samples]
    differ = ~np.isclose(np.array(ours, float), np.array(theirs, float))
    if differ.any():
        raise Cannot(f"its values differ from ours at {differ.sum()} of {len(samples)} samples")
    times = count(len(fed))

    def call() -> None:
        for sample in fed:
            update(next(times), sample)

    return call


def _all(update: Callable[[Any], Any], samples: Samples) -> None:
    for sample in samples:
        update(sample)
