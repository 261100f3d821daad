"""A folder in partitions, the cases that begin in one of its files: what one needs, and all merged again.

A partition needs the file itself, the one before, in which its first case may have begun, and a few after it, in which
its last one may go on. Where it goes on beyond, the folder is opened as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ...formula.json_fields import as_bool
from ..options import ReadOptions, as_tuple
from ..problems import Problem, ProblemLog, data_error
from ..readers.column_roles import Roles
from .row_chunks import OutsidePartition
from .source import Source, open_source
from .trace_stream import Stream
from .whole_cases import StreamTotals

AHEAD = 4
"""Files with rows that are named after the one in question."""
T = TypeVar("T")


def partition(source: Source, number: int) -> dict[str, Any]:
    """What is needed to read the cases that begin in file `number`."""
    low = next((i for i in reversed(range(number)) if source.rows[i]), 0)
    filled = (i + 1 for i in range(number + 1, len(source.files)) if source.rows[i])
    high = next(islice(filled, AHEAD - 1, None), len(source.files))
    return {
        "path": str(source.path.absolute()), "first": low, "goes_on": high < len(source.files),
        "files": [source.display_name(file) for file in source.files[low:high]], "rows": source.rows[low:high],
        "header": source.header, "roles": asdict(source.roles), "options": asdict(source.options),
    }  # fmt: skip


def source_of(content: Mapping[str, Any]) -> Source:
    """A source of those files only."""
    path = Path(content["path"])
    files = tuple(path / name for name in content["files"])
    roles = Roles(**content["roles"] | {key: tuple(content["roles"][key]) for key in ("channels", "categories")})
    names = {key: as_tuple(content["options"][key]) for key in ("channels", "classes")}
    options = ReadOptions(**{**content["options"], **names})
    header, rows = tuple(content["header"]), tuple(content["rows"])
    return Source(path, files, header, roles, options, rows, first=content["first"], goes_on=content["goes_on"])


def with_partition(content: Mapping[str, Any], number: int, work: Callable[[Source, int], T]) -> T:
    """What is done with a source and the number of one of its files."""
    some = source_of(content)
    try:
        return work(some, number - some.first)
    except OutsidePartition:
        return work(open_source(content["path"], content["options"]), number)


class PartitionMerger:
    """What `Stream.part` gave of each file, in the order of the files; in the end as if one stream had read them all.

    `is_broken` after a part that ends in the middle: a stream of all would not have come to those that follow.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.channels = Stream(source).channels
        self.log, self.totals = ProblemLog(source.path.name), StreamTotals(source)
        self.log.take(source.notes)
        self.files = 0
        self.is_broken = False

    def take(self, part: Mapping[str, Any]) -> None:
        self.log.join(ProblemLog.from_json(part["ledger"]))
        self.totals.join(StreamTotals.from_json(part["ending"], self.source))
        self.files += 1
        self.is_broken = as_bool(part["broken"])

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
            self.totals.report(self.log)
        self.log.file = self.source.path.name
        problems = self.log.problems()
        if self.log.failed:
            raise data_error(problems)
        return problems
