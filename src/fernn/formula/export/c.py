"""A formula as a C99 monitor: one file, no allocation, no dependency but <stddef.h> and <math.h>."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...errors import UnsupportedError
from ..expressions import time_step
from ..nodes import Formula
from ..program import Instruction, Op, Operand, Program
from .python import steps_handed_on
from .target import JUST_VIOLATED, describe_windows, one_way_program, operand_expression

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def to_c(formula: Formula, name: str = "monitor", dt: float | None = None, unit: str | None = None) -> str:
    """Source with NAME_robustness over a whole trace and, for past formulas, NAME_init and NAME_step.

    Windows count samples; `dt`, the time between them in `unit`, is told in the head and as NAME_DT. Functions over
    times need it.
    """
    if not _NAME.fullmatch(name):
        raise UnsupportedError(f"{name!r} cannot begin a C identifier")
    code, from_end = one_way_program(formula, "the C export", time_step(dt, unit))
    width, big = max(1, len(code.channels)), name.upper()
    early = [i for i in range(len(code.steps)) if i in code.early]
    splits = from_end and bool(code.functions)
    writer = _Writer(code)
    writer.write(range(len(code.steps)) if not splits else early)
    writer.hold_channels()
    state, start = writer.fields, writer.start
    step = "" if dt is None else f"\n#define @BIG@_DT {float(dt)!r} /* {_harmless(unit or 'time units')} */"
    order = ", ".join(f"{i}: {channel}" for i, channel in enumerate(code.channels)) or "none"
    if splits:
        later = _Writer(code)
        later.write(i for i in range(len(code.steps)) if i not in code.early)
        state, start = [*state, *later.fields], [*start, *later.start]
        work = len(steps_handed_on(code)) + len(_channels_handed_on(code))
        step += f"\n#define @BIG@_WORK {max(1, work)} /* doubles a sample that functions give */"
        steps, whole = _two_passes(code, writer, later), _WHOLE_BY_WORK
    else:
        feeding = "from the last sample to the first" if from_end else "in order; it returns the robustness so far"
        steps = _one_pass(code, writer, feeding)
        whole = _WHOLE.replace("@PLACE@", "(n - 1 - i)" if from_end else "i")
    codes = text_codes(code)
    step += "".join(
        f"\n#define {word} {number!r} /* {_harmless(_quote(text))} */" for word, text, number in _define_codes(codes)
    )
    what = "a value is not finite" + ", or a sum of channels overflows" * any(s.op == Op.SUM for s in code.steps)
    what += ", or a function is not a number" * bool(code.functions)
    refused = f"{what}: the trace is not judged." if splits else f"{what}: that sample was not taken."
    note = _WORK_NOTE.replace("NAME", name).replace("BIG", big) if splits else ""
    comment = f"""\
/* {_harmless(str(formula))}
 *
 * Written by fernn. Channels of a sample: {_harmless(order)}.
 * {_harmless(describe_windows(formula, dt, unit))}
 * A result of zero or more means satisfied. (The smallest negative double stands for
 * zero where a strict comparison just fails.)
{_describe_gaps(code)} * NAN means that {refused}{note}
 */
"""
    source = f"""\
#include <math.h>
#include <stddef.h>

#ifdef __FAST_MATH__
#error "fast math changes what the formula means"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define @BIG@_CHANNELS {width}{step}

typedef struct {{ long long at; double value; }} @NAME@_entry;

typedef struct {{
    long long n;
{_block(state)}}} @NAME@_state;

void @NAME@_init(@NAME@_state *m)
{{
    m->n = -1;
{_block(start)}}}

