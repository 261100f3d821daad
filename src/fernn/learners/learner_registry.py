"""The registry of learners: a learner as plain data, and made again from it where the work is."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, cast

from ..data import Dataset
from ..engines import Engine, resolve_engine
from ..errors import UnsupportedError
from ..formula import Formula, channels, direction, parse
from ..formula.templates import require_closed
from .base import Learner

ENGINE_FIELD = {"where": True}
"""Marks the field of a learner that says which engine it uses: no part of what it is, so runs go on with another."""


def is_setting(each: Field[Any]) -> bool:
    """Whether a field says what is learned, and not where."""
    return "where" not in each.metadata


def engine_for(learner: Any) -> Engine:
    """The one that a learner names, itself or within what is known of the rule; else the one chosen for all."""
    inner = getattr(learner, "learner", learner)
    return resolve_engine(getattr(inner, "engine", None))


def learner_to_dict(learner: Learner) -> dict[str, Any]:
    """From which `made` makes an equal one, which works where it is."""
    from .constraints import ConstrainedLearner

    if isinstance(learner, ConstrainedLearner):
        return {"kind": "Informed", "learner": learner_to_dict(learner.learner), "prior": learner.prior.to_json()}
    kind = type(learner).__name__
    if _learner_classes().get(kind) is not type(learner):
        raise UnsupportedError(f"only fernn's own learners can be sent to an engine, not {kind}; use engine='local'")
    named = [each for each in fields(cast(Any, learner)) if is_setting(each)]
    return {"kind": kind, "settings": {each.name: to_plain(getattr(learner, each.name)) for each in named}}


def learner_from_dict(told: dict[str, Any]) -> Learner:
    from .constraints import Prior, constrain

    if told["kind"] == "Informed":
        return constrain(learner_from_dict(told["learner"]), Prior.from_json(told["prior"]))
    given = dict(told["settings"])
    if given.get("template") is not None:
        given["template"] = parse(given["template"])
    if "guesses" in given:
        given["guesses"] = tuple(parse(text) for text in given["guesses"])
    found: Learner = _learner_classes()[told["kind"]](**given, engine="local")
    return found


def read_formula(text: Any, data: Dataset) -> Formula:
    """A formula that a worker answered with; a ValueError where it cannot have come from these data."""
    formula = require_closed(parse(text))
    if not set(channels(formula)) <= set(data.channels):
        raise ValueError(f"{formula} reads what {data.name} does not have")
    if direction(formula) == "mixed":
        raise ValueError(f"{formula} looks both back and ahead")
    return formula


def to_plain(value: Any) -> Any:
    """Formulas are text, tuples are lists."""
    if isinstance(value, Formula):
        return str(value)
    return [to_plain(inner) for inner in value] if isinstance(value, (tuple, list)) else value


def _learner_classes() -> dict[str, Any]:
    from .enumerative.enumerative import Enumerative
    from .fernn.fernn import Fernn
    from .lattice.lattice import Lattice
    from .maxsat import MaxSat
    from .paper import PaperFernn
    from .tree import Tree

    return {kind.__name__: kind for kind in (Enumerative, Fernn, Lattice, MaxSat, PaperFernn, Tree)}
