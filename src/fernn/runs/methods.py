"""The learners by name, and their settings as plain data."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..data import Dataset
from ..data.problems import did_you_mean, unknown_channel
from ..errors import FormulaError, UnsupportedError
from ..formula import Formula, channels, parse
from ..learners import Learner, Prior, constrain
from ..learners.learner_registry import METHODS as METHODS
from ..learners.learner_registry import Method as Method
from ..learners.learner_registry import to_plain as as_plain

# Settings whose flag is not their name with dashes: what is written where the setting has this value.
FLAG_WORDS: dict[tuple[str, Any], str] = {
    ("direction", "past"): "--past", ("since", False): "--no-since", ("intervals", True): "--intervals",
    ("thresholds", "exact"): "--exact", ("exhaust", True): "--exhaust",
}  # fmt: skip
_FLAGS = {
    "max_length", "template", "atoms", "class_weight", "miss_cost", "false_alarm_cost", "seed", "time_limit",
    "restarts", "grid", "tolerance", "max_misses", "max_false_alarms", "max_error", "memory", "folds", "preset",
    "share", "signals",
}  # fmt: skip


def method(name: str) -> Method:
    """By name."""
    return METHODS.find(name, "--method")


def is_method_compiled(name: str) -> bool:
    """Whether what a method runs on is compiled for this machine already."""
    return METHODS["tree" if name == "tightest" else name].is_compiled


def settings(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a method as plain data, those given in the place of the defaults."""
    return complete_settings(name, method(name), given)


