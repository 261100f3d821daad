"""Methods that find formulas for labelled traces, all used in the same way."""

from typing import TYPE_CHECKING, Any

from .base import Entry, Fit, Front, Learner, Progress, Watch, silent
from .constraints import Prior, Range, constrain, read_prior
from .learner_registry import BUILT_IN, METHODS, Method, register_learner

if TYPE_CHECKING:  # imported when they are first asked for
    from .enumerative.enumerative import Enumerative as Enumerative
    from .enumerative.enumerative import ExactFit as ExactFit
    from .fernn.fernn import Fernn as Fernn
    from .lattice.lattice import Lattice as Lattice
    from .lattice.lattice import LatticeFit as LatticeFit
    from .maxsat import MaxSat as MaxSat
    from .maxsat import MaxSatFit as MaxSatFit
    from .paper import PaperFernn as PaperFernn
    from .tree import Tree as Tree

informed = constrain
_FITS = {"ExactFit": "Enumerative", "LatticeFit": "Lattice", "MaxSatFit": "MaxSat"}
"""Results of their own kind, each beside its learner."""
_SOURCES = {str(method.source).rpartition(":")[2]: str(method.source) for method in BUILT_IN.values()}

__all__ = [
    "METHODS",
    "Entry",
    "Fit",
    "Front",
    "Learner",
    "Method",
    "Prior",
    "Progress",
    "Range",
    "Watch",
    "constrain",
    "informed",
    "read_prior",
    "register_learner",
    "silent",
]
__all__ += [*_SOURCES, *_FITS]


def __getattr__(name: str) -> Any:
    from ..formula.plugins import import_object

    source = _SOURCES.get(_FITS.get(name, name))
    if source is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = import_object(f"{source.partition(':')[0]}:{name}", __name__)
    return found


def __dir__() -> list[str]:
    return __all__
