"""Question after question, until one behaviour is left or the person stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.problems import unknown_channel
from ..errors import DataError, UnsupportedError
from ..formula import Formula, channels, direction
from ..plain import short_repr
from ..semantics import satisfied
from .making import Made, made
from .proving import Unknown, difference
from .question import Answered, Question

Answer = Callable[[Question], bool | Literal["back"] | None]
"""Good, bad, or None for `cannot say`; "back" takes the last answer back. Raising KeyboardInterrupt ends the asking."""
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Asked:
    """What came of it."""

    left: tuple[Formula, ...]
    """The formulas that agree best with the answers, in the order in which they were given."""
    transcript: tuple[Answered, ...]
    ended: str
    """`decided`, `stopped`, or `undecided` where no trace was found that tells those left apart."""
    is_proved: bool
    """Whether one is left, or those left judge every trace alike that is as long as one of those recorded, with values
    as they have them."""
    disagreements: int
    """Answers with which those left do not agree."""

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        return self.left[0]

    def traces(self, like: Dataset) -> Dataset | None:
        """The traces that were judged, labelled as answered, to learn from; None if there are none."""
        told = [a for a in self.transcript if a.answer is not None]
        if not told:
            return None
        names = tuple(f"asked-{i + 1}" for i in range(len(told)))
        labels = np.array([int(bool(a.answer)) for a in told])
        values = tuple(a.question.trace for a in told)
        return Dataset(values, labels, like.classes, like.channels, like.dt, like.time_unit, names, name="asked")


@dataclass(eq=False)
class Session:
    """The formulas that may be meant, the likeliest first, traces like those to be judged, and the answers so far.

    `pool` has recorded traces that nobody has judged; they are asked about first where they tell as much.
    """

    formulas: Sequence[Formula]
    data: Dataset
    pool: Dataset | None = None
    answers: list[Answered] = field(default_factory=list)
    is_proved: bool = False
    _known: list[Mask] = field(default_factory=list)
    """For each answer, which formulas disagree with it."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if not self.formulas:
            raise UnsupportedError("there is no formula to ask about")
        self.formulas = list(dict.fromkeys(self.formulas))
        for formula in self.formulas:
            if direction(formula) == "mixed":
                raise UnsupportedError(f"{formula} looks both back and ahead, so no one sample is judged")
            for name in channels(formula):
                if name not in self.data.channels:
                    raise DataError(
                        unknown_channel(name, self.data.channels, f"{self.data.name} has", f"{formula} reads")
                    )
        if self.pool is not None and self.pool.channels != self.data.channels:
            self.pool = self.pool.select(self.data.channels)

    @property
    def left(self) -> tuple[Formula, ...]:
        """Those that disagree with the fewest answers."""
        wrong = self._wrong
        return tuple(f for f, count in zip(self.formulas, wrong.tolist(), strict=True) if count == wrong.min())

    @property
    def _wrong(self) -> npt.NDArray[np.int64]:
        """With how many answers each formula disagrees."""
        told = [a for a in self.answers if a.answer is not None]
        if len(told) != len(self._known):
            says = self._says(self.formulas, [a.question.trace for a in told])
            self._known = [says[:, i] != a.answer for i, a in enumerate(told)]
        return np.sum(self._known, axis=0, dtype=np.int64) + np.zeros(len(self.formulas), np.int64)

    def _says(self, formulas: Sequence[Formula], traces: Sequence[Floats]) -> Mask:
        """`[formula, trace]`: whether it holds."""
        if not traces:
            return np.empty((len(formulas), 0), bool)
        return np.stack([satisfied(formula, list(traces), self.data.channels) for formula in formulas])

    def next(self, prove: bool = True) -> Question | None:
        """The trace whose verdict would halve what is left most evenly; None where none is known that would part it.

        Without `prove` z3 is not asked for one.
        """
        left = self.left
        if len(left) < 2:
            return None
        tried = [each for each in (*self._recorded(), *made(left, self.data)) if not self._was_asked(each)]
        questions = self._questions(tried, left)
        if not questions:
            return self._last_resort(left) if prove else None
        return max(questions, key=lambda q: (min(len(q.good), len(q.bad)), not q.is_made, -len(q.changed)))

    def _questions(self, tried: Sequence[Made], left: Sequence[Formula]) -> list[Question]:
        """Those on which the formulas left differ."""
        says, found = self._says(left, [each.trace for each in tried]), []
        for each, verdicts in zip(tried, says.T.tolist(), strict=True):
            good = tuple(f for f, held in zip(left, verdicts, strict=True) if held)
            bad = tuple(f for f, held in zip(left, verdicts, strict=True) if not held)
            if good and bad:
                found.append(Question(each.trace, each.case, each.changed, good, bad))
        return found

    def _recorded(self) -> list[Made]:
        if self.pool is None:
            return []
        return [Made(trace, case, ()) for trace, case in zip(self.pool.values, self.pool.cases, strict=True)]

    def _was_asked(self, each: Made) -> bool:
        return any(np.array_equal(a.question.trace, each.trace) for a in self.answers)

    def _last_resort(self, left: Sequence[Formula]) -> Question | None:
        """A trace found by proof, or the proof that there is none."""
        proved = True
        for other in left[1:]:
            try:
                found = difference(left[0], other, self.data)
            except Unknown:
                proved = False
                continue
            if found is not None:
                proved = False
                if not self._was_asked(found) and (questions := self._questions([found], left)):
                    return questions[0]
        self.is_proved = proved
        return None

    def take(self, question: Question, answer: bool | None) -> Answered:
        self.is_proved = False
        self.answers.append(Answered(question, answer))
        return self.answers[-1]

    def take_back(self) -> None:
        """Forgets the last answer."""
        if self.answers:
            self.answers.pop()
            self._known.clear()
            self.is_proved = False

    def run(self, answer: Answer, most: int = 50) -> Asked:
        """Asks until one behaviour is left, at most so many questions; one is used up to take an answer back."""
        while (question := self.next()) is not None:
            if most < 1:
                return self.asked("stopped")
            most -= 1
            try:
                said = answer(question)
            except KeyboardInterrupt:
                return self.asked("stopped")
            if not isinstance(said, str):
                self.take(question, said)
            elif said == "back":
                self.take_back()
            else:
                raise UnsupportedError(
                    f"an answer is True for good, False for bad, None for cannot say, or 'back'; got {said!r} "
                    f"for question {len(self.answers) + 1}. Return one of these."
                )
        return self.asked("decided" if len(self.left) == 1 or self.is_proved else "undecided")

    def asked(self, ended: str) -> Asked:
        left = self.left
        proved = len(left) == 1 or self.is_proved
        return Asked(left, tuple(self.answers), ended, proved, int(self._wrong.min()))


def ask(
    formulas: Sequence[Formula],
    data: Dataset,
    answer: Answer,
    pool: Dataset | None = None,
    most: int = 50,
    answers: Sequence[Answered] = (),
) -> Asked:
    """Ask until one behaviour is left, at most so many questions; `answers` are those given before.

    `answer` is called with a question; it may take the last answer back. Ctrl-C, raised in it, ends the asking with
    what is known.
    """
    return Session(formulas, data, pool, list(answers)).run(answer, most)
