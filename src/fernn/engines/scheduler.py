"""The scheduler: hands units to an engine, retries those whose worker is lost, and yields their answers."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any

from ..data import Dataset
from ..errors import MALFORMED_DATA, EngineError, EngineWarning, FernnError, describe_error, short_repr
from ..formula.json_fields import as_object, as_text, read_json
from .base import Engine, Lost, Overtime, Unit

TRIES = 3
AHEAD = 2
"""Units at the engine for each of its workers, so that none of them waits for the next."""
BEAT = 0.2
"""Seconds between two looks at other things."""


@dataclass(frozen=True)
class Answer:
    """The result of a unit, or after so many tries its problem."""

    unit: Unit
    found: Any = None
    problem: str | None = None
    tries: int = 1

    __repr__ = short_repr

    @property
    def failure(self) -> str:
        """`failed 3 times: its process ended with status -9`"""
        return f"failed {'once' if self.tries == 1 else f'{self.tries} times'}: {self.problem}"


Read = Callable[[Unit, Any], Any]
"""Parses the plain data of an answer; raises one of `MALFORMED_DATA` where it cannot."""


def identity(unit: Unit, content: Any) -> Any:
    return content


class Failures:
    """Counts failed units of one kind of work, such as `folds`: a warning for each, an error where all failed."""

    def __init__(self, engine: Engine, work: str) -> None:
        self._engine, self._work = engine.name, work
        self.count = self.succeeded = 0
        self._first = ""

    def take(self, answer: Answer, name: str) -> bool:
        """Whether a unit failed, which is then told under this name."""
        if answer.problem is None:
            self.succeeded += 1
            return False
        self._first = self._first or f"{name} {answer.failure}"
        self.count += 1
        warnings.warn(f"left out: {name} {answer.failure}", EngineWarning, stacklevel=4)
        return True

    def check(self, needs_all: bool = False) -> None:
        """An error where there were units, and all of them failed; or, where all are needed, any."""
        if self.count and (needs_all or not self.succeeded):
            counts = f"{self.count} of the {self.count + self.succeeded}" if self.succeeded else f"all {self.count}"
            raise EngineError(f"{counts} {self._work} failed on the engine {self._engine}: {self._first}")


class UnitQueue:
    """Units at an engine; others may be added while some are worked on.

    A unit whose worker is lost is tried again, and so is one that breaks, or that is answered with something that
    `read` makes no sense of; after `tries` its problem is the answer.
    """

    def __init__(
        self, engine: Engine, task: str, data: Dataset | None, tries: int = TRIES, read: Read = identity
    ) -> None:
        self._engine, self._task, self._data, self._tries, self._read = engine, task, data, tries, read
        self._added = 0
        self._units: dict[int, Unit] = {}
        self._tried: Counter[int] = Counter()
        self._left: deque[int] = deque()
        self._at: dict[Future[str], int] = {}

    @property
    def is_over(self) -> bool:
        return not self._left and not self._at

    def add(self, units: Sequence[Unit]) -> range:
        """Their numbers, by which they are answered."""
        numbers = range(self._added, self._added + len(units))
        self._added += len(units)
        self._units |= zip(numbers, units, strict=True)
        self._left += numbers
        return numbers

    def poll(self, waiting: int = 0, soon: bool = False) -> list[tuple[int, Answer]]:
        """Answers within a beat; `waiting` ones count as still under way, `soon` retries before all else."""
        for _ in range(min(len(self._left), _ahead(self._engine) - waiting - len(self._at))):
            number = self._left.popleft()
            self._tried[number] += 1
            self._at[self._engine.submit(self._task, self._data, self._units[number])] = number
        over, _ = wait(self._at, BEAT, FIRST_COMPLETED)
        answers = []
        for future in over:
            number = self._at.pop(future)
            answer, retry = _answer(self._units[number], future, self._tried[number], self._read)
            if not retry or self._tried[number] >= self._tries:
                answers.append((number, answer))
                del self._units[number], self._tried[number]
            elif soon:
                self._left.appendleft(number)
            else:
                self._left.append(number)
        return answers

    def leave(self) -> None:
        """What waits is taken back; what is worked on may end as it likes."""
        for future in self._at:
            future.cancel()
        self._at.clear()
        self._left.clear()

    def drop(self) -> None:
        """What waits is taken back, and what is worked on is ended where that can be done."""
        self._engine.drop(list(self._at))
        self._at.clear()
        self._left.clear()


def run_units(
    engine: Engine, task: str, data: Dataset | None, units: Sequence[Unit], in_order: bool = False,
    tries: int = TRIES, pulse: Callable[[], None] = lambda: None, read: Read = identity,
) -> Iterator[Answer]:  # fmt: skip
    """Run the function `task` on each unit; answers as they come, or in the order of the units.

    `read` parses the plain data of an answer. `pulse` is called while there is nothing to do; what it raises,
    or leaving the loop, drops what is under way.
    """
    queue = UnitQueue(engine, task, data, tries, read)
    queue.add(units)
    ready: dict[int, Answer] = {}
    following = 0
    try:
        while ready or not queue.is_over:
            ready |= queue.poll(len(ready) if in_order else 0, in_order)
            pulse()
            while ready and (not in_order or following in ready):
                number = following if in_order else next(iter(ready))
                following += 1
                yield ready.pop(number)
    finally:
        queue.drop()


def _ahead(engine: Engine) -> int:
    """Units that the engine has at once; one where it has but one worker, so that little is done for nothing."""
    workers = engine.workers  # a cluster is asked
    return AHEAD * workers if workers > 1 else 1


def _answer(unit: Unit, future: Future[str], tries: int, read: Read) -> tuple[Answer, bool]:
    """The answer, and whether another try may help."""
    try:
        answer = future.result()
    except (Lost, CancelledError, Overtime) as error:
        return Answer(unit, problem=str(error) or "its worker is gone", tries=tries), not isinstance(error, Overtime)
    except (Exception, SystemExit, GeneratorExit) as error:
        return Answer(unit, problem=f"{type(error).__name__}: {error}", tries=tries), True
    try:
        content = as_object(read_json(answer))
        if "problem" in content:
            return Answer(unit, problem=as_text(content["problem"]), tries=tries), content.get("again") is True
        return Answer(unit, read(unit, content["found"]), tries=tries), False
    except (FernnError, *MALFORMED_DATA) as error:
        return Answer(unit, problem=f"its answer cannot be used ({describe_error(error)})", tries=tries), True
