"""One form for all shapes that say the same, as far as the laws see it.

After `simplify`, operands of & and | stand in a fixed order, and holes are named in the order in which they appear:
two forms are equal when some way to rename the holes of one shape makes it say what the other says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import groupby

from .holes import atoms_open, windows_open
from .interval import OpenInterval
from .laws import parts
from .measures import everywhere
from .nodes import And, AnyAtom, Formula, Or
from .show import show
from .simplify import LAWS, by_laws, lawful


def canonical(shape: Formula) -> Formula:
    """The form of the shape, with open atoms p1, p2, ... and open windows w1, w2, ..."""
    form = by_laws(shape, _arranged_by_law)
    atoms = {hole.name: f"p{number}" for number, hole in enumerate(atoms_open(form), 1)}
    windows = {hole.name: f"w{number}" for number, hole in enumerate(windows_open(form), 1)}
    return _renamed(form, atoms.__getitem__, windows.__getitem__)


def arranged(node: Formula) -> Formula | None:
    """The operands of & and | in a fixed order, equal operators together, so that laws about pairs see them."""
    if not isinstance(node, (And, Or)):
        return None
    kind = type(node)
    ordered = sorted(parts(node, kind), key=_nameless)
    together = [reduce(kind, list(group)) for _, group in groupby(ordered, key=type)]
    return reduce(kind, together)


_arranged_by_law = lawful((*LAWS, arranged))


@lru_cache(maxsize=50_000)
def _nameless(formula: Formula) -> tuple[str, str]:
    """An order of formulas that does not look at the names of holes."""
    return type(formula).__name__, show(_renamed(formula, lambda name: "p", lambda name: "w"))


def _renamed(formula: Formula, atom: Callable[[str], str], window: Callable[[str], str]) -> Formula:
    def change(node: Formula) -> Formula:
        if isinstance(node, AnyAtom):
            return replace(node, name=atom(node.name))
        over = getattr(node, "over", None)
        if isinstance(over, OpenInterval):
            return replace(node, over=replace(over, name=window(over.name)))  # type: ignore[type-var]
        return node

    return everywhere(formula, change)