{steps}
{whole}
#ifdef FERNN_MAIN
{_main(code, splits)}#endif
"""
    return comment + source.replace("@NAME@", name).replace("@BIG@", big)


def _block(lines: Iterable[str], depth: int = 4) -> str:
    return "".join(" " * depth + line + "\n" for line in lines)


def text_codes(code: Program) -> dict[str, dict[str, float]]:
    """The numbers that stand for the texts of each channel that is compared with texts: 0, 1, ... in their order."""
    named: dict[str, set[str]] = {name: set() for name in code.channels if name in code.texts}
    for step in code.steps:
        if step.op == Op.IS and step.a is not None and step.a.channel in code.texts:
            named[str(step.a.channel)] |= {str(value) for value in step.values}
    return {name: {text: float(i) for i, text in enumerate(sorted(texts))} for name, texts in named.items()}


def _define_codes(codes: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    """(identifier, text, number); identifiers that would be alike get the number behind them."""
    made: list[tuple[str, str, float]] = []
    for place, (name, texts) in enumerate(codes.items()):
        for text, number in texts.items():
            word = "@BIG@_" + "_".join(re.sub(r"[^A-Z0-9]+", "_", each.upper()).strip("_") for each in (name, text))
            known = {"@BIG@_CHANNELS", "@BIG@_DT", "@BIG@_WORK", *(each for each, _, _ in made)}
            word = word if word not in known else f"{word}_{place}_{int(number)}_"
            while word in known:
                word += "_"
            made.append((word, text, number))
    return made


def _quote(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'


def _describe_gaps(code: Program) -> str:
    """What channels take besides finite numbers, as lines of the comment at the head."""
    texts, gaps = ([_harmless(name) for name in code.channels if name in kind] for kind in (code.texts, code.gaps))
    told = ""
    if texts:
        told += (
            f" * Of {', '.join(texts)} pass the numbers defined below for texts, any other number for another text.\n"
        )
    if gaps:
        told += f" * A value may be missing, NAN, of: {', '.join(gaps)}. The last one is read then;\n"
        told += " * before the first one there is none to read.\n"
    return told


def _main(code: Program, splits: bool) -> str:
    gaps = ", ".join(str(int(name in code.gaps)) for name in code.channels)
    text = _MAIN.replace("@WORK@", _WORK_ARRAY if splits else "").replace("@PASSED@", ", work" if splits else "")
    if not code.gaps:
        return text.replace("@GAPS@", "").replace("@REFUSED@", "!isfinite(value)").replace("@EARLY@", "")
    text = text.replace("@GAPS@", f"\n    static const char gaps[] = {{{gaps}, 0}};")
    text = text.replace("@REFUSED@", "isinf(value) || (isnan(value) && !gaps[found])")
    return text.replace("@EARLY@", ", or a channel that is read has no value yet")


def _channels_handed_on(code: Program) -> list[int]:
    """The channels with gaps that steps read which are not early."""
    late = [step for i, step in enumerate(code.steps) if i not in code.early]
    read = {operand.channel for step in late for operand in (step.a, step.b) if operand is not None}
    return [i for i, name in enumerate(code.channels) if name in read & code.gaps]


def _take_channels(code: Program) -> list[str]:
    """Lines that check the channels, and read the last value of those with gaps."""
    lines = []
    for i, name in enumerate(code.channels):
        if name not in code.gaps:
            lines.append(f"if (!isfinite(x[{i}])) return NAN;")
        elif i in _held(code):
            lines += [
                f"const double held{i} = isnan(x[{i}]) ? m->held{i} : x[{i}];",
                f"if (!isfinite(held{i})) return NAN;",
            ]
    return lines


def _one_pass(code: Program, writer: _Writer, feeding: str) -> str:
    checked = _take_channels(code)
    return f"""\
