"""All that one run measured, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from .aims import aims
from .offline import Row
from .online import Live
from .tasks import Task, formulas


@dataclass
class Results:
    """`rows`: all threads; `alone`: one thread, beside the copies only; `absent`: peers not here.

    `load` is the machine's load average before and after: what else was running. `sources`
    marks fernn's source before and after, and should be one.
    """

    command: str
    seconds: float
    surroundings: dict[str, str]
    load: tuple[float, float]
    sources: tuple[str, str]
    rows: list[Row]
    alone: list[Row]
    live: list[Live]
    absent: dict[str, str]
    call: dict[str, float]
    """Seconds a call, with nothing to do."""

    def to_json(self) -> str:
        found = [{**asdict(aim), "met": aim.met} for aim in aims(self.rows, self.alone, self.live)]
        plain = {
            "command": self.command, "seconds": round(self.seconds, 1), "surroundings": self.surroundings,
            "load": self.load,
            "sources": self.sources,
            "aims": found, "rows": rows_to_plain(self.rows), "one thread": rows_to_plain(self.alone),
            "live": [asdict(each) for each in self.live], "absent": self.absent, "call": self.call,
        }  # fmt: skip
        return json.dumps(plain, indent=1) + "\n"


def results_from(text: str) -> Results:
    """Those that `to_json` wrote."""
    told = json.loads(text)
    rows, alone = rows_from_plain(told["rows"]), rows_from_plain(told["one thread"])
    live = [Live(**each) for each in told["live"]]
    return Results(
        told["command"], told["seconds"], told["surroundings"], tuple(told["load"]), tuple(told["sources"]), rows,
        alone, live, told["absent"], told.get("call", {}),
    )  # fmt: skip


def rows_to_plain(rows: list[Row]) -> list[dict[str, Any]]:
    return [
        {
            "formula": str(row.task.formula), "cases": row.task.cases, "length": row.task.length,
            "threads": row.threads, "seconds": row.seconds, "way": row.way, "reason": row.reason,
        }
        for row in rows
    ]  # fmt: skip


def rows_from_plain(plain: list[dict[str, Any]]) -> list[Row]:
    known = {str(formula): (formula, kind) for formula, kind in formulas().items()}
    return [
        Row(Task(*known[each["formula"]], each["cases"], each["length"]), each["threads"], each["seconds"],
            each["way"], each["reason"])
        for each in plain
    ]  # fmt: skip
