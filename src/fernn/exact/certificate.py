"""What a search can prove, as a file that others can check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.options import checked_reading
from ..errors import DataError
from ..formula import Atom, Formula, length, mirror
from ..plain import mapping, number, refusing, text, whole
from .exploring import Exploration, Space

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
        needed = {"schema", "certified", "certain", "statement", "data", "space", "lengths", "least", "best", "front"}
        with refusing(DataError, "this is no certificate of fernn"):
            if not needed <= mapping(content).keys():
                raise DataError("this is no certificate of fernn: it lacks " + ", ".join(sorted(needed - set(content))))
            if content["schema"] != SCHEMA:
                raise DataError(f"a certificate of schema {content['schema']!r:.40}, this fernn reads schema {SCHEMA}.")
            text(content["statement"]), number(mapping(content["best"])["error"])
            text(mapping(content["data"])["fingerprint"]), whole(content["data"]["cases"])
            checked_reading(content.get("reading") or {})
            split = mapping(content.get("split") or {"test": 0, "seed": 0})
            number(split["test"]), whole(split["seed"])
            return cls(content)


def certificate(
    explored: Exploration,
    front: Sequence[tuple[Formula, float]],
    reached: int,
    floor: float,
    about: tuple[Dataset, npt.NDArray[np.float64]],
    settings: Mapping[str, Any],
) -> Certificate:
    """Of an exploration whose stages up to length `reached` are done.

    `front` has formulas and their weighted errors, the best last; where the thresholds of a grid were refined they
    may err less than anything in the space. `about` has all traces and what each counts, those that do not count
    included.
    """
    space, (data, weights) = explored.space, about
    dropped = sum(n for stage, n in explored.dropped.items() if stage <= reached)
    formula, error = front[-1]
    at_floor = bool(error <= floor + 1e-9)
    certified = at_floor or (reached >= space.longest and not dropped)
    counts = {n: explored.counts[n] for n in sorted(explored.counts) if n <= reached}
    certain = space.longest if certified else max((n for n in counts if not _lost(explored, n)), default=0)
    content = {
        "schema": SCHEMA,
        "certified": certified,
        "certain": certain,
        "statement": " ".join(
            [_statement(certified, at_floor, error, certain, reached, dropped), *_remarks(space, settings)]
        ),
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
            "windows": [str(over) for over in (space.windows or explored.search.windows[2:])],
            "thresholds": space.thresholds,
            "every_gap": space.every,
            "atoms": _listed(explored.atoms),
            **settings,
        },
        "lengths": [{"length": n, **asdict(row), "dropped": explored.dropped.get(n, 0)} for n, row in counts.items()],
        "least": {str(n): least for n, least in sorted(explored.best.items()) if n <= reached},
        "unavoidable": float(floor),
        "best": {
            "error": error,
            "share": error / float(weights.sum()),
            "length": length(formula),
            "formula": str(formula),
        },
        "front": [{"length": length(said), "error": wrong, "formula": str(said)} for said, wrong in front],
    }
    return Certificate(content)


def _remarks(space: Space, settings: Mapping[str, Any]) -> Iterator[str]:
    """What the statement is about, where that is not plain."""
    if space.thresholds == "grid":
        yield "The thresholds of the space are those of a grid."
    limits = ("max_misses", "max_false_alarms")
    given = [f"{name}={settings[name]:g}" for name in limits if settings.get(name) is not None]
    if given:
        yield f"Formulas that pass a limit ({', '.join(given)}) do not count."


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


def _listed(atoms: Sequence[Formula]) -> list[dict[str, Any]]:
    """Thresholds by what they are compared with."""
    found: dict[tuple[Any, str], list[float]] = {}
    for node in atoms:
        if isinstance(node, Atom):
            found.setdefault((node.weights, node.relation), []).append(node.threshold)
    return [
        {"sum": [list(term) for term in total], "relation": relation, "thresholds": sorted(set(values))}
        for (total, relation), values in found.items()
    ]
