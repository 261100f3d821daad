"""The language: formulas as values, and what can be said of them without a trace."""

from typing import TYPE_CHECKING, Any

from .export import FORMATS, TARGETS, Target, export_formula, register_target
from .expressions import Step
from .laws import negation_normal_form
from .measures import (
    channels,
    complexity,
    direction,
    horizon,
    length,
    mirror,
    rename_channels,
    thresholds,
    with_thresholds,
)
from .nodes import (
    ALL_TIME,
    FALSE,
    TRUE,
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    OpenInterval,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    atom,
    interval,
    is_in,
    is_missing,
    walk,
)
from .parser import parse
from .printer import show
from .sentence import to_sentence
from .simplify import simplify
from .templates import (
    atoms_open,
    choices,
    exactly_length,
    expand_template,
    fill_template,
    is_template,
    merge_template,
    paper_length,
    paper_up_to,
    reactive,
    up_to_length,
    windows_open,
)

if TYPE_CHECKING:  # imported when they are first asked for
    from .export import from_json as from_json
    from .export import to_breach as to_breach
    from .export import to_c as to_c
    from .export import to_json as to_json
    from .export import to_latex as to_latex
    from .export import to_python as to_python
    from .export import to_rtamt as to_rtamt

expanded, filled, merged, renamed = expand_template, fill_template, merge_template, rename_channels
"""The names that these had before."""

__all__ = [
    "ALL_TIME",
    "FALSE",
    "FORMATS",
    "TARGETS",
    "TRUE",
    "Always",
    "And",
    "AnyAtom",
    "AnyOf",
    "Atom",
    "Constant",
    "Eventually",
    "Formula",
    "Historically",
    "Implies",
    "Interval",
    "Not",
    "Once",
    "OpenInterval",
    "Or",
    "Release",
    "Since",
    "Step",
    "Target",
    "Trigger",
    "Until",
    "WeakSince",
    "WeakUntil",
    "atom",
    "atoms_open",
    "channels",
    "choices",
    "complexity",
    "direction",
    "exactly_length",
    "expand_template",
    "expanded",
    "export_formula",
    "fill_template",
    "filled",
    "from_json",
    "horizon",
    "interval",
    "is_in",
    "is_missing",
    "is_template",
    "length",
    "merge_template",
    "merged",
    "mirror",
    "negation_normal_form",
    "paper_length",
    "paper_up_to",
    "parse",
    "reactive",
    "register_target",
    "rename_channels",
    "renamed",
    "show",
    "simplify",
    "thresholds",
    "to_breach",
    "to_c",
    "to_json",
    "to_latex",
    "to_python",
    "to_rtamt",
    "to_sentence",
    "up_to_length",
    "walk",
    "windows_open",
    "with_thresholds",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import export

    found = globals()[name] = getattr(export, name)
    return found


def __dir__() -> list[str]:
    return __all__
