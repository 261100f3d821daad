"""A formula as Python source that needs nothing but Python."""

from __future__ import annotations

from ..nodes import Formula
from ..program import Instruction, Op, Operand, Program
from .target import JUST_VIOLATED, describe_windows, forward_program, operand_expression

NARROW = 32
"""Samples that are looked through sooner than an order among them is kept up."""


def to_python(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """Source with `robustness(trace)`, and for past formulas `monitor()`, fed sample by sample.

    Windows count samples; `dt`, the time between them in `unit`, is told in the head and as DT and UNIT.
    """
    code, from_end = forward_program(formula, "the Python export")
    names = {name: f"x{i}" for i, name in enumerate(code.channels)}
    start, atoms, body = update_source(code, names)
    reads = ", ".join(names.values()) or "*_"
    lines = [
        f'"""{_harmless(str(formula))}',
        "",
        "Written by fernn. robustness(trace) takes {channel: list of samples}; a result of zero or more means",
        f"satisfied. ({JUST_VIOLATED} stands for zero where a strict comparison just fails.)",
        "A value that is not finite, or a sum of channels that overflows, is a ValueError.",
        _harmless(describe_windows(formula, dt, unit)),
        '"""',
        "",
        "from collections import deque",
        "",
        "inf = float('inf')",
        f"CHANNELS = {tuple(names)!r}",
        f"DT, UNIT = {dt!r}, {unit!r}",
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
        *([f"        nonlocal {', '.join(_rebound_names(start))}"] if _rebound_names(start) else []),
        *(
            f"        if not -inf < {x} < inf: raise ValueError('every value must be a finite number')"
            for x in names.values()
        ),
        *("        " + line for line in [*atoms, *body]),
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


def update_source(code: Program, names: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Lines that set up the state, that read one sample into atoms and sums, and that take it through all steps.

    Lines of the second kind change no state, and raise a ValueError where a sum overflows.
    """
    atoms: dict[str, str] = {}
    sums: list[str] = []
    start = ["n = -1"] if any(s.op in (Op.WINDOW_MIN, Op.WINDOW_MAX) for s in code.steps) else []
    body = ["n += 1"] if start else []
    for i, step in enumerate(code.steps):
        setup, lines = _step(i, step, names, atoms)
        start += setup
        if step.op == Op.SUM:
            sums += [*lines, f"if s{i} - s{i}: raise ValueError('a sum of channels overflows')"]
        else:
            body += lines
    return start, [*(f"{name} = {text}" for text, name in atoms.items()), *sums], body


def _step(i: int, step: Instruction, names: dict[str, str], atoms: dict[str, str]) -> tuple[list[str], list[str]]:
    def read(operand: Operand | None) -> str:
        assert operand is not None
        text = operand_expression(operand, names)
        text = f"({text} or {JUST_VIOLATED})" if operand.strict else text
        return atoms.setdefault(text, f"e{len(atoms)}") if operand.channel is not None else text

    match step.op:
        case Op.FILL:
            return [], [f"s{i} = {step.fill!r}"]
        case Op.COPY:
            return [], [f"s{i} = {read(step.a)}"]
        case Op.SUM:
            return [], [f"s{i} = {read(step.a)} + {read(step.b)}"]
        case Op.MIN | Op.MAX:
            less = "<" if step.op == Op.MIN else ">"
            a, b = read(step.a), read(step.b)
            if step.a is not None and step.b is not None and step.a.channel and step.b.channel:
                return [], [f"s{i} = {a} if {a} {less} {b} else {b}"]
            return [], [f"a = {a}", f"b = {b}", f"s{i} = a if a {less} b else b"]
        case Op.SHIFT:
            setup = [f"q{i} = deque([{step.fill!r}] * {step.amount})"]
            return setup, [f"s{i} = q{i}.popleft()", f"q{i}.append({read(step.a)})"]
        case Op.RUN_MIN | Op.RUN_MAX:
            worst, less = ("inf", "<") if step.op == Op.RUN_MIN else ("-inf", ">")
            a = read(step.a)
            return [f"s{i} = {worst}"], [f"if {a} {less} s{i}: s{i} = {a}"]
        case Op.HOLD_MAX | Op.HOLD_MIN:
            worst, less, more = ("-inf", "<", ">") if step.op == Op.HOLD_MAX else ("inf", ">", "<")
            a, b = read(step.a), read(step.b)
            return [f"s{i} = {worst}"], [f"if {a} {less} s{i}: s{i} = {a}", f"if {b} {more} s{i}: s{i} = {b}"]
    if step.amount <= NARROW:
        return _narrow(i, step, read(step.a))
    less = ">=" if step.op == Op.WINDOW_MIN else "<="
    return [f"q{i} = deque()", f"k{i} = deque()"], [
        f"a = {read(step.a)}",
        f"while q{i} and q{i}[-1] {less} a:",
        f"    q{i}.pop()",
        f"    k{i}.pop()",
        f"q{i}.append(a)",
        f"k{i}.append(n)",
        f"if k{i}[0] <= n - {step.amount}:",
        f"    q{i}.popleft()",
        f"    k{i}.popleft()",
        f"s{i} = q{i}[0]",
    ]


def _narrow(i: int, step: Instruction, a: str) -> tuple[list[str], list[str]]:
    """A narrow window is looked through when its best sample leaves it, which is seldom."""
    worst, least, less = ("inf", "min", "<=") if step.op == Op.WINDOW_MIN else ("-inf", "max", ">=")
    return [f"q{i} = deque([], {step.amount})", f"s{i} = {worst}", f"k{i} = {step.amount}"], [
        f"a = {a}",
        f"q{i}.append(a)",
        f"if a {less} s{i}:",
        f"    s{i} = a",
        f"    k{i} = n + {step.amount}",
        f"elif n >= k{i}:",
        f"    s{i} = {least}(q{i})",
        f"    k{i} = n + 1 + q{i}.index(s{i})",
    ]


def _rebound_names(start: list[str]) -> list[str]:
    """The names that each sample rebinds."""
    return [line.split(" = ")[0] for line in start if " = deque" not in line]


def _harmless(text: str) -> str:
    """Text that cannot end the docstring that it is put into."""
    return text.replace("\\", "\\\\").replace('"', "'")
