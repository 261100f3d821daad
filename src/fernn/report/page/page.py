"""One HTML file with all that it needs: style, code and data inside, nothing to be fetched.

Data go in as JSON in which no `<` is left, so that no name can end the element it stands in; the code sets every name
as text. The policy in the head lets nothing be loaded, and no script run but the one whose hash it names.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from ...data import Problem
from ...runs import Job
from .classes import class_facts
from .facts import facts

LAST = "report.js"


def page(job: Job, problems: Sequence[Problem] = ()) -> str:
    """The report on a run and its data; `problems` are those met in reading them."""
    return made(facts(job, problems) if job.classes is None else class_facts(job, problems))


def made(told: dict[str, Any]) -> str:
    """The file for these facts."""
    script, style = _script(), "\n".join(_text(name) for name in ("theme.css", "report.css"))
    digest = b64encode(sha256(script.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    about = told.get("classes")
    rule = (
        told["rules"][told["picked"]]
        if about is None
        else {"formula": about["text"], "sentence": " ".join(about["told"])}
    )
    parts = {
        "title": escape(told["title"]),
        "policy": policy,
        "style": style,
        "rule": escape(rule["formula"]),
        "sentence": escape(rule["sentence"]),
        "facts": as_json(told),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _text("report.html"))


def as_json(value: Any) -> str:
    """JSON that is safe inside an element of a page: the same value, with `<`, `>` and `&` spelled out."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _script() -> str:
    """What report and studio share, then the report's own."""
    names = sorted(entry.name for entry in _web().iterdir() if entry.name.endswith(".js") and entry.name != LAST)
    return "\n".join(_text(name) for name in [*names, LAST])


def _text(name: str) -> str:
    return str((_web() / name).read_text(encoding="utf-8"))


def _web() -> Any:
    return files("fernn.report") / "web"