/* Feed samples {feeding}. */
double @NAME@_step(@NAME@_state *m, const double *x)
{{
    double a, b;
    (void)a; (void)b; (void)x;
{_block([*checked, *writer.first, "m->n++;", *writer.body])}    return s{code.roots[0]};
}}
"""


def _two_passes(code: Program, writer: _Writer, later: _Writer) -> str:
    """Functions in the order of time, then the formula from the last sample to the first."""
    first = [line.replace("return NAN", "return 0") for line in (*_take_channels(code), *writer.first)]
    handed = [*(f"s{i}" for i in steps_handed_on(code)), *(f"held{i}" for i in _channels_handed_on(code))]
    given = [f"given[{k}] = {name};" for k, name in enumerate(handed)]
    taken = [f"const double {name} = given[{k}];" for k, name in enumerate(handed)]
    return f"""\
/* What the functions give for a sample; feed samples in order. 0 where the sample cannot be taken. */
int @NAME@_functions(@NAME@_state *m, const double *x, double *given)
{{
    double a, b;
    (void)a; (void)b; (void)x;
{_block([*first, "m->n++;", *writer.body, *given])}    return 1;
}}

/* Feed samples, and what the functions gave for each, from the last sample to the first. */
double @NAME@_step(@NAME@_state *m, const double *x, const double *given)
{{
    double a, b;
    (void)a; (void)b; (void)x;
{_block([*taken, *later.first, "m->n++;", *later.body])}    return s{code.roots[0]};
}}
"""


_WORK_NOTE = """
 * Functions look back and the formula looks ahead: NAME_robustness computes the functions first
 * and keeps them in `work`, an array of n * BIG_WORK doubles that the caller provides."""
_WHOLE = """\
/* The robustness of a whole trace of n samples, sample after sample; n must not be zero. */
double @NAME@_robustness(@NAME@_state *m, const double *trace, size_t n)
{
    double value = NAN;
    size_t i;
    @NAME@_init(m);
    for (i = 0; i < n; i++) {
        value = @NAME@_step(m, trace + @PLACE@ * @BIG@_CHANNELS);
        if (isnan(value))
            return value;
    }
    return value;
}
"""
_WHOLE_BY_WORK = """\
/* The robustness of a whole trace of n samples, sample after sample; n must not be zero.
 * `work` has room for n * @BIG@_WORK doubles. */
