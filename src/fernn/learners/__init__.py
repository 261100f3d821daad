"""Methods that find formulas for labelled traces, all used in the same way."""

from typing import TYPE_CHECKING, Any

from ..formula.plugins import import_object
from .learner_registry import BUILT_IN, METHODS, Method, register_learner

if TYPE_CHECKING:  # imported when they are first asked for
    from .base import Entry as Entry
    from .base import Fit as Fit
    from .base import Front as Front
    from .base import Learner as Learner
    from .base import Progress as Progress
    from .base import Watch as Watch
    from .base import silent as silent
    from .constraints import Prior as Prior
    from .constraints import Range as Range
    from .constraints import constrain as constrain
    from .constraints import read_prior as read_prior
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

_SOURCES = {str(method.source).rpartition(":")[2]: str(method.source) for method in BUILT_IN.values()}
_SOURCES |= {name: f".base:{name}" for name in ("Entry", "Fit", "Front", "Learner", "Progress", "Watch", "silent")}
_SOURCES |= {name: f".constraints:{name}" for name in ("Prior", "Range", "constrain", "read_prior")}
_SOURCES |= {
    "ExactFit": ".enumerative.enumerative:ExactFit",
    "LatticeFit": ".lattice.lattice:LatticeFit",
    "MaxSatFit": ".maxsat:MaxSatFit",
    "informed": ".constraints:constrain",
}

__all__ = ["METHODS", "Method", "register_learner"]
__all__ += sorted(_SOURCES)


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = import_object(_SOURCES[name], __name__)
    return found


def __dir__() -> list[str]:
    return __all__
