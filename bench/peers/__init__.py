"""Who fernn is measured beside, one file each.

A peer is a module with `ways(task)`: named calls that each judge the batch of the task at every
sample. The fastest of them counts. It raises `Cannot` with the reason where it has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..tasks import Task

NAMES = ("numpy", "torch", "jax", "stlcgpp", "rtamt")
"""In this order. A pool of threads may spin on for a moment; rtamt, which has one, comes last, before fernn."""


class Cannot(Exception):
    """Why a peer is not timed."""


@dataclass(frozen=True)
class Way:
    """One way to judge a batch: `call` does the first `traces` of it."""

    call: Callable[[], Any]
    traces: int


Ways = dict[str, Way]


def installed() -> tuple[dict[str, Callable[[Task], Ways]], dict[str, str]]:
    """The peers that are here, and why the others are not."""
    here: dict[str, Callable[[Task], Ways]] = {}
    absent: dict[str, str] = {}
    for name in NAMES:
        try:
            here[name] = import_module(f"{__name__}.{name}").ways
        except ImportError as error:
            absent[name] = f"not installed ({error})"
    return here, absent
