"""Membership queries: which of several rules that fit the data equally well is meant, told by a person.

Question after question, until one behaviour is left or the person stops. A query is a recorded trace, or one changed in
as few samples as it takes for two formulas to differ: the sample that decides a verdict is moved across the threshold
it is compared with, and so on with the sample that decides then, until both formulas say what they are to say. Where
none is found and z3 is installed, it is asked for a distinguishing trace, or proves that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..data.arrays import Bools, Floats, Ints
from ..data.problems import unknown_channel
from ..errors import DataError, FernnError, UnsupportedError, convert_errors, short_repr
from ..formula import Formula, channels, direction, parse
from ..formula.expressions import Step, time_step
from ..formula.json_fields import as_text
from ..formula.templates import require_closed
from ..semantics import deciding, robustness, satisfied


@dataclass(frozen=True, eq=False)
class Query:
    """A membership query: is this trace good or bad?"""

    trace: Floats
    """`[channel, time]`"""
    origin: str
    """The case it is, or was made from."""
    changed: tuple[tuple[int, int], ...]
    """(channel, sample) where it differs from the case it was made from; empty for a trace that was recorded."""
    good: tuple[Formula, ...]
    """The formulas left that say good."""
    bad: tuple[Formula, ...]

    __repr__ = short_repr

    @property
    def is_made(self) -> bool:
        return bool(self.changed)


@dataclass(frozen=True, eq=False)
class QueryAnswer:
    """A question and the answer to it; None is for `cannot say`."""

    question: Query
    answer: bool | None

    __repr__ = short_repr

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back."""
        q = self.question
        return {
            "trace": q.trace.tolist(), "origin": q.origin, "changed": [list(at) for at in q.changed],
            "good": [str(f) for f in q.good], "bad": [str(f) for f in q.bad], "answer": self.answer,
        }  # fmt: skip

    @classmethod
    @convert_errors(DataError, "this is no answered question of fernn")
    def from_json(cls, row: dict[str, Any]) -> QueryAnswer:
        good, bad = (tuple(require_closed(parse(text)) for text in row[side]) for side in ("good", "bad"))
        changed = tuple((int(channel), int(sample)) for channel, sample in row["changed"])
        trace = np.array(row["trace"], dtype=np.float64)
        if trace.ndim != 2 or row["answer"] not in (True, False, None):
            raise ValueError("a trace has channels and samples, an answer is true, false or null")
        return cls(Query(trace, as_text(row["origin"]), changed, good, bad), row["answer"])


Levels = list[Floats | None]
NEAR = 4
"""Recorded traces that are tried for each pair of formulas."""
PAIRS = 16
"""Pairs of formulas for which traces are made."""
FEW = 4
"""Distinct values up to which a channel takes no others."""
CLEAR = (0.05, 0.01, 1e-3, 1e-5)
"""How far beyond a threshold a sample is moved, as a share of the range of its channel: less where thresholds are
close to each other."""


@dataclass(frozen=True, eq=False)
class CandidateTrace:
    """A trace, and which one it was made from."""

    trace: Floats
    case: str
    changed: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class ChannelValues:
    """How samples may be moved: by channel the size of its range, and the values themselves where they are few."""

    channels: tuple[str, ...]
    ranges: Mapping[str, float]
    levels: Levels
    step: Step | None
    """The time between samples, for functions over times."""

    @classmethod
    def of(cls, data: Dataset) -> ChannelValues:
        ranges = {name: high - low or 1.0 for name, (low, high) in data.ranges.items()}
        return cls(data.channels, ranges, discrete_levels(data), time_step(data.dt, data.time_unit))


