"""A formula for other tools: one file a target, each a reading of the nodes or of the program."""

from .breach import to_breach
from .c import to_c
from .json import from_json, to_json
from .latex import to_latex
from .python import to_python
from .rtamt import to_rtamt
from .target import TARGETS, Target, export_formula, register_target

FORMATS = TARGETS
"""The name that the targets had before."""

__all__ = [
    "FORMATS",
    "TARGETS",
    "Target",
    "export_formula",
    "from_json",
    "register_target",
    "to_breach",
    "to_c",
    "to_json",
    "to_latex",
    "to_python",
    "to_rtamt",
]
