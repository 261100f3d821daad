"""A learner that keeps to what is known.

It is given the data as the prior lets it see them, and a template as the prior allows:

    without      the channels are not there
    ranges       values are cut off at the ends. For low < c <= high, v >= c says the same of a value and of the value
                 cut off, so nothing is lost, and a threshold between two values lies in the range
    must_hold    only the traces of which it holds: the others are judged bad whatever is learned. What must hold is
                 joined to what is learned on these, and no better rule of that form is missed
    monotone     open atoms read each channel one way only

Every formula is checked against the prior at the end, and judged on the data as they are.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from functools import reduce
from math import nan
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..errors import DataError, FernnError, FernnWarning, UnsupportedError
from ..formula import FALSE, TRUE, And, Atom, Formula, direction, length, simplify
from ..formula.measures import map_nodes
from ..formula.nodes import AnyAtom, AnyOf, Relation, children, walk
from ..formula.templates import up_to_length
from ..semantics import satisfied
from .contradictions import contradictions
from .enumerative.candidates import columns
from .enumerative.certificate import Certificate
from .enumerative.threshold_margins import margin
from .fit import Fit, Learner, Progress, Watch, silent
from .front import Entry, Front, picked
from .labels import Floats, counts, losses
from .prior import Prior, Range, keeping, signed_atoms

PIECES = 2
"""Spans of a window, where the learner does not say how many."""


@dataclass(frozen=True)
class Informed:
    """A learner and what is known; `informed` makes one."""

    learner: Learner
    prior: Prior

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """As the learner fits, but to the prior; where the data contradict it, a FernnWarning and a note say so."""
        remarks = tuple(contradictions(self.prior, data))
        for said in remarks:
            warnings.warn(said, FernnWarning, stacklevel=2)
        self._check(data)
        shown, at = seen(self.prior, data)
        given = counts(data, weights)
        judge = _Judge(self.prior, data, given, at)
        if shown is None or (data.classes and len(np.unique(cast(Any, shown.labels))) < 2):  # all is said
            return Fit(judge.front([]), 0.0, "done", {"schema": 1, "seconds": 0.0}, remarks=remarks)
        told: Watch = lambda progress: watch(_with(progress, judge))  # noqa: E731
        keyed: dict[str, Any] = {} if weights is None else {"weights": given[at]}
        fit = cast(Any, self._directed(shown)).fit(shown, told, resume, **keyed)
        return cast(
            Fit, replace(fit, front=judge.front(fit.front), remarks=(*remarks, *fit.remarks), **self._papers(fit))
        )

    def _check(self, data: Dataset) -> None:
        names = {each.name for each in fields(cast(Any, self.learner))}
        kind = type(self.learner).__name__
        prior = self.prior
        if (prior.monotone or prior.template is not None) and "template" not in names:
            raise UnsupportedError(f"{kind} takes no template, which monotone channels need; use fernn or enumerative")
        if prior.template is not None and getattr(self.learner, "template", None) is not None:
            raise UnsupportedError("there are two templates, one in the prior and one in the settings; keep one")
        if (prior.ranges or prior.monotone) and getattr(self.learner, "atoms", "axis") != "axis":
            raise UnsupportedError("ranges and monotone channels are for atoms on one channel; use atoms='axis'")
        if getattr(self.learner, "preset", None) is not None:
            raise UnsupportedError("a preset is as its authors describe it, which knows of no prior")
        if (prior.ranges or prior.must_hold) and not data.classes:
            raise UnsupportedError("ranges and what must hold are for two classes; these labels are real numbers")
        for guess in getattr(self.learner, "guesses", ()):
            for stray in keeping(guess, prior):
                raise FernnError(f"the guess {guess} is against the prior: {stray}.")
        for formula in prior.must_hold:
            if direction(formula) != self._way():
                raise UnsupportedError(f"{formula} must hold and looks {direction(formula)}, the rule {self._way()}")

    def _way(self) -> str:
        template = self.prior.template or getattr(self.learner, "template", None)
        looks = direction(template) if template is not None else "now"
        return looks if looks != "now" else str(getattr(self.learner, "direction", "future"))

    def _directed(self, shown: Dataset) -> Learner:
        """The learner, with open atoms as the prior allows them."""
        asked: Any = self.learner
        template = self.prior.template or getattr(asked, "template", None)
        if template is not None:
            for stray in keeping(template, self.prior):
                raise FernnError(f"the template {template} is against the prior: {stray}.")
        if not self.prior.monotone:
            return cast(Learner, asked if template is None else replace(asked, template=template))
        if template is None:
            template = up_to_length(
                asked.max_length, asked.direction, asked.since, asked.intervals, getattr(asked, "pieces", PIECES)
            )
        return cast(Learner, replace(asked, template=one_way(template, self.prior, shown.channels)))

    def _papers(self, fit: Fit) -> dict[str, Any]:
        """The certificate says what was known; rivals are kept where they are those of the data as they are."""
        papers, more = dict(fit.papers), dict[str, Any]()
        if "certificate.json" in papers:
            proof = Certificate(papers["certificate.json"]).with_prior(self.prior.to_json())
            papers["certificate.json"] = proof.to_json()
            more = {"certificate": proof}
        if "rivals.json" in papers and (self.prior.must_hold or self.prior.ranges):
            del papers["rivals.json"]
            more |= {"rivals": None}
        return {"papers": papers, **more}


def seen(prior: Prior, data: Dataset) -> tuple[Dataset | None, npt.NDArray[np.int64]]:
    """The data as a learner gets them, None where no trace is left; and which cases they are."""
    held = np.ones(len(data), bool)
    for formula in prior.must_hold:
        held &= satisfied(formula, data)
    at = np.flatnonzero(held)
    if not len(at):
        return None, at
    kept = [name for name in data.channels if name not in prior.without]
    part = data.subset(at).select(kept)
    if not prior.ranges:
        return part, at
    ranges = [prior.ranges.get(name, Range()) for name in kept]
    low, high = (np.array([getattr(each, end) for each in ranges])[:, None] for end in ("low", "high"))
    return replace(part, values=tuple(np.clip(trace, low, high) for trace in part.values)), at


def one_way(template: Formula, prior: Prior, names: tuple[str, ...]) -> Formula:
    """The template whose open atoms read each channel only the way that the prior allows.

    Channels that are read alike share an open atom; where there are several kinds, it becomes a choice of them.
    """
    seen: dict[str, int] = {}
    for node in walk(template):
        if isinstance(node, AnyAtom):
            seen[node.name] = seen.get(node.name, 0) + 1

    def change(node: Formula) -> Formula:
        if not isinstance(node, AnyAtom):
            return node
        kinds: dict[tuple[Relation, ...], list[str]] = {}
        for name in node.channels or names:
            allowed = tuple(r for r in node.relations if r in prior.relations(name))
            if allowed:
                kinds.setdefault(allowed, []).append(name)
        made = [AnyAtom(f"{node.name}.{k}", tuple(kinds[kind]), kind) for k, kind in enumerate(kinds)]
        if len(made) > 1 and seen[node.name] > 1 and _is_shared(template, node):
            raise UnsupportedError(f"?{node.name} stands at several places, and channels differ in the way they may go")
        return made[0] if len(made) == 1 else AnyOf(tuple(made))

    if any(sign < 0 for node, sign in signed_atoms(template) if isinstance(node, AnyAtom)):
        raise UnsupportedError(f"monotone channels are for templates without negations before open atoms; {template}")
    return map_nodes(template, change)


def _is_shared(template: Formula, hole: AnyAtom) -> bool:
    """Whether one formula of the template has this open atom twice; in different options it may stand."""

    def times(node: Formula) -> int:
        if isinstance(node, AnyOf):
            return max(times(option) for option in node.options)
        return int(node == hole) + sum(times(child) for child in children(node))

    return times(template) > 1


@dataclass(frozen=True, eq=False)
class _Judge:
    """Makes of what was learned the whole rule, and judges it on all data."""

    prior: Prior
    data: Dataset
    weights: Floats
    at: npt.NDArray[np.int64]
    """The cases that were learned on."""

    def whole(self, learned: Formula) -> Formula:
        """With what must hold, and thresholds that rounding moved past an end of their range brought back."""

        def inside(node: Formula) -> Formula:
            if isinstance(node, Atom) and len(node.weights) == 1 and node.weights[0][0] in self.prior.ranges:
                name, weight = node.weights[0]
                within = self.prior.ranges[name]
                threshold = min(max(node.threshold / weight, within.low), within.high)
                if threshold == node.threshold / weight:
                    return node
                return Atom(node.weights, node.relation, threshold * weight)
            return node

        parts = [*self.prior.must_hold, *([] if learned == TRUE else [map_nodes(learned, inside)])]
        return simplify(reduce(And, parts)) if len(parts) > 1 else parts[0]

    def entry(self, found: Entry | None) -> Entry | None:
        """The whole rule with its exact errors; None where it does not keep to the prior."""
        formula = self.whole(TRUE if found is None else found.formula)
        if next(keeping(formula, self.prior), None) is not None:
            return None
        held = satisfied(formula, self.data)
        if any((held & ~satisfied(must, self.data)).any() for must in self.prior.must_hold):
            raise AssertionError(f"{formula} implies what must hold")
        wrong = losses(formula, self.data)
        train = float(np.average(wrong, weights=self.weights))
        if not self.prior.must_hold and not self.prior.ranges:
            return found
        kept = float(self.weights[self.at].sum() / self.weights.sum())
        others = np.ones(len(self.data), bool)
        others[self.at] = False
        fixed = float((wrong * self.weights)[others].sum() / self.weights.sum())
        validation, spread = (nan, nan) if found is None else (found.validation * kept + fixed, found.spread * kept)
        room = margin(formula, self.data, columns(self.data)) if len(self.data.classes) == 2 else nan
        return Entry(formula, length(formula), train, validation, spread, room)

    def front(self, found: Any) -> Front:
        first = [self.entry(None)] if self.prior.must_hold else []
        made = [entry for entry in (*first, *(self.entry(entry) for entry in found)) if entry is not None]
        kept: list[Entry] = []
        for entry in sorted(made, key=lambda entry: (entry.length, entry.train)):
            if entry.formula not in (TRUE, FALSE) and (not kept or entry.train < kept[-1].train - 1e-12):
                kept.append(entry)
        if not kept:
            raise DataError(
                f"no rule for {self.data.name} keeps to the prior. Widen its ranges, or allow more channels or lengths."
            )
        return Front(tuple(kept), picked(kept))


def _with(progress: Progress, judge: _Judge) -> Progress:
    return replace(progress, front=judge.front(progress.front))


def informed(learner: Learner, prior: Prior | None) -> Learner:
    """The learner, kept to what is known; itself where nothing is."""
    return learner if prior is None or prior == Prior() else Informed(learner, prior)
