"""What an engine is: it takes units of work, and gives back futures of what comes of them."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..data import Dataset
from ..plain import short_repr


@dataclass(frozen=True)
class Unit:
    """What is to be done with the data: settings and a seed, plain data both."""

    settings: dict[str, Any]
    seed: int

    __repr__ = short_repr


class Lost(Exception):
    """The worker that had the unit is gone, not for what the unit said; it may be tried again."""


class Overtime(Exception):
    """The unit took longer than any unit should, and was ended."""


@runtime_checkable
class Engine(Protocol):
    """Somewhere to work."""

    @property
    def name(self) -> str:
        """As it is chosen: `ray`, `tcp://10.0.0.5:8786`."""
        ...

    @property
    def workers(self) -> int:
        """How many units can be worked on at once."""
        ...

    @property
    def is_closed(self) -> bool: ...

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        """Has a unit done by the function `task`, `"package.module:name"`; see `doing.done`.

        The data are sent once to every place that needs them, however many units are of them. The future ends in
        Lost where the worker did, and not for what the unit asked.
        """
        ...

    def drop(self, futures: list[Future[str]]) -> None:
        """Nobody waits for these any more."""
        ...

    def close(self) -> None: ...


Where: TypeAlias = str | Engine | Executor | None
"""How an engine is chosen: by a name or an address, or as it is; None is what was chosen for all."""
