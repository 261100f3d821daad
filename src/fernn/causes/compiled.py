"""What Python calls: the compiled loops, kept on disk under the text of all that they call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import njit

from ..exact import lanes
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


gather, tally, race, collect, pairs = _loops(
    tuple(Path(str(module.__file__)).read_text() for module in (counting, lanes))
)


def is_compiled() -> bool:
    """Whether an earlier run left compiled code on disk, so that the first call will be quick."""
    return any(Path(race._cache.cache_path).glob("compiled.*.nbi"))
