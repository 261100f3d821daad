"""What Python calls: the compiled loops, kept on disk under the text of all that they call."""

from __future__ import annotations

from typing import Any

from ..learners.enumerative import word_vectors as lanes
from ..semantics.ondisk import compiled_on_disk, is_kept
from . import counting


def _loops() -> tuple[Any, ...]:
    compiled = compiled_on_disk(counting, lanes)

    @compiled
    def gather(*args: Any) -> Any:
        return counting.gather(*args)

    @compiled
    def tally(*args: Any) -> Any:
        return counting.tally(*args)

    @compiled
    def race(*args: Any) -> Any:
        return counting.race(*args)

    @compiled
    def collect(*args: Any) -> Any:
        return counting.collect(*args)

    @compiled
    def pairs(*args: Any) -> Any:
        return counting.pairs(*args)

    return gather, tally, race, collect, pairs


gather, tally, race, collect, pairs = _loops()


def is_compiled() -> bool:
    return is_kept(race)
