"""Constraints on a rule: what is known before any data, what the data say against it, a learner that keeps to it.

A constrained learner is given the data as the prior lets it see them, and a template as the prior allows:

    without      the channels are not there
    ranges       values are cut off at the ends. For low < c <= high, v >= c says the same of a value and of the value
                 cut off, so nothing is lost, and a threshold between two values lies in the range
    must_hold    only the traces of which it holds: the others are judged bad whatever is learned. What must hold is
                 joined to what is learned on these, and no better rule of that form is missed
    monotone     open atoms read each channel one way only

Every formula is checked against the prior at the end, and judged on the data as they are.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from math import inf, isnan, nan
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats, Ints
from ..data.problems import plural, quote_names, unknown_channel
from ..errors import (
    DataError,
    FernnError,
    FernnWarning,
    FormulaError,
    UnsupportedError,
    convert_errors,
    describe_error,
    short_repr,
)
from ..formula import FALSE, TRUE, And, Atom, Formula, channels, direction, length, parse, simplify
from ..formula.json_fields import as_number, as_object, as_text, read_json
from ..formula.measures import map_nodes
from ..formula.nodes import AnyAtom, AnyOf, Implies, Not, Relation, children, walk
from ..formula.printer import format_number
from ..formula.printer import format_number as digits
from ..formula.templates import require_closed, up_to_length
from ..semantics import satisfied
from .base import Entry, Fit, Front, Learner, Progress, Watch, check_weights, losses, select_entry, silent
from .enumerative.candidates import columns
from .enumerative.certificate import Certificate
from .enumerative.threshold_margins import margin

Way = Literal["larger is worse", "larger is better"]


@dataclass(frozen=True, slots=True)
class Range:
    """Where the thresholds of a channel may lie, both ends included; `unit` is that of the channel, if said."""

    low: float = -inf
    high: float = inf
    unit: str | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if isnan(self.low) or isnan(self.high) or not self.low < self.high:
            raise FernnError(
                f"a range goes from a smaller to a larger number, found {digits(self.low)} to {digits(self.high)}."
            )

    def __str__(self) -> str:
        return f"{digits(self.low)} to {digits(self.high)}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True)
class Prior:
    """What the rule must keep to; empty fields ask for nothing."""

    must_hold: tuple[Formula, ...] = ()
    without: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    monotone: Mapping[str, Way] = field(default_factory=dict)
    template: Formula | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for formula in self.must_hold:
            if direction(require_closed(formula)) not in ("past", "future"):
                raise FormulaError(f"what must hold looks back or ahead, as in G (v <= 60); found {formula}")
        for channel, way in self.monotone.items():
            if way not in get_args(Way):
                raise FernnError(f"{channel} is {' or '.join(map(repr, get_args(Way)))}; found {way!r}.")
        named = {
            "must_hold": [*self.must_hold],
            "template": [self.template] if self.template is not None else [],
        }
        for place, formulas in named.items():
            for formula in formulas:
                for stray in violations(formula, self):
                    raise FernnError(f"{place} {formula} is against the rest of the prior: {stray}.")
        for place in ("ranges", "monotone"):
            for channel in getattr(self, place):
                if channel in self.without:
                    raise FernnError(f"{place} speaks of {channel!r}, which the rule is to do without.")

    def relations(self, channel: str, sign: int = 1) -> tuple[Relation, ...]:
        """The comparisons that an atom on this channel may have; under a negation `sign` is -1."""
        way = self.monotone.get(channel)
        if way is None:
            return (">=", "<=", ">", "<")
        return ("<=", "<") if (way == "larger is worse") == (sign > 0) else (">=", ">")

    @classmethod
    def from_json(cls, data: Any, dt: float | None = None) -> Prior:
        """From plain data, as a TOML or JSON file has them, or `to_json`; `dt` is that of `parse`."""
        with convert_errors(FernnError, "this is no prior"):
            known = [each.name for each in fields(cls)]
            for name in as_object(data):
                if name not in known:
                    raise FernnError(f"a prior has {', '.join(known)}; found {name!r:.40}.")
            template = data.get("template")
            return cls(
                tuple(parse(said, dt) for said in _read_list(data.get("must_hold", []), "must_hold")),
                tuple(as_text(name) for name in _read_list(data.get("without", []), "without")),
                {name: _range(row) for name, row in as_object(data.get("ranges", {})).items()},
                {name: as_text(way) for name, way in as_object(data.get("monotone", {})).items()},  # type: ignore[misc]
                None if template is None else parse(template, dt),
            )

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal prior."""
        ends = {name: (None if r.low == -inf else r.low, None if r.high == inf else r.high, r.unit)
                for name, r in self.ranges.items()}  # fmt: skip
        return {
            "must_hold": [str(formula) for formula in self.must_hold],
            "without": list(self.without),
            "ranges": {name: dict(zip(("low", "high", "unit"), end, strict=True)) for name, end in ends.items()},
            "monotone": dict(self.monotone),
            "template": None if self.template is None else str(self.template),
        }


