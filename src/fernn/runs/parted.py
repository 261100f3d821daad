"""A folder of recordings judged file by file, wherever the work is done."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from ..data import Dataset, Problem
from ..data.chunks import Stream, opened
from ..engine import Unit, Where, engine_of, results
from ..errors import DataError
from ..formula import Formula, parse
from ..semantics.chunks import parts_of, settled, verdicts
from ..semantics.robustness import At
from ..semantics.tally import Judged, Tally, total

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
    _check_returns([part["cases"] for part in parts])
    tally = total([Tally.from_json(part["tally"]) for part in parts])
    problems = [Problem(**each) for part in parts for each in part["problems"]]
    return Parted(settled(tally, opened(path, options)), tuple(problems), complete)


def judged_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """On a worker: the cases that begin in one file, counted, and eight bytes of each id."""
    rule = parse(settings["formula"])
    stream = Stream(opened(settings["path"], settings["options"]), settings["rows"], seed)
    tally, cases = Tally(), []
    for each in verdicts(rule, stream, settings["at"]):
        tally += each.tally
        cases += [blake2b(case.encode(), digest_size=8).digest() for case in each.lot.cases]
    problems = [asdict(problem) for problem in stream.problems()]
    return {"tally": tally.to_json(), "cases": b64encode(b"".join(cases)).decode(), "problems": problems}


def _check_returns(parts: Sequence[str]) -> None:
    """That no case begins in two files."""
    ids = np.concatenate([np.zeros(0, np.uint64), *(np.frombuffer(b64decode(part), np.uint64) for part in parts)])
    if len(np.unique(ids)) < len(ids):
        raise DataError(
            "the rows of some case stand in several places: it ends and comes back in a later file. Sort the rows by "
            "case; with --engine local the error says which one."
        )
