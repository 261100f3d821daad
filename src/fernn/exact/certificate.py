"""What a search can prove, as a file that others can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import DataError
from ..formula import Atom, Formula, length, mirror
from .exploring import Exploration

SCHEMA = 1
BEST = "No formula of this space makes fewer errors on this data."


@dataclass(frozen=True)
class Certificate:
    """Plain data: which space was searched on which data, what became of every formula, and what follows."""

    content: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """Whether the search was complete."""
        return bool(self.content["certified"])

    @property
    def statement(self) -> str:
        return str(self.content["statement"])

    @property
    def error(self) -> float:
        """The weighted error of the best formula."""
        return float(self.content["best"]["error"])

    def to_json(self) -> dict[str, Any]:
        return dict(self.content)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Certificate:
        needed = {"schema", "certified", "statement", "data", "space", "lengths", "best"}
        if not isinstance(content, Mapping) or not needed <= content.keys():
            raise DataError("this is no certificate of fernn: it lacks " + ", ".join(sorted(needed - set(content))))
        if content["schema"] != SCHEMA:
            raise DataError(f"a certificate of schema {content['schema']}, this fernn reads schema {SCHEMA}.")
        return cls(content)


def certificate(
    explored: Exploration,
    front: Sequence[tuple[Formula, float]],
    reached: int,
    floor: float,
    settings: Mapping[str, Any],
) -> Certificate:
    """Of an exploration whose stages up to length `reached` are done.

    `front` has formulas and their weighted errors, the best last; where the thresholds of a grid were refined they
    may err less than anything in the space.
    """
    space, ground = explored.space, explored.ground
    dropped = sum(explored.dropped.values())
    formula, least = front[-1]
    at_floor = bool(least <= floor + 1e-9)
    certified = at_floor or (reached >= space.longest and not dropped)
    sure = space.longest if certified else max((n for n in explored.counts if not _lost(explored, n)), default=0)
    content = {
        "schema": SCHEMA,
        "certified": certified,
        "statement": _statement(certified, at_floor, least, sure, reached, dropped),
        "data": {
            "name": ground.data.name,
            "fingerprint": ground.data.fingerprint,
            "cases": len(ground.data),
            "weight": ground.total,
            "weights": None if (ground.weights == 1).all() else ground.weights.tolist(),
        },
        "space": {
            "direction": "future" if ground.layout.future else "past",
            "max_length": space.longest,
            "template": _template(explored),
            "since": space.since,
            "negation": space.negation,
            "windows": [str(over) for over in space.windows],
            "thresholds": space.thresholds,
            "every_threshold": space.thresholds == "exact",
            "atoms": _listed(explored.atoms),
            **settings,
        },
        "lengths": [
            {"length": n, **asdict(counts), "dropped": explored.dropped.get(n, 0), "best": explored.best.get(n)}
            for n, counts in sorted(explored.counts.items())
        ],
        "unavoidable": float(floor),
        "best": {
            "error": least,
            "share": least / ground.total,
            "length": length(formula),
            "formula": str(formula),
        },
        "front": [{"length": length(said), "error": error, "formula": str(said)} for said, error in front],
    }
    return Certificate(content)


def _template(explored: Exploration) -> str | None:
    template = explored.space.template
    if template is None:
        return None
    return str(mirror(template) if explored.ground.layout.future else template)


def _lost(explored: Exploration, n: int) -> bool:
    """Whether something that formulas of length n are made of was dropped."""
    return any(stage <= n - 2 or explored.space.template is not None for stage in explored.dropped)


def _statement(certified: bool, at_floor: bool, least: float, sure: int, reached: int, dropped: int) -> str:
    if certified and not least:
        return BEST + " It makes none."
    if certified and at_floor:
        return BEST + " Nor does any other rule: the errors left are traces that are alike but labelled differently."
    if certified:
        return BEST
    why = f"{dropped} formulas did not fit into memory" if dropped else f"the search ended before length {reached + 1}"
    if sure < 1:
        return f"Nothing is certain: {why}."
    short = f"No formula of length {sure} or less makes fewer errors on this data."
    return f"{short} Beyond that nothing is certain: {why}."


def _listed(atoms: tuple[Formula, ...]) -> list[dict[str, Any]]:
    """Thresholds by what they are compared with."""
    found: dict[tuple[Any, str], list[float]] = {}
    for node in atoms:
        if isinstance(node, Atom):
            found.setdefault((node.weights, node.relation), []).append(node.threshold)
    return [
        {"sum": [list(term) for term in total], "relation": relation, "thresholds": sorted(set(values))}
        for (total, relation), values in found.items()
    ]