def complete_settings(name: str, method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a method that need not be in the table."""
    chosen = method.defaults
    for key, value in given.items():
        key = method.names.get(key, key)
        if key not in chosen:
            raise UnsupportedError(_unknown(name, key, value, chosen))
        if key in ("seed", "time_limit") and isinstance(value, (int, float)) and value < 0:
            raise UnsupportedError(f"{key} is 0 or more; found {value}")
        wanted = get_type_hints(method.kind).get(key, Any)
        if not _fits(as_plain(value), wanted):
            raise UnsupportedError(_misfit(name, method, key, value))
        chosen[key] = as_plain(value)
    return chosen


def _unknown(name: str, key: str, value: Any, chosen: Mapping[str, Any]) -> str:
    """That a method has no such setting; and which have."""
    words = shlex.join(setting_words(key, value))
    others = [each for each, one in METHODS.items() if key in one.defaults or key in one.names]
    if others:
        return f"{words} is known to --method {' and '.join(others)}; {name} has no such setting"
    return f"the method {name} has no such setting as {key}{did_you_mean(key, chosen)}; it has {', '.join(chosen)}"


def _misfit(name: str, method: Method, key: str, value: Any) -> str:
    """That a setting of a method cannot have this value; and of which method it can."""
    wanted = get_type_hints(method.kind).get(key, Any)
    others = [other for other, one in METHODS.items() if key in one.defaults and takes(one.kind, key, value)]
    if others:
        options = " or ".join(str(each) for each in _options(wanted)) or _type_words(wanted)
        words = shlex.join(setting_words(key, value))
        return f"{words} is known to --method {' and '.join(others)}; {name} has {options}"
    return f"{key} of the method {name} is {_type_words(wanted)}; found {value!r}"


def takes(kind: type[Any], key: str, value: Any) -> bool:
    """Whether a learner has this setting, and may have this value of it."""
    return key in {each.name for each in fields(kind)} and _fits(as_plain(value), get_type_hints(kind).get(key, Any))


def _options(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) is Literal else ()


def setting_words(key: str, value: Any) -> list[str]:
    """A setting of a method as words of the command line."""
    if isinstance(value, (str, bool)) and (key, value) in FLAG_WORDS:
        return [FLAG_WORDS[key, value]]
    if key == "signals" and isinstance(value, (list, tuple)):
        return [word for text in value for word in ("--signals", str(text))]
    if key == "guesses" and isinstance(value, (list, tuple)) and all(isinstance(guess, str) for guess in value):
        return [word for guess in value for word in ("--guess", guess)]
    if key in _FLAGS and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return ["--" + key.replace("_", "-"), value if isinstance(value, str) else number_text(value)]
    return ["--set", f"{key}={json.dumps(value, ensure_ascii=False)}"]


def describe_option(method: Method, key: str) -> str:
    """How a setting is given: `--max-length N`, `--past or --set direction=future|past`, `--set rounds=N`."""
    wanted, default = get_type_hints(method.kind).get(key, Any), method.defaults[key]
    value = "|".join(dict.fromkeys(_value_words(wanted))) or "VALUE"
    name = {theirs: ours for ours, theirs in method.names.items()}.get(key, key)
    if name in _FLAGS:
        return f"--{name.replace('_', '-')} {value}"
    flags = [word for (of, v), word in FLAG_WORDS.items() if of == name and v != default and _fits(v, wanted)]
    flags += ["--guess FORMULA"] if name == "guesses" else []
    return " or ".join([*flags, f"--set {key}={value}"])


def _value_words(wanted: Any) -> list[str]:
    """What may stand for a value: `N`, `true`, `gini`."""
    if wanted == Formula:
        return ["FORMULA"]
    parts = [part for part in _parts(wanted) if part is not NoneType]
    if get_origin(wanted) is Literal:
        return [str(part).lower() if isinstance(part, bool) else str(part) for part in parts]
    if get_origin(wanted) in (Union, UnionType):
        return [word for part in parts for word in _value_words(part)]
    simple: dict[Any, list[str]] = {
        int: ["N"], float: ["N"], bool: ["true", "false"], str: ["TEXT"],
    }  # fmt: skip
    plain = {tuple: ["LIST"], dict: ["TABLE"]}
    return simple.get(wanted) or plain.get(get_origin(wanted), [])


def number_text(value: float) -> str:
    """A number as people write it."""
    return repr(int(value)) if float(value).is_integer() else repr(value)


_NODES = frozenset(get_args(Formula))


def _parts(wanted: Any) -> tuple[Any, ...]:
    """What a type is made of; the kinds of formulas are one part, `Formula`."""
    return tuple(dict.fromkeys(Formula if part in _NODES else part for part in get_args(wanted)))


def _fits(value: Any, wanted: Any) -> bool:
    """Whether plain data are of this type; formulas are text."""
    if wanted == Formula:
        return isinstance(value, str)
    parts = _parts(wanted)
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
    simple: dict[Any, Any] = {int: int, float: (int, float), str: str, NoneType: NoneType}
    return isinstance(value, simple[wanted]) if wanted in simple else True


def _type_words(wanted: Any) -> str:
    """`a whole number or none`"""
    if wanted == Formula:
        return "a formula"
    if get_origin(wanted) is Literal:
        return " or ".join(repr(part) for part in get_args(wanted))
    if get_origin(wanted) in (Union, UnionType):
        return " or ".join(_type_words(part) for part in _parts(wanted))
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
    return names.get(wanted, "none" if wanted is NoneType else "something else")


def learner(name: str, chosen: Mapping[str, Any], data: Dataset) -> Learner:
    """The learner with these settings, its formulas read from text and fit for the data."""
    ready = settings(name, chosen)
    if ready.get("template") is not None:
        ready["template"] = _read("template", ready["template"], data)
    if "guesses" in ready:
        ready["guesses"] = tuple(_read("guess", text, data) for text in ready["guesses"])
    result: Learner = method(name).kind(**ready)
    return result


def learner_of(planned: Mapping[str, Any], data: Dataset) -> Learner:
    """The learner of a run, kept to what is known."""
    prior = planned.get("prior")
    return constrain(learner(planned["method"], planned["learner"], data), prior and Prior.from_json(prior))


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
