"""The command that reproduces a run, with every setting that differs from the defaults; and commands to try instead."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data import Dataset, suggest_command
from ..data.transform import SUFFIX
from ..learners import Prior
from .methods import METHODS, Method, number_text, setting_words, takes
from .plan import TIGHTEST

SHARE = 0.2  # of the traces, kept for the test unless something else is asked for


def command(settings: Mapping[str, Any], file: str | None = None) -> str:
    """What to type, in any folder; `file` says where the data are now. What is known before stands in it, as JSON."""
    name, kind = settings["method"], settings.get("classes")
    method = _method(settings)
    plain = {} if method is None else method.defaults
    own = {theirs: ours for ours, theirs in method.names.items()} if method is not None else {}
    words = [] if name == "fernn" or kind == "one" else ["--method", name]
    words += _of_classes(kind, settings.get("order"))
    for key, value in settings["learner"].items():
        if key not in plain or value != plain[key]:
            words += setting_words(own.get(key, key), value)
    if settings["split"]["test"] != SHARE:
        words += ["--test", number_text(settings["split"]["test"])]
    if settings.get("prior"):
        words += ["--prior", json.dumps(_compact_prior(settings["prior"]), ensure_ascii=False)]
    return suggest_command("learn", [file or settings["file"]], settings["reading"], words)


@dataclass(frozen=True)
class Suggestion:
    """A setting that was not used and could find a better rule, or more data."""

    what: str
    """For a person, without the setting's name."""
    setting: str
    """As Python writes it, `intervals=True`; empty where more data are what is missing."""
    command: str
    """What to type; empty where there is nothing to type."""

    def __str__(self) -> str:
        return f"{self.what} ({self.setting})" if self.setting else self.what

    def to_json(self) -> dict[str, str | None]:
        return {"what": self.what, "setting": self.setting or None, "command": self.command or None}


def suggestions(settings: Mapping[str, Any], data: Dataset, file: str | None = None) -> tuple[Suggestion, ...]:
    """What to try where nothing better than chance is shown: only what this run has not used and its data allow."""
    method, chosen, reading = _method(settings), settings["learner"], settings["reading"]
    options: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = []

    def offer(what: str, key: str, value: Any) -> None:
        if key in chosen and chosen[key] != value and method is not None and takes(method.kind, key, value):
            options.append((what, f"{key}={value!r}", {key: value}, {}))

    is_long = int(data.lengths.max()) > 1
    if chosen.get("template") is None and chosen.get("preset") is None:
        plain = {} if method is None else method.defaults
        if is_long:
            if len(data.classes) == 2:
                offer("changes, means and differences of channels, as in diff(v) or mean(v, 8)", "signals", "auto")
            offer("windows in time, as in F[3,9]", "intervals", True)
            if chosen.get("direction") == "future":
                offer("rules that look back from the end of a trace", "direction", "past")
        if data.n_channels > 1 and chosen.get("atoms") == "axis":
            offer("sums of channels, as in 2*v - w <= 3", "atoms", "linear")
            offer("differences of channels, as in v - w <= 3", "atoms", "differences")
        if (chosen.get("max_length") or 0) < (plain.get("max_length") or 0):
            offer("longer rules", "max_length", plain["max_length"])
    if is_long and not reading.get("steps") and not any(name + SUFFIX in data.channels for name in data.channels):
        options.append(("changes from sample to sample as channels of their own", "steps=True", {}, {"steps": True}))
    results = []
    for what, setting, more, read in options:
        changed = {**settings, "learner": {**chosen, **more}, "reading": {**reading, **read}}
        results.append(Suggestion(what, setting, command(changed, file)))
    more_data = "more recorded runs, of both classes" if len(data.classes) > 1 else "more runs"
    return (*results, Suggestion(more_data, "", ""))


def _method(settings: Mapping[str, Any]) -> Method | None:
    return TIGHTEST if settings.get("classes") == "one" else METHODS.get(settings["method"])


def _of_classes(kind: str | None, order: Sequence[str] | None) -> list[str]:
    if kind is None:
        return []
    words = ["--one-class"] if kind == "one" else ["--classes", kind]
    return words if not order else [*words, "--order", ",".join(order)]


def _compact_prior(prior: Any) -> dict[str, Any]:
    """A prior without the parts that ask for nothing."""
    return {name: value for name, value in Prior.from_json(prior).to_json().items() if value}
