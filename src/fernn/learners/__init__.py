"""Methods that find formulas for labelled traces, all used in the same way."""

from .fernn import Fernn
from .fit import Fit, Learner, Progress, Watch, silent
from .front import Entry, Front

__all__ = ["Entry", "Fernn", "Fit", "Front", "Learner", "Progress", "Watch", "silent"]
