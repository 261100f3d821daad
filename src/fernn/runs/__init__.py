"""Learning that leaves a folder behind: written while it goes on, read by reports, taken up again after a stop."""

from .classes import CLASSES, RulesOutcome, rules_begun, rules_found, rules_learned, rules_of, rules_plan
from .folders import new_folder, resume_command, run_folders
from .job import Job, Outcome, as_found, begun, carried_out, file_of, plan, reading_of, reopened
from .learning import error, learned, parts
from .methods import METHODS, Method, is_compiled, learner, method, settings
from .run import Run

__all__ = [
    "CLASSES",
    "METHODS",
    "Job",
    "Method",
    "Outcome",
    "RulesOutcome",
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
    "reading_of",
    "reopened",
    "resume_command",
    "rules_begun",
    "rules_found",
    "rules_learned",
    "rules_of",
    "rules_plan",
    "run_folders",
    "settings",
]
