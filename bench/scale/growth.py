"""Seconds and memory of the main jobs while one thing grows and all else stays the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..store import Found
from . import made

AXES: dict[str, tuple[int, ...]] = {
    "traces": (100, 1_000, 10_000, 100_000, 1_000_000),
    "samples": (10, 100, 1_000, 10_000, 100_000),
    "channels": (1, 3, 10, 30, 100),
    "length": (2, 3, 4, 5, 6, 7, 8),
    "restarts": (16, 64, 256, 1_024),
}
JOBS: dict[str, tuple[str, ...]] = {
    "judge": ("traces", "samples", "channels"),
    "copy": ("traces", "samples", "channels"),
    "fernn": ("traces", "samples", "channels", "length", "restarts"),
    "exact": ("traces", "samples", "channels", "length"),
    "tree": ("traces", "samples", "channels"),
    "lattice": ("traces", "samples", "channels"),
}
FEWER = {"traces": {"samples": 20}, "samples": {"traces": 100}}
"""What is made smaller so that the largest still fits."""
UP_TO = {("exact", "length"): 6, ("tree", "traces"): 100_000, ("tree", "channels"): 30, ("lattice", "channels"): 30,
         ("lattice", "traces"): 10_000, ("lattice", "samples"): 1_000}  # fmt: skip
"""Where the next size would take minutes."""


def units(thorough: bool) -> Iterator[list[str]]:
    """Each in a process of its own, which has its own peak of memory."""
    for job, axes in JOBS.items():
        for axis in axes:
            for size in AXES[axis]:
                if size <= UP_TO.get((job, axis), size):
                    yield [f"{job} {axis} {size}"]


def measured(unit: str) -> Found:
    job, axis, size = unit.split()
    at = {"traces": made.TRACES, "samples": made.SAMPLES, "channels": made.CHANNELS} | FEWER.get(axis, {})
    if axis in at:
        at[axis] = int(size)
    shape = at["traces"], at["samples"], at["channels"]
    if job in ("judge", "copy"):
        return {"seconds": made.seconds(getattr(made, {"judge": "judged", "copy": "copied"}[job])(*shape))}
    made.seconds(_work(job, made.labelled(40, 10, at["channels"]), {}), 0.0)  # compiles
    data = made.labelled(*shape)
    return {"seconds": made.seconds(_work(job, data, {axis: int(size)}))}


def _work(job: str, data, grown):  # type: ignore[no-untyped-def]
    if job == "fernn":
        return made.trained(data, grown.get("length", made.LENGTH), grown.get("restarts", made.RESTARTS))
    if job == "exact":
        return made.searched(data, grown.get("length", 3))
    return {"tree": made.grown, "lattice": made.ordered}[job](data)


def told(unit: str, found: Found) -> str:
    return f"{found['seconds']:.4f} s, {found['peak'] / 1e6:.0f} MB"


def exponent(sizes: list[int], values: list[float]) -> tuple[float, float]:
    """The slope in a picture with both axes logarithmic: over all sizes, and over the last two steps."""
    x, y = np.log(sizes), np.log(values)
    return float(np.polyfit(x, y, 1)[0]), float(np.polyfit(x[-3:], y[-3:], 1)[0])
