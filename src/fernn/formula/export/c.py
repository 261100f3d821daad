"""A formula as a C99 monitor: one file, no allocation, no dependency but <stddef.h> and <math.h>."""

from __future__ import annotations

import re

from ...errors import UnsupportedError
from ..nodes import Formula
from ..program import Instruction, Op, Operand
from .target import JUST_VIOLATED, describe_windows, forward_program, operand_expression

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def to_c(formula: Formula, name: str = "monitor", dt: float | None = None, unit: str | None = None) -> str:
    """Source with NAME_robustness over a whole trace and, for past formulas, NAME_init and NAME_step.

    Windows count samples; `dt`, the time between them in `unit`, is told in the head and as NAME_DT.
    """
    if not _NAME.fullmatch(name):
        raise UnsupportedError(f"{name!r} cannot begin a C identifier")
    code, from_end = forward_program(formula, "the C export")
    names = {channel: f"x[{i}]" for i, channel in enumerate(code.channels)}
    steps = [_step(i, step, names) for i, step in enumerate(code.steps)]
    order = ", ".join(f"{i}: {channel}" for i, channel in enumerate(code.channels)) or "none"
    feeding = "from the last sample to the first" if from_end else "in order; it returns the robustness so far"
    width = max(1, len(code.channels))
    meaning = _harmless(describe_windows(formula, dt, unit))
    step = "" if dt is None else f"\n#define {name.upper()}_DT {float(dt)!r} /* {_harmless(unit or 'time units')} */"
    is_sum = [step.op == Op.SUM for step in code.steps]
    sums = [line for (_, _, body), first in zip(steps, is_sum, strict=True) if first for line in body]
    bodies = [line for (_, _, body), first in zip(steps, is_sum, strict=True) if not first for line in body]
    overflow = "\n * NAN means that a sum of channels overflows: that sample was not taken." if sums else ""
    return f"""\
/* {_harmless(str(formula))}
 *
 * Written by fernn. Channels of a sample: {_harmless(order)}.
 * {meaning}
 * A result of zero or more means satisfied. (The smallest negative double stands for
 * zero where a strict comparison just fails.){overflow}
 */
#include <math.h>
#include <stddef.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does this with -std=c99 */
#endif

#define {name.upper()}_CHANNELS {width}{step}

typedef struct {{ long at; double value; }} {name}_entry;

typedef struct {{
    long n;
{"".join(f"    {line}{chr(10)}" for fields, _, _ in steps for line in fields)}}} {name}_state;

void {name}_init({name}_state *m)
{{
    m->n = -1;
{"".join(f"    {line}{chr(10)}" for _, start, _ in steps for line in start)}}}

/* Feed samples {feeding}. */
double {name}_step({name}_state *m, const double *x)
{{
    double a, b;
    (void)a; (void)b; (void)x;
{"".join(f"    {line}{chr(10)}" for line in sums)}    m->n++;
{"".join(f"    {line}{chr(10)}" for line in bodies)}    return s{len(steps) - 1};
}}

/* The robustness of a whole trace of n samples, sample after sample; n must not be zero. */
double {name}_robustness({name}_state *m, const double *trace, size_t n)
{{
    double value = NAN;
    size_t i;
    {name}_init(m);
    for (i = 0; i < n; i++) {{
        value = {name}_step(m, trace + {"(n - 1 - i)" if from_end else "i"} * {name.upper()}_CHANNELS);
        if (isnan(value))
            return value;
    }}
    return value;
}}

#ifdef FERNN_MAIN
/* cc -std=c99 -O2 -DFERNN_MAIN FILE.c -lm: reads a trace, one sample a line, and prints its robustness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{{
    static {name}_state state;
    static char line[65536];
    double *trace = NULL;
    size_t count = 0, room = 0, number = 0;
    while (fgets(line, sizeof line, stdin)) {{
        char *at = line + strspn(line, " ,;\\t\\r\\n"), *end;
        int found = 0;
        number++;
        if (!*at)
            continue;
        for (; *at; at = end + strspn(end, " ,;\\t\\r\\n"), found++) {{
            const double value = strtod(at, &end);
            if (end == at || !isfinite(value) || found == {name.upper()}_CHANNELS)
                break;
            if (count == room && !(trace = realloc(trace, (room = room ? 2 * room : 1024) * sizeof *trace)))
                return 2;
            trace[count++] = value;
        }}
        if (*at || found != {name.upper()}_CHANNELS)
            return fprintf(stderr, "line %lu: expected %d finite numbers\\n", (unsigned long)number,
                           {name.upper()}_CHANNELS), 2;
    }}
    if (count == 0)
        return fprintf(stderr, "no samples\\n"), 2;
    const double value = {name}_robustness(&state, trace, count / {name.upper()}_CHANNELS);
    if (isnan(value))
        return fprintf(stderr, "a sum of channels overflows\\n"), 2;
    printf("%.17g\\n", value);
    return 0;
}}
#endif
""".replace("_entry_", f"{name}_entry")


