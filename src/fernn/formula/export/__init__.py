"""A formula for other tools: one file a target, each a reading of the nodes or of the program."""

from typing import TYPE_CHECKING, Any

from ..plugins import import_object
from .target import TARGETS, Target, export_formula, register_target

if TYPE_CHECKING:  # imported when they are first asked for
    from .breach import to_breach as to_breach
    from .c import to_c as to_c
    from .json import from_json as from_json
    from .json import to_json as to_json
    from .latex import to_latex as to_latex
    from .python import to_python as to_python
    from .rtamt import to_rtamt as to_rtamt

FORMATS = TARGETS
"""The name that the targets had before."""
_SOURCES = {
    "from_json": ".json:from_json",
    "to_breach": ".breach:to_breach",
    "to_c": ".c:to_c",
    "to_json": ".json:to_json",
    "to_latex": ".latex:to_latex",
    "to_python": ".python:to_python",
    "to_rtamt": ".rtamt:to_rtamt",
}

__all__ = ["FORMATS", "TARGETS", "Target", "export_formula", "register_target"]
__all__ += sorted(_SOURCES)


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = import_object(_SOURCES[name], __name__)
    return found


def __dir__() -> list[str]:
    return __all__
