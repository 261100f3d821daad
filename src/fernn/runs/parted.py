"""A folder of recordings judged file by file, wherever the work is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..data import Dataset
from ..data.chunks import opened
from ..engine import Unit, Where, engine_of, results
from ..errors import DataError
from ..formula import Formula, parse
from ..semantics.chunks import judged_part, parts_of, settled
from ..semantics.robustness import At
from ..semantics.tally import Judged, Tally, total

TASK = "fernn.runs.parted:judged_there"


def judged_by_parts(
    formula: Formula | str,
    path: str,
    options: Mapping[str, Any] | None = None,
    at: At = "verdict",
    rows: int | None = None,
    engine: Where = None,
    told: Callable[[int, int], None] = lambda done, of: None,
) -> Judged:
    """As `fernn.semantics.chunks.judged`, a file of the folder at a time; the workers read the files themselves.

    `told` hears how many files are done, of how many. A file that cannot be judged is an error that says which.
    """
    rule = parse(formula) if isinstance(formula, str) else formula
    asked = {"path": path, "formula": str(rule), "options": dict(options or {}), "at": at, "rows": rows}
    units = [Unit(asked, number) for number in range(parts_of(path, options))]
    found: dict[int, Tally] = {}
    told(0, len(units))
    for answer in results(engine_of(engine), TASK, None, units):
        if answer.problem is not None:
            file = opened(path, options).files[answer.unit.seed]
            raise DataError(f"{file} could not be judged, after {answer.tries} tries: {answer.problem}")
        found[answer.unit.seed] = Tally.from_json(answer.found)
        told(len(found), len(units))
    return settled(total([found[number] for number in sorted(found)]), opened(path, options))


def judged_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """On a worker: one file."""
    return judged_part(
        settings["path"], settings["formula"], seed, settings["options"], settings["at"], settings["rows"]
    )
