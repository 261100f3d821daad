"""Live monitoring, one sample at a time: fernn's Monitor beside rtamt's online specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fernn.formula import channels, parse, to_rtamt
from fernn.semantics import Monitor

from .clock import race

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
    calls = {"fernn": lambda: _watched(formula, names, samples)}
    reason = _reason(formula, names, samples)
    if not reason:
        calls["rtamt"] = lambda: _rtamt(formula, names, samples[:COMPARED])
    best = race(calls, seconds)
    theirs = COMPARED / best["rtamt"] if "rtamt" in best else None
    return Live(formula, SAMPLES / best["fernn"], theirs, reason)


def _reason(formula: str, names: tuple[str, ...], samples: list[tuple[float, ...]]) -> str:
    """Why rtamt is not timed, or nothing."""
    try:
        theirs = _rtamt(formula, names, samples[:COMPARED])
    except ImportError:
        return "not installed"
    monitor = Monitor(formula, names)
    ours = [monitor.update(sample).robustness for sample in samples[:COMPARED]]
    differ = ~np.isclose(np.array(ours, float), np.array(theirs, float))
    return f"its values differ from ours at {differ.sum()} of {COMPARED} samples" if differ.any() else ""


def _watched(formula: str, names: tuple[str, ...], samples: list[tuple[float, ...]]) -> None:
    update = Monitor(formula, names).update
    for sample in samples:
        update(sample)


def _rtamt(formula: str, names: tuple[str, ...], samples: list[tuple[float, ...]]) -> list[float]:
    import rtamt

    spec = rtamt.StlDiscreteTimeOnlineSpecification()
    for name in names:
        spec.declare_var(name, "float")
    spec.spec = to_rtamt(parse(formula))
    spec.parse()
    update: Callable[..., float] = spec.update
    return [
        update(i, [(name, value) for name, value in zip(names, sample, strict=True)])
        for i, sample in enumerate(samples)
    ]