def read_prior(path: str | Path, dt: float | None = None) -> Prior:
    """From a TOML file, or a JSON file if its name ends so; or from the JSON object itself.

    Windows in its formulas count samples, or time units of `dt` per sample when `dt` is given.
    """
    if isinstance(path, str) and path.lstrip().startswith("{"):
        try:
            return Prior.from_json(read_json(path.encode("utf-8")), dt)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path[:60]} is not JSON ({describe_error(error)}), so it is no prior.") from None
    path = Path(path)
    try:
        content = path.read_bytes()
        data = read_json(content) if path.suffix.lower() == ".json" else tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). Check the path.") from None
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix.lower() == ".json" else "TOML"
        raise DataError(f"{path} is not {kind} ({describe_error(error)}), so it is no prior.") from None
    try:
        return Prior.from_json(data, dt)
    except FernnError as error:
        raise DataError(f"{path}: {error}") from None


def violations(formula: Formula, prior: Prior) -> Iterator[str]:
    """What in a formula, or a template, is against the prior; nothing where it keeps to it.

    That it implies what must hold is not looked at here: `informed` joins that to what is learned.
    """
    for node, sign in atoms_with_sign(formula):
        forbidden = [name for name in node.channels if name in prior.without]
        if forbidden:
            yield f"it reads {forbidden[0]!r}, which it is to do without"
        if isinstance(node, AnyAtom):
            for name in node.channels:
                if not set(node.relations) & set(prior.relations(name, sign)):
                    yield f"?{node.name} may bound {name} the wrong way only, where {prior.monotone[name]}"
            continue
        for name, weight in node.plain:
            up = node.relation if weight > 0 else {">=": "<=", "<=": ">=", ">": "<", "<": ">"}[node.relation]
            if up not in prior.relations(name, sign):
                yield f"{node} bounds {name} the wrong way, where {prior.monotone[name]}"
            within = prior.ranges.get(name)
            if within is not None and len(node.weights) > 1:
                yield f"{node} is no threshold on {name} alone, whose thresholds are to be from {within}"
            elif within is not None and not within.low <= node.threshold / weight <= within.high:
                yield f"{node} is outside of {within}"


def atoms_with_sign(formula: Formula, sign: int = 1) -> Iterator[tuple[Atom | AnyAtom, int]]:
    """Every atom, with -1 where it stands under an odd number of negations."""
    if isinstance(formula, (Atom, AnyAtom)):
        yield formula, sign
    for place, child in enumerate(children(formula)):
        turned = isinstance(formula, Not) or (isinstance(formula, Implies) and place == 0)
        yield from atoms_with_sign(child, -sign if turned else sign)


def _read_list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{what} is a list, found {value!r:.40}")
    return value


