"""Reactive rules as predictions: the cause is seen early, and then the effect is to be expected."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import assert_never

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats
from ...errors import FormulaError, short_repr
from ...formula import Always, And, Atom, Eventually, Formula, Implies, Not, Or, simplify, walk
from ...formula.nodes import (
    AnyAtom,
    AnyOf,
    Constant,
    Historically,
    Interval,
    Once,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    interval,
)
from ...semantics import satisfied


@dataclass(frozen=True)
class Forecast:
    """The outcomes of the causes that were seen, `[case]` each."""

    cause: Bools
    """Whether a cause was seen at some time."""
    kept: Bools
    """Whether the effect followed each of them."""

    __repr__ = short_repr

    def share(self, which: Bools) -> float:
        """Of these traces, where a cause was seen: how often the effect followed. NaN where none was."""
        seen = self.cause & which
        return float((self.kept & seen).sum() / seen.sum()) if seen.any() else float("nan")


@dataclass(frozen=True)
class Reactive:
    """`F[when] (cause -> effect)`."""

    when: Interval
    cause: Formula
    effect: Formula

    __repr__ = short_repr

    @classmethod
    def of(cls, formula: Formula) -> Reactive:
        plain = all(isinstance(node, (Always, Eventually, And, Or, Implies, Not, Atom)) for node in walk(formula))
        match formula:
            case Implies(cause, effect) if plain:
                return cls(interval(0, 0), cause, effect)
            case Eventually(Implies(cause, effect), when) if plain:
                return cls(when, cause, effect)
        raise FormulaError(
            f"{formula} is not reactive: `cause -> effect` or `F[a,b] (cause -> effect)`, of G, F, &, | and atoms"
        )

    @property
    def formula(self) -> Formula:
        inner = Implies(self.cause, self.effect)
        return inner if self.when == interval(0, 0) else Eventually(inner, self.when)

    @property
    def cause_known(self) -> float:
        """Samples from where it is judged until the cause is decided; infinite if it takes the whole trace."""
        return _reach(self.cause)[1]

    @property
    def effect_from(self) -> float:
        """The first sample that the effect is about."""
        return _reach(self.effect)[0]

    @property
    def is_predictive(self) -> bool:
        """Whether the cause is decided before the effect begins."""
        return self.cause_known < self.effect_from

    def forecast(self, data: Dataset) -> Forecast:
        """Over all times of the outer window."""
        implication = simplify(Always(Implies(self.cause, self.effect), self.when))
        triggered = Eventually(self.cause, self.when)
        return Forecast(np.asarray(satisfied(triggered, data)), np.asarray(satisfied(implication, data)))

    def expects(self, prefix: Floats, channels: tuple[str, ...]) -> bool | None:
        """From the first samples of a trace: whether the effect is to be expected; None while the cause is open."""
        if prefix.shape[1] <= self.cause_known:
            return None
        return bool(satisfied(self.cause, prefix[None], channels)[0])


def _reach(formula: Formula) -> tuple[float, float]:
    """The first and the last sample that a formula of delayed atoms is about."""
    match formula:
        case Always(inner, over) | Eventually(inner, over):
            first, last = _reach(inner)
            return over.start + first, over.end + last
        case And(left, right) | Or(left, right) | Implies(left, right):
            (a, b), (c, d) = _reach(left), _reach(right)
            return min(a, c), max(b, d)
        case Not(inner):
            return _reach(inner)
        case Constant() | Atom() | Once() | Historically() | AnyAtom() | AnyOf():
            return 0, 0
        case Since() | WeakSince() | Trigger() | Until() | WeakUntil() | Release():
            return 0, 0
        case _ as never:
            assert_never(never)


def drop_idle_cause(formula: Formula, data: Dataset) -> Formula:
    """The effect alone where every trace has the cause: then that says the same of them."""
    rule = Reactive.of(formula)
    always = rule.when == interval(0, 0) and bool(satisfied(rule.cause, data).all())
    return rule.effect if always else formula


def describe_forecast(formula: Formula, data: Dataset) -> str:
    """In a sentence: how early the cause is known, and how often the effect followed."""
    inner = formula.inner if isinstance(formula, Eventually) else formula
    if not isinstance(inner, Implies):
        return "no cause is needed: every training trace has the one that was found, so the effect alone is the rule"
    rule = Reactive.of(formula)
    forecast, good = rule.forecast(data), data.positive
    when = "at the end of the trace" if rule.cause_known == inf else f"after sample {rule.cause_known:g}"
    sides = ((good, data.classes[1]), (~good, data.classes[0]))
    rates = [f"{forecast.share(side):.0%} of {name}" for side, name in sides if (forecast.cause & side).any()]
    if not rates:
        return f"cause: {rule.cause}, known {when}; no training trace has it"
    return f"cause: {rule.cause}, known {when}; the effect followed in {' and '.join(rates)} traces that had it"
