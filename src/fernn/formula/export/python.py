"""A formula as Python source that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..expressions import Value, time_step
from ..nodes import Formula
from ..program import Instruction, Op, Operand, Program
from .target import JUST_VIOLATED, describe_windows, one_line, one_way_program, operand_expression

NARROW = 32
"""Samples that are looked through sooner than an order among them is kept up."""


def to_python(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """Source with `robustness(trace)`, and for past formulas `monitor()`, fed sample by sample.

    Windows count samples; `dt`, the time between them in `unit`, is told in the head and as DT and UNIT. Functions over
    times need it.
    """
    code, from_end = one_way_program(formula, "the Python export", time_step(dt, unit))
    names = {name: f"x{i}" for i, name in enumerate(code.channels)}
    splits = from_end and bool(code.functions)
    writer = SourceWriter(code, names)
    early: list[str] = []
    reads = list(names.values())
    if splits:
        first = SourceWriter(code, names)
        first.write(i for i in range(len(code.steps)) if i in code.early)
        writer.write(i for i in range(len(code.steps)) if i not in code.early)
        reads = [*names.values(), *(f"s{i}" for i in steps_handed_on(code))]
        head = [
            "What the functions give, for one sample after another in the order of time, in the order of CHANNELS.",
            "It gives what the function that monitor() makes takes.",
        ]
        first.first[:0] = first.take_channels(_TEXT_WANTED, _VALUE_WANTED, _NUMBER_WANTED)
        early = _closure("functions", head, first, names.values(), f"return {', '.join(reads)},")  # of one value, too
    else:
        writer.write(range(len(code.steps)))
        writer.first[:0] = writer.take_channels(_TEXT_WANTED, _VALUE_WANTED, _NUMBER_WANTED)
    fed = ["A function to call with one sample after another, values in the order of CHANNELS."]
    fed += ["It must be fed from the last sample to the first." if from_end else "It gives the robustness so far."]
    if splits:
        fed = ["A function to call with what functions() gave for each sample, from the last to the first."]
    has_functions = "\nA function that is not a number, such as infinity minus infinity, is a ValueError too."
    lines = [
        f'"""{_harmless(str(formula))}',
        "",
        "Written by fernn. robustness(trace) takes {channel: list of samples}; a result of zero or more means",
        f"satisfied. ({JUST_VIOLATED} stands for zero where a strict comparison just fails.)",
        "A value that is not finite, or a sum of channels that overflows, is a ValueError."
        + has_functions * bool(code.functions),
        *_describe_channels(code),
        _harmless(describe_windows(formula, dt, unit)),
        '"""',
        "",
        "from collections import deque",
        *(["from math import sqrt"] if any(step.op in (Op.ROOT, Op.STD) for step in code.steps) else []),
        "",
        "inf = float('inf')",
        f"CHANNELS = {tuple(names)!r}",
        f"DT, UNIT = {dt!r}, {unit!r}",
        "",
        "",
        *(_IS_MISSING if code.gaps else []),
        *early,
        *_closure("monitor", fed, writer, reads, f"return s{code.roots[0]}"),
        "def robustness(trace):",
        '    """The robustness of a whole trace, {channel: list of samples}."""',
        "    sizes = {len(samples) for samples in trace.values()}",
        "    if len(sizes) != 1 or 0 in sizes:",
        "        raise ValueError('every channel must have the same number of samples, at least one')",
        "    update = monitor()",
        "    samples = list(zip(*(trace[name] for name in CHANNELS))) or [()] * sizes.pop()",
        *(["    read = functions()", "    samples = [read(*sample) for sample in samples]"] if splits else []),
        f"    for sample in {'reversed(samples)' if from_end else 'samples'}:",
        "        value = update(*sample)",
        "    return value",
        "",
    ]
    return "\n".join(lines)


def steps_handed_on(code: Program) -> list[int]:
    """The early steps that others read, or that are the result."""
    late = [step for i, step in enumerate(code.steps) if i not in code.early]
    read = {operand.step for step in late for operand in (step.a, step.b) if operand is not None} | set(code.roots)
    return sorted(read & code.early)


