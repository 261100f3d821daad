"""The registry of export targets, and what they share: rewriting of windows, the header, a program that runs forward.

A target is one file and one line of `BUILT_IN`. Other packages bring targets of their own with `register_target`, or
with an entry point of the group `fernn.targets` that names a `Target`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from ...errors import FormulaError, UnsupportedError, short_repr
from ..expressions import Step
from ..grammar import TIMED
from ..measures import direction, expand_definition, map_nodes
from ..nodes import (
    ALL_TIME,
    Always,
    And,
    Eventually,
    Formula,
    Historically,
    Once,
    Or,
    Release,
    Since,
    Span,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    interval,
    walk,
)
from ..plugins import Registry, import_object
from ..printer import format_duration, format_number
from ..program import Operand, Program, compile_with_functions
from ..templates import require_closed

OPTIONS = ("dt", "unit", "name")
"""What a target may ask for beside the formula: the time between samples, its unit, a name for what it defines."""


@dataclass(frozen=True)
class Target:
    """A tool or a language that formulas are written for: called with a formula, it gives the text."""

    name: str
    write: Callable[..., str] | str
    """`write(formula)`, with any of OPTIONS that it has parameters for; or where it is: `module:function`."""
    line: str = ""
    """What the text is, in a few words."""
    file: str = ""
    """What a file of it is called; `formula.txt` if nothing is said."""
    title: str = ""
    """Its name in a menu."""
    comment: str | None = None
    """What begins a comment. `export_formula` then puts a head before the text, which says what the windows mean;
    None where the target writes its own."""

    __repr__ = short_repr

    def __call__(self, formula: Formula, **options: Any) -> str:
        write = import_object(self.write, __package__) if isinstance(self.write, str) else self.write
        text: str = write(formula, **{key: value for key, value in options.items() if key in _parameters(write)})
        return text


def _parameters(write: Callable[..., str]) -> tuple[str, ...]:
    """The names of the parameters of a function; none of one that Python cannot look into, such as `str`."""
    try:
        return tuple(inspect.signature(write).parameters)
    except ValueError:
        return ()


BUILT_IN = (
    Target("c", ".c:to_c", "a C99 monitor, without allocation", "monitor.c", "C"),
    Target("python", ".python:to_python", "a module that needs nothing but Python", "monitor.py", "Python"),
    Target("latex", ".latex:to_latex", "mathematics, as papers print it", "formula.tex", "LaTeX", "%"),
    Target("rtamt", ".rtamt:to_rtamt", "text for rtamt, discrete time", "formula_rtamt.txt", "rtamt", "//"),
    Target("breach", ".breach:write_breach", "text for Breach (MATLAB)", "formula.stl", "Breach"),
    Target("json", ".json:to_json", "nested objects, one a node", "formula.json", "JSON"),
)


def _accept_target(name: str, found: Any) -> Target:
    if not isinstance(found, Target):
        raise TypeError(f"it names a {type(found).__name__}, not a Target")
    return found


TARGETS: Registry[Target] = Registry(
    "fernn.targets", "export target", {target.name: target for target in BUILT_IN}, _accept_target
)
"""The export targets by name: those of fernn, and those of other packages."""


def register_target(target: Target) -> None:
    """From now on `fernn export --to NAME` and `export_formula` of this process know it."""
    TARGETS.register(target.name, target)


def export_formula(
    formula: Formula, to: str, dt: float | None = None, unit: str | None = None, name: str = "monitor"
) -> str:
    """The content of a file for one of `TARGETS`, whose head says what the windows mean.

    `dt` is the time between samples in `unit`; it never changes what a window means. `name` begins the names of C.
    """
    target = TARGETS.find(to, "a target")
    text = target(formula, dt=dt, unit=unit, name=name)
    if target.comment is None:
        return text
    return comment_head(formula, describe_windows(formula, dt, unit), target.comment) + text + "\n"


def comment_head(formula: Formula, meaning: str, comment: str) -> str:
    """The formula as fernn writes it, and what its windows mean, as comments."""
    return "".join(f"{comment} {one_line(line)}\n" for line in (f"{formula}", f"Written by fernn. {meaning}"))


def expand_weak_operators(formula: Formula) -> Formula:
    """The same meaning without W, R, B and T, written out by their definitions for tools that have no word for them."""

    def change(node: Formula) -> Formula:
        return expand_definition(node) if isinstance(node, WeakUntil | Release | WeakSince | Trigger) else node

    return map_nodes(require_closed(formula), change)


def split_spans(formula: Formula) -> Formula:
    """The same meaning with one span an operator: `F[0,1]u[5,7] p` is `F[0,1] p | F[5,7] p`, without W, R, B and T."""

    def change(node: Formula) -> Formula:
        match node:
            case Eventually(a, over) | Once(a, over):
                return _join_halves(Or, [type(node)(a, interval(*span)) for span in over])
            case Always(a, over) | Historically(a, over):
                return _join_halves(And, [type(node)(a, interval(*span)) for span in over])
            case Until(a, b, over) | Since(a, b, over):
                return _join_halves(Or, [type(node)(a, b, interval(*span)) for span in over])
        return node

    return map_nodes(expand_weak_operators(formula), change)


def split_late_windows(formula: Formula) -> Formula:
    """Without `[a,inf)` for a > 0: `F[3,inf) p` is `F[3,3] F p`; one span an operator."""

    def change(node: Formula) -> Formula:
        match node:
            case Eventually(a, over) | Always(a, over) | Once(a, over) | Historically(a, over) if _is_late(
                over.spans[0]
            ):
                shift = interval(over.start, over.start)
                return type(node)(type(node)(a, ALL_TIME), shift)
            case Until(a, b, over) if _is_late(over.spans[0]):
                shift = interval(over.start, over.start)
                return And(Always(a, interval(0, over.start - 1)), Eventually(Until(a, b), shift))
            case Since(a, b, over) if _is_late(over.spans[0]):
                shift = interval(over.start, over.start)
                return And(Historically(a, interval(0, over.start - 1)), Once(Since(a, b), shift))
        return node

    return map_nodes(split_spans(formula), change)


def _join_halves(operator: Callable[[Formula, Formula], Formula], parts: Sequence[Formula]) -> Formula:
    """In halves, so that thousands of parts are a few levels deep."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) + 1) // 2
    return operator(_join_halves(operator, parts[:half]), _join_halves(operator, parts[half:]))


