"""A template as jobs: families for what is inside, the outermost operators only scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from ..errors import UnsupportedError
from ..formula import And, Formula, Historically, Implies, Not, Once, Or, Since, length, mirror
from ..formula.holes import expanded, is_template
from ..formula.interval import Interval, OpenInterval
from ..formula.measures import everywhere
from ..formula.negation import NEGATED
from ..formula.nodes import AnyAtom, AnyOf, children
from ..semantics import satisfied
from .ground import Ground
from .jobs import ATOMS, EVER, NONE, NOW, Job, Pairs, Singles, Unary
from .operators import AND, HISTORICALLY, IMPLIES, NOT, NOT_SINCE, ONCE, OR, SINCE
from .reading import Reader
from .search import Search
from .shelf import Ids

_BINARY = {And: AND, Or: OR, Since: SINCE, Implies: IMPLIES}
_UNARY = {Once: ONCE, Historically: HISTORICALLY}
NAMELESS = "<any>"
"""No text gives an open atom this name."""


@dataclass(eq=False)
class Grown:
    """The families of a template's parts, each made when it is first asked for."""

    search: Search
    reader: Reader
    ground: Ground
    atoms: Callable[[AnyAtom], Ids]
    windows: Callable[[OpenInterval], tuple[Interval, ...]]
    dropped: int = 0
    _known: dict[Formula, Ids] = field(default_factory=dict)

    def jobs(self, template: Formula) -> Iterator[Job]:
        """All formulas of a template, looking back."""
        for settled in self.settled(template):
            yield from self._jobs(settled)

    def settled(self, template: Formula) -> Iterator[Formula]:
        """The template as those whose parts can be opened apart: what stands in several places is filled first."""
        for settled, twice in _without_shared_choices(template):
            if not twice:
                yield settled
                continue
            for rows in product(*(self.atoms(hole).tolist() for hole in twice)):
                filled = dict(zip(twice, rows, strict=True))
                yield everywhere(settled, lambda node, at=filled: self._filled(node, at))  # type: ignore[misc]

    def _filled(self, node: Formula, filled: dict[AnyAtom, int]) -> Formula:
        return self.reader.row(filled[node]) if isinstance(node, AnyAtom) and node in filled else node

    def _jobs(self, node: Formula) -> Iterator[Job]:
        match node:
            case AnyOf(options):
                for option in options:
                    yield from self._jobs(option)
            case Once(inner, _) | Historically(inner, _) if is_template(node):
                for option in _options(inner):
                    yield from self._inside(self._unaries(node), option)
            case _:
                yield from self._inside((NONE,), node)

    def _inside(self, arounds: tuple[Unary, ...], node: Formula) -> Iterator[Job]:
        """`around node` for each of `arounds`."""
        match node:
            case And(a, b) | Or(a, b) | Since(a, b) | Implies(a, b) if is_template(node):
                yield from self._pairs(arounds, _BINARY[type(node)], a, b, node)
            case Not(Since(a, b) as inner) if is_template(node):
                yield from self._pairs(arounds, NOT_SINCE, a, b, inner)
            case Once(a, _) | Historically(a, _) if is_template(node) and arounds != (NONE,):
                yield Singles(arounds, self._unaries(node), self.family(a))
            case _:
                yield Singles(arounds, (ATOMS,), self.family(node))

    def _pairs(self, arounds: tuple[Unary, ...], op: int, a: Formula, b: Formula, node: Formula) -> Iterator[Job]:
        _check_window(node)
        left = self.family(a)
        right = left if a == b else self.family(b)
        for around in arounds:
            yield Pairs(around, op, left, right, (a, b))

    def family(self, node: Formula) -> Ids:
        """All behaviours of a part."""
        if node not in self._known:
            self._known[node] = self._made(node)
        return self._known[node]

    def _made(self, node: Formula) -> Ids:
        if not is_template(node):
            return self._fixed(node)
        match node:
            case AnyAtom():
                return self.atoms(node)
            case AnyOf(options):
                return np.unique(np.concatenate([self.family(option) for option in options]))
            case Once(a, _) | Historically(a, _):
                inner = self.family(a)
                return self._grown([(unary, inner, None) for unary in self._unaries(node)])
            case Not(a):
                return self._grown([((NOT, NOW), self.family(a), None)])
            case And(a, b) | Or(a, b) | Since(a, b) | Implies(a, b):
                _check_window(node)
                return self._grown([((_BINARY[type(node)], NOW), self.family(a), self.family(b))])
        raise UnsupportedError(f"the exact search cannot open {node}")

    def _grown(self, parts: list[tuple[Unary, Ids, Ids | None]]) -> Ids:
        ids, dropped = self.search.grown(parts, self.search.scope())
        self.dropped += dropped
        return ids

    def _fixed(self, node: Formula) -> Ids:
        """What is not open is judged by the semantics, whatever it is made of."""
        said = mirror(node) if self.ground.layout.future else node
        holds = list(satisfied(said, self.ground.data, at="all"))
        shelf = self.search.shelf
        words = self.ground.layout.packed(holds)
        shelf.atom(words, self.reader.number(node), np.inf, length(node), self.search.scope())
        return np.array([shelf.count - 1])

    def _unaries(self, node: Formula) -> tuple[Unary, ...]:
        over, op = node.over, _UNARY[type(node)]  # type: ignore[attr-defined]
        if isinstance(over, OpenInterval):
            return tuple((op, self.search.window(each)) for each in self.windows(over))
        return ((op, EVER if over.is_all_time else self.search.window(over)),)


