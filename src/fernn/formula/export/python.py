"""A formula as Python source that needs nothing but Python."""

from __future__ import annotations

from ..nodes import Formula
from ..program import Op, Operand, Program, Step
from .streams import JUST_VIOLATED, expression, forward


def to_python(formula: Formula) -> str:
    """Source with `robustness(trace)`, and for past formulas `monitor()`, fed sample by sample."""
    code, from_end = forward(formula, "the Python export")
    names = {name: f"x{i}" for i, name in enumerate(code.channels)}
    start, body = stepwise(code, names)
    reads = ", ".join(names.values()) or "*_"
    lines = [
        f'"""{_harmless(str(formula))}',
        "",
        "Written by fernn. robustness(trace) takes {channel: list of samples}; a result of zero or more means",
        f"satisfied. ({JUST_VIOLATED} stands for zero where a strict comparison just fails.)",
        '"""',
        "",
        "from collections import deque",
        "",
        "inf = float('inf')",
        f"CHANNELS = {tuple(names)!r}",
        "",
        "",
        "def monitor():",
        '    """A function to call with one sample after another, values in the order of CHANNELS.',
        "",
        "    "
        + ("It must be fed from the last sample to the first." if from_end else "It gives the robustness so far."),
        '    """',
        *("    " + line for line in start),
        "",
        f"    def update({reads}):",
        *([f"        nonlocal {', '.join(_changing(start))}"] if _changing(start) else []),
        *(
            f"        if not -inf < {x} < inf: raise ValueError('every value must be a finite number')"
            for x in names.values()
        ),
        *("        " + line for line in body),
        f"        return s{len(code.steps) - 1}",
        "",
        "    return update",
        "",
        "",
        "def robustness(trace):",
        '    """The robustness of a whole trace, {channel: list of samples}."""',
        "    sizes = {len(samples) for samples in trace.values()}",
        "    if len(sizes) != 1 or 0 in sizes:",
        "        raise ValueError('every channel must have the same number of samples, at least one')",
        "    update = monitor()",
        "    samples = list(zip(*(trace[name] for name in CHANNELS))) or [()] * sizes.pop()",
        f"    for sample in {'reversed(samples)' if from_end else 'samples'}:",
        "        value = update(*sample)",
        "    return value",
        "",
    ]
    return "\n".join(lines)


def stepwise(code: Program, names: dict[str, str]) -> tuple[list[str], list[str]]:
    """Lines that set up the state, and lines that take one sample through all steps."""
    start = ["n = -1"] if any(s.op in (Op.WINDOW_MIN, Op.WINDOW_MAX) for s in code.steps) else []
    body = ["n += 1"] if start else []
    for i, step in enumerate(code.steps):
        setup, lines = _step(i, step, names)
        start += setup
        body += lines
    return start, body


def _step(i: int, step: Step, names: dict[str, str]) -> tuple[list[str], list[str]]:
    def read(operand: Operand | None) -> str:
        text = expression(operand, names)
        assert operand is not None
        return f"({text} or {JUST_VIOLATED})" if operand.strict else text

    match step.op:
        case Op.FILL:
            return [], [f"s{i} = {step.fill!r}"]
        case Op.COPY:
            return [], [f"s{i} = {read(step.a)}"]
        case Op.SUM:
            return [], [f"s{i} = {read(step.a)} + {read(step.b)}"]
        case Op.MIN | Op.MAX:
            less = "<" if step.op == Op.MIN else ">"
            return [], [f"a = {read(step.a)}", f"b = {read(step.b)}", f"s{i} = a if a {less} b else b"]
        case Op.SHIFT:
            setup = [f"q{i} = deque([{step.fill!r}] * {step.amount})"]
            return setup, [f"s{i} = q{i}.popleft()", f"q{i}.append({read(step.a)})"]
        case Op.RUN_MIN | Op.RUN_MAX:
            worst, less = ("inf", "<") if step.op == Op.RUN_MIN else ("-inf", ">")
            return [f"s{i} = {worst}"], [f"a = {read(step.a)}", f"if a {less} s{i}:", f"    s{i} = a"]
        case Op.HOLD_MAX | Op.HOLD_MIN:
            worst, less, more = ("-inf", "<", ">") if step.op == Op.HOLD_MAX else ("inf", ">", "<")
            return [f"s{i} = {worst}"], [
                f"a = {read(step.a)}",
                f"b = {read(step.b)}",
                f"if a {less} s{i}:",
                f"    s{i} = a",
                f"if b {more} s{i}:",
                f"    s{i} = b",
            ]
    less = ">=" if step.op == Op.WINDOW_MIN else "<="
    return [f"q{i} = deque()"], [
        f"a = {read(step.a)}",
        f"while q{i} and q{i}[-1][1] {less} a:",
        f"    q{i}.pop()",
        f"q{i}.append((n, a))",
        f"if q{i}[0][0] <= n - {step.amount}:",
        f"    q{i}.popleft()",
        f"s{i} = q{i}[0][1]",
    ]


def _changing(start: list[str]) -> list[str]:
    """The names that each sample rebinds."""
    return [line.split(" = ")[0] for line in start if not line.startswith("q")]


def _harmless(text: str) -> str:
    """Text that cannot end the docstring that it is put into."""
    return text.replace("\\", "\\\\").replace('"', "'")
