"""Methods that find formulas for labelled traces, all used in the same way."""

from .base import Entry, Fit, Front, Learner, Progress, Watch, silent
from .constraints import Prior, Range, constrain, read_prior
from .enumerative.enumerative import Enumerative, ExactFit
from .fernn.fernn import Fernn
from .lattice.lattice import Lattice, LatticeFit
from .maxsat import MaxSat, MaxSatFit
from .paper import PaperFernn
from .tree import Tree

informed = constrain

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
    "Prior",
    "Progress",
    "Range",
    "Tree",
    "Watch",
    "constrain",
    "informed",
    "read_prior",
    "silent",
]