def _range(row: Any) -> Range:
    if isinstance(row, list):
        low, high = row
        return Range(as_number(low), as_number(high))
    data = as_object(row)
    if strange := set(data) - {"low", "high", "unit"}:
        raise ValueError(f"a range has low, high and unit, found {strange.pop()!r}")
    ends = (data.get("low"), -inf), (data.get("high"), inf)
    low, high = (other if end is None else as_number(end) for end, other in ends)
    return Range(low, high, None if data.get("unit") is None else as_text(data["unit"]))


REVERSED_SHARE = 0.75
"""Share of pairs of a good and a bad trace that are the other way round from which a monotone channel is doubted."""


def contradictions(prior: Prior, data: Dataset) -> Iterator[str]:
    """What the data say against the prior; what makes the prior meaningless for them is a DataError."""
    _check_names(prior, data)
    for formula in prior.must_hold:
        yield from _report_violations(formula, data)
    for name, within in prior.ranges.items():
        yield from _report_unit(name, within)
        yield from _report_outside(name, within, data)
    if len(data.classes) == 2:
        for name in prior.monotone:
            yield from _report_reversed(name, prior, data)


def _check_names(prior: Prior, data: Dataset) -> None:
    read = [name for formula in (*prior.must_hold, prior.template) if formula is not None for name in channels(formula)]
    said = {"without": prior.without, "ranges": prior.ranges, "monotone": prior.monotone}
    for place, names in (("a formula of the prior", read), *said.items()):
        for name in names:
            if name not in data.channels:
                raise DataError(f"{unknown_channel(name, data.channels, f'{data.name} has', f'{place} names')}.")
    if set(data.channels) <= set(prior.without):
        raise DataError(f"the rule is to do without every channel of {data.name}: {quote_names(prior.without)}.")


def _report_violations(formula: Formula, data: Dataset) -> Iterator[str]:
    """Good traces of which it does not hold."""
    if len(data.classes) != 2:
        return
    broken = [data.cases[i] for i in np.flatnonzero(data.positive & ~satisfied(formula, data))]
    if broken:
        good = int(data.positive.sum())
        yield (
            f"{formula} must hold, but {len(broken)} of {plural(good, 'good trace')} of {data.name} "
            f"violate{'s' * (len(broken) == 1)} it: {quote_names(broken, 5)}. The rule will judge them bad."
        )


def _report_outside(name: str, within: Range, data: Dataset) -> Iterator[str]:
    """Recorded values that the range leaves out."""
    row = data.channels.index(name)
    values = np.concatenate([trace[row] for trace in data.values])
    beyond = int(((values < within.low) | (values > within.high)).sum())
    if values.max() <= within.low or values.min() >= within.high:
        raise DataError(
            f"thresholds on {name} are to be from {within}, but all of it is recorded from "
            f"{format_number(values.min())} to {format_number(values.max())}: no such "
            "threshold tells two traces apart. Check the range, and its unit."
        )
    if beyond:
        yield (
            f"thresholds on {name} are to be from {within}; {beyond} of {len(values)} samples are recorded outside, "
            f"from {format_number(values.min())} to {format_number(values.max())}. They count as they are, "
            "thresholds stay inside."
        )


def _report_unit(name: str, within: Range) -> Iterator[str]:
    """The unit of the range against that in the name of the channel: `v [m/s]`, `speed (km/h)`."""
    if within.unit is None:
        return
    said = re.search(r"[\[(]([^\])]+)[\])]\s*$", name)
    if said is None:
        yield f"the range of {name} is in {within.unit}; the data do not say in which unit {name} is."
    elif said[1].strip() != within.unit.strip():
        raise DataError(
            f"the range of {name!r} is in {within.unit}, its name says {said[1].strip()}. Convert the range."
        )


