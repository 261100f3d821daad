"""What the exported monitors share: a program that runs forward, one sample at a time.

Past formulas read samples as they come. Future formulas are their mirror on the trace read from
its end, so the same code serves them, on whole traces. An atom that is strict and exactly on its
threshold yields the smallest negative float instead of zero: the sign of a result is its verdict.
"""

from __future__ import annotations

from ...errors import UnsupportedError
from ..holes import without_holes
from ..measures import direction, mirror
from ..nodes import Formula
from ..program import Operand, Program, program

JUST_VIOLATED = -5e-324
"""The float that says: zero, and not satisfied."""


def forward(formula: Formula, target: str) -> tuple[Program, bool]:
    """Code that looks back only, and whether the trace is to be read from its end."""
    match direction(without_holes(formula)):
        case "mixed":
            raise UnsupportedError(
                f"{target} cannot run a formula that looks both back and ahead: {formula}. "
                "Export a past or a future formula; fernn eval judges mixed ones on recordings."
            )
        case "past":
            return program(formula), False
    return program(mirror(formula)), True


def expression(operand: Operand | None, names: dict[str, str]) -> str:
    """`2.0*x0 - 1.5`: the operand over variables; Python and C write it alike."""
    assert operand is not None
    signal = names[operand.channel] if operand.channel is not None else f"s{operand.step}"
    bias = repr(abs(operand.bias))
    if operand.weight == -1 and operand.bias != 0:  # c - x
        return f"{operand.bias!r} - {signal}"
    scaled = {1.0: signal, -1.0: f"-{signal}"}.get(operand.weight, f"{operand.weight!r}*{signal}")
    if operand.bias == 0:
        return scaled
    return f"{scaled} {'-' if operand.bias < 0 else '+'} {bias}"
