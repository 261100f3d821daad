"""fernn: rules in temporal logic, learned from labelled time series, judged exactly, run as monitors.

The public names, each loaded when it is first used, so that `import fernn` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any
from warnings import warn

if TYPE_CHECKING:
    from .data import Dataset as Dataset
    from .data import from_frame as from_frame
    from .data import read as read
    from .errors import DataError as DataError
    from .errors import FernnError as FernnError
    from .errors import FernnWarning as FernnWarning
    from .errors import FormulaError as FormulaError
    from .errors import SignalError as SignalError
    from .errors import UnsupportedError as UnsupportedError
    from .formula import Formula as Formula
    from .formula import length as length
    from .formula import mirror as mirror
    from .formula import parse as parse
    from .formula import simplify as simplify
    from .formula import to_sentence as to_sentence
    from .learners import Enumerative as Enumerative
    from .learners import Fernn as Fernn
    from .learners import Front as Front
    from .learners import Lattice as Lattice
    from .learners import MaxSat as MaxSat
    from .learners import Tree as Tree
    from .learners.classes import OnePerClass as OnePerClass
    from .learners.classes import Ordered as Ordered
    from .learners.classes import Ranked as Ranked
    from .learners.classes import Tightest as Tightest
    from .learners.sklearn import EnumerativeClassifier as EnumerativeClassifier
    from .learners.sklearn import FernnClassifier as FernnClassifier
    from .learners.sklearn import FernnRegressor as FernnRegressor
    from .learners.sklearn import LatticeClassifier as LatticeClassifier
    from .learners.sklearn import MaxSatClassifier as MaxSatClassifier
    from .learners.sklearn import OnePerClassClassifier as OnePerClassClassifier
    from .learners.sklearn import RankedClassifier as RankedClassifier
    from .learners.sklearn import RobustnessTransformer as RobustnessTransformer
    from .learners.sklearn import RuleListClassifier as RuleListClassifier
    from .learners.sklearn import TightestDetector as TightestDetector
    from .learners.sklearn import TreeClassifier as TreeClassifier
    from .pipeline import ClassResult as ClassResult
    from .pipeline import Result as Result
    from .pipeline import learn as learn
    from .pipeline import resume as resume
    from .semantics import Monitor as Monitor
    from .semantics import deciding as deciding
    from .semantics import robustness as robustness
    from .semantics import satisfied as satisfied
    from .semantics import score as score
    from .semantics import signals as signals

__version__ = "0.1.0"

_HOME = {
    "data": ("Dataset", "from_frame", "read"),
    "errors": ("DataError", "FernnError", "FernnWarning", "FormulaError", "SignalError", "UnsupportedError"),
    "formula": ("Formula", "length", "mirror", "parse", "simplify", "to_sentence"),
    "learners": ("Enumerative", "Fernn", "Front", "Lattice", "MaxSat", "Tree"),
    "learners.classes": ("OnePerClass", "Ordered", "Ranked", "Tightest"),
    "learners.sklearn": (
        "EnumerativeClassifier",
        "FernnClassifier",
        "FernnRegressor",
        "LatticeClassifier",
        "MaxSatClassifier",
        "OnePerClassClassifier",
        "RankedClassifier",
        "RobustnessTransformer",
        "RuleListClassifier",
        "TightestDetector",
        "TreeClassifier",
    ),
    "pipeline": ("ClassResult", "Result", "learn", "resume"),
    "semantics": ("Monitor", "deciding", "robustness", "satisfied", "score", "signals"),
}
_ROOM = {name: room for room, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_ROOM)]


def __getattr__(name: str) -> Any:
    if name not in _ROOM:
        raise AttributeError(f"module 'fernn' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_ROOM[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return __all__


_RENAMED = {
    "fernn.exact": "fernn.learners.enumerative",
    "fernn.exact.smallest": "fernn.learners.enumerative.smallest",
    "fernn.integrations": "fernn.learners.adapters",
    "fernn.integrations.aeon": "fernn.learners.adapters.aeon_classifier",
    "fernn.integrations.sktime": "fernn.learners.adapters.sktime_classifier",
    "fernn.lattice": "fernn.learners.lattice",
    "fernn.asking": "fernn.mining",
    "fernn.belief": "fernn.evaluation",
    "fernn.causes": "fernn.mining",
    "fernn.compare": "fernn.evaluation",
    "fernn.compare.own": "fernn.evaluation.comparison",
    "fernn.engine": "fernn.engines",
    "fernn.regions": "fernn.mining",
}


class _FormerPackages:
    """Imports packages by their former names, for one release, with a DeprecationWarning."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, cls, is_package=True) if name in _RENAMED else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        now = import_module(_RENAMED[module.__name__])
        warn(f"{module.__name__} is now called {now.__name__}", DeprecationWarning, stacklevel=2)
        former: dict[str, str] = getattr(now, "FORMER_NAMES", {})
        module.__dict__["__getattr__"] = lambda name: getattr(now, former.get(name) or name)


sys.meta_path.append(_FormerPackages)
