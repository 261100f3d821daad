"""What is known of a rule before any data is seen.

    must_hold = ["G (v <= 60)"]            the rule says at least this
    without = ["w"]                        channels that it does not read
    template = "G ?p | F ?q"               what it looks like

    [ranges]
    v = [0, 40]                            thresholds on v lie here; with a unit: {low = 0, high = 40, unit = "m/s"}

    [monotone]
    v = "larger is worse"                  the rule has only upper bounds on v: `v <= c`, not `v >= c`

A file of TOML, or the same as JSON. `informed` makes a learner keep to it; `keeping` says whether a formula does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from math import inf, isnan
from pathlib import Path
from typing import Any, Literal, get_args

from ..errors import DataError, FernnError, FormulaError, convert_errors, describe_error, short_repr
from ..formula import Atom, Formula, direction, parse
from ..formula.json_fields import as_number, as_object, as_text, read_json
from ..formula.nodes import AnyAtom, Implies, Not, Relation, children
from ..formula.printer import format_number as digits
from ..formula.templates import require_closed

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
                for stray in keeping(formula, self):
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
                tuple(parse(said, dt) for said in _listed(data.get("must_hold", []), "must_hold")),
                tuple(as_text(name) for name in _listed(data.get("without", []), "without")),
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


def keeping(formula: Formula, prior: Prior) -> Iterator[str]:
    """What in a formula, or a template, is against the prior; nothing where it keeps to it.

    That it implies what must hold is not looked at here: `informed` joins that to what is learned.
    """
    for node, sign in signed_atoms(formula):
        forbidden = [name for name in node.channels if name in prior.without]
        if forbidden:
            yield f"it reads {forbidden[0]!r}, which it is to do without"
        if isinstance(node, AnyAtom):
            for name in node.channels:
                if not set(node.relations) & set(prior.relations(name, sign)):
                    yield f"?{node.name} may bound {name} the wrong way only, where {prior.monotone[name]}"
            continue
        for name, weight in node.weights:
            up = node.relation if weight > 0 else {">=": "<=", "<=": ">=", ">": "<", "<": ">"}[node.relation]
            if up not in prior.relations(name, sign):
                yield f"{node} bounds {name} the wrong way, where {prior.monotone[name]}"
            within = prior.ranges.get(name)
            if within is not None and len(node.weights) > 1:
                yield f"{node} is no threshold on {name} alone, whose thresholds are to be from {within}"
            elif within is not None and not within.low <= node.threshold / weight <= within.high:
                yield f"{node} is outside of {within}"


def signed_atoms(formula: Formula, sign: int = 1) -> Iterator[tuple[Atom | AnyAtom, int]]:
    """Every atom, with -1 where it stands under an odd number of negations."""
    if isinstance(formula, (Atom, AnyAtom)):
        yield formula, sign
    for place, child in enumerate(children(formula)):
        turned = isinstance(formula, Not) or (isinstance(formula, Implies) and place == 0)
        yield from signed_atoms(child, -sign if turned else sign)


def _listed(value: Any, what: str) -> list[Any]:
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
