"""What FERNN aims at, and what was measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..heading import Aim
from ..store import Store
from .accuracy import DATA, LENGTHS
from .figures import errors, floors, peak, recovered, seconds, speedup, splits, worsening
from .planted import SEEDS

ABOVE_FLOOR = 0.005
NOISE = 2
"""Standard errors of a rise that count as noise."""
AT_MOST = {
    ("hapt", LENGTHS): 0.01,
    ("ecg", (2,)): 0.07,
    ("ecg", (4,)): 0.045,
    ("ecg", (6,)): 0.04,
    ("lyft", (2,)): 0.30,
    ("lyft", (3, 4, 5, 6)): 0.015,
}
NONE_WRONG = 0.005
"""What is written as 0.00."""
WALL = {"cct": 20.0, "ecg": 5.0, "hapt": 5.0}
GIGABYTE = 1e9
STEPS_RATE, STEPS_TIMES, PAPER_TIMES = 200e6, 25.0, 100.0
PLANTED = {"clean": 27, "flipped": 24}


def aims(store: Store) -> list[Aim]:
    return [*_accuracy(store), *_bounds(store), *_planted(store), *_speed(store), *_memory(store)]


def _accuracy(store: Store) -> Iterator[Aim]:
    for (name, lengths), most in AT_MOST.items():
        which = f"length {lengths[0]}" if len(lengths) == 1 else f"lengths {lengths[0]} to {lengths[-1]}, the worst"
        aim = f"{name}, {which}: test error", f"at most {most:g}"
        found = splits(store, name)
        if not found:
            yield Aim(*aim)
            continue
        worst = max(float(errors(found, length).mean()) for length in lengths)
        yield Aim(*aim, f"{worst:.4f}", worst <= most)
    aim = "cct, every length, the worst: test error above the floor", f"at most {ABOVE_FLOOR:g}"
    if found := splits(store, "cct"):
        above = max(float((errors(found, length) - floors(found)).mean()) for length in LENGTHS)
        yield Aim(*aim, f"{above:.4f}", above <= ABOVE_FLOOR)
    else:
        yield Aim(*aim)
    aim = "ecg: rise of the error from one length to a greater", f"at most {NOISE} standard errors"
    if found := splits(store, "ecg"):
        rise, spread = worsening(found)
        yield Aim(*aim, f"{rise:+.4f}, standard error {spread:.4f}", rise <= NOISE * spread + 1e-12)
    else:
        yield Aim(*aim)


def _bounds(store: Store) -> Iterator[Aim]:
    found = store.found("bounds").values()
    if not found:
        yield Aim("time bounds: error on fresh traces", "0.00, the window found")
        return
    mean, within = float(np.mean([each["mcr"] for each in found])), sum(each["found"] for each in found)
    apart = sum(each["apart"] for each in found)
    said = f"{mean:.4f}; a window that tells the classes apart {apart} of {len(found)} times, within [1,2] {within}"
    met = mean < NONE_WRONG and apart == len(found)
    yield Aim("time bounds: error on fresh traces", "0.00, the window found", said, met)


def _planted(store: Store) -> Iterator[Aim]:
    for kind, least in PLANTED.items():
        for entry, name in (("best", "by least validation error"), ("picked", "by the picked formula")):
            right, tried = recovered(store, kind, entry)
            aim = f"planted formulas, labels {kind}: recovered, {name}", f"at least {least} of {len(SEEDS)}"
            told = f"{right} of {tried}" if tried else "-"
            yield Aim(*aim, told, right >= least if tried == len(SEEDS) else None)


def _speed(store: Store) -> Iterator[Aim]:
    steps = store.found("steps").get("steps")
    aim = "gradient steps: restarts x traces x samples a second", f"at least {STEPS_RATE / 1e6:.0f} million"
    yield (
        Aim(*aim, f"{steps['rate']['compiled'] / 1e6:.0f} million", steps["rate"]["compiled"] >= STEPS_RATE)
        if (steps)
        else Aim(*aim)
    )
    aim = "gradient steps: times those of the torch cells", f"at least {STEPS_TIMES:g}"
    yield Aim(*aim, f"{steps['times']:.1f}", steps["times"] >= STEPS_TIMES) if steps else Aim(*aim)
    for name in DATA:
        times = speedup(store, name)
        aim = f"{name}: time of the paper's 5000 epochs on the torch cells", f"at least {PAPER_TIMES:g} times ours"
        yield Aim(*aim, f"{times:,.0f} times", times >= PAPER_TIMES) if times is not None else Aim(*aim)
    for name, most in WALL.items():
        aim = f"{name} up to length 6: wall time of the slowest of the splits", f"at most {most:g} s"
        found = splits(store, name)
        if not found:
            yield Aim(*aim)
            continue
        slowest = float(seconds(found).max())
        yield Aim(*aim, f"{slowest:.1f} s (mean {seconds(found).mean():.1f})", slowest <= most)


def _memory(store: Store) -> Iterator[Aim]:
    for name in DATA:
        found = splits(store, name)
        aim = f"{name}: peak memory of the process", "below 1 GB"
        yield Aim(*aim, f"{peak(found) / GIGABYTE:.2f} GB", peak(found) < GIGABYTE) if found else Aim(*aim)
