"""The learners by name, and their settings as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..data import Dataset
from ..errors import FormulaError, UnsupportedError
from ..formula import Formula, channels, parse
from ..learners import Enumerative, Fernn, Learner, MaxSat, PaperFernn


@dataclass(frozen=True)
class Method:
    """A learner, and its own names for settings that the command line calls otherwise."""

    kind: type[Any]
    names: Mapping[str, str]

    @property
    def defaults(self) -> dict[str, Any]:
        """Every setting as plain data: formulas are text, tuples are lists."""
        plain = self.kind()
        return {field.name: _plain(getattr(plain, field.name)) for field in fields(plain)}


METHODS: dict[str, Method] = {
    "fernn": Method(Fernn, {}),
    "enumerative": Method(Enumerative, {}),
    "maxsat": Method(MaxSat, {}),
    "paper": Method(PaperFernn, {"max_length": "length"}),
}


def settings(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a method as plain data, those given in the place of the defaults."""
    if method not in METHODS:
        raise UnsupportedError(f"--method is one of {', '.join(METHODS)}; found {method!r}")
    chosen = METHODS[method].defaults
    for name, value in given.items():
        name = METHODS[method].names.get(name, name)
        if name not in chosen:
            flag = "--" + name.replace("_", "-")
            raise UnsupportedError(f"{flag}: the method {method} has no such setting; it has {', '.join(chosen)}")
        chosen[name] = _plain(value)
    return chosen


def learner(method: str, chosen: Mapping[str, Any], data: Dataset) -> Learner:
    """The learner with these settings, its formulas read from text and fit for the data."""
    ready = dict(chosen)
    if ready.get("template") is not None:
        ready["template"] = _read("template", ready["template"], data)
    if "guesses" in ready:
        ready["guesses"] = tuple(_read("guess", text, data) for text in ready["guesses"])
    made: Learner = METHODS[method].kind(**ready)
    return made


def _read(what: str, text: str, data: Dataset) -> Formula:
    formula = parse(text)
    for name in channels(formula):
        if name not in data.channels:
            raise FormulaError(f"the {what} {text} reads {name!r}, {data.name} has {', '.join(data.channels)}")
    return formula


def _plain(value: Any) -> Any:
    if isinstance(value, Formula):
        return str(value)
    return [_plain(inner) for inner in value] if isinstance(value, (tuple, list)) else value
