"""What a worker does with a unit of a comparison."""

from __future__ import annotations

from typing import Any

from ..data import Dataset
from .measuring import measured
from .tasks import lend
from .unit import Found, Unit
from .warming import warm


def measured_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> Found:
    """One fit, and how well it does; `data` stand in for those that the unit names, where it names a file."""
    unit = Unit(**settings["unit"])
    if data is not None:
        lend(unit.data, data)
    warm(unit)
    return measured(unit, settings["limit"])