def _is_late(span: Span) -> bool:
    return span[0] > 0 and span[1] == inf


def describe_windows(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """`Windows count samples. Samples are 0.1 s apart: 20 samples are 2 s.`"""
    if dt is None:
        return "Windows count samples. The time between samples was not given."
    check_dt(dt)
    name = one_line(unit or "time units")
    reach = farthest_window_end(formula)
    count = "1 sample is" if reach == 1 else f"{reach} samples are"
    example = "" if reach is None else f": {count} {format_duration(reach, dt)} {name}"
    return f"Windows count samples. Samples are {format_number(dt)} {name} apart{example}."


def farthest_window_end(formula: Formula) -> int | None:
    """The farthest sample that a window names; None where no window is bounded."""
    ends = [int(end) for node in walk(formula) if isinstance(node, TIMED) for span in node.over for end in span
            if 0 < end < inf]  # fmt: skip
    return max(ends, default=None)


def check_dt(dt: object) -> None:
    """An error unless this can be the time between samples."""
    if isinstance(dt, bool) or not isinstance(dt, (int, float)) or not 0 < dt < inf:
        raise FormulaError(f"dt, the time between samples, is a positive number, found {dt!r}")


def one_line(text: str) -> str:
    """Text without line breaks of any kind, for a comment that ends with its line."""
    return " ".join(text.splitlines())


JUST_VIOLATED = -5e-324
"""The float that says: zero, and not satisfied."""


MOST_FUNCTION_SAMPLES = 1 << 26
"""Samples that the functions of an exported formula look back in all; by so many the code divides without error."""


def one_way_program(formula: Formula, target: str, step: Step | None) -> tuple[Program, bool]:
    """Code that can be run in one direction, and whether that is from the last sample to the first.

    Where it is, its early steps are run in the order of time before: functions look back all the same.
    """
    if direction(require_closed(formula)) == "mixed":
        raise UnsupportedError(
            f"{target} cannot run a formula that looks both back and ahead: {formula}. "
            "Export a past or a future formula; fernn eval judges mixed ones on recordings."
        )
    code = compile_with_functions((formula,), step)
    looked_back = sum(code.steps[i].amount for i in code.functions)
    if looked_back > MOST_FUNCTION_SAMPLES:
        raise UnsupportedError(
            f"the functions of {formula} look back {looked_back} samples, more than {target} keeps "
            f"({MOST_FUNCTION_SAMPLES}); fernn eval judges such formulas on recordings."
        )
    return code, direction(formula) != "past"


def operand_expression(operand: Operand | None, names: Mapping[Any, str], steps: str = "s{}") -> str:
    """`2.0*x0 - 1.5`: the operand over variables; Python and C write it alike."""
    assert operand is not None
    signal = names[operand.channel] if operand.channel is not None else steps.format(operand.step)
    bias = repr(abs(operand.bias))
    if operand.weight == -1 and operand.bias != 0:  # c - x
        return f"{operand.bias!r} - {signal}"
    scaled = {1.0: signal, -1.0: f"-{signal}"}.get(operand.weight, f"{operand.weight!r}*{signal}")
    if operand.bias == 0:
        return scaled
    return f"{scaled} {'-' if operand.bias < 0 else '+'} {bias}"
