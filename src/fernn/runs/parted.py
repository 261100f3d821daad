"""A folder of recordings judged file by file, wherever the work is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..data import Dataset, Problem
from ..data.chunks import opened
from ..engine import Unit, Where, engine_of, results
from ..errors import DataError
from ..formula import Formula, parse
from ..semantics.chunks import judged_part, parts_of, settled, together
from ..semantics.robustness import At
from ..semantics.tally import Judged

TASK = "fernn.runs.parted:judged_there"


@dataclass(frozen=True)
class Parted:
    """What the files say together; those that were not reached are missing where it is not `complete`."""

    judged: Judged
    problems: tuple[Problem, ...]
    complete: bool = True


def judged_by_parts(
    formula: Formula | str,
    path: str,
    options: Mapping[str, Any] | None = None,
    at: At = "verdict",
    rows: int | None = None,
    engine: Where = None,
    told: Callable[[int, int], None] = lambda done, of: None,
) -> Parted:
    """As `fernn.semantics.chunks.judged`, a file of the folder at a time; the workers read the files themselves.

    `told` hears how many files are done, of how many. A file that cannot be judged is an error that says which. Ctrl-C
    gives what came so far.
    """
    rule = parse(formula) if isinstance(formula, str) else formula
    asked = {"path": path, "formula": str(rule), "options": dict(options or {}), "at": at, "rows": rows}
    units = [Unit(asked, number) for number in range(parts_of(path, options))]
    found: dict[int, dict[str, Any]] = {}
    complete = True
    try:
        told(0, len(units))
        for answer in results(engine_of(engine), TASK, None, units):
            if answer.problem is not None:
                file = opened(path, options).files[answer.unit.seed]
                raise DataError(f"{file} could not be judged, after {answer.tries} tries: {answer.problem}")
            found[answer.unit.seed] = answer.found
            told(len(found), len(units))
    except KeyboardInterrupt:
        complete = False
    parts = [found[number] for number in sorted(found)]
    problems = tuple(Problem(**each) for part in parts for each in part["problems"])
    return Parted(settled(together(parts), opened(path, options)), problems, complete)


def judged_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """On a worker: one file."""
    return judged_part(number=seed, **settings)
