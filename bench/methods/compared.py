"""The methods as they are compared: by name, with a seed."""

from __future__ import annotations

from collections.abc import Callable

from fernn.learners import Entry, Enumerative, Fernn, Front, Lattice, Learner, PaperFernn, Tree

LIMIT = 20.0
"""Seconds for annealing, which takes minutes on four channels."""

COMPARED: dict[str, Callable[[int], Learner]] = {
    "fernn": lambda seed: Fernn(max_length=6, seed=seed),
    "enumerative": lambda seed: Enumerative(max_length=6, seed=seed),
    "lattice": lambda seed: Lattice(seed=seed),
    "lattice, any order": lambda seed: Lattice(delayed=False, seed=seed),
    "lattice, halves": lambda seed: Lattice(intervals=False, seed=seed),
    "lattice, unbounded": lambda seed: Lattice(intervals=False, delayed=False, seed=seed),
    "tree, depth 2": lambda seed: Tree(depth=2, seed=seed),
    "tree, depth 3": lambda seed: Tree(depth=3, seed=seed),
    "3 trees, depth 2": lambda seed: Tree(depth=2, trees=3, seed=seed),
    "published enumerative": lambda seed: Enumerative(preset="published", max_length=3, seed=seed),
    "published lattice": lambda seed: Lattice(preset="published", seed=seed, time_limit=LIMIT),
    "published FERNN": lambda seed: PaperFernn(length=2, winner="value", seed=seed),
}
SETTINGS = {
    "fernn": "`Fernn(max_length=6)`",
    "enumerative": "`Enumerative(max_length=6)`",
    "lattice": "`Lattice()`: windows are learned, effects come after causes",
    "lattice, any order": "`Lattice(delayed=False)`",
    "lattice, halves": "`Lattice(intervals=False)`: causes in the first half, effects in the second, as in the "
    "formulas that the paper prints",
    "lattice, unbounded": "`Lattice(intervals=False, delayed=False)`: every operator over all time",
    "tree, depth 2": "`Tree(depth=2)`",
    "tree, depth 3": "`Tree(depth=3)`",
    "3 trees, depth 2": "`Tree(depth=2, trees=3)`",
    "published enumerative": '`Enumerative(preset="published", max_length=3)`, which ends at an error of 0.05',
    "published lattice": '`Lattice(preset="published", time_limit=20)`: annealing, ends at an error of 0.05',
    "published FERNN": '`PaperFernn(length=2, winner="value")`, 5000 epochs',
}


def accurate(front: Front) -> Entry:
    """The least validation error, the shortest of equals; where there is none, the least training error."""
    known = [entry for entry in front if entry.validation == entry.validation]
    return min(known, key=lambda entry: entry.validation) if known else front[-1]
