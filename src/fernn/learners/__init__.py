"""Methods that find formulas for labelled traces, all used in the same way."""

from .enumerative.enumerative import Enumerative, ExactFit
from .fernn.fernn import Fernn
from .fit import Fit, Learner, Progress, Watch, silent
from .front import Entry, Front
from .informed import informed
from .lattice.lattice import Lattice, LatticeFit
from .maxsat import MaxSat, MaxSatFit
from .paper import PaperFernn
from .prior import Prior, Range, read_prior
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
    "Prior",
    "Progress",
    "Range",
    "Tree",
    "Watch",
    "informed",
    "read_prior",
    "silent",
]
