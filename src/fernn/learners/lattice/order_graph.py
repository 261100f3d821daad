"""The partial order of formulas, and the graph of structures that grows along it.

`below(a, b)` where the robustness of a is never above that of b. It is read off the two formulas, so it holds for
every trace and, in templates, for every way to fill the holes, those of one name alike. Windows must not be empty on
the trace: over an empty one G is true and F is false.

A structure with one more part can say all that the one without it can. Going down, to a structure below, cures bad
traces judged good; going up cures good ones judged bad. So a node grows only where its errors point, and a structure
grows from its parent's parameters and never errs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from ...formula import Always, And, Eventually, Formula, Historically, Implies, Not, Once, Or
from .structures import (
    Clause,
    DelayedAtom,
    PartParameters,
    ReactiveStructure,
    Valuation,
    WindowedData,
    all_delayed_atoms,
    fill_structure,
    simplest_structures,
    stronger,
    weaker,
)


def below(a: Formula, b: Formula) -> bool:
    """Whether a implies b, by the laws of minimum and maximum and of operators that are monotone."""
    if a == b:
        return True
    match a, b:
        case Or(left, right), _:  # a | b is the least above both
            return below(left, b) and below(right, b)
        case _, And(left, right):  # a & b is the greatest below both
            return below(a, left) and below(a, right)
    return _under_part(a, b) or _by_operator(a, b)


def _under_part(a: Formula, b: Formula) -> bool:
    """One conjunct of a is enough, or one disjunct of b."""
    if isinstance(a, And) and (below(a.left, b) or below(a.right, b)):
        return True
    return isinstance(b, Or) and (below(a, b.left) or below(a, b.right))


def _by_operator(a: Formula, b: Formula) -> bool:
    match a, b:
        case (Always(p, over), Always(q, span)) | (Historically(p, over), Historically(q, span)):
            return over == span and below(p, q)
        case (Eventually(p, over), Eventually(q, span)) | (Once(p, over), Once(q, span)):
            return over == span and below(p, q)
        case (Always(p, over), Eventually(q, span)) | (Historically(p, over), Once(q, span)):
            return over == span and below(p, q)
        case Implies(cause, effect), Implies(other_cause, other_effect):
            return below(other_cause, cause) and below(effect, other_effect)
        case Not(p), Not(q):
            return below(q, p)
    return False


Key = tuple[object, object]


@dataclass(frozen=True)
class StructureNode:
    structure: ReactiveStructure
    valuation: Valuation
    missed: float
    """Weight of the good traces judged bad."""
    passed: float
    """Weight of the bad traces judged good."""

    @property
    def error(self) -> float:
        return self.missed + self.passed

    @property
    def formula(self) -> Formula:
        return fill_structure(self.structure, self.valuation)


class ParameterEstimator(Protocol):
    """The protocol of an estimator of a structure's parameters."""

    def begun(self, structure: ReactiveStructure) -> Valuation:
        """Of one of the simplest structures, quickly."""

    def quick(self, structure: ReactiveStructure, start: Valuation, part: int) -> Valuation:
        """From the parameters of a parent, with part number `part` new."""

    def thorough(self, structure: ReactiveStructure, start: Valuation) -> Valuation:
        """No worse than these."""


