"""Mining: questions to data other than learning a classifier.

queries      which of several rules that fit equally well is meant: `ask` a person about traces that tell them apart
root causes  which past behaviour precedes a fault, from recordings with a label at every sample: `Cause().fit(marks)`
parameters   all values of a formula's open numbers that keep false alarms and misses within limits: `parameter_set`

    marks = mark_faults(X, faulty)          # or read_fault_marks("plant.csv", "fault")
    print(Cause().fit(marks))

    region = parameter_set("G (v <= ?c)", data, false_alarms=0.05, misses=0.05)
    print(region.bounds["c"].describe("c"), region.picked)

Each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fault_costs import Episode as Episode
    from .fault_costs import FaultReport as FaultReport
    from .fault_costs import RuleReport as RuleReport
    from .fault_costs import report_faults as report_faults
    from .fault_marks import TANK_CAUSE as TANK_CAUSE
    from .fault_marks import FaultMarks as FaultMarks
    from .fault_marks import inspect_fault_marks as inspect_fault_marks
    from .fault_marks import mark_faults as mark_faults
    from .fault_marks import read_fault_marks as read_fault_marks
    from .fault_marks import tank as tank
    from .parameter_grid import Box as Box
    from .parameter_grid import ValueRange as ValueRange
    from .parameter_plots import sketch as sketch
    from .parameter_plots import to_svg as to_svg
    from .parameter_search import SearchProgress as SearchProgress
    from .parameter_synthesis import ParameterSet as ParameterSet
    from .parameter_synthesis import Point as Point
    from .parameter_synthesis import Profile as Profile
    from .parameter_synthesis import parameter_set as parameter_set
    from .parametric_formula import Parameter as Parameter
    from .parametric_formula import ParametricFormula as ParametricFormula
    from .parametric_formula import parse_parametric as parse_parametric
    from .queries import Query as Query
    from .queries import QueryAnswer as QueryAnswer
    from .queries import QueryResult as QueryResult
    from .queries import QuerySession as QuerySession
    from .queries import ask as ask
    from .root_causes import Cause as Cause
    from .root_causes import CauseFit as CauseFit

_NAMES = {
    "fault_costs": ("Episode", "FaultReport", "RuleReport", "report_faults"),
    "fault_marks": ("TANK_CAUSE", "FaultMarks", "inspect_fault_marks", "mark_faults", "read_fault_marks", "tank"),
    "parameter_grid": ("Box", "ValueRange"),
    "parameter_plots": ("sketch", "to_svg"),
    "parameter_search": ("SearchProgress",),
    "parameter_synthesis": ("ParameterSet", "Point", "Profile", "parameter_set"),
    "parametric_formula": ("Parameter", "ParametricFormula", "parse_parametric"),
    "queries": ("Query", "QueryAnswer", "QueryResult", "QuerySession", "ask"),
    "root_causes": ("Cause", "CauseFit"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULES)

FORMER_NAMES = {
    "Account": "FaultReport",
    "Answered": "QueryAnswer",
    "Asked": "QueryResult",
    "CAUSE": "TANK_CAUSE",
    "Marked": "FaultMarks",
    "Progress": "SearchProgress",
    "Question": "Query",
    "Range": "ValueRange",
    "RuleAccount": "RuleReport",
    "Session": "QuerySession",
    "Structure": "ParametricFormula",
    "account": "report_faults",
    "inspect_marked": "inspect_fault_marks",
    "marked": "mark_faults",
    "read_marked": "read_fault_marks",
    "structure": "parse_parametric",
}
"""What was called otherwise in `fernn.asking`, `fernn.causes`, `fernn.planted` and `fernn.regions`."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
