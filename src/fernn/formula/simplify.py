"""Shorter formulas that mean exactly the same: equal robustness and verdict at every sample of every trace.

The laws are in `laws` and `expression_laws`. They hold in float32 and in float64, in which traces are judged, for
traces of any finite length with windows clipped to the trace, and for templates whatever the holes are filled with: an
open atom is only ever equal to itself, an open window is never known to include a sample, and the options of a choice
stay as they are, since choices that became equal would be one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import assert_never

from .expression_laws import EXPRESSION_LAWS
from .laws import OPERATOR_LAWS, TREND_LAWS, Law, push_negations
from .measures import direction, expand_definition, mirror_operators
from .nodes import (
    FALSE,
    TRUE,
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    OpenInterval,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    children,
    interval,
    replace_children,
    walk,
)

LAWS = (*OPERATOR_LAWS, *EXPRESSION_LAWS, *TREND_LAWS)
"""Written for operators that look ahead; those that look back have the mirrors of these."""

CACHE_SIZE = 50_000


def simplify(formula: Formula, keep_sample: bool = True) -> Formula:
    """The formula, or template, with every law applied until none applies.

    A past formula is judged at the last sample, one without operators at the first. So `O[0,0]` stays in front of what
    has no other operator that looks back; without `keep_sample`, for callers who say at which sample, it goes.
    """
    simpler = rewrite_until_stable(formula, _rewrite)
    return _at_same_sample(simpler, formula) if keep_sample else simpler


def _at_same_sample(simpler: Formula, formula: Formula) -> Formula:
    if direction(formula) != "past" or direction(simpler) != "now" or isinstance(simpler, Constant):
        return simpler
    return Once(simpler, interval(0, 0))


def law_rewriter(laws: tuple[Law, ...]) -> Callable[[Formula], Formula]:
    """The function that applies these laws, innermost first, until none applies; it remembers what it has seen."""

    @lru_cache(maxsize=CACHE_SIZE)
    def simplest(formula: Formula) -> Formula:
        if isinstance(formula, AnyOf):
            return formula
        node = replace_children(formula, tuple(simplest(child) for child in children(formula)))
        for law in laws:
            simpler = law(node)
            if simpler is not None and simpler != node:
                return simplest(simpler)
        return node

    return simplest


_rewrite = law_rewriter(LAWS)


def rewrite_until_stable(formula: Formula, simplest: Callable[[Formula], Formula]) -> Formula:
    """What laws, and their mirrors for the operators that look back, make of the formula, with its negations inside."""
    while True:
        simpler = simplest(push_negations(formula))
        if direction(simpler) in ("past", "mixed"):
            simpler = mirror_operators(simplest(mirror_operators(simpler)))
        if simpler == formula:
            return formula
        formula = simpler


def trim_windows(
    formula: Formula, samples: int, keep: frozenset[Interval] = frozenset(), keep_sample: bool = True
) -> Formula:
    """The simplest form, without what its windows cannot reach on traces of at most `samples` samples.

    On such traces it has the same robustness; on longer ones it says nothing of samples that no such trace has. An
    operator that can reach no sample becomes a constant. Windows that are in `keep` stay; `keep_sample` is that of
    `simplify`.
    """
    simpler = simplify(formula, keep_sample=False)
    while True:
        start = -inf if direction(simpler) == "mixed" else 0
        trimmed = simplify(_trim(simpler, samples - 1, start, keep), keep_sample=False)
        if trimmed == simpler:
            return _at_same_sample(simpler, formula) if keep_sample else simpler
        simpler = trimmed


def _trim(formula: Formula, last: int, start: float, keep: frozenset[Interval]) -> Formula:
    """Of a part that is judged `start` samples from the first one or farther, all in one direction; nobody knows where
    if `start` is -inf. No trace has a sample farther than `last` from its first."""
    match formula:
        case Always(over=over) | Eventually(over=over) | Historically(over=over) | Once(over=over):
            trimmed = over if over in keep else _clip_window(over, last - max(start, 0))
            if trimmed is None:  # over no sample all holds, and nothing does
                return TRUE if isinstance(formula, Always | Historically) else FALSE
            return type(formula)(_trim(formula.inner, last, start + trimmed.start, keep), trimmed)
        case Until(left, right, over) | Since(left, right, over):
            trimmed = over if over in keep else _clip_window(over, last - max(start, 0))
            if trimmed is None:
                return FALSE
            return type(formula)(
                _trim(left, last, start, keep), _trim(right, last, start + trimmed.start, keep), trimmed
            )
        case Release(left, right, over) | Trigger(left, right, over):
            trimmed = over if over in keep else _clip_window(over, last - max(start, 0))
            if trimmed is None:
                return TRUE
            return type(formula)(
                _trim(left, last, start, keep), _trim(right, last, start + trimmed.start, keep), trimmed
            )
        case WeakUntil(left, right, over) | WeakSince(left, right, over):
            farthest = last - max(start, 0)
            trimmed = over if over in keep or over.is_open else _clip_window(over, farthest)
            if trimmed is None or min(over.end, farthest) > trimmed.end:  # pieces are gone, whose end is that of G
                return _trim(expand_definition(formula), last, start, keep)
            return type(formula)(
                _trim(left, last, start, keep), _trim(right, last, start + trimmed.start, keep), trimmed
            )
        case Constant() | Atom() | Not() | And() | Or() | Implies() | AnyAtom() | AnyOf():
            return replace_children(formula, tuple(_trim(child, last, start, keep) for child in children(formula)))
        case _ as never:
            assert_never(never)


def _clip_window(over: Interval, last: float) -> Interval | None:
    """What of a window is at most `last` samples away; None where that is nothing."""
    spans = tuple((first, end if end == inf else min(end, last)) for first, end in over if first <= last)
    if spans == over.spans:
        return over
    return replace(over, spans=spans) if spans else None


def windows_of_template(template: Formula | None) -> frozenset[Interval]:
    """Windows that a template says, for `trim_windows` to keep."""
    nodes = () if template is None else walk(template)
    windows = (getattr(node, "over", None) for node in nodes)
    return frozenset(over for over in windows if isinstance(over, Interval) and not isinstance(over, OpenInterval))
