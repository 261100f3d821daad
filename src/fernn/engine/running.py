"""Units handed to an engine, and their answers as they come: a worker that is lost costs only time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any

from ..data import Dataset
from .seam import Engine, Lost, Overtime, Unit

TRIES = 3
AHEAD = 2
"""Units at the engine for each of its workers, so that none of them waits for the next."""
BEAT = 0.2
"""Seconds between two looks at other things."""


@dataclass(frozen=True)
class Answer:
    """What came of a unit: what was found, or after so many tries the problem."""

    unit: Unit
    found: Any = None
    problem: str | None = None
    tries: int = 1

    @property
    def failure(self) -> str:
        """`failed 3 times: its process ended with status -9`"""
        return f"failed {self.tries} times: {self.problem}"


def results(
    engine: Engine,
    task: str,
    data: Dataset | None,
    units: Sequence[Unit],
    in_order: bool = False,
    tries: int = TRIES,
    pulse: Callable[[], None] = lambda: None,
) -> Iterator[Answer]:
    """What the function `task` finds of each unit, as soon as it is known, or in the order of the units.

    A unit whose worker is lost is tried again, and so is one that breaks; after `tries` its problem is the answer and
    the others go on. `pulse` is called while there is nothing to do; what it raises, or leaving the loop, drops what is
    under way.
    """
    left = list(enumerate(units))[::-1]
    tried = [0] * len(units)
    at: dict[Future[str], int] = {}
    ready: dict[int, Answer] = {}
    following = 0
    try:
        while left or at or ready:
            while left and len(at) + (len(ready) if in_order else 0) < _ahead(engine):
                number, unit = left.pop()
                tried[number] += 1
                at[engine.submit(task, data, unit)] = number
            over, _ = wait(at, BEAT, FIRST_COMPLETED)
            for future in over:
                number = at.pop(future)
                answer, again = _answer(units[number], future, tried[number])
                if again and tried[number] < tries:
                    left.insert(len(left) if in_order else 0, (number, units[number]))  # at once, or after all others
                else:
                    ready[number] = answer
            pulse()
            while ready and (not in_order or following in ready):
                number = following if in_order else next(iter(ready))
                following += 1
                yield ready.pop(number)
    finally:
        engine.drop(list(at))


def _ahead(engine: Engine) -> int:
    """Units that the engine has at once; one where it has but one worker, so that little is done for nothing."""
    return AHEAD * engine.workers if engine.workers > 1 else 1


def _answer(unit: Unit, future: Future[str], tries: int) -> tuple[Answer, bool]:
    """What came of it, and whether another try may help."""
    try:
        said = json.loads(future.result())
    except (Lost, CancelledError, Overtime) as error:
        return Answer(unit, problem=str(error) or "its worker is gone", tries=tries), not isinstance(error, Overtime)
    except Exception as error:
        return Answer(unit, problem=f"{type(error).__name__}: {error}", tries=tries), True
    if "problem" in said:
        return Answer(unit, problem=said["problem"], tries=tries), said["again"]
    return Answer(unit, said["found"], tries=tries), False
