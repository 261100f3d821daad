"""Methods that find formulas for labelled traces, all used in the same way."""

from .enumerative import Enumerative, ExactFit
from .fernn import Fernn
from .fit import Fit, Learner, Progress, Watch, silent
from .front import Entry, Front
from .lattice import Lattice, LatticeFit
from .maxsat import MaxSat, MaxSatFit
from .paper import PaperFernn
from .tree import Tree

__all__ = [
    "Entry",
    "Enumerative",
    "ExactFit",
    "Fernn",
    "Fit",
    "Front",
    "Lattice",
    "LatticeFit",
    "Learner",
    "MaxSat",
    "MaxSatFit",
    "PaperFernn",
    "Progress",
    "Tree",
    "Watch",
    "silent",
]