@dataclass(eq=False)
class StructureGraph:
    """The graph of structures; of those that differ in the order of their parts one is kept."""

    ground: WindowedData
    estimator: ParameterEstimator
    width: int
    """Nodes of one size that are grown; the others are pruned."""
    largest: int
    """Parts of a structure."""
    pulse: Callable[[], None]
    nodes: dict[Key, StructureNode] = field(default_factory=dict)
    tried: int = 0
    reached: int = 1
    """The size up to which nothing is left to do."""
    begun: dict[Key, StructureNode] = field(default_factory=dict)
    """Known from before, of a size that is not done: it is gone through anew, as if they were not known."""

    def grow(self, floor: float) -> Iterator[StructureNode]:
        """Every node when its parameters are known; ends at the largest size, or where no error can be avoided.

        Of each size all structures get parameters quickly; the best of them get better ones and are grown.
        """
        for size in range(self.reached + 1, self.largest + 1):
            if self.least <= floor + 1e-9:
                return
            level: dict[Key, StructureNode] = {}
            for structure, valuation in self._candidates(size):
                node = level[structure_key(structure)] = self._node(structure, valuation)
                if node.error < self.least - 1e-9:
                    self.nodes[structure_key(structure)] = node
                    yield node
            for node in sorted(level.values(), key=lambda node: node.error)[: self.width]:
                better = self.estimator.thorough(node.structure, node.valuation)
                self.nodes[structure_key(node.structure)] = self._node(node.structure, better)
                yield self.nodes[structure_key(node.structure)]
            self.reached = size

    def _candidates(self, size: int) -> Iterator[tuple[ReactiveStructure, Valuation]]:
        """The structures of a size, with parameters that were found quickly."""
        if size == 2:
            for structure in simplest_structures(self.ground.data.channels):
                yield structure, self.estimator.begun(structure)
            return
        parts, seen = all_delayed_atoms(self.ground.data.channels), set()
        for node in self.best(size - 1):
            for structure in children(node, parts):
                if structure_key(structure) not in seen:
                    seen.add(structure_key(structure))
                    yield structure, self.estimator.quick(structure, *parent_parameters(node, structure))

    @property
    def least(self) -> float:
        return min((node.error for node in self.nodes.values()), default=inf)

    def best(self, size: int) -> list[StructureNode]:
        """The nodes of a size that are grown."""
        nodes = [node for node in self.nodes.values() if len(node.structure.parts) == size]
        return sorted(nodes, key=lambda node: node.error)[: self.width]

    def _node(self, structure: ReactiveStructure, valuation: Valuation) -> StructureNode:
        self.tried += 1
        self.pulse()
        return self._evaluate(structure, valuation)

    def _evaluate(self, structure: ReactiveStructure, valuation: Valuation) -> StructureNode:
        return StructureNode(structure, valuation, *self.ground.errors(self.ground.verdicts(structure, valuation)))

    @property
    def known(self) -> list[StructureNode]:
        """All nodes, those of a size that was begun before included."""
        return [*self.nodes.values(), *(node for name, node in self.begun.items() if name not in self.nodes)]

    def put(self, nodes: Iterable[tuple[ReactiveStructure, Valuation]], reached: int) -> None:
        """Nodes known from before, when all sizes up to `reached` were done."""
        self.reached = reached
        for structure, valuation in nodes:
            into = self.nodes if len(structure.parts) <= reached else self.begun
            into[structure_key(structure)] = self._evaluate(structure, valuation)


def edges(nodes: Iterable[StructureNode]) -> list[tuple[Formula, Formula]]:
    """Pairs of structures, the first below the second and none of the nodes between them."""
    templates = [node.structure.template for node in nodes]
    over = {a: {b for b in templates if a != b and below(a, b)} for a in templates}
    return [(a, b) for a in templates for b in over[a] if not any(b in over[c] for c in over[a])]


def children(node: StructureNode, parts: tuple[DelayedAtom, ...]) -> Iterator[ReactiveStructure]:
    """Down where bad traces are judged good, up where good ones are judged bad."""
    if node.passed > 0:
        yield from stronger(node.structure, parts)
    if node.missed > 0:
        yield from weaker(node.structure, parts)


def parent_parameters(node: StructureNode, structure: ReactiveStructure) -> tuple[Valuation, int]:
    """The parent's parameters, the new part as good as absent; and the number of that part."""
    cause, effect = node.structure.cause, structure.cause
    into_cause = len(effect.parts) > len(cause.parts)
    clause = structure.cause if into_cause else structure.effect
    part = len(structure.cause.parts) - 1 if into_cause else len(structure.parts) - 1
    near = node.valuation.places[part - 1].window
    absent = -inf if clause.joins[-1] is And else inf
    return node.valuation.beside(part, PartParameters(near, absent, absent)), part


def structure_key(structure: ReactiveStructure) -> Key:
    """Equal for structures whose clauses differ in the order of parts that are all joined alike."""
    return _clause_key(structure.cause), _clause_key(structure.effect)


def _clause_key(clause: Clause) -> object:
    if len(set(clause.joins)) > 1:
        return clause
    return frozenset(clause.joins), tuple(sorted((p.always, p.channel, p.relation) for p in clause.parts))
