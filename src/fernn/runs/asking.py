"""Questions and answers, kept in the folder of the run that they are about."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..asking import Answered, Asked
from ..data.atomic_write import append_line, write_text
from ..plain import BROKEN, read_json
from .run import Run

TRANSCRIPT, OUTCOME = "asked.jsonl", "asked.json"
SCHEMA = 1


def transcript(run: Run) -> list[Answered]:
    """The answers given so far; a torn last line is taken away."""
    path = run.folder / TRANSCRIPT
    if not path.exists():
        return []
    rows, content = [], path.read_bytes()
    for line in content.split(b"\n"):
        with suppress(*BROKEN):
            rows.append(Answered.from_json(read_json(line)))
    if content and not content.endswith(b"\n"):
        _keep(run, rows)
    return rows


def keep_answer(run: Run, answered: Answered) -> None:
    append_line(run.folder / TRANSCRIPT, json.dumps(answered.to_json(), ensure_ascii=False))


def forget_last(run: Run) -> None:
    """Takes the last answer back."""
    _keep(run, transcript(run)[:-1])


def _keep(run: Run, rows: list[Answered]) -> None:
    write_text(run.folder / TRANSCRIPT, "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in rows))


def keep_outcome(run: Run, asked: Asked) -> Path:
    told: dict[str, Any] = {
        "schema": SCHEMA, "formula": str(asked.formula), "left": [str(f) for f in asked.left], "ended": asked.ended,
        "proved": asked.is_proved, "questions": len(asked.transcript), "disagreements": asked.disagreements,
    }  # fmt: skip
    write_text(run.folder / OUTCOME, json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    return run.folder / OUTCOME