def candidate_traces(formulas: Sequence[Formula], data: Dataset) -> Iterator[CandidateTrace]:
    """Traces on which some two of these formulas differ."""
    pairs, channels = list(islice(combinations(formulas, 2), PAIRS)), ChannelValues.of(data)
    values = {formula: np.abs(np.asarray(robustness(formula, data))) for pair in pairs for formula in pair}
    for f, g in pairs:
        near = np.argsort(np.minimum(values[f], values[g]), kind="stable")[:NEAR]
        for case in near.tolist():
            for first, second in ((f, g), (g, f)):
                trace = separate(np.array(data.values[case]), first, second, channels)
                if trace is not None and (trace != data.values[case]).any():  # what was recorded is judged already
                    yield CandidateTrace(trace, data.cases[case], differing_samples(trace, data.values[case]))


def separate(trace: Floats, holds: Formula, fails: Formula, channels: ChannelValues) -> Floats | None:
    """The trace changed so that one formula holds of it and the other does not; None where that did not come about."""
    edited = (_edit_trace(trace, ((holds, True), (fails, False)), channels, clear) for clear in CLEAR)
    return next((each for each in edited if each is not None), None)


def _edit_trace(
    trace: Floats, wanted: Sequence[tuple[Formula, bool]], channels: ChannelValues, clear: float
) -> Floats | None:
    for _ in range(2 * trace.shape[1] + 4):
        judged = [bool(satisfied(f, trace[None], channels.channels, step=channels.step)[0]) for f, _ in wanted]
        wrong = [(f, want) for (f, want), holds in zip(wanted, judged, strict=True) if holds != want]
        if not wrong:
            return trace
        moved = _move_sample(trace, *wrong[0], channels, clear)
        if moved is None or (moved == trace).all():
            return None
        trace = moved
    return None


def _move_sample(trace: Floats, formula: Formula, want: bool, channels: ChannelValues, clear: float) -> Floats | None:
    """The sample that decides, moved to the other side of its threshold; None where no sample decides, the channel has
    no value there, or functions are compared, which read many samples."""
    (witness,) = deciding(formula, trace[None], channels.channels, step=channels.step)
    if witness is None:
        return None
    atom, at = witness.atom, witness.sample
    if atom.calls:
        return None
    rows = {name: channels.channels.index(name) for name in atom.channels}
    total = sum(weight * trace[rows[name], at] for name, weight in atom.plain)
    own = atom.threshold - total if atom.is_upper_bound else total - atom.threshold
    upright = np.sign(own) == np.sign(witness.robustness) or own == 0
    up = (want == upright) != atom.is_upper_bound
    name, weight = max(atom.plain, key=lambda term: abs(term[1] * channels.ranges[term[0]]))
    goal = atom.threshold + (1 if up else -1) * clear * channels.ranges[name] * abs(weight)
    value = trace[rows[name], at] + (goal - total) / weight
    levels = channels.levels[rows[name]]
    if levels is not None:  # a value that the channel has, on the same side
        rising = up == (weight > 0)
        border = trace[rows[name], at] + (atom.threshold - total) / weight
        beyond = levels[levels > border] if rising else levels[levels < border]
        if not len(beyond):
            return None
        value = float(beyond[0] if rising else beyond[-1])
    changed = trace.copy()
    changed[rows[name], at] = value
    return changed


def discrete_levels(data: Dataset) -> Levels:
    """By channel its values, where they are few, as of a switch; None for others."""
    rows = np.concatenate(list(data.values), axis=1)
    uniques = [np.unique(row) for row in rows]
    return [values if len(values) <= FEW else None for values in uniques]


def differing_samples(trace: Floats, near: Floats) -> tuple[tuple[int, int], ...]:
    """(channel, sample) where two traces differ."""
    return tuple((int(channel), int(sample)) for channel, sample in np.argwhere(trace != near))


PATIENCE = 5.0
"""Seconds for a proof."""
MOST = 6
"""Lengths of traces that are looked at."""
BEYOND = 0.1
"""How far outside of the recorded values a trace may go, as a share of their range."""


class Undecided(Exception):
    """Not to be found out here, or not in this time."""


