"""What a tree says of the traces, as clauses.

A node is as wanted at a place if it is true there and the trace is good, or false and the trace is bad. No operator
negates, so more that is as wanted below never harms above, and it is enough that a node as wanted implies what it needs
of the nodes below. A bad trace wants the dual: `a & b` is false where a or b is, `F a` where a is false from there on.
"""

from __future__ import annotations

from collections.abc import Iterator

from .suffixes import Place, Suffixes
from .tree import Trees, has_right, is_a, no

DUAL = {"and": "or", "or": "and", "F": "G", "G": "F", "X": "W", "W": "X", "U": "not U"}


def clauses(trees: Trees, found: Suffixes) -> Iterator[list[str]]:
    """Of every node at every place; a single node looks at the first letter only."""
    kinds = [trees.kinds(i) for i in range(trees.nodes)]
    for p in range(len(found.places)) if trees.nodes > 1 else found.weights:
        place = found.places[p]
        for i in range(trees.nodes):
            said = no(as_wanted(i, p))
            for kind in kinds[i]:
                chosen = no(is_a(i, kind))
                if isinstance(kind, int):
                    holds = (*place.letter, True)[kind // 2] != bool(kind % 2)
                    if holds != place.good:
                        yield [chosen, said]
                else:
                    for needed in _needs(kind if place.good else DUAL[kind], i, p, place):
                        yield [chosen, said, *needed]
            for j in trees.rights(i):
                yield [no(has_right(i, j)), no(on_right(i, p)), as_wanted(j, p)]


def _needs(kind: str, i: int, p: int, place: Place) -> Iterator[list[str]]:
    """One of each list must be as wanted, for the node to be."""
    first, second, ahead = as_wanted(i + 1, p), on_right(i, p), place.ahead
    later = [] if ahead is None else [as_wanted(i, ahead)]
    match kind:
        case "and":
            yield [first]
            yield [second]
        case "or":
            yield [first, second]
        case "F":
            yield [first, *later]
        case "G":
            yield [first]
            if later:
                yield later
        case "X":
            yield [] if ahead is None else [as_wanted(i + 1, ahead)]
        case "W":
            if ahead is not None:
                yield [as_wanted(i + 1, ahead)]
        case "U":
            yield [second, first]
            yield [second, *later]
        case "not U":
            yield [second]
            if later:
                yield [first, *later]


def as_wanted(i: int, p: int) -> str:
    """That node i is as wanted at place p."""
    return f"s{i}.{p}"


def on_right(i: int, p: int) -> str:
    """That the right child of node i is as wanted at place p."""
    return f"r{i}.{p}"
