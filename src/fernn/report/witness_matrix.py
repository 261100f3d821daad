"""Which sample decides, for all traces at once.

The same walk from the verdict down to an atom as `fernn.semantics.explain` makes trace by trace, with its choice among
equals: the left operand before the right one, and the sample nearest to the one being judged. All traces that are at
the same part of the formula take the next step together.
"""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np

from ..data import Dataset
from ..data.arrays import Array, Ints
from ..errors import SignalError
from ..formula import (
    Always,
    And,
    Atom,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    direction,
    interval,
    walk,
)
from ..formula.nodes import AnyAtom, AnyOf, Constant
from ..semantics import signals

BLOCK = 2_000_000  # samples looked at together


def find_witnesses(formula: Formula, data: Dataset) -> tuple[Ints, Ints]:
    """(atom, sample), `[case]`: which atom, counted as printed, at which sample of the trace; -1 where none decides."""
    if direction(formula) == "mixed":
        raise SignalError(f"{formula} looks both back and ahead, so it has no sample of its own to be judged at")
    together = max(1, BLOCK // int(data.lengths.max()))
    walks = [_Walk(formula, data, low, min(low + together, len(data))) for low in range(0, len(data), together)]
    return np.concatenate([each.atom for each in walks]), np.concatenate([each.sample for each in walks])


class _Walk:
    """The traces from `low` to before `high`; every signal as `[case, time]`, 0 beyond the end of a trace."""

    def __init__(self, formula: Formula, data: Dataset, low: int, high: int) -> None:
        self.lengths = data.lengths[low:high]
        found = signals(formula, data.subset(range(low, high)))
        self.rows = {part: self._squared(values) for part, values in found.items()}
        self.atom = np.full(high - low, -1, dtype=np.int64)
        self.sample = self.atom.copy()
        start = self.lengths - 1 if direction(formula) == "past" else np.zeros_like(self.lengths)
        self._go(formula, np.arange(high - low), start, 0)

    def _squared(self, values: Any) -> Array:
        if not isinstance(values, list):
            return np.asarray(values)
        made = np.zeros((len(values), int(self.lengths.max())))
        for into, row in zip(made, values, strict=True):
            into[: len(row)] = row
        return made

    def _go(self, node: Formula, cases: Ints, at: Ints, atoms: int) -> None:
        """From `node` at sample `at` of these cases on down; `atoms` of them are printed before it."""
        if not cases.size:
            return
        match node:
            case Atom():
                self.atom[cases], self.sample[cases] = atoms, at
            case Not(a):
                self._go(a, cases, at, atoms)
            case And(a, b):
                self._part(a, b, self.rows[a][cases, at] <= self.rows[b][cases, at], cases, at, at, atoms)
            case Or(a, b):
                self._part(a, b, self.rows[a][cases, at] >= self.rows[b][cases, at], cases, at, at, atoms)
            case Implies(a, b):
                self._part(a, b, -self.rows[a][cases, at] >= self.rows[b][cases, at], cases, at, at, atoms)
            case Eventually(a, over) | Once(a, over):
                self._nearest(a, 1.0, cases, at, over, isinstance(node, Eventually), atoms)
            case Always(a, over) | Historically(a, over):
                self._nearest(a, -1.0, cases, at, over, isinstance(node, Always), atoms)
            case Until(a, b, over) | Since(a, b, over):
                self._held(a, b, cases, at, over, isinstance(node, Until), atoms)
            case Release(a, b, over) | Trigger(a, b, over):
                self._held(a, b, cases, at, over, isinstance(node, Release), atoms, -1.0)
            case WeakUntil(a, b, over) | WeakSince(a, b, over):
                self._held_weakly(node, a, b, cases, at, over, isinstance(node, WeakUntil), atoms)
            case Constant() | AnyAtom() | AnyOf():
                pass  # no sample decides
            case _ as never:
                assert_never(never)

    def _part(self, a: Formula, b: Formula, left: Array, cases: Ints, a_at: Ints, b_at: Ints, atoms: int) -> None:
        """Some go on in the left operand, the others in the right one."""
        self._go(a, cases[left], a_at[left], atoms)
        self._go(b, cases[~left], b_at[~left], atoms + sum(isinstance(part, Atom) for part in walk(a)))

    def _nearest(self, a: Formula, sign: float, cases: Ints, at: Ints, over: Interval, ahead: bool, atoms: int) -> None:
        """The greatest value in the window, or with sign -1 the least; nowhere where the window is empty."""
        far, room = self._window(cases, at, over, ahead)
        if not far.size:
            return
        values = np.where(far < room, sign * self._outwards(a, cases, at, far, ahead), -np.inf)
        best = far[values.argmax(axis=1)]  # of equals the first, which is in the window if any is
        some = far[0] < room[:, 0]
        self._go(a, cases[some], (at + best if ahead else at - best)[some], atoms)

    def _held(
        self, a: Formula, b: Formula, cases: Ints, at: Ints, over: Interval, ahead: bool, atoms: int, sign: float = 1.0
    ) -> None:
        """Where the goal is reached; or, if that weakens it, the worst of what must hold until then.

        With sign -1, of Release and Trigger: `!(!a U !b)`.
        """
        far, room = self._window(cases, at, over, ahead)
        if not far.size:
            return
        every = np.arange(int(far[-1]) + 1)
        hold, goal = (sign * self._outwards(part, cases, at, every, ahead) for part in (a, b))
        before = np.full_like(hold, np.inf)
        np.minimum.accumulate(hold[:, :-1], axis=1, out=before[:, 1:])
        values = np.where(far < room, np.minimum(goal, before)[:, far], -np.inf)
        best = far[values.argmax(axis=1)]
        row = np.arange(len(cases))
        weakened = (best > 0) & (before[row, best] <= goal[row, best])
        worst = np.where(every < best[:, None], hold, np.inf).argmin(axis=1)
        turn = 1 if ahead else -1
        some = far[0] < room[:, 0]
        self._part(
            a, b, weakened[some], cases[some], (at + turn * worst)[some], (at + turn * best)[some], atoms
        )  # fmt: skip

    def _held_weakly(
        self, node: Formula, a: Formula, b: Formula, cases: Ints, at: Ints, over: Interval, ahead: bool, atoms: int
    ) -> None:
        """As Until where its value is that of the formula, else where a is worst."""
        far, room = self._window(cases, at, over, ahead)
        reached = np.zeros(len(cases), bool)
        if far.size:
            every = np.arange(int(far[-1]) + 1)
            hold, goal = (self._outwards(part, cases, at, every, ahead) for part in (a, b))
            before = np.full_like(hold, np.inf)
            np.minimum.accumulate(hold[:, :-1], axis=1, out=before[:, 1:])
            values = np.where(far < room, np.minimum(goal, before)[:, far], -np.inf)
            reached = (far[0] < room[:, 0]) & (values.max(axis=1) >= self.rows[node][cases, at])
        if reached.any():
            self._held(a, b, cases[reached], at[reached], over, ahead, atoms)
        if not reached.all():
            self._nearest(a, -1.0, cases[~reached], at[~reached], interval(0, over.end), ahead, atoms)

    def _window(self, cases: Ints, at: Ints, over: Interval, ahead: bool) -> tuple[Ints, Ints]:
        """(how far away its samples are, nearest first; how many samples there are from `at` on, `[case, 1]`)."""
        room = self.lengths[cases] - at if ahead else at + 1
        most = int(room.max())
        spans = [np.arange(start, min(most, int(min(end, most)) + 1)) for start, end in over]
        return np.concatenate(spans) if spans else np.empty(0, np.int64), room[:, None]

    def _outwards(self, part: Formula, cases: Ints, at: Ints, far: Ints, ahead: bool) -> Array:
        """`[case, far]`; beyond the trace whatever is nearest, to be masked."""
        rows = self.rows[part]
        place = np.clip(at[:, None] + far if ahead else at[:, None] - far, 0, rows.shape[1] - 1)
        return np.asarray(rows[cases[:, None], place])
