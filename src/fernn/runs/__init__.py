"""Runs: folders in which a fit is recorded while it goes on, read by reports, and resumed after a stop."""

from typing import Any
from warnings import warn

from .job import (
    Job,
    Outcome,
    RulesOutcome,
    data_file,
    error,
    fit_in_run,
    load_job,
    load_result,
    load_rules,
    parts,
    reading_options,
    run_job,
    start_job,
)
from .methods import METHODS, Method, describe_option, is_method_compiled, learner, method, settings
from .plan import CLASSES, plan
from .run import Run, new_folder, resume_command, run_folders

__all__ = [
    "CLASSES", "METHODS", "Job", "Method", "Outcome", "RulesOutcome", "Run", "data_file", "describe_option", "error",
    "fit_in_run", "is_method_compiled", "learner", "load_job", "load_result", "load_rules", "method", "new_folder",
    "parts", "plan", "reading_options", "resume_command", "run_folders", "run_job", "settings", "start_job",
]  # fmt: skip

_OLD_NAMES = {"learned": "fit_in_run", "begun": "start_job", "carried_out": "run_job"}


def __getattr__(name: str) -> Any:
    if name not in _OLD_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn(f"fernn.runs.{name} is called {_OLD_NAMES[name]} now", DeprecationWarning, stacklevel=2)
    return globals()[_OLD_NAMES[name]]
