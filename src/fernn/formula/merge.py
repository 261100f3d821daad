"""Templates without the options that say nothing new: what is equal by law is searched once.

A template stands for many shapes: formulas whose operators are settled and whose atoms are open. Two shapes say the
same when `simplify` brings them to one form, whatever the order of the operands of & and | and the names of the holes:

    p2 & p1  and  p1 & p2        G F p  and  F G p        F F p  and  F p        G p & G q  and  G (p & q)

Of each group one of the shortest shapes is kept; the template keeps the options that some kept shape needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from .canonical import canonical
from .holes import one_of, settled
from .measures import length
from .nodes import AnyOf, Formula, children, rebuilt
from .simplify import simplify

MOST = 20_000
"""Templates of more shapes stay as they are."""


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to settle a branch: the shape it gives, and the options taken for it."""

    branch: int
    shape: Formula
    taken: Mapping[AnyOf, int]

    @property
    def options(self) -> set[tuple[int, AnyOf | None, int]]:
        """What the template has to keep for it: the branch, and one option of each choice met."""
        return {(self.branch, None, 0), *((self.branch, choice, number) for choice, number in self.taken.items())}


def merged(template: Formula) -> Formula:
    """The template with the options that are needed: for every shape of the one, a shape of the other says the same."""
    branches = _branches(template)
    found = merged_options(branches)
    return template if found is branches else one_of(found)


def merged_options(branches: list[Formula], pulse: Callable[[], None] = lambda: None) -> list[Formula]:
    """The options of a choice that are needed, narrowed; themselves where there are too many shapes to compare.

    `pulse` is called often; what it raises ends it.
    """
    ways: list[_Way] = []
    for number, branch in enumerate(branches):
        room = MOST + 1 - len(ways)
        for shape, taken in islice(settled(branch), room):
            ways.append(_Way(number, shape, taken))
            pulse()
        if len(ways) > MOST:
            return branches
    kept: dict[int, list[_Way]] = {}
    for way in _needed(ways, pulse):
        kept.setdefault(way.branch, []).append(way)
    narrowed = []
    for number, branch in enumerate(branches):
        narrowed.append(_narrowed(branch, kept.get(number, [])))
        pulse()
    return [branch for branch in narrowed if branch is not None]


def _branches(template: Formula) -> list[Formula]:
    """The options of the outermost choice, and of a choice right inside it; a choice of operators is one branch."""
    if not isinstance(template, AnyOf) or len({children(option) for option in template.options}) == 1:
        return [template]
    return [branch for option in template.options for branch in _branches(option)]


def _needed(ways: Iterable[_Way], pulse: Callable[[], None]) -> list[_Way]:
    """One way for each thing said: of the shortest, one that needs few options besides those needed anyway."""
    same: dict[Formula, list[_Way]] = {}
    for way in ways:
        same.setdefault(canonical(way.shape), []).append(way)
        pulse()
    for form, group in same.items():
        least = min(length(way.shape) for way in group)
        same[form] = [way for way in group if length(way.shape) == least]
    kept: list[_Way] = []
    needed: set[tuple[int, AnyOf | None, int]] = set()
    for group in sorted(same.values(), key=len):
        best = min(group, key=lambda way: (len(way.options - needed), simplify(way.shape) != way.shape))
        needed |= best.options
        kept.append(best)
        pulse()
    return kept


def _narrowed(branch: Formula, ways: Sequence[_Way]) -> Formula | None:
    """The branch with the options that these ways take; nothing where there are no ways."""
    if not ways:
        return None
    used = {(choice, number) for way in ways for choice, number in way.taken.items()}

    def narrow(part: Formula) -> Formula:
        if isinstance(part, AnyOf):
            return one_of(narrow(option) for i, option in enumerate(part.options) if (part, i) in used)
        return rebuilt(part, tuple(narrow(child) for child in children(part)))

    narrower = narrow(branch)
    # Choices that differed may have become equal, and so one: then the branch stays as it was.
    shapes = {shape for shape, _ in settled(narrower)}
    return narrower if all(way.shape in shapes for way in ways) else branch
