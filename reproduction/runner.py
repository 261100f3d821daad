"""The paper's comparison from beginning to end: planned, measured, drawn, written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fernn.data.atomic_write import write_text
from fernn.errors import short_repr
from fernn.evaluation.comparison import DEPENDENCIES, describe_environment, source_hash
from fernn.evaluation.trial_runs import MEASURED_SOURCE, TrialLog, TrialProgress, run_trials
from fernn.learners import silent
from reproduction.drawing import draw_figures
from reproduction.experiments import EXPERIMENTS, plan_trials
from reproduction.page import page

PAGE, MACHINE = "README.md", "machine.json"
LIMIT = 40.0
"""Seconds that any method has for a fit."""


@dataclass(frozen=True)
class Reproduction:
    """What came of it, and what did not."""

    page: Path
    runs: int
    made: int
    """How many of them now."""
    seconds: float
    """How long that took."""
    left_out: tuple[str, ...]
    """Data that are not here, and why."""
    failed: tuple[str, ...]
    """Runs that gave no result, and why."""
    notes: tuple[str, ...]
    interrupted: bool

    __repr__ = short_repr


def reproduce(
    folder: str | Path = "reproduction", names: Sequence[str] = (), quick: bool = False, limit: float = LIMIT,
    workers: int | None = None, watch: Callable[[TrialProgress], None] = silent, keep: bool = False,
) -> Reproduction:  # fmt: skip
    """Runs the experiments of these names, all if none is named, and writes the page, the tables and the figures.

    What the folder holds already is not run again, unless another version of fernn made it and `keep` is False.
    Ctrl-C ends it with a page of what is there.
    """
    chosen = list(names) or list(EXPERIMENTS)
    units, left_out = plan_trials(chosen, quick)
    ledger = TrialLog.open(Path(folder), source_hash(MEASURED_SOURCE), keep)
    came = run_trials(units, ledger, limit, workers, watch)
    ledger.write_runs()
    ledger.write_table()
    notes = draw_figures(ledger, chosen)
    where = describe_environment(DEPENDENCIES)
    write_text(ledger.folder / MACHINE, json.dumps(where | {"limit": limit, "quick": quick}, indent=1) + "\n")
    path = ledger.folder / PAGE
    write_text(path, page(ledger, chosen, quick, where, left_out, came))
    ledger.close()
    return Reproduction(
        path, len(ledger.runs), came.made, came.seconds, tuple(left_out), came.failed, tuple(notes), came.interrupted
    )
