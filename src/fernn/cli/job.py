"""A job of learning, as `learn` and `demo` carry it out: with a display, with Ctrl-C, and kept in a run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .interrupt import Interrupt
from .output import complain
from .progress import display

if TYPE_CHECKING:
    from ..data import Dataset
    from ..learners import Front, Progress, Watch
    from ..runs import Run

COMPILING = "compiling (first run only, ~20 s)"
STOPPING = "stopping; Ctrl-C again quits at once"


@dataclass(frozen=True)
class Job:
    """What is to be done: `settings` are those of a run, `file` and `reading` say where the data came from."""

    data: Dataset
    settings: dict[str, Any]
    file: str
    reading: dict[str, Any]
    run: Run | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of a job."""

    job: Job
    front: Front
    test: tuple[float, ...] | None
    ended: str
    seconds: float
    cases: tuple[int, int]
    """Learned on, tested on."""
    notes: tuple[str, ...] = ()
    """What the method has to say of its result."""


def carried_out(job: Job, quiet: bool) -> Outcome:
    """Learn on one part of the data, test every formula on the other; finishes the run."""
    from ..runs import error, learned, learner, parts
    from ..runs.certifying import with_origin

    share, seed = job.settings["split"]["test"], job.settings["split"]["seed"]
    train, held = parts(job.data, share, seed)
    made = learner(job.settings["method"], job.settings["learner"], job.data)
    told_off: list[str] = []

    def broken(problem: OSError) -> None:
        told_off.append(f"warning: the run could not be written ({problem.strerror}: {problem.filename})")

    with watched(quiet, _is_compiled(job.settings["method"])) as watch:
        fit = learned(made, train, job.run, watch, broken)
    fit = replace(fit, papers=with_origin(fit.papers, job.settings))
    test = None if held is None else tuple(error(entry.formula, held) for entry in fit.front)
    if job.run is not None:
        try:
            job.run.finish(fit, test)
        except OSError as problem:
            broken(problem)
    if told_off:
        complain(told_off[-1])
    cases = (len(train), 0 if held is None else len(held))
    return Outcome(job, fit.front, test, fit.ended, fit.seconds, cases, fit.notes)


@contextmanager
def watched(quiet: bool, is_compiled: bool) -> Iterator[Watch]:
    """What shows the progress of a fit; after a Ctrl-C it ends the fit with the best so far."""
    shown = display(quiet)
    shown.note = "" if is_compiled else COMPILING

    def heard() -> None:
        shown.note = STOPPING

    with _quiet_warnings(), shown, Interrupt(heard) as stop:

        def watch(progress: Progress) -> None:
            if shown.note == COMPILING:
                shown.note = ""
            shown.tell(progress)
            if stop.asked:
                stop.asked = False  # once is enough: the learner may tell of its result yet
                raise KeyboardInterrupt

        yield watch


@contextmanager
def _quiet_warnings() -> Iterator[None]:
    """What a candidate's windows do at the edges is of no interest while thousands of them are tried."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_compiled(method: str) -> bool:
    from ..exact.compiled import is_compiled as exact
    from ..network.engine import is_compiled as network
    from ..semantics.machine import is_compiled as judge

    known = {"enumerative": exact, "tree": exact, "lattice": judge, "maxsat": judge}
    return bool(known.get(method, network)())