_IS_MISSING = [
    "def is_missing(value):",
    '    """Whether a sample has no value: None, NaN or an empty text."""',
    "    return value is None or value != value or isinstance(value, str) and not value.strip()",
    "",
    "",
]
_TEXT_WANTED, _VALUE_WANTED, _NUMBER_WANTED = (
    f"{test}raise ValueError({told!r})"
    for test, told in (
        ("", "a channel that is compared with texts must hold texts"),
        ("", "a channel that is read must have a value before one is missing"),
        ("if not -inf < {x} < inf: ", "every value must be a finite number"),
    )
)


def _describe_channels(code: Program) -> list[str]:
    """What channels hold that are not numbers throughout."""
    texts, asked = ([_harmless(name) for name in code.channels if name in kind] for kind in (code.texts, code.gaps))
    told = [f"Texts are the values of: {', '.join(texts)}."] if texts else []
    told += (
        [f"A value may be missing, None or NaN, of: {', '.join(asked)}. The last one is read then."] if asked else []
    )
    return [one_line(line) for line in told]


def _closure(name: str, told: list[str], writer: SourceWriter, reads: Iterable[str], result: str) -> list[str]:
    """A function that makes a function of one sample, which keeps the state."""
    start = ["n = -1", *writer.start] if writer.counts else writer.start
    lines = [*writer.first, *(["n += 1"] if writer.counts else []), *writer.body]
    return [
        f"def {name}():",
        f'    """{told[0]}',
        *([] if len(told) == 1 else ["", f"    {told[1]}"]),
        '    """',
        *("    " + line for line in start),
        "",
        f"    def update({', '.join(reads) or '*_'}):",
        *([f"        nonlocal {', '.join(rebound_names(start))}"] if rebound_names(start) else []),
        *("        " + line for line in lines),
        f"        {result}",
        "",
        "    return update",
        "",
        "",
    ]


def rebound_names(start: list[str]) -> list[str]:
    """The names that each sample rebinds."""
    return [line.split(" = ")[0] for line in start if " = deque" not in line]


def _harmless(text: str) -> str:
    """Text that cannot end the docstring that it is put into."""
    return text.replace("\\", "\\\\").replace('"', "'")


def _explain(label: str) -> str:
    return repr(f"{label} is not a number: it overflows")


