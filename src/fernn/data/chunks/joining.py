"""A folder in parts, put together again: a part is the cases that begin in one of its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import DataError
from ...plain import truth
from ..problems import Ledger, Problem
from .ending import Ending
from .source import Source
from .stream import Stream


class Joining:
    """What `Stream.part` gave of each file, in the order of the files; in the end as if one stream had read them all.

    `is_broken` after a part that ends in the middle: a stream of all would not have come to those that follow.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.channels = Stream(source).channels
        self.ledger, self.ending = Ledger(source.path.name), Ending(source)
        self.ledger.take(source.notes)
        self.files = 0
        self.is_broken = False

    def take(self, part: Mapping[str, Any]) -> None:
        self.ledger.join(Ledger.from_json(part["ledger"]))
        self.ending.join(Ending.from_json(part["ending"], self.source))
        self.files += 1
        self.is_broken = truth(part["broken"])

    @property
    def rows(self) -> int:
        """Of the files so far."""
        return sum(self.source.rows[: self.files])

    @property
    def is_over(self) -> bool:
        return self.files == len(self.source.files)

    def close(self) -> tuple[Problem, ...]:
        """What is to be said of all together, where all have come; an error where something is wrong."""
        if self.is_over:
            self.ending.tell(self.ledger)
        self.ledger.file = self.source.path.name
        problems = self.ledger.problems()
        if self.ledger.failed:
            raise DataError("\n".join(str(p) for p in problems if p.severity == "error"), problems)
        return problems
