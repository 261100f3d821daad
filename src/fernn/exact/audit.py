"""A certificate checked by other means than those that made it: no words, no merging, no bounds.

Small spaces are gone through formula by formula, truth values in plain arrays, operators by their definition. From
larger ones formulas are drawn at random and judged by the exact semantics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..errors import DataError
from ..formula import And, Atom, Formula, Historically, Not, Once, Or, Since, direction, length, parse
from ..formula.holes import atoms_open, expanded, filled, is_template, windows_open
from ..formula.interval import ALL_TIME, Interval
from ..formula.measures import facing
from ..semantics import satisfied
from .certificate import Certificate
from .windows import within

Truth = list[npt.NDArray[np.bool_]]
SMALL = 200_000
"""Formulas up to which all of a space are looked at."""


@dataclass(frozen=True)
class Audit:
    """What a check found; `problems` is empty where the certificate stands."""

    problems: tuple[str, ...]
    looked_at: int
    """Formulas."""
    whole: bool
    """Whether these were all of the space."""

    @property
    def stands(self) -> bool:
        return not self.problems


def audit(proof: Certificate, data: Dataset, samples: int = 20_000, seed: int = 0) -> Audit:
    """Checks the statement of a certificate on its data."""
    content = proof.content
    problems = list(_of_the_data(content, data))
    if problems:
        return Audit(tuple(problems), 0, False)
    check = _Check(content, data)
    problems += check.front()
    space = content["space"]
    small = space["template"] is None and check.size(space["max_length"]) <= SMALL
    looked = 0
    if proof.holds or content["lengths"]:
        formulas = check.all_there_are() if small else check.drawn(samples, seed)
        for size, wrong, said in formulas:
            looked += 1
            limit = check.least(size)
            if wrong < limit - 1e-6 and not problems:
                formula = said()
                problems.append(f"{formula} of length {size} errs {wrong:g}, the certificate says {limit:g} at least")
    return Audit(tuple(problems), looked, small)


def _of_the_data(content: Mapping[str, Any], data: Dataset) -> Iterator[str]:
    known = content["data"]
    if data.fingerprint != known["fingerprint"]:
        yield (
            f"{data.name} is not the data of the certificate: {len(data)} cases and fingerprint "
            f"{data.fingerprint[:16]}, the certificate is about {known['cases']} and {known['fingerprint'][:16]}"
        )


class _Check:
    def __init__(self, content: Mapping[str, Any], data: Dataset) -> None:
        self.content, self.data = content, data
        weights = content["data"]["weights"]
        self.weights = np.ones(len(data)) if weights is None else np.array(weights, float)
        if self.weights.shape != (len(data),):
            raise DataError(f"the certificate weighs {len(self.weights)} traces, the data has {len(data)}.")
        self.future = content["space"]["direction"] == "future"
        space = content["space"]
        self.atoms = [
            Atom(tuple((str(n), float(w)) for n, w in row["sum"]), row["relation"], threshold)
            for row in space["atoms"]
            for threshold in row["thresholds"]
        ]
        self.windows = [ALL_TIME, *(_window(text) for text in space["windows"])]
        self.pairs: list[Any] = [And, Or, *([Since] if space["since"] else [])]
        good = data.positive
        self.good = good
        kinds = (("max_false_alarms", good), ("max_misses", ~good))
        limits = [inf if space.get(name) is None else space[name] * self.weights[side].sum() for name, side in kinds]
        self.most_missed, self.most_passed = limits

    def error(self, held: npt.NDArray[np.bool_]) -> float:
        """Weighted; infinite where a limit is passed."""
        missed = float(self.weights[self.good & ~held].sum())
        passed = float(self.weights[held & ~self.good].sum())
        if missed > self.most_missed + 1e-9 or passed > self.most_passed + 1e-9:
            return inf
        return missed + passed

    def least(self, size: int) -> float:
        """What the certificate says that formulas of this length err at least; -inf where it says nothing."""
        lengths = self.content["lengths"]
        said = [row["best"] for row in lengths if row["length"] <= size and row["best"] is not None]
        reached = max((row["length"] for row in lengths), default=0)
        if self.content["certified"]:
            said.append(self.content["unavoidable"] if reached < size else inf)
        elif reached < size or any(row["dropped"] for row in lengths):
            return -inf
        return min(said, default=inf)

    def front(self) -> Iterator[str]:
        """The formulas err as the certificate says."""
        for row in self.content["front"]:
            formula = parse(row["formula"])
            wrong = self.error(np.asarray(satisfied(formula, self.data)))
            if abs(wrong - row["error"]) > 1e-6:
                yield f"{formula} errs {wrong:g}, the certificate says {row['error']:g}"
            if length(formula) != row["length"]:
                yield f"{formula} has length {length(formula)}, the certificate says {row['length']}"

    def size(self, longest: int) -> float:
        """How many formulas there are up to a length."""
        count: dict[int, float] = {}
        negated = self.content["space"]["negation"]
        for n in range(1, longest + 1):
            count[n] = float(len(self.atoms)) if n == 1 else 2 * len(self.windows) * count[n - 1]
            for i in range(1, n - 1):
                count[n] += len(self.pairs) * count[i] * count[n - 1 - i]
            for i in range(1, n - 2):
                count[n] += count[i] * count[n - 2 - i] * negated
        return sum(count.values())

    def all_there_are(self) -> Iterator[tuple[int, float, Any]]:
        """(length, error, how to say it) of every formula, looking back, by the definition of its operators."""
        longest, negated = self.content["space"]["max_length"], self.content["space"]["negation"]
        known: dict[int, list[tuple[Formula, Truth]]] = {}
        for n in range(1, longest + 1):
            made: list[tuple[Formula, Truth]] = []
            if n == 1:
                made += [(node, self._atom(node)) for node in self.atoms]
            for formula, truth in known.get(n - 1, []):
                for over in self.windows:
                    made.append((Once(formula, over), _once(truth, over)))
                    made.append((Historically(formula, over), _not(_once(_not(truth), over))))
            for i in range(1, n - 1):
                for (f, a), (g, b) in product(known[i], known[n - 1 - i]):
                    made.append((And(f, g), [x & y for x, y in zip(a, b, strict=True)]))
                    made.append((Or(f, g), [x | y for x, y in zip(a, b, strict=True)]))
                    if Since in self.pairs:
                        made.append((Since(f, g), _since(a, b)))
            for i in range(1, n - 2) if negated else ():
                for (f, a), (g, b) in product(known[i], known[n - 2 - i]):
                    made.append((Not(Since(f, g)), _not(_since(a, b))))
            known[n] = made if n < longest else []
            for formula, truth in made:
                held = np.array([trace[-1] for trace in truth])
                yield n, self.error(held), lambda formula=formula: facing(formula, self.future)

    def _atom(self, node: Atom) -> Truth:
        at = [(self.data.channels.index(name), weight) for name, weight in node.weights]
        rows = [sum(weight * trace[row] for row, weight in at) for trace in self.data.values]
        compare = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}[node.relation]
        found = [compare(row, node.threshold) for row in rows]
        return [row[::-1] for row in found] if self.future else found

    def drawn(self, samples: int, seed: int) -> Iterator[tuple[int, float, Any]]:
        """The same of formulas drawn at random, judged by the semantics of the package."""
        rng = np.random.default_rng(seed)
        template = self.content["space"]["template"]
        shapes = list(expanded(parse(template))) if template is not None else []
        longest = max((row["length"] for row in self.content["lengths"]), default=1)
        for _ in range(samples):
            if shapes:
                said = self._filled(shapes[int(rng.integers(len(shapes)))], rng)
            else:
                said = facing(self._grown(int(rng.integers(1, longest + 1)), rng), self.future)
            size = length(said) - (direction(said) == "past" and isinstance(said, Once) and _is_now(said))
            yield size, self.error(np.asarray(satisfied(said, self.data))), lambda said=said: said

    def _grown(self, n: int, rng: np.random.Generator) -> Formula:
        if n == 1:
            return self.atoms[int(rng.integers(len(self.atoms)))]
        if n == 2 or rng.random() < 0.4:
            over = self.windows[int(rng.integers(len(self.windows)))]
            return (Once, Historically)[int(rng.integers(2))](self._grown(n - 1, rng), over)
        i = int(rng.integers(1, n - 1))
        pair = self.pairs[int(rng.integers(len(self.pairs)))]
        return pair(self._grown(i, rng), self._grown(n - 1 - i, rng))  # type: ignore[no-any-return]

    def _filled(self, shape: Formula, rng: np.random.Generator) -> Formula:
        if not is_template(shape):
            return shape
        samples = int(self.data.lengths.max())
        atoms: dict[str, Atom] = {}
        for hole in atoms_open(shape):
            allowed = set(hole.channels or self.data.channels)
            fit = [node for node in self.atoms if node.relation in hole.relations and set(node.channels) <= allowed]
            atoms[hole.name] = fit[int(rng.integers(len(fit)))]
        windows = {}
        for over in windows_open(shape):
            fitting = within(over, samples)
            windows[over.name] = fitting[int(rng.integers(len(fitting)))]
        return filled(shape, atoms, windows)


def _is_now(said: Once) -> bool:
    return said.over.spans == ((0, 0),)


def _window(text: str) -> Interval:
    formula = parse(f"F{text} (x >= 0)")
    return formula.over  # type: ignore[attr-defined,no-any-return]


def _not(truth: Truth) -> Truth:
    return [~trace for trace in truth]


def _once(truth: Truth, over: Interval) -> Truth:
    """At each sample: whether it held at some sample of the window, as many samples ago as the window says."""
    found = []
    for trace in truth:
        out = np.zeros(len(trace), bool)
        for a, b in over:
            for t in range(len(trace)):
                first = 0 if b == inf else max(0, t - int(b))
                out[t] |= bool(trace[first : max(t - a + 1, 0)].any())
        found.append(out)
    return found


def _since(left: Truth, right: Truth) -> Truth:
    found = []
    for a, b in zip(left, right, strict=True):
        out = np.zeros(len(a), bool)
        held = False
        for t in range(len(a)):
            held = bool(b[t]) or (bool(a[t]) and held)
            out[t] = held
        found.append(out)
    return found