def _report_reversed(name: str, prior: Prior, data: Dataset) -> Iterator[str]:
    """A channel whose mean is mostly on the other side than the prior says."""
    row = data.channels.index(name)
    means = np.array([trace[row].mean() for trace in data.values])
    good, bad = means[data.positive], means[~data.positive]
    if not len(good) or not len(bad):
        return
    larger = float((good[:, None] > bad).mean() + (good[:, None] == bad).mean() / 2)
    wrong = larger if prior.monotone[name] == "larger is worse" else 1 - larger
    if wrong > REVERSED_SHARE:
        side = "larger" if prior.monotone[name] == "larger is worse" else "smaller"
        yield (
            f"{name}: {prior.monotone[name]}, but in {wrong:.0%} of the pairs of a good and a bad trace the good one "
            f"has the {side} mean of {name}."
        )


PIECES = 2
"""Spans of a window, where the learner does not say how many."""


@dataclass(frozen=True)
class ConstrainedLearner:
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
        shown, at = restrict_data(self.prior, data)
        given = check_weights(data, weights)
        judge = _ConstrainedScorer(self.prior, data, given, at)
        if shown is None or (data.classes and len(np.unique(cast(Any, shown.labels))) < 2):  # all is said
            return Fit(judge.front([]), 0.0, "done", {"schema": 1, "seconds": 0.0}, remarks=remarks)
        told: Watch = lambda progress: watch(_constrain_progress(progress, judge))  # noqa: E731
        keyed: dict[str, Any] = {} if weights is None else {"weights": given[at]}
        fit = cast(Any, self._directed(shown)).fit(shown, told, resume, **keyed)
        return cast(
            Fit, replace(fit, front=judge.front(fit.front), remarks=(*remarks, *fit.remarks), **self._artifacts(fit))
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
            for stray in violations(guess, prior):
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
            for stray in violations(template, self.prior):
                raise FernnError(f"the template {template} is against the prior: {stray}.")
        if not self.prior.monotone:
            return cast(Learner, asked if template is None else replace(asked, template=template))
        if template is None:
            template = up_to_length(
                asked.max_length, asked.direction, asked.since, asked.intervals, getattr(asked, "pieces", PIECES)
            )
        return cast(Learner, replace(asked, template=restrict_template(template, self.prior, shown.channels)))

    def _artifacts(self, fit: Fit) -> dict[str, Any]:
        """The certificate says what was known; rivals are kept where they are those of the data as they are."""
        artifacts, more = dict(fit.artifacts), dict[str, Any]()
        if "certificate.json" in artifacts:
            proof = Certificate(artifacts["certificate.json"]).with_prior(self.prior.to_json())
            artifacts["certificate.json"] = proof.to_json()
            more = {"certificate": proof}
        if "rivals.json" in artifacts and (self.prior.must_hold or self.prior.ranges):
            del artifacts["rivals.json"]
            more |= {"rivals": None}
        return {"artifacts": artifacts, **more}


def restrict_data(prior: Prior, data: Dataset) -> tuple[Dataset | None, Ints]:
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


def restrict_template(template: Formula, prior: Prior, names: tuple[str, ...]) -> Formula:
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

    if any(sign < 0 for node, sign in atoms_with_sign(template) if isinstance(node, AnyAtom)):
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
class _ConstrainedScorer:
    """Makes of what was learned the whole rule, and judges it on all data."""

    prior: Prior
    data: Dataset
    weights: Floats
    at: Ints
    """The cases that were learned on."""

    def whole(self, learned: Formula) -> Formula:
        """With what must hold, and thresholds that rounding moved past an end of their range brought back."""

        def inside(node: Formula) -> Formula:
            if isinstance(node, Atom) and len(node.weights) == 1 and node.plain[0][0] in self.prior.ranges:
                name, weight = node.plain[0]
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
        if next(violations(formula, self.prior), None) is not None:
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
        return Front(tuple(kept), select_entry(kept))


def _constrain_progress(progress: Progress, judge: _ConstrainedScorer) -> Progress:
    return replace(progress, front=judge.front(progress.front))


def constrain(learner: Learner, prior: Prior | None) -> Learner:
    """The learner, kept to what is known; itself where nothing is."""
    return learner if prior is None or prior == Prior() else ConstrainedLearner(learner, prior)
