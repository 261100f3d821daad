"""The formulas of a run that may be asked about, and the questions and answers kept in its folder."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..asking import Answered, Asked
from ..data import Dataset
from ..errors import RunError
from ..formula import Formula, length, parse, thresholds, with_thresholds
from ..semantics import satisfied
from .atomic import append, write
from .run import Run

RIVALS, TRANSCRIPT, OUTCOME = "rivals.json", "asked.jsonl", "asked.json"
SCHEMA = 1
TINY = 1e-9


def candidates(run: Run, data: Dataset, tolerance: float | None = None) -> tuple[list[Formula], bool]:
    """The formulas that explain the data of the run as well as the best, within the tolerance; by default the run's.

    Those of an exact search are its rivals; any other method's are all that ever joined its front and err no more than
    the picked one. Those that err least come first, of equals the shortest. Of formulas that differ in thresholds
    only, and judge all of the data alike, one is enough. And whether it is known that its space has no others.
    """
    front = run.front()
    if tolerance is None:
        tolerance = float(run.settings["learner"].get("tolerance") or 0.0)
    if front is None:
        raise RunError(f"{run.folder} has found no formula yet. Go on with it: fernn learn --resume --out {run.folder}")
    found = [(entry.formula, entry.train) for entry in front]
    path, are_all = run.folder / RIVALS, False
    if path.exists():
        try:
            content = json.loads(path.read_bytes())
            rows, are_all = content["rivals"], bool(content.get("complete"))
            found += [(parse(text), float(row["error"])) for row in rows for text in row["formulas"]]
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{path} is no list of rivals of fernn ({error}).") from None
    else:
        found += [(parse(row["formula"]), float(row["train"])) for row in run.history() if row.get("train") is not None]
    best = min(error for _, error in found) if path.exists() else front.picked.train
    found.sort(key=lambda pair: (round(pair[1], 9), length(pair[0])))
    distinct: dict[Any, Formula] = {}
    for formula in (formula for formula, error in found if error <= best + tolerance + TINY):
        bare = with_thresholds(formula, [0.0] * len(thresholds(formula)))
        distinct.setdefault((bare, satisfied(formula, data).tobytes()), formula)
    return list(distinct.values()), are_all


def transcript(run: Run) -> list[Answered]:
    """The answers given so far; a torn last line is taken away."""
    path = run.folder / TRANSCRIPT
    if not path.exists():
        return []
    rows, content = [], path.read_bytes()
    for line in content.split(b"\n"):
        with suppress(ValueError, KeyError, TypeError):
            rows.append(Answered.from_json(json.loads(line)))
    if content and not content.endswith(b"\n"):
        _keep(run, rows)
    return rows


def keep_answer(run: Run, answered: Answered) -> None:
    append(run.folder / TRANSCRIPT, json.dumps(answered.to_json(), ensure_ascii=False))


def forget_last(run: Run) -> None:
    """Takes the last answer back."""
    _keep(run, transcript(run)[:-1])


def _keep(run: Run, rows: list[Answered]) -> None:
    write(run.folder / TRANSCRIPT, "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in rows))


def keep_outcome(run: Run, asked: Asked) -> Path:
    told: dict[str, Any] = {
        "schema": SCHEMA, "formula": str(asked.formula), "left": [str(f) for f in asked.left], "ended": asked.ended,
        "proved": asked.is_proved, "questions": len(asked.transcript), "disagreements": asked.disagreements,
    }  # fmt: skip
    write(run.folder / OUTCOME, json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    return run.folder / OUTCOME