def _step(i: int, step: Instruction, names: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Fields of the state, lines that set them, and lines that take one sample through the step."""

    def read(operand: Operand | None, into: str) -> list[str]:
        assert operand is not None
        lines = [f"{into} = {operand_expression(operand, names)};"]
        return [*lines, f"if ({into} == 0.0) {into} = {JUST_VIOLATED};"] if operand.strict else lines

    a = read(step.a, "a") if step.a is not None else []
    b = read(step.b, "b") if step.b is not None else []
    match step.op:
        case Op.FILL:
            return [], [], [f"const double s{i} = {_number(step.fill)};"]
        case Op.COPY:
            return [], [], [*a, f"const double s{i} = a;"]
        case Op.SUM:
            return [], [], [*a, *b, f"const double s{i} = a + b;", f"if (!isfinite(s{i})) return NAN;"]
        case Op.MIN | Op.MAX:
            less = "<" if step.op == Op.MIN else ">"
            return [], [], [*a, *b, f"const double s{i} = a {less} b ? a : b;"]
        case Op.SHIFT:
            fields = [f"double q{i}[{step.amount}];"]
            start = [f"for (long i = 0; i < {step.amount}; i++) m->q{i}[i] = {_number(step.fill)};"]
            slot = f"m->q{i}[m->n % {step.amount}]"
            return fields, start, [f"const double s{i} = {slot};", *a, f"{slot} = a;"]
        case Op.RUN_MIN | Op.RUN_MAX:
            worst, less = ("INFINITY", "<") if step.op == Op.RUN_MIN else ("-INFINITY", ">")
            body = [*a, f"if (a {less} m->r{i}) m->r{i} = a;", f"const double s{i} = m->r{i};"]
            return [f"double r{i};"], [f"m->r{i} = {worst};"], body
        case Op.HOLD_MAX | Op.HOLD_MIN:
            worst, less, more = ("-INFINITY", "<", ">") if step.op == Op.HOLD_MAX else ("INFINITY", ">", "<")
            body = [*a, *b, f"if (a {less} m->r{i}) m->r{i} = a;", f"if (b {more} m->r{i}) m->r{i} = b;"]
            return [f"double r{i};"], [f"m->r{i} = {worst};"], [*body, f"const double s{i} = m->r{i};"]
    width, worse = step.amount, ">=" if step.op == Op.WINDOW_MIN else "<="
    queue, head, size = f"m->q{i}", f"m->head{i}", f"m->size{i}"
    last = f"{queue}[({head} + {size} - 1) % {width}]"
    return (
        [f"_entry_ q{i}[{width}];", f"long head{i}, size{i};"],
        [f"{head} = {size} = 0;"],
        [
            *a,
            f"while ({size} && {last}.value {worse} a) {size}--;",
            f"if ({size} && {queue}[{head}].at <= m->n - {width}) {{ {head} = ({head} + 1) % {width}; {size}--; }}",
            f"{size}++;",
            f"{last}.at = m->n; {last}.value = a;",
            f"const double s{i} = {queue}[{head}].value;",
        ],
    )


def _number(value: float) -> str:
    return {float("inf"): "INFINITY", float("-inf"): "-INFINITY"}.get(value, repr(value))


def _harmless(text: str) -> str:
    """Text that cannot end the comment that it is put into."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ").replace("\\", "|")
