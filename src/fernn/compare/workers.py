"""Units measured by several workers at once, each on one core, each answer as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from ..data import Dataset
from ..engines import Local, resolve_engine, run_units
from ..engines import Unit as Work
from ..engines.processes import Processes, cores
from .unit import Found, Unit, read_found

TASK = "fernn.compare.worker:measured_there"
TRIES = 2
PATIENCE, GRACE = 4.0, 600.0
"""A unit that takes this many time limits, and these seconds more, is ended."""


def answered(
    units: Sequence[Unit], limit: float, workers: int | None = None, data: Dataset | None = None
) -> Iterator[tuple[Unit, Found]]:
    """Every unit with what was found of it, in the order in which they are done.

    On the engine that is chosen for all, and else by processes of this machine. `data` are those of all units, unless
    they name others. Leaving the loop, by Ctrl-C or otherwise, ends what is under way, which is lost.
    """
    if not units:
        return
    engine = resolve_engine()
    if own := isinstance(engine, Local):
        engine = Processes(min(workers or cores(), len(units)), PATIENCE * limit + GRACE)
    named = {unit.key: unit for unit in units}
    work = [Work({"unit": asdict(unit), "limit": limit}, unit.seed) for unit in units]
    try:
        for answer in run_units(engine, TASK, data, work, tries=TRIES, read=lambda unit, found: read_found(found)):
            unit = named[Unit(**answer.unit.settings["unit"]).key]
            problem = answer.problem if answer.tries == 1 else answer.failure
            yield unit, answer.found if answer.problem is None else {"problem": problem}
    finally:
        if own:
            engine.close()
