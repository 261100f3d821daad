"""The report as one HTML file with all that it needs: style, code and data inside, nothing to be fetched.

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
from pathlib import Path
from typing import Any

from ...data import Problem, suggest_command
from ...data.atomic_write import write_text
from ...errors import RunError
from ...runs import Job, Outcome, RulesOutcome, Run, data_file, load_job, load_result
from .facts import class_facts, facts

LAST = "report.js"


def page(done: Outcome | RulesOutcome, problems: Sequence[Problem] = ()) -> str:
    """The report on what was found in a run, and its data; `problems` are those met in reading them."""
    return render_page(facts(done, problems) if isinstance(done, Outcome) else class_facts(done, problems))


def render_page(told: dict[str, Any]) -> str:
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


NAME = "report.html"


def write_report(run: str | Path, out: Path | None = None, file: str | None = None) -> Path:
    """Writes the report of a run, in its folder if nothing else is said; `file` is where the data are now."""
    problems: list[Problem] = []
    if out is not None:
        check_report(out)
    return write_result_report(load_result(_load_job(run, file, problems)), problems, out)


def write_result_report(
    done: Outcome | RulesOutcome, problems: Sequence[Problem] = (), out: Path | None = None
) -> Path:
    """The same of what was just found, with its data at hand and what came up in reading them."""
    assert done.job.run is not None
    path = done.job.run.folder / NAME if out is None else out
    check_report(path)
    write_text(path, page(done, problems), follow_links=out is not None)
    return path


def check_report(path: Path) -> None:
    """That a report can be written there, which can be told before it is made."""
    if path.is_dir() and not path.is_symlink():
        raise RunError(f"{path} is a folder; a report is a file. Name one, such as {path / NAME}.")
    if not path.parent.is_dir():
        raise RunError(f"{path} cannot be written: there is no folder {path.parent}. Make it, or name another file.")


def _load_job(folder: str | Path, file: str | None, problems: list[Problem]) -> Job:
    run = Run.open(folder)
    if file is None:
        try:
            file = data_file(run)
        except RunError:
            again = suggest_command("report", [str(folder)], more=["--data", "FILE"])
            raise RunError(
                f"the data of the run, {run.settings['file']}, is not there any more. Name it where it is now: {again}"
            ) from None
    return load_job(folder, file, lambda _, found: problems.extend(found), classes=True)