def _options(node: Formula) -> Iterator[Formula]:
    if isinstance(node, AnyOf):
        for option in node.options:
            yield from _options(option)
    else:
        yield node


def _without_shared_choices(template: Formula) -> Iterator[tuple[Formula, list[AnyAtom]]]:
    """The template; or, where something open stands in several places at once, every way to settle its choices.

    With each come the open atoms that stand in several places. One that stands in one place is the same family
    whatever its name, so the name is taken off.
    """
    whole = not any(times > 1 for times in _places(template).values())
    for formula in [template] if whole else expanded(template):
        places = _places(formula)
        for open_part, times in places.items():
            if times > 1 and isinstance(open_part, OpenInterval):
                raise UnsupportedError(
                    f"the exact search cannot fill {open_part} in two places at once; name them differently"
                )
        shared = [part for part, times in places.items() if times > 1 and isinstance(part, AnyAtom)]
        yield everywhere(formula, lambda node, kept=places: _nameless(node, kept)), shared  # type: ignore[misc]


def _nameless(node: Formula, places: Counter[object]) -> Formula:
    """What stands in one place loses its name, and a negation around it, which its relations can say."""
    if isinstance(node, Not) and isinstance(node.inner, AnyAtom) and node.inner.name == NAMELESS:
        return replace(node.inner, relations=tuple(NEGATED[relation] for relation in node.inner.relations))
    return replace(node, name=NAMELESS) if isinstance(node, AnyAtom) and places[node] == 1 else node


def _places(template: Formula) -> Counter[object]:
    """In how many places at once each open atom, open window and choice can stand."""
    found: Counter[object] = Counter()
    if isinstance(template, AnyOf):
        for option in template.options:
            found |= _places(option)  # the larger number of each
    else:
        for child in children(template):
            found += _places(child)
    over = getattr(template, "over", None)
    for part in (template, over):
        if isinstance(part, (AnyAtom, AnyOf, OpenInterval)):
            found[part] += 1
    return found


def _check_window(node: Formula) -> None:
    over = getattr(node, "over", None)
    if over is not None and not over.is_all_time:
        raise UnsupportedError(f"the exact search opens U and S over all time only, found {node}")
