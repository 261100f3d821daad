"""The graph of structures: grown from the simplest along the order, each node with its best parameters.

A structure with one more part can say all that the one without it can. Going down, to a structure below, cures bad
traces judged good; going up cures good ones judged bad. So a node grows only where its errors point, and a structure
grows from its parent's parameters and never errs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from ..formula import And, Formula
from .order import below
from .parameters import Field, Place, Valuation, filled
from .structures import Clause, Delayed, Structure, delayed, first, stronger, weaker

Key = tuple[object, object]


@dataclass(frozen=True)
class Node:
    structure: Structure
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
        return filled(self.structure, self.valuation)


class Estimator(Protocol):
    """How parameters are found."""

    def begun(self, structure: Structure) -> Valuation:
        """Of one of the simplest structures, quickly."""

    def quick(self, structure: Structure, start: Valuation, part: int) -> Valuation:
        """From the parameters of a parent, with part number `part` new."""

    def thorough(self, structure: Structure, start: Valuation) -> Valuation:
        """No worse than these."""


@dataclass(eq=False)
class Graph:
    """Its nodes by structure; of structures that differ in the order of their parts one is kept."""

    ground: Field
    estimator: Estimator
    width: int
    """Nodes of one size that are grown; the others are pruned."""
    largest: int
    """Parts of a structure."""
    pulse: Callable[[], None]
    nodes: dict[Key, Node] = field(default_factory=dict)
    tried: int = 0
    reached: int = 1
    """The size up to which nothing is left to do."""
    begun: dict[Key, Node] = field(default_factory=dict)
    """Known from before, of a size that is not done: it is gone through anew, as if they were not known."""

    def grow(self, floor: float) -> Iterator[Node]:
        """Every node when its parameters are known; ends at the largest size, or where no error can be avoided.

        Of each size all structures get parameters quickly; the best of them get better ones and are grown.
        """
        for size in range(self.reached + 1, self.largest + 1):
            if self.least <= floor + 1e-9:
                return
            met: dict[Key, Node] = {}
            for structure, valuation in self._candidates(size):
                node = met[key(structure)] = self._node(structure, valuation)
                if node.error < self.least - 1e-9:
                    self.nodes[key(structure)] = node
                    yield node
            for node in sorted(met.values(), key=lambda node: node.error)[: self.width]:
                better = self.estimator.thorough(node.structure, node.valuation)
                self.nodes[key(node.structure)] = self._node(node.structure, better)
                yield self.nodes[key(node.structure)]
            self.reached = size

    def _candidates(self, size: int) -> Iterator[tuple[Structure, Valuation]]:
        """The structures of a size, with parameters that were found quickly."""
        if size == 2:
            for structure in first(self.ground.data.channels):
                yield structure, self.estimator.begun(structure)
            return
        parts, seen = delayed(self.ground.data.channels), set()
        for node in self.best(size - 1):
            for structure in children(node, parts):
                if key(structure) not in seen:
                    seen.add(key(structure))
                    yield structure, self.estimator.quick(structure, *grown_from(node, structure))

    @property
    def least(self) -> float:
        return min((node.error for node in self.nodes.values()), default=inf)

    def best(self, size: int) -> list[Node]:
        """The nodes of a size that are grown."""
        nodes = [node for node in self.nodes.values() if len(node.structure.parts) == size]
        return sorted(nodes, key=lambda node: node.error)[: self.width]

    def _node(self, structure: Structure, valuation: Valuation) -> Node:
        self.tried += 1
        self.pulse()
        return self._judged(structure, valuation)

    def _judged(self, structure: Structure, valuation: Valuation) -> Node:
        return Node(structure, valuation, *self.ground.errors(self.ground.verdicts(structure, valuation)))

    @property
    def known(self) -> list[Node]:
        """All nodes, those of a size that was begun before included."""
        return [*self.nodes.values(), *(node for name, node in self.begun.items() if name not in self.nodes)]

    def put(self, nodes: Iterable[tuple[Structure, Valuation]], reached: int) -> None:
        """Nodes known from before, when all sizes up to `reached` were done."""
        self.reached = reached
        for structure, valuation in nodes:
            into = self.nodes if len(structure.parts) <= reached else self.begun
            into[key(structure)] = self._judged(structure, valuation)


def edges(nodes: Iterable[Node]) -> list[tuple[Formula, Formula]]:
    """Pairs of structures, the first below the second and none of the nodes between them."""
    found = [node.structure.template for node in nodes]
    over = {a: {b for b in found if a != b and below(a, b)} for a in found}
    return [(a, b) for a in found for b in over[a] if not any(b in over[c] for c in over[a])]


def children(node: Node, parts: tuple[Delayed, ...]) -> Iterator[Structure]:
    """Down where bad traces are judged good, up where good ones are judged bad."""
    if node.passed > 0:
        yield from stronger(node.structure, parts)
    if node.missed > 0:
        yield from weaker(node.structure, parts)


def grown_from(node: Node, structure: Structure) -> tuple[Valuation, int]:
    """The parent's parameters, the new part as good as absent; and the number of that part."""
    cause, effect = node.structure.cause, structure.cause
    into_cause = len(effect.parts) > len(cause.parts)
    clause = structure.cause if into_cause else structure.effect
    part = len(structure.cause.parts) - 1 if into_cause else len(structure.parts) - 1
    near = node.valuation.places[part - 1].window
    absent = -inf if clause.joins[-1] is And else inf
    return node.valuation.beside(part, Place(near, absent, absent)), part


def key(structure: Structure) -> Key:
    """Equal for structures whose clauses differ in the order of parts that are all joined alike."""
    return _clause_key(structure.cause), _clause_key(structure.effect)


def _clause_key(clause: Clause) -> object:
    if len(set(clause.joins)) > 1:
        return clause
    return frozenset(clause.joins), tuple(sorted((p.always, p.channel, p.relation) for p in clause.parts))
