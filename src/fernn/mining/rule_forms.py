"""Which rules are tried: past-time templates, their holes filled.

A rule is judged at every sample and looks back from it. Rules are joined by or afterwards, so none of the usual forms
has an or of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np

from ..data.arrays import Ints
from ..data.problems import unknown_channel
from ..errors import FormulaError, UnsupportedError
from ..formula import ALL_TIME, And, Formula, Interval, OpenInterval, channels, direction, interval, length, parse
from ..formula.measures import map_nodes
from ..formula.nodes import children
from ..formula.templates import expand_template
from ..learners.enumerative.bitpack import pack_data
from ..learners.enumerative.exploration import ExactSpace, Exploration
from .fault_marks import FaultMarks

DEFAULT_TEMPLATES = (
    "?p",
    "O[?w] ?p",
    "H[?w] ?p",
    "?p & ?q",
    "?p S ?q",
    "?p & O[?w] ?q",
    "?p & H[?w] ?q",
    "?p & (?q S ?r)",
    "O[?w] ?p & O[?v] ?q",
    "O[?w] ?p & H[?v] ?q",
    "H[?w] ?p & H[?v] ?q",
)
"""The templates of rules up to length 5, unless others are given."""
ONE = "<any>"
"""The name of every window that stands in one place, so that equal parts are one family."""


@dataclass(frozen=True, eq=False)
class RuleForm:
    """All rules of one form: `left`, or `left & right` where there is a right."""

    length: int
    left: Ints
    right: Ints | None = None


def rule_templates(max_length: int, intervals: bool, templates: Sequence[Formula | str] = ()) -> tuple[Formula, ...]:
    """Those given, or the usual ones of at most this length; without `intervals` these look back over all time."""
    if not templates:
        usual = [parse(text) for text in DEFAULT_TEMPLATES]
        short = [template for template in usual if length(template) <= max_length]
        return tuple(short if intervals else dict.fromkeys(map_nodes(t, _over_all_time) for t in short))
    parsed = tuple(parse(each) if isinstance(each, str) else each for each in templates)
    for template in parsed:
        if direction(template) not in ("past", "now"):
            raise UnsupportedError(f"a cause looks back: O, H, S, B and T, found {template}")
    return parsed


def check_templates(templates: Sequence[Formula], marked: FaultMarks) -> None:
    """Whether the channels that the templates read are there."""
    for template in templates:
        for name in channels(template):
            if name not in marked.data.channels:
                owner, reader = f"{marked.data.name} has", f"the template {template} reads"
                raise FormulaError(unknown_channel(name, marked.data.channels, owner, reader))


def _over_all_time(node: Formula) -> Formula:
    return type(node)(*children(node), ALL_TIME) if _is_open(node) else node  # type: ignore[arg-type,call-arg]


def explore_atoms(marked: FaultMarks, grid: int, memory: int, pulse: Callable[[], None]) -> Exploration:
    """An exploration with `grid` thresholds a channel, from which families of rules are built."""
    space = ExactSpace(1, thresholds="grid", grid=grid, every=True)
    return Exploration(pack_data(marked.data, np.ones(len(marked)), False), space, memory, pulse=pulse)


def rule_forms(explored: Exploration, templates: Sequence[Formula], reach: int) -> tuple[tuple[RuleForm, ...], int]:
    """All rules of the templates, the shortest first; and how many parts of rules did not fit into memory."""
    families = explored.grown(lambda hole: candidate_windows(hole, reach))
    forms = []
    for template in templates:
        for shape in expand_template(template):
            for filled in families.settled(shape):
                node = map_nodes(filled, _unname_window)
                if isinstance(node, And):
                    left = families.family(node.left)
                    right = left if node.right == node.left else families.family(node.right)
                    forms.append(RuleForm(length(node), left, right))
                else:
                    forms.append(RuleForm(length(node), families.family(node)))
    return tuple(sorted(forms, key=lambda form: form.length)), families.dropped


def _unname_window(node: Formula) -> Formula:
    return type(node)(*children(node), replace(node.over, name=ONE)) if _is_open(node) else node  # type: ignore[arg-type,call-arg,union-attr]


def _is_open(node: Formula) -> bool:
    return isinstance(getattr(node, "over", None), OpenInterval)


def candidate_windows(hole: OpenInterval, reach: int) -> tuple[Interval, ...]:
    """What is tried for an open window: ends that lie ever farther apart, and all time."""
    windows = [interval(a, b) for a, b in combinations_with_replacement(list(_ends(reach)), 2) if b]
    allowed = [over for over in (*windows, ALL_TIME) if hole.covers(over)]
    if not allowed:
        raise UnsupportedError(f"no window tried fits into {hole}; they look back {reach} samples at most (reach)")
    return tuple(allowed)


def _ends(reach: int) -> Iterator[int]:
    """0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, ..."""
    step, at = 1, 0
    while at <= reach:
        yield at
        at += step
        if at >= 4 * step and at & (at - 1) == 0:
            step = at // 2
