"""The learners by name, and their settings as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..data import Dataset
from ..data.problems import unknown_channel
from ..errors import FormulaError, UnsupportedError
from ..formula import Formula, channels, parse
from ..learners import Enumerative, Fernn, Lattice, Learner, MaxSat, PaperFernn, Prior, Tree, informed
from ..learners.recipe import is_setting
from ..learners.recipe import plain as as_plain


@dataclass(frozen=True)
class Method:
    """A learner, what it does in a line, and its own names for settings that the command line calls otherwise."""

    kind: type[Any]
    line: str
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def defaults(self) -> dict[str, Any]:
        """Every setting as plain data: formulas are text, tuples are lists."""
        plain = self.kind()
        return {each.name: as_plain(getattr(plain, each.name)) for each in fields(plain) if is_setting(each)}


METHODS: dict[str, Method] = {
    "fernn": Method(Fernn, "networks whose weights are formulas, trained from many starts; any length, real labels"),
    "enumerative": Method(Enumerative, "every formula of a space, with a certificate that none errs less"),
    "lattice": Method(Lattice, "reactive rules, F (cause -> effect), along their order; can predict the effect"),
    "tree": Method(Tree, "a decision tree of short formulas, read as one formula; several trees can vote"),
    "maxsat": Method(MaxSat, "the smallest formula for traces of 0 and 1, by a solver (needs fernn[verify])"),
    "paper": Method(PaperFernn, "FERNN as the paper trains it, to compare with", {"max_length": "length"}),
}


def method(name: str) -> Method:
    """By name."""
    if name not in METHODS:
        raise UnsupportedError(f"--method is one of {', '.join(METHODS)}; found {name!r}")
    return METHODS[name]


def is_compiled(name: str) -> bool:
    """Whether what a method runs on is compiled for this machine already."""
    from ..exact.compiled import is_compiled as exact
    from ..network.engine import is_compiled as network
    from ..semantics.machine import is_compiled as judge

    known = {"enumerative": exact, "tightest": exact, "tree": exact, "lattice": judge, "maxsat": judge}
    return bool(known.get(name, network)())


def settings(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a method as plain data, those given in the place of the defaults."""
    return settled(name, method(name), given)


def settled(name: str, way: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a method that need not be in the table."""
    chosen = way.defaults
    for key, value in given.items():
        key = way.names.get(key, key)
        if key not in chosen:
            raise UnsupportedError(f"the method {name} has no such setting as {key}; it has {', '.join(chosen)}")
        if key in ("seed", "time_limit") and isinstance(value, (int, float)) and value < 0:
            raise UnsupportedError(f"{key} is 0 or more; found {value}")
        wanted = get_type_hints(way.kind).get(key, Any)
        if not _fits(as_plain(value), wanted):
            raise UnsupportedError(f"{key} of the method {name} is {_told(wanted)}; found {value!r}")
        chosen[key] = as_plain(value)
    return chosen


def _fits(value: Any, wanted: Any) -> bool:
    """Whether plain data are of this type; formulas are text."""
    parts = get_args(wanted)
    if get_origin(wanted) is Literal:
        return value in parts
    if get_origin(wanted) in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if isinstance(value, bool) or wanted is bool:
        return isinstance(value, bool) and wanted in (bool, Any)
    if get_origin(wanted) is tuple:
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    if get_origin(wanted) is dict:
        return isinstance(value, dict) and all(_fits(item, parts[1]) for item in value.values())
    simple: dict[Any, Any] = {int: int, float: (int, float), str: str, Formula: str, NoneType: NoneType}
    return isinstance(value, simple[wanted]) if wanted in simple else True


def _told(wanted: Any) -> str:
    """`a whole number or none`"""
    if get_origin(wanted) is Literal:
        return " or ".join(repr(part) for part in get_args(wanted))
    if get_origin(wanted) in (Union, UnionType):
        return " or ".join(_told(part) for part in get_args(wanted))
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a word", Formula: "a formula"}
    return names.get(wanted, "none" if wanted is NoneType else "something else")


def learner(name: str, chosen: Mapping[str, Any], data: Dataset) -> Learner:
    """The learner with these settings, its formulas read from text and fit for the data."""
    ready = settings(name, chosen)
    if ready.get("template") is not None:
        ready["template"] = _read("template", ready["template"], data)
    if "guesses" in ready:
        ready["guesses"] = tuple(_read("guess", text, data) for text in ready["guesses"])
    made: Learner = method(name).kind(**ready)
    return made


def learner_of(planned: Mapping[str, Any], data: Dataset) -> Learner:
    """The learner of a run, kept to what is known."""
    prior = planned.get("prior")
    return informed(learner(planned["method"], planned["learner"], data), prior and Prior.from_json(prior))


EVEN = {"class_weight": None, "miss_cost": 1.0, "false_alarm_cost": 1.0}
"""The settings by which both classes count the same."""


def is_weighed(planned: Mapping[str, Any]) -> bool:
    """Whether some traces count more than others in a run."""
    return any(planned["learner"].get(name, even) != even for name, even in EVEN.items())


def _read(what: str, text: str, data: Dataset) -> Formula:
    formula = parse(text)
    for name in channels(formula):
        if name not in data.channels:
            raise FormulaError(unknown_channel(name, data.channels, f"{data.name} has", f"the {what} {text} reads"))
    return formula
