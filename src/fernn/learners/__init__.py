"""Methods that find formulas for labelled traces, all used in the same way."""

from .enumerative import Enumerative, ExactFit
from .fernn import Fernn
from .fit import Fit, Learner, Progress, Watch, silent
from .front import Entry, Front
from .paper import PaperFernn

__all__ = [
    "Entry",
    "Enumerative",
    "ExactFit",
    "Fernn",
    "Fit",
    "Front",
    "Learner",
    "PaperFernn",
    "Progress",
    "Watch",
    "silent",
]
