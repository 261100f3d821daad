"""What a search can prove, as a file that others can check.

The file has the settings of the search, how far it came, and the errors found. Everything else in it follows from
these: whether the search was complete, up to which length it is certain, and the sentence that says so. Both the
search and the check make these by the functions here, so that what a file says of itself is never repeated unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats
from ...data.options import validate_options
from ...errors import DataError, convert_errors, short_repr
from ...formula import Formula, length, mirror
from ...formula.json_fields import as_bool, as_fields, as_finite, as_int, as_object, as_objects, as_text
from ...semantics import satisfied
from ..signals import parse_expression
from .exploration import MAX_LENGTH, MAX_TEMPLATE_LENGTH, Exploration

SCHEMA = 2
BEST = "No formula of this space makes fewer errors on this data."
NOTE = "certificate: "
"""How the note of a run begins that repeats the statement."""
MOST = 10**18
"""No count in a certificate is larger."""
LIGHT = 1e-5
"""Weighted errors that differ by less need not be told apart."""

_TOP = (
    "schema",
    "certified",
    "certain",
    "statement",
    "data",
    "space",
    "lengths",
    "least",
    "unavoidable",
    "best",
    "front",
)
_ORIGIN = ("split", "reading", "fernn", "prior", "signals")
_DATA = ("name", "fingerprint", "cases", "weight", "weights")
_SPACE = (
    "direction", "max_length", "template", "since", "negation", "intervals", "pieces", "next", "windows", "thresholds",
    "grid", "every_gap", "differences", "atoms", "max_misses", "max_false_alarms",
)  # fmt: skip
_ROW = ("length", "generated", "merged", "bounded", "scored", "dropped")
_FOUND = ("length", "error", "misjudged", "formula")


@dataclass(frozen=True)
class Certificate:
    """Plain data: which space was searched on which data, what became of every formula, and what follows."""

    content: Mapping[str, Any]

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.statement

    @property
    def holds(self) -> bool:
        """Whether the search was complete."""
        return derive_outcome(self.content).certified

    @property
    def statement(self) -> str:
        """What the certificate says, composed from its fields whatever its text is."""
        return compose_statement(self.content)

    @property
    def error(self) -> float:
        """The weighted error of the best formula."""
        return float(self.content["best"]["error"])

    @property
    def note(self) -> str:
        """The statement, and how many formulas the search says that it made, for the notes of a run."""
        generated = sum(row["generated"] for row in self.content["lengths"])
        return f"{NOTE}{self.statement} ({generated:,} formulas)"

    def to_json(self) -> dict[str, Any]:
        return dict(self.content)

    @classmethod
    def from_json(cls, content: Any) -> Certificate:
        """From plain data: every field there is, of its kind and in its range, and no other.

        Whether the fields agree with each other and with the data is for `audit` to say.
        """
        with convert_errors(DataError, "this is no certificate of fernn"):
            if "statement" in as_object(content) and content.get("schema") != SCHEMA:
                raise DataError(
                    f"a certificate of schema {content.get('schema')!r:.40}, this fernn reads schema {SCHEMA}. "
                    "Learn again with the same settings to have one that can be checked."
                )
            _check_fields(content)
            return cls(content)

    def with_prior(self, prior: Mapping[str, Any]) -> Certificate:
        """The same of data as a prior shows them."""
        content = {**self.content, "prior": dict(prior)}
        return Certificate({**content, "statement": compose_statement(content)})

    def with_signals(self, signals: Iterable[str]) -> Certificate:
        """The same of data with these expressions as further channels, each of which counts as one condition."""
        content = {**self.content, "signals": list(signals)}
        return Certificate({**content, "statement": compose_statement(content)})


def _check_fields(content: Any) -> None:
    """A TypeError or a ValueError where a field is missing, unknown, of another kind or out of its range."""
    as_fields(content, _TOP, _ORIGIN)
    _from_to(content["schema"], SCHEMA, SCHEMA)
    as_bool(content["certified"]), as_text(content["statement"])
    data = as_fields(content["data"], _DATA)
    as_text(data["name"]), as_text(data["fingerprint"]), as_int(data["cases"], 1)
    as_finite(data["weight"], 0)
    if data["weights"] is not None:
        weights = [as_finite(weight, 0, 1e6) for weight in _list(data["weights"])]
        if len(weights) != data["cases"]:
            raise ValueError(f"it has {len(weights)} weights for {data['cases']} traces")
        if not max(weights) >= 1e-3:
            raise ValueError("the largest weight is 0.001 or more")
    _check_space(content["space"])
    longest = content["space"]["max_length"]
    _from_to(content["certain"], 0, longest)
    for row in as_objects(content["lengths"]):
        as_fields(row, _ROW)
        for name in _ROW:
            _from_to(row[name], 0, longest if name == "length" else MOST)
    for key, least in as_object(content["least"]).items():
        if key not in map(str, range(1, longest + 1)):
            raise ValueError(f"least has errors by length, from 1 to {longest}; found {key!r:.40}")
        as_finite(least, 0)
    as_finite(content["unavoidable"], 0)
    _check_found(content["best"], longest, ("share",))
    as_finite(content["best"]["share"], 0, 1)
    if not as_objects(content["front"]):
        raise ValueError("its front is empty")
    for row in content["front"]:
        _check_found(row, longest)
    _check_origin(content)


def _check_space(space: Any) -> None:
    as_fields(space, _SPACE)
    for name, allowed in (("direction", ("future", "past")), ("thresholds", ("exact", "grid"))):
        if as_text(space[name]) not in allowed:
            raise ValueError(f"{name} is {' or '.join(allowed)}, found {space[name]!r:.40}")
    for name in ("since", "negation", "intervals", "next", "every_gap", "differences"):
        as_bool(space[name])
    _from_to(space["max_length"], 1, MAX_LENGTH if space["template"] is None else MAX_TEMPLATE_LENGTH)
    _from_to(space["pieces"], 1, 2)
    if space["template"] is not None:
        as_text(space["template"])
    if (space["grid"] is None) != (space["thresholds"] == "exact"):
        raise ValueError("grid is the number of thresholds of a grid, and null where thresholds are exact")
    if space["grid"] is not None:
        _from_to(space["grid"], 1, MOST)
    for over in _list(space["windows"]):
        as_text(over)
    for row in as_objects(space["atoms"]):
        as_fields(row, ("sum", "relation", "thresholds"))
        as_text(row["relation"])
        for term in _list(row["sum"]):
            name, weight = _list(term)
            as_text(name), as_finite(weight)
        for threshold in _list(row["thresholds"]):
            as_finite(threshold)
    for name in ("max_misses", "max_false_alarms"):
        if space[name] is not None:
            as_finite(space[name], 0, 1)


def _check_found(row: Any, longest: int, more: tuple[str, ...] = ()) -> None:
    as_fields(row, (*_FOUND, *more))
    _from_to(row["length"], 1, longest)
    as_finite(row["error"], 0), _from_to(row["misjudged"], 0, MOST)
    as_text(row["formula"])


def _check_origin(content: Any) -> None:
    validate_options(content.get("reading", {}))
    as_text(content.get("fernn", ""))
    as_object(content.get("prior", {}))
    for text in _list(content.get("signals", [])):
        parse_expression(as_text(text))
    if "split" in content:
        split = as_fields(content["split"], ("test", "seed"))
        as_finite(split["test"], 0, 1), _from_to(split["seed"], 0, MOST)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, found {type(value).__name__}")
    return value


def _from_to(value: Any, least: int, most: int) -> int:
    if as_int(value, least) > most:
        raise ValueError(f"a whole number from {least} to {most} was expected, found a larger one")
    return int(value)


@dataclass(frozen=True)
class CertificateOutcome:
    """What follows from how far a search came."""

    reached: int
    """The last length gone through."""
    dropped: int
    """Formulas that did not fit into memory."""
    at_floor: bool
    """Whether the best formula errs no more than every rule must."""
    certified: bool
    """Whether nothing in the space errs less."""
    certain: int
    """Up to which length that is known."""

    __repr__ = short_repr


def derive_outcome(content: Mapping[str, Any]) -> CertificateOutcome:
    """From the lengths gone through, what was dropped, the best error and the one that cannot be avoided."""
    space, found = content["space"], content["lengths"]
    reached = max((row["length"] for row in found), default=0)
    lost = [row["length"] for row in found if row["dropped"]]
    at_floor = bool(content["best"]["error"] <= content["unavoidable"] + 1e-9)
    certified = at_floor or (reached >= space["max_length"] and not lost)
    if certified:
        certain = space["max_length"]
    elif space["template"] is not None:
        certain = 0 if lost else reached
    else:  # formulas of length n are made of parts up to n - 2
        certain = min([reached, *(n + 1 for n in lost)])
    return CertificateOutcome(reached, sum(row["dropped"] for row in found), at_floor, certified, certain)


def compose_statement(content: Mapping[str, Any]) -> str:
    """What the fields of a certificate say, in words."""
    return " ".join([_claim(content), *_remarks(content)])


def _claim(content: Mapping[str, Any]) -> str:
    found = derive_outcome(content)
    if found.certified and not content["best"]["misjudged"]:
        return BEST + " It makes none."
    if found.certified and found.at_floor:
        return BEST + " Nor does any other rule: the errors left are traces that are alike but labelled differently."
    if found.certified:
        return BEST
    cut = f"the search ended before length {found.reached + 1}"
    why = f"{found.dropped} formulas did not fit into memory" if found.dropped else cut
    if found.certain < 1:
        return f"Nothing is certain: {why}."
    short = f"No formula of length {found.certain} or less makes fewer errors on this data."
    return f"{short} Beyond that nothing is certain: {why}."


def _remarks(content: Mapping[str, Any]) -> Iterator[str]:
    """What the claim is about, where that is not plain."""
    space, weights = content["space"], content["data"]["weights"]
    if space["thresholds"] == "grid":
        yield "The thresholds of the space are those of a grid."
    limits = ("max_misses", "max_false_alarms")
    given = [f"{name}={space[name]:g}" for name in limits if space[name] is not None]
    if given:
        yield f"Formulas that pass a limit ({', '.join(given)}) do not count."
    if weights is not None:
        positive = [weight for weight in weights if weight > 0]
        none = len(weights) - len(positive)
        without = f"; {none} of {len(weights)} do not count" if none else ""
        yield f"Traces count with weights from {min(positive):g} to {max(positive):g}{without}."
        if min(positive) < LIGHT:
            yield f"Weighted errors that differ by less than {LIGHT:g} count as equal."
    if content.get("signals"):
        yield f"Each of these signals counts as a channel: {', '.join(content['signals'])}."
    if "prior" in content:
        yield "The data are as the prior shows them."


def describe_space(content: Mapping[str, Any]) -> str:
    """Which formulas the claim is about, in a line."""
    space = content["space"]
    atoms = sum(len(row["thresholds"]) for row in space["atoms"])
    kind = "every threshold that matters" if space["thresholds"] == "exact" else f"a grid of {space['grid']} a channel"
    about = f"{atoms:,} conditions ({kind}{', also differences of channels' if space['differences'] else ''})"
    if space["template"] is not None:
        return f"formulas of {space['template']} with {about}"
    until, way = ("U", "ahead") if space["direction"] == "future" else ("S", "back")
    parts = [
        f"formulas up to length {space['max_length']} that look {way}",
        f"{'with' if space['since'] else 'without'} {until}",
    ]
    parts += [f"with !(a {until} b)"] if space["negation"] else []
    parts += [f"over all time and {len(space['windows'])} windows"] if space["windows"] else ["over all time"]
    return f"{', '.join(parts)}, of {about}"


def list_contradictions(content: Mapping[str, Any]) -> Iterator[str]:
    """Where the fields of a certificate do not agree with each other; nothing of it needs the data."""
    space, data, found = content["space"], content["data"], derive_outcome(content)
    longest, near = space["max_length"], tolerance(data["weight"])
    gone = [row["length"] for row in content["lengths"]]
    if gone != (list(range(1, len(gone) + 1)) if space["template"] is None else [longest][: len(gone)]):
        yield "lengths do not follow each other"
    for row in content["lengths"]:
        if row["merged"] + row["bounded"] + row["scored"] != row["generated"]:
            yield f"of length {row['length']}, merged, bounded and scored formulas are not all that were generated"
    weights = data["weights"]
    if weights is not None and all(weight == 1 for weight in weights):
        yield "its weights are all 1, which is to be left out"
    if abs(data["weight"] - (data["cases"] if weights is None else sum(weights))) > near:
        yield f"the weight of all traces is not {data['weight']:g}"
    known = sorted((int(n), least) for n, least in content["least"].items())
    if any(n > min(found.certain, found.reached) for n, _ in known):
        yield f"it has least errors of lengths beyond {min(found.certain, found.reached)}, which is not gone through"
    if any(after >= before for (_, before), (_, after) in pairwise(known)):
        yield "the least error of a length is not less than that of shorter ones"
    rows = content["front"]
    if any(a["length"] >= b["length"] or a["error"] <= b["error"] for a, b in pairwise(rows)):
        yield "the front does not grow in length and fall in error"
    for n, least in known:
        if min((row["error"] for row in rows if row["length"] <= n), default=inf) > least + near:
            yield f"a formula of length {n} is said to err {least:g}, and the front has none such"
    best = content["best"]
    if {name: best[name] for name in rows[-1]} != rows[-1]:
        yield "the best formula is not the last of the front"
    if abs(best["share"] * data["weight"] - best["error"]) > near:
        yield f"the share of errors is not {best['share']:g}"
    if content["certified"] != found.certified or content["certain"] != found.certain:
        yield (
            f"it is said to be {'' if content['certified'] else 'not '}certified and certain up to length "
            f"{content['certain']}, by the lengths gone through it is certain up to {found.certain}"
        )
    if content["statement"] != compose_statement(content):
        yield f"the statement is not what follows from the search, which is: {compose_statement(content)}"


def tolerance(total: float) -> float:
    """How far sums of weights may be apart by rounding."""
    return 1e-6 + 1e-12 * total


def make_certificate(
    explored: Exploration,
    front: Sequence[tuple[Formula, float]],
    reached: int,
    floor: float,
    about: tuple[Dataset, Floats],
    settings: Mapping[str, Any],
) -> Certificate:
    """Of an exploration whose stages up to length `reached` are done.

    `front` has formulas and their weighted errors, the best last; where the thresholds of a grid were refined they
    may err less than anything in the space. `about` has all traces and what each counts, those that do not count
    included. `settings` are the limits, and which windows are tried where there is no template.
    """
    space, (data, weights) = explored.space, about
    counted = data.subset(weights > 0)
    found: list[dict[str, Any]] = []
    for said, wrong in front:
        if not found or wrong < found[-1]["error"]:  # not where only rounding told them apart
            row = {"length": length(said), "error": wrong, "misjudged": _count_errors(said, counted)}
            found.append({**row, "formula": str(said)})
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "data": {
            "name": data.name,
            "fingerprint": data.fingerprint,
            "cases": len(data),
            "weight": float(weights.sum()),
            "weights": None if (weights == 1).all() else weights.tolist(),
        },
        "space": {
            "direction": "future" if explored.ground.layout.future else "past",
            "max_length": space.longest,
            "template": _template(explored),
            "since": space.since,
            "negation": space.negation,
            **settings,
            "windows": [str(over) for over in space.list_windows(int(counted.lengths.max()))],
            "thresholds": space.thresholds,
            "grid": space.grid if space.thresholds == "grid" else None,
            "every_gap": space.every,
            "differences": space.differences,
            "atoms": space.list_atoms(explored.columns),
        },
        "lengths": [
            {"length": n, **asdict(row), "dropped": explored.dropped.get(n, 0)}
            for n, row in sorted(explored.counts.items())
            if n <= reached
        ],
        "unavoidable": float(floor),
        "best": {**found[-1], "share": found[-1]["error"] / float(weights.sum())},
        "front": found,
    }
    outcome = derive_outcome(content)
    certain = min(outcome.certain, outcome.reached)
    content["least"] = {str(n): least for n, least in sorted(explored.best.items()) if n <= certain}
    content |= {"certified": outcome.certified, "certain": outcome.certain, "statement": compose_statement(content)}
    return Certificate({name: content[name] for name in _TOP})


def _count_errors(formula: Formula, data: Dataset) -> int:
    """How many traces it judges wrongly."""
    return int((np.asarray(satisfied(formula, data)) != data.positive).sum())


def _template(explored: Exploration) -> str | None:
    template = explored.space.template
    if template is None:
        return None
    return str(mirror(template) if explored.ground.layout.future else template)
