"""A certificate checked by other means than those that made it: no words, no merging, no bounds.

What the file says is taken apart in three steps. Its fields have to agree with each other (`list_contradictions`).
Whatever follows from the settings and the data is worked out anew: conditions, windows, errors of the formulas named,
errors that no rule can avoid. Then the claim itself, that no formula errs less, is held against formulas of the space:
against all of a small one, truth values in plain arrays, operators by their definition; against some of a larger one,
drawn at random and judged by the exact semantics. The first is a proof, the second is none, and is not called one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import inf, isfinite, prod
from typing import Any, Literal

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools
from ...errors import DataError, convert_errors, short_repr, suppress_warnings
from ...formula import And, Atom, Formula, Historically, Not, Once, Or, Since, direction, length, parse
from ...formula.measures import node_count, orient
from ...formula.nodes import ALL_TIME, AnyAtom, AnyOf, Interval, children, replace_children
from ...formula.templates import atoms_open, expand_template, fill_template, require_closed, windows_open
from ...semantics import satisfied
from .candidates import columns, windows_to_try, windows_within
from .certificate import Certificate, CertificateOutcome, derive_outcome, list_contradictions, tolerance
from .exploration import ExactSpace, columns_for

Truth = Bools
"""`[case, sample]`, looking back; what stands behind the end of a trace means nothing."""
SMALL = 200_000
"""Formulas up to which all of a space are looked at."""
OF_TEMPLATE = SMALL // 10
"""The same of a template, whose formulas are judged one by one."""
WORK = 4e9
"""Truth values, of all formulas at all samples, up to which all of a space are looked at."""
STORED = 1e9
"""Of these, values that are kept at a time."""

Verdict = Literal["stands", "not refuted", "claims nothing", "wrong"]
Looked = tuple[int, float, Any]
"""Length and error of a formula, and how to say it."""


@dataclass(frozen=True)
class Audit:
    """What a check found."""

    problems: tuple[str, ...]
    """What is wrong with the certificate; empty where nothing was found."""
    looked_at: int
    """Formulas that the claim was held against."""
    whole: bool
    """Whether these were all that it is about."""
    size: float = 0.0
    """About how many formulas it is about; infinite where they cannot be counted."""
    at_floor: bool = False
    """Whether its best formula makes only the errors that every rule makes, so that no formula need be looked at."""
    certain: int = 0
    """Up to which length it claims something."""

    @property
    def verdict(self) -> Verdict:
        if self.problems:
            return "wrong"
        if not self.certain:
            return "claims nothing"
        return "stands" if self.at_floor or (self.whole and self.looked_at > 0) else "not refuted"

    __repr__ = short_repr

    @property
    def stands(self) -> bool:
        """Whether the statement is proved by this check."""
        return self.verdict == "stands"

    @property
    def sentence(self) -> str:
        """What was checked, in words that say whether it is a proof."""
        about = f"about {self.size:.3g}" if isfinite(self.size) else "more than can be counted"
        spot = f"spot-checked {self.looked_at:,} formulas of {about}: no counterexample"
        match self.verdict:
            case "wrong":
                return f"wrong: {len(self.problems)} of the things it says are not so."
            case "claims nothing":
                return "claims nothing: it says itself that nothing is certain; its formulas err as it says."
            case "not refuted":
                return f"not refuted: {spot}. That is no proof."
        if self.whole and self.looked_at:
            return f"stands: checked whole, all {self.looked_at:,} formulas: none errs less."
        rest = f" Of the least errors by length: {spot}." if self.looked_at else ""
        return f"stands: its best formula makes only the errors that every rule must make.{rest}"


def audit(proof: Certificate, data: Dataset, samples: int = 20_000, seed: int = 0) -> Audit:
    """Checks a certificate on its data; where its space is large, on so many formulas drawn from it."""
    with convert_errors(DataError, "the certificate is damaged, it cannot be checked"):
        content = Certificate.from_json(proof.to_json()).content
        problems = [*_check_data(content, data)] or [*list_contradictions(content)]
        outcome = derive_outcome(content)
        if problems:
            return Audit(tuple(problems), 0, False, certain=outcome.certain)
        check = _Check(content, data, outcome)
        problems = [*check.space(), *check.front()]
        if problems:
            return Audit(tuple(problems), 0, False, certain=outcome.certain)
        return check.claim(samples, seed)


def _check_data(content: Mapping[str, Any], data: Dataset) -> Iterator[str]:
    known = content["data"]
    if data.fingerprint != known["fingerprint"]:
        yield (
            f"{data.name} is not the data of the certificate: {len(data)} cases and fingerprint "
            f"{data.fingerprint[:16]}, the certificate is about {known['cases']} and {known['fingerprint'][:16]}"
        )
    elif known["cases"] != len(data):
        yield f"{data.name} has {len(data)} cases, the certificate says {known['cases']}"
    elif len(data.classes) != 2:
        yield f"{data.name} is not of two classes, which certificates are about"


class _Check:
    def __init__(self, content: Mapping[str, Any], data: Dataset, outcome: CertificateOutcome) -> None:
        self.content, self.data, self.outcome = content, data, outcome
        weights, space = content["data"]["weights"], content["space"]
        self.weights = np.ones(len(data)) if weights is None else np.array(weights, float)
        self.good, self.near = data.positive, tolerance(float(self.weights.sum()))
        for side in (self.good, ~self.good):
            if not self.weights[side].any():
                raise DataError("with its weights only traces of one class count.")
        self.future = space["direction"] == "future"
        self.counted = data.subset(self.weights > 0)
        self.samples = int(self.counted.lengths.max())
        self.template = None if space["template"] is None else parse(space["template"])
        windows = windows_to_try(self.samples, space["intervals"], space["pieces"], space["next"])
        self.settings = ExactSpace(
            space["max_length"], self.template, space["since"], space["negation"],
            windows if self.template is None else (), space["thresholds"], space["grid"] or 1, space["every_gap"],
            space["differences"],
        )  # fmt: skip
        self.columns = columns(self.counted, self.settings.differences)
        self.atoms = [] if self.template is not None else [*dict.fromkeys(self.settings.atoms(self.columns))]
        self.fitting: dict[AnyAtom, list[Atom]] = {}
        self.windows = [ALL_TIME, *self.settings.windows]
        self.pairs: list[Any] = [And, Or, *([Since] if self.settings.since else [])]
        kinds = (("max_false_alarms", self.good), ("max_misses", ~self.good))
        limits = [inf if space[name] is None else space[name] * self.weights[side].sum() for name, side in kinds]
        self.most_missed, self.most_passed = limits

    def space(self) -> Iterator[str]:
        """What the certificate says of its space is what its settings give on these data."""
        space = self.content["space"]
        if self.template is not None:
            if direction(self.template) not in ("now", space["direction"]) or str(self.template) != space["template"]:
                yield f"its template is not one that looks to the {space['direction']} as fernn writes it"
            if length(self.template) != space["max_length"]:
                yield f"its template has length {length(self.template)}, the certificate says {space['max_length']}"
            if space["intervals"] or space["pieces"] != 1 or space["next"] or not space["every_gap"]:
                yield "its settings are not those of a template"
            for hole in atoms_open(self.template):
                for name in hole.channels:
                    if name not in self.data.channels:
                        yield f"?{hole.name} reads {name!r}, which is no channel of the data"
                        return
        elif not space["intervals"] and space["pieces"] != 1:
            yield "it has windows of two pieces, and no windows"
        if space["windows"] != [str(over) for over in self.settings.list_windows(self.samples)]:
            yield "its windows are not those that its settings give on these data"
        if space["atoms"] != self.settings.list_atoms(self.columns):
            yield "its conditions are not those that its settings give on these data"
        floor = self.unavoidable()
        if abs(floor - self.content["unavoidable"]) > self.near:
            yield f"every rule must err {floor:g}, the certificate says {self.content['unavoidable']:g}"
        count = self.sizes(self.settings.longest) if self.template is None else {}
        for row in self.content["lengths"]:
            if row["generated"] > count.get(row["length"], inf):
                yield f"there are fewer than {row['generated']} formulas of length {row['length']}"

    def unavoidable(self) -> float:
        """The weight of traces that are like others of the other class, the lighter side of each kind."""
        sides: dict[bytes, list[float]] = {}
        for trace, good, weight in zip(self.data.values, self.good, self.weights, strict=True):
            sides.setdefault(trace.tobytes(), [0.0, 0.0])[int(good)] += weight
        return sum(min(pair) for pair in sides.values())

    def error(self, held: Bools) -> float:
        """Weighted; infinite where a limit is passed."""
        missed = float(self.weights[self.good & ~held].sum())
        passed = float(self.weights[held & ~self.good].sum())
        spare = 1e-9 * max(1.0, float(self.weights.sum()))
        if missed > self.most_missed + spare or passed > self.most_passed + spare:
            return inf
        return missed + passed

    def least(self, size: int) -> float:
        """What the certificate says that formulas of this length err at least; -inf where it says nothing."""
        if size > self.outcome.certain:
            return -inf
        if size > self.outcome.reached:  # it ended early, because nothing can be better
            return float(self.content["unavoidable"])
        return min((float(e) for n, e in self.content["least"].items() if int(n) <= size), default=inf)

    def front(self) -> Iterator[str]:
        """The formulas are of the kind that was searched, and err as the certificate says."""
        for row in self.content["front"]:
            formula = require_closed(parse(row["formula"]))
            if str(formula) != row["formula"]:
                yield f"{row['formula']!r:.80} is not how fernn writes {formula}"
            if direction(formula) not in ("now", self.content["space"]["direction"]):
                yield f"{formula} does not look to the {self.content['space']['direction']}"
            if length(formula) != row["length"]:
                yield f"{formula} has length {length(formula)}, the certificate says {row['length']}"
            held = np.asarray(satisfied(formula, self.data))
            wrong, misjudged = self.error(held), int(((held != self.good) & (self.weights > 0)).sum())
            if not abs(wrong - row["error"]) <= self.near:
                yield f"{formula} errs {wrong:g}, the certificate says {row['error']:g}"
            if misjudged != row["misjudged"]:
                yield f"{formula} misjudges {misjudged} traces, the certificate says {row['misjudged']}"

    def claim(self, samples: int, seed: int) -> Audit:
        """Holds the claim against formulas of the space."""
        certain = self.outcome.certain
        to = min(certain, self.outcome.reached)
        formulas, whole, size = self.formulas(to, samples, seed) if to else (iter(()), True, 0.0)
        looked, best = 0, dict.fromkeys(range(1, to + 1), inf)
        problem: list[str] = []
        with suppress_warnings():
            for n, wrong, said in formulas:
                looked += 1
                limit = self.least(n)
                if wrong < limit - self.near:
                    problem = [f"{said()} of length {n} errs {wrong:g}, the certificate says {limit:g} at least"]
                    break
                if n in best:
                    best[n] = min(best[n], wrong)
        if whole and not problem:
            so_far = inf
            for n, wrong in best.items():
                so_far = min(so_far, wrong)
                if self.least(n) < so_far - self.near:
                    problem = [f"no formula of length {n} or less errs {self.least(n):g}, the least is {so_far:g}"]
                    break
        return Audit(tuple(problem), looked, whole, size, self.outcome.at_floor, certain)

    def sizes(self, longest: int) -> dict[int, float]:
        """How many formulas there are of each length."""
        count: dict[int, float] = {}
        for n in range(1, longest + 1):
            count[n] = float(len(self.atoms)) if n == 1 else 2 * len(self.windows) * count[n - 1]
            for i in range(1, n - 1):
                count[n] += len(self.pairs) * count[i] * count[n - 1 - i]
            for i in range(1, n - 2) if self.settings.negation else ():
                count[n] += count[i] * count[n - 2 - i]
        return count

    def formulas(self, longest: int, samples: int, seed: int) -> tuple[Iterator[Looked], bool, float]:
        """Formulas of the space up to a length, all or some; whether they are all; and about how many there are."""
        cells = len(self.data) * int(self.data.lengths.max())
        if self.template is None:
            count = self.sizes(longest)
            size = sum(count.values())
            if size <= SMALL and size * cells <= WORK and (size - count[longest]) * cells <= STORED:
                return self.all_there_are(longest), True, size
            return self.drawn(longest, samples, seed), False, size
        size = self._ways(self.template)
        shapes = (
            list(islice(expand_template(self.template), OF_TEMPLATE)) if _options(self.template) <= OF_TEMPLATE else []
        )
        if shapes:
            size = float(sum(prod(map(len, self._choices(shape))) for shape in shapes))
        if shapes and size <= OF_TEMPLATE and size * cells <= WORK:
            return self._judged_all(shapes), True, size
        return self.drawn(longest, samples, seed), False, size

    def _judged_all(self, shapes: list[Formula]) -> Iterator[Looked]:
        for shape in shapes:
            for parts in product(*self._choices(shape)):
                yield self._judged(self._made(shape, parts))

    def all_there_are(self, longest: int) -> Iterator[Looked]:
        """Of every formula up to a length, looking back, by the definition of its operators."""
        known: dict[int, list[tuple[Formula, Truth]]] = {}
        last = self.data.lengths - 1
        each = np.arange(len(self.data))
        for n in range(1, longest + 1):
            made = self._level(n, known)
            known[n] = []
            for formula, truth in made:
                if n < longest:
                    known[n].append((formula, truth))
                yield n, self.error(truth[each, last]), lambda formula=formula: orient(formula, self.future)

    def _level(self, n: int, known: dict[int, list[tuple[Formula, Truth]]]) -> Iterator[Any]:
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
        for i in range(1, n - 2) if self.settings.negation else ():
            for (f, a), (g, b) in product(known[i], known[n - 2 - i]):
                yield Not(Since(f, g)), ~_since(a, b)

    def _atom(self, node: Atom) -> Truth:
        at = [(self.data.channels.index(name), weight) for name, weight in node.plain]
        compare = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}[node.relation]
        found = np.zeros((len(self.data), int(self.data.lengths.max())), bool)
        for case, trace in enumerate(self.data.values):
            row = compare(sum(weight * trace[row] for row, weight in at), node.threshold)
            found[case, : len(row)] = row[::-1] if self.future else row
        return found

    def drawn(self, longest: int, samples: int, seed: int) -> Iterator[Looked]:
        """Of formulas drawn at random, judged by the semantics of the package."""
        rng = np.random.default_rng(seed)
        for _ in range(samples):
            if self.template is not None:
                shape = _choose_at_random(self.template, {}, rng)
                parts = [some[int(rng.integers(len(some)))] for some in self._choices(shape)]
                yield self._judged(self._made(shape, parts))
            else:
                n = int(rng.integers(1, longest + 1))
                yield self._judged(orient(self._grown(n, rng), self.future))

    def _judged(self, said: Formula) -> Looked:
        size = (
            length(said) if self.template is None else node_count(said)
        )  # of a template [0,0] is a window like others
        return size, self.error(np.asarray(satisfied(said, self.data))), lambda: said

    def _grown(self, n: int, rng: np.random.Generator) -> Formula:
        if n == 1:
            node = self.atoms[int(rng.integers(len(self.atoms)))]
            return self._anywhere(node, rng) if self.settings.thresholds == "exact" else node
        if n > 3 and self.settings.negation and rng.random() < 0.2:
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
        return replace(node, threshold=float(rng.uniform(min(tried), max(tried))))

    def _choices(self, shape: Formula) -> list[Sequence[Any]]:
        """What may fill each open atom of the shape, then each open window."""
        found: list[Sequence[Any]] = []
        for hole in atoms_open(shape):
            if hole not in self.fitting:
                fit = self.settings.atoms(columns_for(hole, self.columns), hole.relations)
                self.fitting[hole] = [*dict.fromkeys(fit)]
            found.append(self.fitting[hole])
        return found + [windows_within(over, self.samples) for over in windows_open(shape)]

    def _ways(self, template: Formula) -> float:
        """How many formulas a template has, what is open in several places counted in each."""
        if isinstance(template, AnyOf):
            return sum(map(self._ways, template.options))
        if not children(template):
            return float(prod(map(len, self._choices(template))))
        over = getattr(template, "over", None)
        windows = float(len(windows_within(over, self.samples))) if over is not None and over.is_open else 1.0
        return prod((self._ways(child) for child in children(template)), start=windows)

    def _made(self, shape: Formula, parts: Sequence[Any]) -> Formula:
        holes, overs = atoms_open(shape), windows_open(shape)
        atoms = {hole.name: part for hole, part in zip(holes, parts, strict=False)}
        return fill_template(
            shape, atoms, {over.name: part for over, part in zip(overs, parts[len(holes) :], strict=True)}
        )


def _options(template: Formula) -> float:
    """How many ways there are to settle the choices of a template, equal choices counted apart."""
    if isinstance(template, AnyOf):
        return sum(map(_options, template.options))
    return prod(map(_options, children(template)), start=1.0)


def _choose_at_random(template: Formula, taken: dict[AnyOf, int], rng: np.random.Generator) -> Formula:
    """The template with one option of every choice, of equal choices the same."""
    if isinstance(template, AnyOf):
        number = taken.setdefault(template, int(rng.integers(len(template.options))))
        return _choose_at_random(template.options[number], taken, rng)
    return replace_children(template, tuple(_choose_at_random(child, taken, rng) for child in children(template)))


def _once(truth: Truth, over: Interval) -> Truth:
    """At each sample: whether it held at some sample of the window, as many samples ago as the window says."""
    if over.is_all_time:
        return np.logical_or.accumulate(truth, axis=1)
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
