"""Which atoms of a formula stay as they are when thresholds are moved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..formula import Atom, Formula, walk
from ..formula.nodes import AnyAtom


@dataclass(frozen=True)
class Staying:
    """Those that the templates say, and those that fill one hole in several places: moved alone, they would differ."""

    templates: tuple[Formula, ...] = ()

    @cached_property
    def _said(self) -> frozenset[Atom]:
        return frozenset(node for template in self.templates for node in walk(template) if isinstance(node, Atom))

    @cached_property
    def _is_shared(self) -> bool:
        """Whether a hole stands in several places of a template."""
        holes = [[node for node in walk(template) if isinstance(node, AnyAtom)] for template in self.templates]
        return any(len(each) > len(set(each)) for each in holes)

    def of(self, formula: Formula) -> frozenset[Atom]:
        """In a formula that is of one of the templates, or made of several that are."""
        return self._said | _repeated(formula) if self._is_shared else self._said


def _repeated(formula: Formula) -> frozenset[Atom]:
    """Atoms that stand in several places."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    return frozenset(node for node in atoms if atoms.count(node) > 1)
