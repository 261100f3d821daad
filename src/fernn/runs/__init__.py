"""Learning that leaves a folder behind: written while it goes on, read by reports, taken up again after a stop."""

from .folders import new_folder, run_folders
from .learning import error, learned, parts
from .methods import METHODS, Method, learner, method, settings
from .run import Run

__all__ = [
    "METHODS",
    "Method",
    "Run",
    "error",
    "learned",
    "learner",
    "method",
    "new_folder",
    "parts",
    "run_folders",
    "settings",
]