double @NAME@_robustness(@NAME@_state *m, const double *trace, size_t n, double *work)
{
    double value = NAN;
    size_t i;
    @NAME@_init(m);
    for (i = 0; i < n; i++)
        if (!@NAME@_functions(m, trace + i * @BIG@_CHANNELS, work + i * @BIG@_WORK))
            return NAN;
    m->n = -1;
    for (i = n; i-- > 0;)
        value = @NAME@_step(m, trace + i * @BIG@_CHANNELS, work + i * @BIG@_WORK);
    return value;
}
"""
_WORK_ARRAY = """
    double *work = malloc(count / @BIG@_CHANNELS * @BIG@_WORK * sizeof *work);
    if (!work)
        return 2;"""
_MAIN = """\
/* cc -std=c99 -O2 -DFERNN_MAIN FILE.c -lm: reads a trace, one sample a line, and prints its robustness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static @NAME@_state state;
    static char line[65536];@GAPS@
    double *trace = NULL;
    size_t count = 0, room = 0, number = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *at = line + strspn(line, " ,;\\t\\r\\n"), *end;
        int found = 0;
        number++;
        if (!*at)
            continue;
        for (; *at; at = end + strspn(end, " ,;\\t\\r\\n"), found++) {
            const double value = strtod(at, &end);
            if (end == at || found == @BIG@_CHANNELS || @REFUSED@)
                break;
            if (count == room && !(trace = realloc(trace, (room = room ? 2 * room : 1024) * sizeof *trace)))
                return 2;
            trace[count++] = value;
        }
        if (*at || found != @BIG@_CHANNELS)
            return fprintf(stderr, "line %lu: expected %d finite numbers\\n", (unsigned long)number,
                           @BIG@_CHANNELS), 2;
    }
    if (count == 0)
        return fprintf(stderr, "no samples\\n"), 2;@WORK@
    const double value = @NAME@_robustness(&state, trace, count / @BIG@_CHANNELS@PASSED@);
    if (isnan(value))
        return fprintf(stderr, "a sum of channels or a function overflows@EARLY@\\n"), 2;
    printf("%.17g\\n", value);
    return 0;
}
"""


@dataclass
class _Writer:
    """Fields of the state, lines that set them, that read a sample without changing them, and that take it in."""

    code: Program
    fields: list[str] = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)

    def write(self, places: Iterable[int]) -> None:
        """Write these steps, which come in order."""
        names = {name: f"held{i}" if i in _held(self.code) else f"x[{i}]" for i, name in enumerate(self.code.channels)}
        labels, codes = dict(self.code.labels), text_codes(self.code)
        for i in places:
            step = self.code.steps[i]
            if step.op in (Op.IS, Op.MISSING):
                self.first.append(self._ask(i, step, codes))
                continue
            a = _read(step.a, "a", names) if step.a is not None else []
            b = _read(step.b, "b", names) if step.b is not None else []
            if i not in self.code.early:
                fields, start, body = _late(i, step, a, b)
                values: list[str] = []
            else:
                fields, start, values, body = _early(i, step, a, b)
            self.fields += fields
            self.start += start
            self.first += values
            self.body += body
            if step.op == Op.SUM and not step.amount:
                self.first.append(f"if (!isfinite(s{i})) return NAN;")
            elif i in labels:
                self.first.append(f"if (isnan(s{i})) return NAN;")

    def _ask(self, i: int, step: Instruction, codes: dict[str, dict[str, float]]) -> str:
        """An `is`, where texts are compared by their numbers, or a `missing`."""
        assert step.a is not None
        name = str(step.a.channel)
        place = self.code.channels.index(name)
        values = [codes[name][value] if isinstance(value, str) else value for value in step.values]
        x = f"held{place}" if place in _held(self.code) else f"x[{place}]"
        test = " || ".join(f"{x} == {value!r}" for value in values) or f"isnan(x[{place}])"
        return f"const double s{i} = {test} ? 1.0 : -1.0;"

    def hold_channels(self) -> None:
        """Keep the last value of channels with gaps."""
        for i in _held(self.code):
            self.fields.append(f"double held{i};")
            self.start.append(f"m->held{i} = NAN;")
            self.body.append(f"m->held{i} = held{i};")


def _held(code: Program) -> list[int]:
    """The channels with gaps whose values are read."""
    return [i for i, name in enumerate(code.channels) if name in code.gaps & (code.numbers | code.texts)]


def _scale(i: int, step: Instruction, a: list[str]) -> list[str]:
    """A whole number times a ratio, rounded once: the quotient, and what is left of it, in two doubles."""
    (times, more), (over, rest) = (_two_doubles(int(value)) for value in step.values)
    if (times == 1 and not rest) or (over == 1 and not more):
        return [*a, f"const double s{i} = {f'a / {over!r}' if times == 1 else f'a * {times!r}'};"]
    low = f"fma(a, {times!r}, -g{i})" + (f" + a * {more!r}" if more else "")
    left = f"fma(-h{i}, {over!r}, g{i})" + (f" - h{i} * {rest!r}" if rest else "")
    return [
        *a,
        f"const double g{i} = a * {times!r}, h{i} = g{i} / {over!r};",
        f"const double s{i} = isinf(a) ? a : h{i} + ({left} + ({low})) / {over!r};",
    ]


def _two_doubles(whole: int) -> tuple[float, float]:
    """The nearest double, and what it lacks."""
    return float(whole), float(whole - int(float(whole)))


def _read(operand: Operand, into: str, names: dict[str, str]) -> list[str]:
    lines = [f"{into} = {operand_expression(operand, names)};"]
    return [*lines, f"if ({into} == 0.0) {into} = {JUST_VIOLATED};"] if operand.strict else lines


def _late(i: int, step: Instruction, a: list[str], b: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Fields of the state, lines that set them, and lines that take one sample through the step."""
    match step.op:
        case Op.FILL:
            return [], [], [f"const double s{i} = {_number(step.fill)};"]
        case Op.COPY:
            return [], [], [*a, f"const double s{i} = a;"]
        case Op.MIN | Op.MAX:
            less = "<" if step.op == Op.MIN else ">"
            return [], [], [*a, *b, f"const double s{i} = a {less} b ? a : b;"]
        case Op.SHIFT:
            slot = f"m->q{i}[m->n % {step.amount}]"
            return *_shift_state(i, step), [f"const double s{i} = {slot};", *a, f"{slot} = a;"]
        case Op.RUN_MIN | Op.RUN_MAX:
            worst, less = ("INFINITY", "<") if step.op == Op.RUN_MIN else ("-INFINITY", ">")
            body = [*a, f"if (a {less} m->r{i}) m->r{i} = a;", f"const double s{i} = m->r{i};"]
            return [f"double r{i};"], [f"m->r{i} = {worst};"], body
        case Op.HOLD_MAX | Op.HOLD_MIN:
            worst, less, more = ("-INFINITY", "<", ">") if step.op == Op.HOLD_MAX else ("INFINITY", ">", "<")
            body = [*a, *b, f"if (a {less} m->r{i}) m->r{i} = a;", f"if (b {more} m->r{i}) m->r{i} = b;"]
            return [f"double r{i};"], [f"m->r{i} = {worst};"], [*body, f"const double s{i} = m->r{i};"]
    push = _push(i, step, "a")
    return *_queue_state(i, step), [*a, *push, f"const double s{i} = m->q{i}[m->head{i}].value;"]


def _shift_state(i: int, step: Instruction) -> tuple[list[str], list[str]]:
    start = [f"for (long i = 0; i < {step.amount}; i++) m->q{i}[i] = {_number(step.fill)};"]
    return [f"double q{i}[{step.amount}];"], start


def _queue_state(i: int, step: Instruction) -> tuple[list[str], list[str]]:
    return [f"@NAME@_entry q{i}[{step.amount}];", f"long head{i}, size{i};"], [f"m->head{i} = m->size{i} = 0;"]


def _push(i: int, step: Instruction, a: str) -> list[str]:
    """Take a value into the queue of those that may come to be the best of a window."""
    width, worse = step.amount, ">=" if step.op == Op.WINDOW_MIN else "<="
    queue, head, size = f"m->q{i}", f"m->head{i}", f"m->size{i}"
    last = f"{queue}[({head} + {size} - 1) % {width}]"
    return [
        f"while ({size} && {last}.value {worse} {a}) {size}--;",
        f"if ({size} && {queue}[{head}].at <= m->n - {width}) {{ {head} = ({head} + 1) % {width}; {size}--; }}",
        f"{size}++;",
        f"{last}.at = m->n; {last}.value = {a};",
    ]


def _early(i: int, step: Instruction, a: list[str], b: list[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Fields, lines that set them, lines that give the value of the step, and those that take the sample in."""
    width, s = step.amount, f"const double s{i}"
    match step.op:
        case Op.FILL:
            return [], [], [f"{s} = {_number(step.fill)};"], []
        case Op.COPY:
            return [], [], [*a, f"{s} = a;"], []
        case Op.SUM | Op.ADD:
            return [], [], [*a, *b, f"{s} = a + b;"], []
        case Op.TIMES:
            return [], [], [*a, *b, f"{s} = a * b;"], []
        case Op.OVER:
            rest = "a > 0.0 ? INFINITY : a < 0.0 ? -INFINITY : 0.0"
            return [], [], [*a, *b, f"{s} = b != 0.0 ? a / b : {rest};"], []
        case Op.ABS:
            return [], [], [*a, f"{s} = fabs(a);"], []
        case Op.ROOT:
            return [], [], [*a, f"{s} = sqrt(a);"], []
        case Op.MIN | Op.MAX:
            return [], [], [*a, *b, f"{s} = a {'<' if step.op == Op.MIN else '>'} b ? a : b;"], []
        case Op.SHIFT:
            fields, start = _shift_state(i, step)
            values = [*a, f"const double a{i} = a, s{i} = m->q{i}[(m->n + 1) % {width}];"]
            return fields, start, values, [f"m->q{i}[m->n % {width}] = a{i};"]
        case Op.RUN_MIN | Op.RUN_MAX:
            worst, less = ("INFINITY", "<") if step.op == Op.RUN_MIN else ("-INFINITY", ">")
            return (
                [f"double r{i};"],
                [f"m->r{i} = {worst};"],
                [*a, f"{s} = a {less} m->r{i} ? a : m->r{i};"],
                [f"m->r{i} = s{i};"],
            )
        case Op.HOLD_MAX | Op.HOLD_MIN:
            worst, less, more = ("-INFINITY", "<", ">") if step.op == Op.HOLD_MAX else ("INFINITY", ">", "<")
            values = [*a, *b, f"a = a {less} m->r{i} ? a : m->r{i};", f"{s} = b {more} a ? b : a;"]
            return [f"double r{i};"], [f"m->r{i} = {worst};"], values, [f"m->r{i} = s{i};"]
        case Op.WINDOW_MIN | Op.WINDOW_MAX:
            values = [
                *a,
                f"const double a{i} = a;",
                f"const long gone{i} = m->size{i} && m->q{i}[m->head{i}].at <= m->n + 1 - {width};",
                f"if (m->size{i} > gone{i}) {{",
                f"    b = m->q{i}[(m->head{i} + gone{i}) % {width}].value;",
                f"    a = b {'<' if step.op == Op.WINDOW_MIN else '>'} a ? b : a;",
                "}",
                f"{s} = a;",
            ]
            return *_queue_state(i, step), values, _push(i, step, f"a{i}")
        case Op.SCALE:
            return [], [], _scale(i, step, a), []
        case Op.SINCE:
            values = [*a, f"{s} = a >= 0.0 ? 0.0 : m->r{i} + 1.0;"]
            return [f"double r{i};"], [f"m->r{i} = INFINITY;"], values, [f"m->r{i} = s{i};"]
    return _trailing(i, step, a)


def _trailing(i: int, step: Instruction, a: list[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """As `_early`, for functions that keep samples, or sums of them."""
    width, s = step.amount, f"const double s{i}"
    full, oldest = f"m->n >= {width - 1}", f"m->q{i}[(m->n + 1) % {width}]"
    keep = f"m->q{i}[m->n % {width}] = a{i};"
    per = "" if step.fill == 1 else f" / {step.fill!r}"
    sums = [f"double f{i}, c{i};"], [f"m->f{i} = m->c{i} = 0.0;"]
    match step.op:
        case Op.DIFF:
            before = f"m->n < 0 ? a : {full} ? {oldest} : m->q{i}[0]"
            values = [*a, f"const double a{i} = a, s{i} = (a - ({before})){per};"]
            return [f"double q{i}[{width}];"], [], values, [keep]
        case Op.MEAN:  # by a sum in two doubles; the operations are those of fernn.semantics.function_signals
            values = [
                *a,
                f"const double a{i} = a;",
                f"double g{i} = m->f{i} + a{i}, h{i} = m->c{i};",
                f"b = g{i} - m->f{i};",
                f"h{i} += (m->f{i} - (g{i} - b)) + (a{i} - b);",
                f"if ({full}) {{",
                f"    const double z = -{oldest};",
                f"    a = g{i} + z;",
                f"    b = a - g{i};",
                f"    h{i} += (g{i} - (a - b)) + (z - b);",
                f"    g{i} = a;",
                "}",
                f"a = g{i};",
                f"g{i} = a + h{i};",
                f"h{i} -= g{i} - a;",
                f"{s} = g{i} / ({full} ? {float(width)!r} : (double)(m->n + 2));",
            ]
            return [f"double q{i}[{width}];", *sums[0]], sums[1], values, [f"m->f{i} = g{i}; m->c{i} = h{i};", keep]
        case Op.STD:  # by blocks of samples and the sums of their ends, as there
            fields = [f"double q{i}[{width}], k{i}[{width}];", f"double f{i}, c{i}, w{i};", f"long m{i};"]
            start = [f"for (long i = 0; i < {width}; i++) m->q{i}[i] = m->k{i}[i] = 0.0;", f"m->m{i} = 0;", *sums[1]]
            ends = f"for (long i = {width - 1}; i >= 0; i--)"
            values = [
                *a,
                f"const double a{i} = a;",
                f"a = m->n < 0 ? a - a : a - m->w{i};",
                f"const double g{i} = m->f{i} + a, h{i} = m->c{i} + a * a;",
                f"double u{i} = 0.0, v{i} = 0.0;",
                f"if (m->m{i} < {width - 1}) {{",
                f"    u{i} = g{i} + m->q{i}[m->m{i} + 1];",
                f"    v{i} = h{i} + m->k{i}[m->m{i} + 1];",
                f"}} else {ends} {{",
                f"    a = (i == {width - 1} ? a{i} : m->q{i}[i]) - a{i};",
                f"    u{i} += a;",
                f"    v{i} += a * a;",
                "}",
                f"b = m->n >= {width - 2} ? {float(width)!r} : (double)(m->n + 2);",
                f"a = (v{i} - u{i} * u{i} / b) / b;",
                f"{s} = a <= 0.0 ? 0.0 : sqrt(a);",
            ]
            body = [
                f"if (m->n == 0) m->w{i} = a{i};",
                f"m->q{i}[m->m{i}] = a{i};",
                f"m->f{i} = g{i}; m->c{i} = h{i};",
                f"if (++m->m{i} == {width}) {{",
                f"    m->m{i} = 0; m->f{i} = m->c{i} = 0.0; m->w{i} = a{i};",
                "    b = 0.0;",
                f"    {ends} {{",
                f"        a = m->q{i}[i] - m->w{i};",
                f"        m->q{i}[i] = a + (i < {width - 1} ? m->q{i}[i + 1] : 0.0);",
                "        b += a * a;",
                f"        m->k{i}[i] = b;",
                "    }",
                "}",
            ]
            return fields, start, values, body
        case Op.INTEGRAL:
            values = [*a, f"const double a{i} = a, s{i} = (m->f{i} + m->c{i}) * {step.fill!r};"]
            body = [
                f"a = m->f{i} + a{i};",
                f"b = a - m->f{i};",
                f"m->c{i} += (m->f{i} - (a - b)) + (a{i} - b);",
                f"m->f{i} = a;",
            ]
            return *sums, values, body
        case Op.COUNT:
            fields = [f"unsigned char q{i}[{width}];", f"int k{i};", f"double f{i};"]
            values = [
                *a,
                f"const int k{i} = a >= 0.0, a{i} = k{i} && !m->k{i};",
                f"{s} = m->f{i} + a{i} - ({full} ? {oldest} : 0);",
            ]
            body = [f"m->k{i} = k{i}; m->f{i} = s{i};", f"m->q{i}[m->n % {width}] = (unsigned char)a{i};"]
            return fields, [f"m->k{i} = 0;", f"m->f{i} = 0.0;"], values, body
    raise TypeError(f"no such step: {step.op!r}")


def _number(value: float) -> str:
    return {float("inf"): "INFINITY", float("-inf"): "-INFINITY"}.get(value, repr(value))


def _harmless(text: str) -> str:
    """Text that cannot end the comment that it is put into."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ").replace("\\", "|")
