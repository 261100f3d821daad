"""As much of a folder as one of its parts needs, as plain values: who has them need not look at the others.

That is the file itself, the one before, in which its first case may have begun, and a few after it, in which its last
one may go on. Where it goes on beyond, the folder is opened as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ..options import Options, as_tuple
from ..roles import Roles
from .reading import Beyond
from .source import Source, opened

AHEAD = 4
"""Files with rows that are named after the one in question."""
T = TypeVar("T")


def portion(source: Source, number: int) -> dict[str, Any]:
    """What is needed to read the cases that begin in file `number`."""
    low = next((i for i in reversed(range(number)) if source.rows[i]), 0)
    filled = (i + 1 for i in range(number + 1, len(source.files)) if source.rows[i])
    high = next(islice(filled, AHEAD - 1, None), len(source.files))
    return {
        "path": str(source.path.absolute()), "first": low, "goes_on": high < len(source.files),
        "files": [source.called(file) for file in source.files[low:high]], "rows": source.rows[low:high],
        "header": source.header, "roles": asdict(source.roles), "options": asdict(source.options),
    }  # fmt: skip


def source_of(told: Mapping[str, Any]) -> Source:
    """A source of those files only."""
    path = Path(told["path"])
    files = tuple(path / name for name in told["files"])
    roles = Roles(**{**told["roles"], "channels": tuple(told["roles"]["channels"])})
    names = {key: as_tuple(told["options"][key]) for key in ("channels", "classes")}
    options = Options(**{**told["options"], **names})
    header, rows = tuple(told["header"]), tuple(told["rows"])
    return Source(path, files, header, roles, options, rows, first=told["first"], goes_on=told["goes_on"])


def with_portion(told: Mapping[str, Any], number: int, work: Callable[[Source, int], T]) -> T:
    """What is done with a source and the number of one of its files."""
    some = source_of(told)
    try:
        return work(some, number - some.first)
    except Beyond:
        return work(opened(told["path"], told["options"]), number)
