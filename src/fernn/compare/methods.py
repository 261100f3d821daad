"""The methods as they are compared, by name: a greatest length, a seed and seconds make a learner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..learners import Enumerative, Fernn, Lattice, Learner, PaperFernn, Tree
from ..runs.methods import FLAG_WORDS, setting_words, takes
from .unit import Unit

Make = Callable[[int, int, float], Learner]


@dataclass(frozen=True)
class Compared:
    """A method, and what a reader should know of its settings."""

    make: Make
    about: str
    takes_real: bool = True
    """Whether it learns from real labels; where it does not, it gets their signs."""


def _paper(**settings: Any) -> Make:
    """As the paper trains: the largest weight of a choice wins, whatever its sign."""
    return lambda length, seed, limit: PaperFernn(length, winner="value", seed=seed, time_limit=limit, **settings)


def _rivals(thresholds: Any) -> Make:
    return lambda length, seed, limit: Enumerative(
        max_length=length, seed=seed, time_limit=limit, thresholds=thresholds, exhaust=True, folds=0,
        most_rivals=100_000,
    )  # fmt: skip


METHODS: dict[str, Compared] = {
    "paper": Compared(_paper(), "FERNN as the paper trains it: one start, 5000 epochs"),
    "paper, early stopping": Compared(_paper(early_stopping=True), "the same, ended after 50 epochs without a gain"),
    "paper, unquantised": Compared(
        _paper(quantised=False), "choices mix their options while training, and are quantised to be read"
    ),
    "paper, no since": Compared(_paper(since=False), "the same without Until"),
    "paper, up to": Compared(
        _paper(up_to=True, early_stopping=True),
        "one network for all lengths up to this one, ended without a gain after five cuts of the learning rate",
    ),
    "paper, windows": Compared(_paper(intervals=True), "windows are learned too"),
    "fernn": Compared(
        lambda length, seed, limit: Fernn(max_length=length, seed=seed, time_limit=limit),
        "`Fernn(max_length=...)`, the default",
    ),
    "fernn, no since": Compared(
        lambda length, seed, limit: Fernn(max_length=length, seed=seed, time_limit=limit, since=False),
        "the same without Until",
    ),
    "fernn, windows": Compared(
        lambda length, seed, limit: Fernn(max_length=length, seed=seed, time_limit=limit, intervals=True),
        "windows are learned too",
    ),
    "exact": Compared(
        lambda length, seed, limit: Enumerative(max_length=length, seed=seed, time_limit=limit),
        "`Enumerative(max_length=...)`: every formula of the space, with a certificate",
        takes_real=False,
    ),
    "exact, windows": Compared(
        lambda length, seed, limit: Enumerative(max_length=length, seed=seed, time_limit=limit, intervals=True),
        "windows are tried too",
        takes_real=False,
    ),
    "rivals": Compared(
        _rivals("grid"),
        "the exact search through all lengths, for all formulas as good as the best, thresholds on a grid of 32 a "
        "channel",
        takes_real=False,
    ),
    "rivals, all thresholds": Compared(
        _rivals("exact"), "the same with every threshold that makes a difference", takes_real=False
    ),
    "enumerative": Compared(
        lambda length, seed, limit: Enumerative(preset="published", max_length=length, seed=seed, time_limit=limit),
        "the enumerative method as published; it ends at an error of 0.05 (in the paper at 0.2)",
        takes_real=False,
    ),
    "lattice": Compared(
        lambda length, seed, limit: Lattice(max_length=length, seed=seed, time_limit=limit),
        "`Lattice(max_length=...)`: windows are learned (in the paper they were fixed), effects come after causes",
        takes_real=False,
    ),
    "lattice, published": Compared(
        lambda length, seed, limit: Lattice(preset="published", max_length=length, seed=seed, time_limit=limit),
        "the lattice method as published: simulated annealing; it ends at an error of 0.05 (in the paper at 0.2) and "
        "learns windows, where the paper's were fixed",
        takes_real=False,
    ),
    "tree": Compared(
        lambda length, seed, limit: Tree(depth=max(1, length // 2), seed=seed, time_limit=limit),
        "`Tree(depth=...)`: of half the length in depth, and what it prunes to that is no longer",
        takes_real=False,
    ),
}


def named(method: str, given: Mapping[str, Any]) -> str:
    """A method with settings of its own, under the name that `compared` reads: `fernn --intervals --atoms linear`."""
    return " ".join([method, *(word for key, value in given.items() for word in setting_words(key, value))])


def is_method(name: str) -> bool:
    """Whether it is a method, with or without settings of its own."""
    return name.split(" --")[0] in METHODS


def compared(name: str) -> Compared:
    """The method of a name, with the settings that the name has."""
    base, *words = name.split(" --")
    plain = METHODS[base]
    given = dict(_setting(word) for word in words)
    if not given:
        return plain
    return replace(plain, make=lambda length, seed, limit: replace(plain.make(length, seed, limit), **given))  # type: ignore[type-var]


def _setting(words: str) -> tuple[str, Any]:
    """`intervals` or `atoms linear`, a flag of the command line without its dashes, as a setting and its value."""
    flag, _, value = words.partition(" ")
    said = {text: (key, given) for (key, given), text in FLAG_WORDS.items()}
    if not value:
        return said[f"--{flag}"]
    return flag.replace("-", "_"), value if value[:1].isalpha() else float(value)


def lacking(methods: Iterable[str], given: Mapping[str, Any]) -> dict[str, str]:
    """The methods that do not have all of these settings, each with what it lacks."""
    found = {}
    for name in methods:
        kind = type(METHODS[name].make(2, 0, 1.0))
        missing = [setting_words(key, value) for key, value in given.items() if not takes(kind, key, value)]
        if missing:
            found[name] = f"{name} does not know {' '.join(missing[0])}"
    return found


def settings(unit: Unit, limit: float) -> str:
    """All that a unit is measured with, as text; its name alone where it is no method."""
    if not is_method(unit.method):
        return unit.method
    return str(compared(unit.method).make(unit.length, unit.seed, limit))


SHAPES = "shapes"
"""Not a method: every shape of a length, searched for itself."""