def distinguishing_trace(f: Formula, g: Formula, data: Dataset) -> CandidateTrace | None:
    """A trace on which they differ, near a recorded one; None where there is none of any recorded length, with values
    as recorded."""
    sizes = sorted(set(data.lengths.tolist()), reverse=True)
    for samples in sizes[:MOST]:
        candidate = _of_length(f, g, int(np.flatnonzero(data.lengths == samples)[0]), data)
        if candidate is not None:
            return candidate
    if len(sizes) > MOST:
        raise Undecided
    return None


def _is_proof(f: Formula, g: Formula, samples: int, ranges: Mapping[str, tuple[float, float]]) -> bool:
    """Whether formulas that are the same as real numbers are known to be the same in floats."""
    from ..semantics.z3_equivalence import OrderedQuestion, SolverTimeout, inexact_sums

    if not inexact_sums(f, g):
        return True
    try:
        question = OrderedQuestion(f, g, ranges=ranges, either=True)
        return question.answer(samples, perf_counter() + PATIENCE) is None
    except SolverTimeout:
        return False


def _of_length(f: Formula, g: Formula, case: int, data: Dataset) -> CandidateTrace | None:
    """As long as this trace, and near it."""
    near = data.values[case]
    ranges = {
        name: (low - BEYOND * (high - low), high + BEYOND * (high - low)) for name, (low, high) in data.ranges.items()
    }
    try:
        from ..semantics.z3_equivalence import difference

        step = time_step(data.dt, data.time_unit)
        trace = difference(f, g, near.shape[1], data.channels, ranges, near, time_limit=PATIENCE, step=step)
    except (FernnError, ImportError) as error:
        raise Undecided from error
    if trace is None:
        if not _is_proof(f, g, near.shape[1], ranges):
            raise Undecided  # the same as real numbers, but sums are rounded
        return None
    if any(
        levels is not None and not np.isin(row, levels).all()
        for row, levels in zip(trace, discrete_levels(data), strict=True)
    ):
        raise Undecided  # no recording has such values
    return CandidateTrace(trace, data.cases[case], differing_samples(trace, near))


Oracle = Callable[[Query], bool | Literal["back"] | None]
"""Good, bad, or None for `cannot say`; "back" takes the last answer back. Raising KeyboardInterrupt ends the asking."""


@dataclass(frozen=True, eq=False)
class QueryResult:
    """The result of a session of queries."""

    left: tuple[Formula, ...]
    """The formulas that agree best with the answers, in the order in which they were given."""
    transcript: tuple[QueryAnswer, ...]
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
        answered = [a for a in self.transcript if a.answer is not None]
        if not answered:
            return None
        names = tuple(f"asked-{i + 1}" for i in range(len(answered)))
        labels = np.array([int(bool(a.answer)) for a in answered])
        values = tuple(a.question.trace for a in answered)
        return Dataset(values, labels, like.classes, like.channels, like.dt, like.time_unit, names, name="asked")