@dataclass
class SourceWriter:
    """Lines that set up the state, that read one sample without changing it, and that take the sample into it.

    Those of the second kind raise a ValueError where a sum or a function overflows. Functions, and all that they read,
    are among them: what they come to is known before any of them takes the sample in.
    """

    code: Program
    names: dict[str, str]
    """The variables of the channels."""
    fail: Callable[[str], str] = _explain
    """What is raised, an expression, where a step of this name is no number."""
    constants: Callable[[tuple[Value, ...]], str] = repr
    """The values of an `is`, as an expression."""
    is_single: bool = False
    """Whether the channels are numpy.float32: atoms are then computed in that type, which `single` makes, and functions
    in double precision of `double(x)`. Only the lines of the second kind differ."""
    start: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    atoms: dict[tuple[str, bool], str] = field(default_factory=dict)
    counts: bool = False
    """Whether the lines count samples in `n`: -1 at first, the number of the last sample while one is read."""

    def write(self, places: Iterable[int]) -> None:
        """Write these steps, which come in order."""
        labels = dict(self.code.labels)
        for i in places:
            step = self.code.steps[i]
            self.counts |= step.op in (Op.WINDOW_MIN, Op.WINDOW_MAX, Op.MEAN, Op.STD)
            if i not in self.code.early:
                setup, lines = self._late(i, step)
                self.start += setup
                self.body += lines
                continue
            setup, values, commits = self._early(i, step)
            self.start += setup
            self.first += values
            self.body += commits
            if step.op == Op.SUM and not step.amount:
                self.first.append(f"if s{i} - s{i}: raise ValueError('a sum of channels overflows')")
            elif i in labels:
                self.first.append(f"if s{i} != s{i}: raise ValueError({self.fail(labels[i])})")

    def take_channels(self, no_text: str, no_value: str, number: str) -> list[str]:
        """Lines that come before all others: they check the channels, and read the last value of those with gaps.

        What is asked of missing values is told in `gap0`, `gap1`, .... The arguments are what to do with a value that
        is no text, with one that is missing before there was any, and with a number `{x}`.
        """
        taken: list[str] = []
        for i, (name, x) in enumerate(self.names.items()):
            is_text, is_number = name in self.code.texts, name in self.code.numbers
            if name in self.code.gaps:
                taken.append(f"gap{i} = is_missing({x})")
            if name in self.code.gaps and (is_text or is_number):
                taken += [f"if gap{i}: {x} = held{i}", f"if {x} is None: {no_value}"]
                self.start.append(f"held{i} = None")
                self.body.append(f"held{i} = {x}")
            if is_text:
                taken += [f"if not isinstance({x}, str): {no_text}", f"{x} = {x}.strip()"]
            elif is_number:
                taken.append(number.format(x=x))
        return taken

    def read(self, operand: Operand | None, in_function: bool = False, in_sum: bool = False) -> str:
        """The operand as an expression; what is known before the state changes is computed once."""
        assert operand is not None
        if in_function:
            names = {name: f"double({x})" for name, x in self.names.items()} if self.is_single else self.names
            text = operand_expression(operand, names)
            return text if text.isidentifier() else f"({text})"
        if operand.channel is None and operand.step not in self.code.early:
            text = operand_expression(operand, self.names)
            return f"({text} or {JUST_VIOLATED})" if operand.strict else text
        is_rounded = self.is_single and operand.step in self.code.functions
        key = operand_expression(operand, self.names) + " or" * operand.strict, in_sum
        if key not in self.atoms:
            text = operand_expression(operand, self.names, "single(s{})" if is_rounded else "s{}")
            text = f"double({text})" if self.is_single and not in_sum else text
            self.atoms[key] = f"e{len(self.atoms)}"
            self.first.append(f"{self.atoms[key]} = {text}{f' or {JUST_VIOLATED}' if operand.strict else ''}")
        return self.atoms[key]

    def _late(self, i: int, step: Instruction) -> tuple[list[str], list[str]]:
        read = self.read
        match step.op:
            case Op.FILL:
                return [], [f"s{i} = {step.fill!r}"]
            case Op.COPY:
                return [], [f"s{i} = {read(step.a)}"]
            case Op.MIN | Op.MAX:
                less = "<" if step.op == Op.MIN else ">"
                a, b = read(step.a), read(step.b)
                if a.isidentifier() and b.isidentifier():
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
            *_push(i, step.amount, less, "a"),
            f"s{i} = q{i}[0]",
        ]

    def _early(self, i: int, step: Instruction) -> tuple[list[str], list[str], list[str]]:
        """The setup of a step, what gives its value `s`, and what takes the sample in."""
        if step.op in (Op.IS, Op.MISSING):
            assert step.a is not None
            assert isinstance(step.a.channel, str)
            x = self.names[step.a.channel]
            test = f"{x} in {self.constants(step.values)}" if step.op == Op.IS else f"gap{x[1:]}"
            return [], [f"s{i} = 1.0 if {test} else -1.0"], []
        of_function = i in self.code.functions and step.op not in (Op.SINCE, Op.COUNT)
        a = self.read(step.a, of_function, step.op == Op.SUM) if step.a is not None else ""
        b = self.read(step.b, of_function, step.op == Op.SUM) if step.b is not None else ""
        match step.op:
            case Op.FILL:
                return [], [f"s{i} = {step.fill!r}"], []
            case Op.COPY:
                return [], [f"s{i} = {a}"], []
            case Op.SUM | Op.ADD:
                return [], [f"s{i} = {a} + {b}"], []
            case Op.TIMES:
                return [], [f"s{i} = {a} * {b}"], []
            case Op.OVER:
                rest = "inf if a > 0.0 else -inf if a < 0.0 else 0.0"
                return [], [f"a = {a}", f"b = {b}", f"s{i} = a / b if b else {rest}"], []
            case Op.ABS:
                return [], [f"a = {a}", f"s{i} = a if a > 0.0 else 0.0 - a"], []
            case Op.ROOT:
                return [], [f"s{i} = sqrt({a})"], []
            case Op.MIN | Op.MAX:
                less = "<" if step.op == Op.MIN else ">"
                return [], [f"a = {a}", f"b = {b}", f"s{i} = a if a {less} b else b"], []
            case Op.SHIFT:
                setup = [f"q{i} = deque([{step.fill!r}] * {step.amount}, {step.amount})"]
                return setup, [f"s{i} = q{i}[0]"], [f"q{i}.append({a})"]
            case Op.RUN_MIN | Op.RUN_MAX:
                worst, less = ("inf", "<") if step.op == Op.RUN_MIN else ("-inf", ">")
                return [f"k{i} = {worst}"], [f"s{i} = {a} if {a} {less} k{i} else k{i}"], [f"k{i} = s{i}"]
            case Op.HOLD_MAX | Op.HOLD_MIN:
                worst, less, more = ("-inf", "<", ">") if step.op == Op.HOLD_MAX else ("inf", ">", "<")
                lines = [f"a = {a}", f"b = {b}", f"s{i} = a if a {less} k{i} else k{i}", f"if b {more} s{i}: s{i} = b"]
                return [f"k{i} = {worst}"], lines, [f"k{i} = s{i}"]
            case Op.WINDOW_MIN | Op.WINDOW_MAX:
                return self._early_window(i, step, a)
            case Op.DIFF:
                per = "" if step.fill == 1 else f" / {step.fill!r}"
                if step.amount == 1:
                    value = f"s{i} = (a{i} - (a{i} if k{i} is None else k{i})){per}"
                    return [f"k{i} = None"], [f"a{i} = {a}", value], [f"k{i} = a{i}"]
                value = f"s{i} = (a{i} - (q{i}[0] if q{i} else a{i})){per}"
                return [f"q{i} = deque([], {step.amount})"], [f"a{i} = {a}", value], [f"q{i}.append(a{i})"]
            case Op.MEAN:
                return _mean(i, step.amount, a)
            case Op.STD:
                return _std(i, step.amount, a)
            case Op.INTEGRAL:
                commits = [f"a = f{i} + a{i}", f"b = a - f{i}", f"c{i} += (f{i} - (a - b)) + (a{i} - b)", f"f{i} = a"]
                values = [f"a{i} = {a}", f"s{i} = (f{i} + c{i}) * {step.fill!r}"]
                return [f"f{i} = 0.0", f"c{i} = 0.0"], values, commits
            case Op.SINCE:
                return [f"k{i} = inf"], [f"s{i} = 0.0 if {a} >= 0.0 else k{i} + 1.0"], [f"k{i} = s{i}"]
            case Op.SCALE:
                times, over = step.values
                return [], [f"s{i} = int({a}) * {times} / {over} if {a} < inf else inf"], []
            case Op.COUNT:
                setup = [f"q{i} = deque([], {step.amount})", f"k{i} = False", f"f{i} = 0.0"]
                values = [
                    f"a{i} = {a} >= 0.0",
                    f"b{i} = a{i} and not k{i}",
                    f"s{i} = f{i} + b{i} - (q{i}[0] if len(q{i}) == {step.amount} else 0.0)",
                ]
                return setup, values, [f"k{i} = a{i}", f"f{i} = s{i}", f"q{i}.append(b{i})"]
        raise TypeError(f"no such step: {step.op!r}")

    def _early_window(self, i: int, step: Instruction, a: str) -> tuple[list[str], list[str], list[str]]:
        """The best of a window, which the sample enters afterwards."""
        worst, best, less, more = (
            ("inf", "min", "<=", ">=") if step.op == Op.WINDOW_MIN else ("-inf", "max", ">=", "<=")
        )
        width = step.amount
        if width <= NARROW:
            setup = [f"q{i} = deque([], {width})", f"f{i} = {worst}", f"k{i} = {width}"]
            values = [
                f"a{i} = {a}",
                f"if a{i} {less} f{i}: s{i} = a{i}",
                f"elif n < k{i} - 1: s{i} = f{i}",
                f"else: s{i} = {best}([a{i}, *list(q{i})[1:]])",
            ]
            commits = [
                f"q{i}.append(a{i})",
                f"if a{i} {less} f{i}:",
                f"    f{i} = a{i}",
                f"    k{i} = n + {width}",
                f"elif n >= k{i}:",
                f"    f{i} = s{i}",
                f"    k{i} = n + 1 + q{i}.index(s{i})",
            ]
            return setup, values, commits
        strictly = less[0]
        values = [
            f"a{i} = {a}",
            f"s{i} = a{i}",
            f"b = 1 if q{i} and k{i}[0] <= n + 1 - {width} else 0",
            f"if len(q{i}) > b and q{i}[b] {strictly} s{i}: s{i} = q{i}[b]",
        ]
        return [f"q{i} = deque()", f"k{i} = deque()"], values, _push(i, width, more, f"a{i}")


