"""The command that makes a run again: every setting that differs from the defaults, and how the data are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..data import suggest_command
from ..learners import Prior
from .classes import TIGHTEST
from .methods import METHODS, number_text, setting_words

SHARE = 0.2  # of the traces, kept for the test unless something else is asked for


def command(settings: Mapping[str, Any], file: str | None = None) -> str:
    """What to type, in any folder; `file` says where the data are now. What is known before stands in it, as JSON."""
    name, kind = settings["method"], settings.get("classes")
    method = TIGHTEST if kind == "one" else METHODS.get(name)
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
        words += ["--prior", json.dumps(_said(settings["prior"]), ensure_ascii=False)]
    return suggest_command("learn", [file or settings["file"]], settings["reading"], words)


def _of_classes(kind: str | None, order: Sequence[str] | None) -> list[str]:
    if kind is None:
        return []
    words = ["--one-class"] if kind == "one" else ["--classes", kind]
    return words if not order else [*words, "--order", ",".join(order)]


def _said(prior: Any) -> dict[str, Any]:
    """A prior without the parts that ask for nothing."""
    return {name: value for name, value in Prior.from_json(prior).to_json().items() if value}
