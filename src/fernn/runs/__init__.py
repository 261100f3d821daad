"""Learning that leaves a folder behind: written while it goes on, read by reports, taken up again after a stop."""

from .folders import new_folder, run_folders
from .job import Job, Outcome, as_found, begun, carried_out, file_of, plan, reopened
from .learning import error, learned, parts
from .methods import METHODS, Method, is_compiled, learner, method, settings
from .run import Run

__all__ = [
    "METHODS",
    "Job",
    "Method",
    "Outcome",
    "Run",
    "as_found",
    "begun",
    "carried_out",
    "error",
    "file_of",
    "is_compiled",
    "learned",
    "learner",
    "method",
    "new_folder",
    "parts",
    "plan",
    "reopened",
    "run_folders",
    "settings",
]