def _push(i: int, width: int, worse: str, a: str) -> list[str]:
    """Take a value into a queue of those that may come to be the best of a window, and drop what is too old."""
    return [
        f"while q{i} and q{i}[-1] {worse} {a}:",
        f"    q{i}.pop()",
        f"    k{i}.pop()",
        f"q{i}.append({a})",
        f"k{i}.append(n)",
        f"if k{i}[0] <= n - {width}:",
        f"    q{i}.popleft()",
        f"    k{i}.popleft()",
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


def _mean(i: int, width: int, a: str) -> tuple[list[str], list[str], list[str]]:
    """By a sum in two floats, `f` and `c`; the operations are those of `function_signals`."""
    setup = [f"q{i} = deque([], {width})", f"f{i} = 0.0", f"c{i} = 0.0"]
    values = [
        f"a{i} = {a}",
        f"g{i} = f{i} + a{i}",
        f"b = g{i} - f{i}",
        f"b = c{i} + ((f{i} - (g{i} - b)) + (a{i} - b))",
        f"if n > {width - 2}:",
        f"    z = q{i}[0]",
        f"    a = g{i} + z",
        f"    y = a - g{i}",
        f"    b += (g{i} - (a - y)) + (z - y)",
        f"    g{i} = a + b",
        f"    h{i} = b - (g{i} - a)",
        f"    s{i} = g{i} / {float(width)!r}",
        "else:",
        f"    a = g{i}",
        f"    g{i} = a + b",
        f"    h{i} = b - (g{i} - a)",
        f"    s{i} = g{i} / (n + 2.0)",
    ]
    return setup, values, [f"f{i} = g{i}", f"c{i} = h{i}", f"q{i}.append(-a{i})"]


def _std(i: int, width: int, a: str) -> tuple[list[str], list[str], list[str]]:
    """By blocks of samples and the sums of their ends; the operations are those of `function_signals`.

    Of a block, `q` has the samples taken so far and behind them the sums of the ends of the block before, `k` the sums
    of squares. `m` samples are taken, `f` and `c` are their sums, `w` is what is subtracted from all.
    """
    setup = [f"q{i} = [0.0] * {width + 1}", f"k{i} = [0.0] * {width + 1}"]
    setup += [f"m{i} = 0", f"f{i} = 0.0", f"c{i} = 0.0", f"w{i} = None"]
    values = [
        f"a{i} = {a}",
        f"b = a{i} - (a{i} if w{i} is None else w{i})",
        f"g{i} = f{i} + b",
        f"h{i} = c{i} + b * b",
        f"if m{i} < {width - 1}:",
        f"    b = g{i} + q{i}[m{i} + 1]",
        f"    a = h{i} + k{i}[m{i} + 1]",
        "else:",
        f"    p{i} = [0.0]",
        f"    y{i} = [0.0]",
        "    a = b = 0.0",
        f"    for z in (a{i}, *q{i}[{width - 2}::-1]):" if width > 1 else f"    for z in (a{i},):",
        f"        z -= a{i}",
        "        b += z",
        "        a += z * z",
        f"        p{i}.append(b)",
        f"        y{i}.append(a)",
        f"z = {float(width)!r} if n > {width - 3} else n + 2.0",
        "a = (a - b * b / z) / z",
        f"s{i} = 0.0 if a <= 0.0 else sqrt(a)",
    ]
    commits = [
        f"if m{i} < {width - 1}:",
        f"    q{i}[m{i}] = a{i}",
        f"    m{i} += 1",
        f"    f{i} = g{i}",
        f"    c{i} = h{i}",
        f"    if w{i} is None: w{i} = a{i}",
        "else:",
        f"    q{i}, k{i} = p{i}[::-1], y{i}[::-1]",
        f"    m{i} = 0",
        f"    f{i} = c{i} = 0.0",
        f"    w{i} = a{i}",
    ]
    return setup, values, commits
