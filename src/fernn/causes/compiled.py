"""What Python calls: the compiled loops, kept on disk under the text of all that they call."""

from __future__ import annotations

from typing import Any

from numba import njit

from ..exact import lanes
from ..semantics.ondisk import is_kept, texts
from . import counting


def _loops(sources: tuple[str, ...]) -> tuple[Any, ...]:
    @njit(nogil=True, cache=True)
    def gather(*args: Any) -> Any:
        sources  # noqa: B018
        return counting.gather(*args)

    @njit(nogil=True, cache=True)
    def tally(*args: Any) -> Any:
        sources  # noqa: B018
        return counting.tally(*args)

    @njit(nogil=True, cache=True)
    def race(*args: Any) -> Any:
        sources  # noqa: B018
        return counting.race(*args)

    @njit(nogil=True, cache=True)
    def collect(*args: Any) -> Any:
        sources  # noqa: B018
        return counting.collect(*args)

    @njit(nogil=True, cache=True)
    def pairs(*args: Any) -> Any:
        sources  # noqa: B018
        return counting.pairs(*args)

    return gather, tally, race, collect, pairs


gather, tally, race, collect, pairs = _loops(texts(counting, lanes))


def is_compiled() -> bool:
    return is_kept(race)
