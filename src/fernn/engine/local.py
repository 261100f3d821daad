"""Work done here and now."""

from __future__ import annotations

import json
from concurrent.futures import Future

from ..data import Dataset
from .doing import done
from .seam import Unit


class Local:
    """One unit after the other, in this process; what a unit does itself may use all cores."""

    name = "local"
    workers = 1
    is_closed = False

    def submit(self, task: str, data: Dataset | None, unit: Unit) -> Future[str]:
        """The future is over when it is given back."""
        future: Future[str] = Future()
        future.set_result(done(task, data, json.dumps(unit.settings), unit.seed))
        return future

    def drop(self, futures: list[Future[str]]) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        """Nothing was begun."""
