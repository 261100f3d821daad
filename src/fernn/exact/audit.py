"""A certificate checked by other means than those that made it: no words, no merging, no bounds.

Small spaces are gone through formula by formula, truth values in plain arrays, operators by their definition. From
larger ones formulas are drawn at random and judged by the exact semantics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..errors import DataError
from ..formula import And, Atom, Formula, Historically, Not, Once, Or, Since, length, parse
from ..formula.holes import atoms_open, expanded, filled, windows_open
from ..formula.interval import ALL_TIME, Interval
from ..formula.measures import facing
from ..formula.negation import NEGATED
from ..plain import refusing
from ..semantics import satisfied
from .atoms import columns
from .certificate import BEST, Certificate
from .windows import within

Truth = npt.NDArray[np.bool_]
"""`[case, sample]`, looking back; what stands behind the end of a trace means nothing."""
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
    with refusing(DataError, "the certificate is damaged, it cannot be checked"):
        return _audit(proof.content, data, samples, seed)


def _audit(content: Mapping[str, Any], data: Dataset, samples: int, seed: int) -> Audit:
    problems = list(_of_the_data(content, data))
    if problems:
        return Audit(tuple(problems), 0, False)
    check = _Check(content, data)
    problems += [*check.front(), *check.thresholds()]
    formulas, whole = check.formulas(samples, seed)
    looked = 0
    for size, wrong, said in formulas:
        looked += 1
        limit = check.least(size)
        if wrong < limit - 1e-6 and not problems:
            problems.append(f"{said()} of length {size} errs {wrong:g}, the certificate says {limit:g} at least")
    return Audit(tuple(problems), looked, whole)


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
        if size > self.content["certain"]:
            return -inf
        reached = max((row["length"] for row in self.content["lengths"]), default=0)
        if size > reached:  # it ended early, because nothing can be better
            return float(self.content["unavoidable"])
        return min((float(e) for n, e in self.content["least"].items() if int(n) <= size), default=inf)

    def front(self) -> Iterator[str]:
        """The formulas err as the certificate says, and the last of them no more than anything in the space."""
        rows = self.content["front"]
        for row in rows:
            formula = parse(row["formula"])
            wrong = self.error(np.asarray(satisfied(formula, self.data)))
            if abs(wrong - row["error"]) > 1e-6:
                yield f"{formula} errs {wrong:g}, the certificate says {row['error']:g}"
            if length(formula) != row["length"]:
                yield f"{formula} has length {length(formula)}, the certificate says {row['length']}"
        best = self.content["best"]
        if not rows or {key: best[key] for key in rows[-1]} != rows[-1]:
            yield "the best formula is not the last of the front"
        searched = min(map(float, self.content["least"].values()), default=inf)
        if best["error"] > searched + 1e-6:
            yield f"the best formula errs {best['error']:g}, but one of the space errs {searched:g}"
        if self.content["certified"] != str(self.content["statement"]).startswith(BEST):
            yield f"the statement is not the one for certified={self.content['certified']}"

    def thresholds(self) -> Iterator[str]:
        """Where every threshold that matters was tried, one is there for every gap that has to have one."""
        space = self.content["space"]
        if space["thresholds"] != "exact" or space["template"] is not None:
            return
        counted = self.data.subset(self.weights > 0)
        for column in columns(counted, bool(space.get("differences"))):
            for relation in (">=", "<="):
                tried = sorted(a.threshold for a in self.atoms if a.weights == column.sum and a.relation == relation)
                for gap in np.flatnonzero(column.turning | bool(space["every_gap"])).tolist():
                    low, high = column.values[gap], column.values[gap + 1]
                    at = bisect_left(tried, low)
                    if not any(low <= value <= high for value in tried[at : at + 2]):
                        yield f"no threshold between {low:g} and {high:g} was tried"
                        return

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

    def formulas(self, samples: int, seed: int) -> tuple[Iterator[tuple[int, float, Any]], bool]:
        """(length, error, how to say it) of all formulas of the space, or of some; and whether they are all."""
        template = self.content["space"]["template"]
        if template is None:
            if self.size(self.content["space"]["max_length"]) <= SMALL:
                return self.all_there_are(), True
            return self.drawn(samples, seed), False
        shapes = list(expanded(parse(template)))
        if sum(prod(map(len, self._choices(shape))) for shape in shapes) <= SMALL // 10:
            return self._judged_all(shapes), True
        return self.drawn(samples, seed), False

    def _judged_all(self, shapes: list[Formula]) -> Iterator[tuple[int, float, Any]]:
        for shape in shapes:
            for parts in product(*self._choices(shape)):
                yield self._judged(self._made(shape, parts))

    def all_there_are(self) -> Iterator[tuple[int, float, Any]]:
        """Of every formula up to a length, looking back, by the definition of its operators."""
        longest, negated = self.content["space"]["max_length"], self.content["space"]["negation"]
        known: dict[int, list[tuple[Formula, Truth]]] = {}
        last = self.data.lengths - 1
        each = np.arange(len(self.data))
        for n in range(1, longest + 1):
            made = self._level(n, known, negated)
            known[n] = []
            for formula, truth in made:
                if n < longest:
                    known[n].append((formula, truth))
                yield n, self.error(truth[each, last]), lambda formula=formula: facing(formula, self.future)

    def _level(self, n: int, known: dict[int, list[tuple[Formula, Truth]]], negated: bool) -> Iterator[Any]:
        if n == 1:
            yield from ((node, self._atom(node)) for node in self.atoms)
        for formula, truth in known.get(n - 1, []):
            for over in self.windows:
                yield Once(formula, over), _once(truth, over)
                yield Historically(formula, over), ~_once(~truth, over)
        for i in range(1, n - 1):
            for (f, a), (g, b) in product(known[i], known[n - 1 - i]):
                yield And(f, g), a & b
                yield Or(f, g), a | b
                if Since in self.pairs:
                    yield Since(f, g), _since(a, b)
        for i in range(1, n - 2) if negated else ():
            for (f, a), (g, b) in product(known[i], known[n - 2 - i]):
                yield Not(Since(f, g)), ~_since(a, b)

    def _atom(self, node: Atom) -> Truth:
        at = [(self.data.channels.index(name), weight) for name, weight in node.weights]
        compare = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}[node.relation]
        found = np.zeros((len(self.data), int(self.data.lengths.max())), bool)
        for case, trace in enumerate(self.data.values):
            row = compare(sum(weight * trace[row] for row, weight in at), node.threshold)
            found[case, : len(row)] = row[::-1] if self.future else row
        return found

    def drawn(self, samples: int, seed: int) -> Iterator[tuple[int, float, Any]]:
        """Of formulas drawn at random, judged by the semantics of the package."""
        rng = np.random.default_rng(seed)
        template = self.content["space"]["template"]
        shapes = list(expanded(parse(template))) if template is not None else []
        longest = max(self.content["certain"], 1)
        for _ in range(samples):
            if shapes:
                shape = shapes[int(rng.integers(len(shapes)))]
                parts = [some[int(rng.integers(len(some)))] for some in self._choices(shape)]
                yield self._judged(self._made(shape, parts))
            else:
                yield self._judged(facing(self._grown(int(rng.integers(1, longest + 1)), rng), self.future))

    def _judged(self, said: Formula) -> tuple[int, float, Any]:
        size = length(said) - (isinstance(said, Once) and said.over.spans == ((0, 0),))
        return size, self.error(np.asarray(satisfied(said, self.data))), lambda: said

    def _grown(self, n: int, rng: np.random.Generator) -> Formula:
        if n == 1:
            node = self.atoms[int(rng.integers(len(self.atoms)))]
            return self._anywhere(node, rng) if self.content["space"]["thresholds"] == "exact" else node
        if n > 3 and self.content["space"]["negation"] and rng.random() < 0.2:
            i = int(rng.integers(1, n - 2))
            return Not(Since(self._grown(i, rng), self._grown(n - 2 - i, rng)))
        if n == 2 or rng.random() < 0.4:
            over = self.windows[int(rng.integers(len(self.windows)))]
            return (Once, Historically)[int(rng.integers(2))](self._grown(n - 1, rng), over)
        i = int(rng.integers(1, n - 1))
        pair = self.pairs[int(rng.integers(len(self.pairs)))]
        return pair(self._grown(i, rng), self._grown(n - 1 - i, rng))  # type: ignore[no-any-return]

    def _anywhere(self, node: Atom, rng: np.random.Generator) -> Atom:
        """The atom with any threshold at all: it was to be the best of them."""
        tried = [a.threshold for a in self.atoms if a.weights == node.weights]
        return Atom(node.weights, node.relation, float(rng.uniform(min(tried), max(tried))))

    def _choices(self, shape: Formula) -> list[list[Any]]:
        """What may fill each open atom of the shape, then each open window."""
        found: list[list[Any]] = []
        for hole in atoms_open(shape):
            allowed = set(hole.channels or self.data.channels)
            fit = [node for node in self.atoms if set(node.channels) <= allowed]
            turned = [Atom(node.weights, NEGATED[node.relation], node.threshold) for node in fit]  # of a `!?p`
            found.append([node for node in dict.fromkeys(fit + turned) if node.relation in hole.relations])
        samples = int(self.data.lengths.max())
        return found + [list(within(over, samples)) for over in windows_open(shape)]

    def _made(self, shape: Formula, parts: Sequence[Any]) -> Formula:
        holes, overs = atoms_open(shape), windows_open(shape)
        atoms = {hole.name: part for hole, part in zip(holes, parts, strict=False)}
        return filled(shape, atoms, {over.name: part for over, part in zip(overs, parts[len(holes) :], strict=True)})


def _window(text: str) -> Interval:
    formula = parse(f"F{text} (x >= 0)")
    return formula.over  # type: ignore[attr-defined,no-any-return]


def _once(truth: Truth, over: Interval) -> Truth:
    """At each sample: whether it held at some sample of the window, as many samples ago as the window says."""
    found, samples = np.zeros_like(truth), truth.shape[1]
    for a, b in over:
        for ago in range(a, samples if b == inf else min(int(b) + 1, samples)):
            found[:, ago:] |= truth[:, : samples - ago]
    return found


def _since(left: Truth, right: Truth) -> Truth:
    found = right.copy()
    for t in range(1, found.shape[1]):
        found[:, t] |= left[:, t] & found[:, t - 1]
    return found
