"""A job of learning, as `learn` and `demo` carry it out: with a display, with Ctrl-C, and kept in a run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from .interrupt import Interrupt
from .output import complain
from .progress import display

if TYPE_CHECKING:
    from ..learners import Progress, Watch
    from ..runs import Job, Outcome, RulesOutcome

Done = TypeVar("Done", bound=Any)
COMPILING = "compiling (first run only, ~20 s)"
FAILURES = 5
"""Failures of an engine that are told one by one."""
STOPPING = "stopping; Ctrl-C again quits at once"


def carried_out(job: Job, quiet: bool) -> Outcome:
    """Learn with a display; a run that cannot be written is told of at the end, and is no reason to stop."""
    from .. import runs

    return _displayed(runs.run_job, job, quiet)


def rules_learned(job: Job, quiet: bool) -> RulesOutcome:
    """The same for rules for classes."""
    from .. import runs

    return _displayed(runs.run_rules_job, job, quiet)


def _displayed(work: Callable[..., Done], job: Job, quiet: bool) -> Done:
    from ..engines.resolve import announce_engine
    from ..runs import is_method_compiled

    announce_engine()  # not amid the display
    told_off: list[str] = []

    def broken(problem: OSError) -> None:
        told_off.append(f"{problem.strerror}: {problem.filename or (job.run and job.run.folder)}")

    with watched(quiet, is_method_compiled(job.settings["method"])) as watch:
        done = work(job, watch, broken)
    if not told_off:
        return done
    run = job.run
    if run is not None and run.is_new and run.is_empty:
        run.discard()
        complain(f"warning: the run could not be kept ({told_off[-1]}). Choose another folder with --out.")
        return replace(done, job=replace(job, run=None))
    complain(f"warning: the run could not be written ({told_off[-1]})")
    return done


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
    """What a candidate's windows do at the edges is of no interest while thousands of them are tried.

    That work failed on an engine, and is left out, is told at the end.
    """
    from ..errors import EngineWarning

    met: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", EngineWarning)
            warnings.showwarning = lambda message, *_, **__: met.append(str(message))
            yield
    finally:
        for text in met[:FAILURES]:
            complain(f"warning: {text}")
        if len(met) > FAILURES:
            complain(f"warning: {len(met) - FAILURES} more shares of the work failed on the engine and are left out")
