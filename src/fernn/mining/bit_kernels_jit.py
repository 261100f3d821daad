"""The compiled bit kernels, cached on disk by the source of all that they call."""

from __future__ import annotations

from typing import Any

from ..learners.enumerative import word_vectors as lanes
from ..semantics.jit_cache import njit_on_disk
from . import bit_kernels as counting


def _loops() -> tuple[Any, ...]:
    compiled = njit_on_disk(counting, lanes)

    @compiled
    def gather(*args: Any) -> Any:
        return counting.gather_bits(*args)

    @compiled
    def tally(*args: Any) -> Any:
        return counting.count_samples(*args)

    @compiled
    def race(*args: Any) -> Any:
        return counting.cheapest_rules(*args)

    @compiled
    def collect(*args: Any) -> Any:
        return counting.collect_rules(*args)

    @compiled
    def pairs(*args: Any) -> Any:
        return counting.cheapest_pair(*args)

    return gather, tally, race, collect, pairs


gather_bits, count_samples, cheapest_rules, collect_rules, cheapest_pair = _loops()