@dataclass(eq=False)
class QuerySession:
    """The formulas that may be meant, the likeliest first, traces like those to be judged, and the answers so far.

    `pool` has recorded traces that nobody has judged; they are asked about first where they tell as much.
    """

    formulas: Sequence[Formula]
    data: Dataset
    pool: Dataset | None = None
    answers: list[QueryAnswer] = field(default_factory=list)
    is_proved: bool = False
    _disagreements: list[Bools] = field(default_factory=list)
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
    def _wrong(self) -> Ints:
        """With how many answers each formula disagrees."""
        answered = [a for a in self.answers if a.answer is not None]
        if len(answered) != len(self._disagreements):
            says = self._says(self.formulas, [a.question.trace for a in answered])
            self._disagreements = [says[:, i] != a.answer for i, a in enumerate(answered)]
        return np.sum(self._disagreements, axis=0, dtype=np.int64) + np.zeros(len(self.formulas), np.int64)

    def _says(self, formulas: Sequence[Formula], traces: Sequence[Floats]) -> Bools:
        """`[formula, trace]`: whether it holds."""
        if not traces:
            return np.empty((len(formulas), 0), bool)
        step = time_step(self.data.dt, self.data.time_unit)
        return np.stack([satisfied(formula, list(traces), self.data.channels, step=step) for formula in formulas])

    def next(self, prove: bool = True) -> Query | None:
        """The trace whose verdict would halve what is left most evenly; None where none is known that would part it.

        Without `prove` z3 is not asked for one.
        """
        left = self.left
        if len(left) < 2:
            return None
        candidates = [
            each for each in (*self._pool_traces(), *candidate_traces(left, self.data)) if not self._was_asked(each)
        ]
        questions = self._questions(candidates, left)
        if not questions:
            return self._last_resort(left) if prove else None
        return max(questions, key=lambda q: (min(len(q.good), len(q.bad)), not q.is_made, -len(q.changed)))

    def _questions(self, candidates: Sequence[CandidateTrace], left: Sequence[Formula]) -> list[Query]:
        """Those on which the formulas left differ."""
        says, queries = self._says(left, [each.trace for each in candidates]), []
        for each, verdicts in zip(candidates, says.T.tolist(), strict=True):
            good = tuple(f for f, holds in zip(left, verdicts, strict=True) if holds)
            bad = tuple(f for f, holds in zip(left, verdicts, strict=True) if not holds)
            if good and bad:
                queries.append(Query(each.trace, each.case, each.changed, good, bad))
        return queries

    def _pool_traces(self) -> list[CandidateTrace]:
        if self.pool is None:
            return []
        return [CandidateTrace(trace, case, ()) for trace, case in zip(self.pool.values, self.pool.cases, strict=True)]

    def _was_asked(self, each: CandidateTrace) -> bool:
        return any(np.array_equal(a.question.trace, each.trace) for a in self.answers)

    def _last_resort(self, left: Sequence[Formula]) -> Query | None:
        """A trace found by proof, or the proof that there is none."""
        proved = True
        for other in left[1:]:
            try:
                candidate = distinguishing_trace(left[0], other, self.data)
            except Undecided:
                proved = False
                continue
            if candidate is not None:
                proved = False
                if not self._was_asked(candidate) and (questions := self._questions([candidate], left)):
                    return questions[0]
        self.is_proved = proved
        return None

    def take(self, question: Query, answer: bool | None) -> QueryAnswer:
        self.is_proved = False
        self.answers.append(QueryAnswer(question, answer))
        return self.answers[-1]

    def take_back(self) -> None:
        """Forgets the last answer."""
        if self.answers:
            self.answers.pop()
            self._disagreements.clear()
            self.is_proved = False

    def run(self, answer: Oracle, most: int = 50) -> QueryResult:
        """Asks until one behaviour is left, at most so many questions; one is used up to take an answer back."""
        while (question := self.next()) is not None:
            if most < 1:
                return self.result("stopped")
            most -= 1
            try:
                reply = answer(question)
            except KeyboardInterrupt:
                return self.result("stopped")
            if not isinstance(reply, str):
                self.take(question, reply)
            elif reply == "back":
                self.take_back()
            else:
                raise UnsupportedError(
                    f"an answer is True for good, False for bad, None for cannot say, or 'back'; got {reply!r} "
                    f"for question {len(self.answers) + 1}. Return one of these."
                )
        return self.result("decided" if len(self.left) == 1 or self.is_proved else "undecided")

    def result(self, ended: str) -> QueryResult:
        left = self.left
        proved = len(left) == 1 or self.is_proved
        return QueryResult(left, tuple(self.answers), ended, proved, int(self._wrong.min()))


def ask(
    formulas: Sequence[Formula], data: Dataset, answer: Oracle, pool: Dataset | None = None, most: int = 50,
    answers: Sequence[QueryAnswer] = (),
) -> QueryResult:  # fmt: skip
    """Ask until one behaviour is left, at most so many questions; `answers` are those given before.

    `answer` is called with a question; it may take the last answer back. Ctrl-C, raised in it, ends the asking with
    what is known.
    """
    return QuerySession(formulas, data, pool, list(answers)).run(answer, most)
