"""Facts about a formula, and formulas made from it by exchanging one thing throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Literal, assert_never

from ..errors import FormulaError, UnsupportedError
from .expressions import MISSING, Call, Sum, Term, Weights, looks_back, reach
from .nodes import (
    FUTURE,
    PAST,
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
    Not,
    Once,
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

_NOW = interval(0, 0)
Direction = Literal["past", "future", "now", "mixed"]

_MIRROR = {Once: Eventually, Historically: Always, Since: Until, WeakSince: WeakUntil, Trigger: Release}
_MIRROR |= {future: past for past, future in _MIRROR.items()}


def length(formula: Formula) -> int:
    """Atoms and operators, as the paper counts: `F (x >= c & y >= d)` has length 4.

    A negation that sits on an atom is part of the atom: `!(x <= c)` is `x > c`. A function counts as one more, but for
    those of `mode == "LAND"` and `missing(x)`, which are atoms as others are. An open atom is an atom; a
    choice is as long as its longest option. Around a formula without temporal operators, `O[0,0]` (`F[0,0]`) only says
    at which sample it is judged, and is not counted.
    """
    match formula:
        case Once(inner, over) | Eventually(inner, over) if over == _NOW and direction(inner) == "now":
            return node_count(inner)
    return node_count(formula)


def node_count(formula: Formula) -> int:
    """As `length`, with every operator counted."""
    match formula:
        case Not(Atom() as atom) | (Atom() as atom):
            return 1 + (atom.predicate is None) * sum(map(call_length, atom.calls))
        case Not(AnyAtom()):
            return 1
        case AnyOf():
            return _template_length(formula, {})
    return 1 + sum(node_count(child) for child in children(formula))


def call_length(call: Call) -> int:
    """A function counts as one, with the formula that it is of."""
    return 1 + sum(node_count(part) for part in call.arguments if not isinstance(part, Sum))


def complexity(formula: Formula) -> int:
    """What a person has to take in: the length, finite ends of windows but 0, further pieces of them and terms of sums.

    So `G[124,125]u[340,340] (x - y <= 1)` has 2 + 4 + 1 + 1, where its length is 2.
    """
    more = 0
    for node in walk(formula):
        if isinstance(node, (*PAST, *FUTURE)) and not node.over.is_open:
            more += sum((start > 0) + (end < inf) for start, end in node.over) + len(node.over.spans) - 1
        elif isinstance(node, Atom):
            more += len(node.weights) - 1 + sum(len(each.weights) - 1 for call in node.calls for each in call.sums)
    return length(formula) + more


def _template_length(formula: Formula, known: dict[int, int]) -> int:
    """As `node_count`; what options share is measured once, or each operator would double the time it takes."""
    if id(formula) not in known:
        inside = (_template_length(child, known) for child in children(formula))
        match formula:
            case Not(Atom() | AnyAtom()) | Atom():
                known[id(formula)] = node_count(formula)
            case AnyOf():
                known[id(formula)] = max(inside)
            case _:
                known[id(formula)] = 1 + sum(inside)
    return known[id(formula)]


def _walk_distinct(formula: Formula, seen: set[int]) -> Iterator[Formula]:
    """As `walk`, without going twice into what options share."""
    if id(formula) not in seen:
        seen.add(id(formula))
        yield formula
        for child in children(formula):
            yield from _walk_distinct(child, seen)


def direction(formula: Formula) -> Direction:
    """Which way its temporal operators look; `now` when it has none."""
    nodes = list(_walk_distinct(formula, set()) if isinstance(formula, AnyOf) else walk(formula))
    past = any(isinstance(node, PAST) for node in nodes)
    future = any(isinstance(node, FUTURE) for node in nodes)
    if past and future:
        return "mixed"
    return "past" if past else "future" if future else "now"


def channels(formula: Formula, values_only: bool = False) -> tuple[str, ...]:
    """The channels it names, in the order of their first mention.

    With `values_only` not those of which it asks only whether they are missing.
    """
    nodes = [node for node in walk(formula) if isinstance(node, (Atom, AnyAtom))]
    if not values_only:
        return tuple(dict.fromkeys(name for node in nodes for name in node.channels))
    named = (node.channels if isinstance(node, AnyAtom) else _value_channels(node.weights) for node in nodes)
    return tuple(dict.fromkeys(name for names in named for name in names))


def _value_channels(weights: Weights) -> Iterator[str]:
    for term, _ in weights:
        if isinstance(term, str):
            yield term
        elif term.function != MISSING:
            for part in term.arguments:
                yield from _value_channels(part.weights) if isinstance(part, Sum) else channels(part, values_only=True)


def has_calls(formula: Formula) -> bool:
    """Whether an atom reads a function, not channels only."""
    return any(isinstance(node, Atom) and any(isinstance(t, Call) for t, _ in node.weights) for node in walk(formula))


def quantity(atom: Atom) -> tuple[Weights, float]:
    """What an atom compares, and its factor: of `2*diff(x) <= 4` `diff(x)` and 2, of several terms the sum and 1."""
    if len(atom.weights) > 1:
        return atom.weights, 1.0
    ((term, weight),) = atom.weights
    return ((term, 1.0),), weight


def needs_step(formula: Formula) -> bool:
    """Whether a function of it is over a time, or per second, so that the time between samples must be known."""
    calls = [call for node in walk(formula) if isinstance(node, Atom) for call in node.calls]
    if any((call.lag is not None and call.lag.unit) or call.is_per_second for call in calls):
        return True
    return any(needs_step(part) for call in calls for part in call.arguments if not isinstance(part, Sum))


def horizon(formula: Formula) -> tuple[float, float]:
    """How many samples back and ahead of the judged one its value can depend on."""
    inside = [horizon(child) for child in children(formula)]
    back = max((b for b, _ in inside), default=0.0)
    ahead = max((a for _, a in inside), default=0.0)
    match formula:
        case Once(_, over) | Historically(_, over):
            return back + over.end, max(0.0, ahead - over.start)
        case Eventually(_, over) | Always(_, over):
            return max(0.0, back - over.start), ahead + over.end
        case Since(_, _, over) | WeakSince(_, _, over) | Trigger(_, _, over):
            return back + over.end, ahead
        case Until(_, _, over) | WeakUntil(_, _, over) | Release(_, _, over):
            return back, ahead + over.end
        case Atom():
            return max((reach(call, None) for call in formula.calls), default=0.0), 0.0
        case Constant() | Not() | And() | Or() | Implies() | AnyAtom() | AnyOf():
            return back, ahead
        case _ as never:
            assert_never(never)


def is_bounded(formula: Formula) -> bool:
    """Whether every window is finite."""
    return inf not in horizon(formula)


def map_nodes(
    formula: Formula,
    change: Callable[[Formula], Formula],
    into_choices: bool = True,
    known: dict[int, Formula] | None = None,
) -> Formula:
    """`change` applied to every node, innermost first; choices stay as they are where `into_choices` says so.

    What the options of a choice share is changed once, and shared again; `known` has that, by identity.
    """
    if isinstance(formula, AnyOf):
        if not into_choices:
            return formula
        known = {} if known is None else known
    if known is not None and id(formula) in known:
        return known[id(formula)]
    inside = tuple(map_nodes(child, change, into_choices, known) for child in children(formula))
    changed = change(replace_children(formula, inside))
    if known is not None:
        known[id(formula)] = changed
    return changed


def mirror(formula: Formula) -> Formula:
    """Past and future exchanged: the mirror on a trace is the formula on the trace reversed."""
    for node in walk(formula):
        for call in node.calls if isinstance(node, Atom) else ():
            if looks_back(call):
                raise UnsupportedError(f"{call} looks back, and nothing in the language looks ahead in its place")
    return mirror_operators(formula)


def mirror_operators(formula: Formula) -> Formula:
    """As `mirror`, whatever the atoms read: for laws, which hold of any atoms, and are applied to their mirrors."""

    def change(node: Formula) -> Formula:
        match node:
            case Once(a, over) | Historically(a, over) | Eventually(a, over) | Always(a, over):
                return _MIRROR[type(node)](a, over)  # type: ignore[no-any-return]
            case Since(a, b, over) | WeakSince(a, b, over) | Trigger(a, b, over):
                return _MIRROR[type(node)](a, b, over)  # type: ignore[no-any-return]
            case Until(a, b, over) | WeakUntil(a, b, over) | Release(a, b, over):
                return _MIRROR[type(node)](a, b, over)  # type: ignore[no-any-return]
            case Constant() | Atom() | Not() | And() | Or() | Implies() | AnyAtom() | AnyOf():
                return node
            case _ as never:
                assert_never(never)

    return map_nodes(formula, change)


def expand_definition(formula: WeakUntil | Release | WeakSince | Trigger) -> Formula:
    """`p W[a,b] q` as `(p U[a,b] q) | G[0,b] p`, `p R[a,b] q` as `!(!p U[a,b] !q)`; and so for the past."""
    match formula:
        case WeakUntil(a, b, over):
            return Or(Until(a, b, over), Always(a, interval(0, over.end)))
        case WeakSince(a, b, over):
            return Or(Since(a, b, over), Historically(a, interval(0, over.end)))
        case Release(a, b, over):
            return Not(Until(Not(a), Not(b), over))
        case Trigger(a, b, over):
            return Not(Since(Not(a), Not(b), over))
        case _ as never:
            assert_never(never)


def orient(past: Formula, future: bool) -> Formula:
    """A formula that looks back as it is told: looking ahead, or judged at the last sample even without operators."""
    if future:
        return mirror(past)
    return Once(past, _NOW) if direction(past) == "now" else past


def _rename(term: Term, names: Mapping[str, str]) -> Term:
    if isinstance(term, str):
        return names.get(term, term)

    def changed(part: Sum | Formula) -> Sum | Formula:
        if isinstance(part, Sum):
            return Sum(tuple((_rename(each, names), weight) for each, weight in part.weights), part.constant)
        return rename_channels(part, {name: new for name, new in names.items() if name in channels(part)})

    return replace(term, arguments=tuple(map(changed, term.arguments)))


def rename_channels(formula: Formula, names: Mapping[str, str]) -> Formula:
    """Channels under new names; unknown old names are an error, unmentioned channels stay."""
    unknown = [name for name in names if name not in channels(formula)]
    if unknown:
        raise FormulaError(f"no channel {unknown[0]!r} in {formula}; it reads {', '.join(channels(formula))}")

    def change(node: Formula) -> Formula:
        match node:
            case Atom(weights, relation, threshold):
                return Atom(tuple((_rename(term, names), w) for term, w in weights), relation, threshold)
            case AnyAtom(name, channels, relations):
                return AnyAtom(name, tuple(names.get(n, n) for n in channels), relations)
        return node

    return map_nodes(formula, change)


def thresholds(formula: Formula) -> tuple[float, ...]:
    """The threshold of every atom, left to right as printed."""
    return tuple(node.threshold for node in walk(formula) if isinstance(node, Atom))


def with_thresholds(formula: Formula, values: tuple[float, ...] | list[float]) -> Formula:
    """The formula with the thresholds of its atoms replaced, left to right as printed."""
    wanted = len(thresholds(formula))
    if len(values) != wanted:
        raise FormulaError(f"{formula} has {wanted} thresholds, {len(values)} were given")
    remaining = iter(values)

    def change(node: Formula) -> Formula:
        match node:
            case Atom(weights, relation, _):
                return Atom(weights, relation, next(remaining))
        return node

    return map_nodes(formula, change)
