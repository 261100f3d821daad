"""The measurements as docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from fernn.evaluation.comparison import markdown_table

from . import functions
from .aims import BATCH, Aim, aims
from .offline import COPY, FRESH_COPY, TOO_LONG, VERDICT, WHOLE, Row
from .online import SAMPLES, Live
from .peers import NAMES
from .results import Results
from .scale.page import section


def page(results: Results) -> str:
    return "\n\n".join(_sections(results)) + "\n"


def _sections(results: Results) -> Iterator[str]:
    where = results.surroundings
    yield "# Benchmarks"
    yield (
        f"Made by `{results.command}` in {results.seconds / 60:.1f} minutes, all in one run. "
        f"{where['processor']}, {where['cores']} cores. "
        + ", ".join(f"{name} {found}" for name, found in list(where.items())[2:])
        + f". Load average {results.load[0]:.1f} before and {results.load[1]:.1f} after, the run itself included."
    )
    if len(set(results.sources)) > 1:
        yield "**fernn's source changed during the run, so these figures belong to no one version.**"
    yield "## Aims"
    yield (
        "Each line is the worst case over the formulas and shapes it speaks about, and in how many of them the aim is "
        "reached. Figures are the other's time divided by fernn's: larger is better. Against a copy, 1 is the speed "
        f"of memory. A batch is {BATCH} traces and more."
    )
    yield _aims(aims(results.rows, results.alone, results.live))
    if results.call:
        yield "## What a call costs"
        yield (
            "Microseconds a call on one trace of one sample, when there is nothing to do but to be called. The copy is "
            "called in C, without a look at formula or channels. Where a copy takes no more than a few microseconds "
            "the call decides, not the work: 100 x 100 samples are copied in little more than one."
        )
        yield markdown_table(results.call, [[_number(seconds * 1e6) for seconds in results.call.values()]])
    yield "## Whole signal, at every sample"
    yield (
        "Milliseconds for the whole batch, float32, `X[case, channel, time]`, uniform random numbers; in "
        "parentheses how many times fernn's time. Best of many calls, taken in turns. fernn is called as "
        '`robustness(formula, X, channels, at="all")` with a parsed formula, and allocates its result. Every peer\'s '
        "result is compared with fernn's before it is timed."
    )
    yield (
        "- **of copy**: the time of a plain copy divided by fernn's. The copy moves the bytes that the formula must: "
        "the channels it reads and the result. *Prepared* copies into an array that is there, *fresh* allocates one, "
        "as fernn does. Copy and fernn use the same number of threads, given in the column **threads**.\n"
        "- **NumPy, torch, JAX**: the fastest of several formulations, named in a table below. torch is eager. "
        "JAX is jitted, compiling is not timed. torch and JAX may use every core; NumPy uses one.\n"
        "- **rtamt**: one trace at a time; at most 20 traces and 4,000 samples, or one trace, timed and scaled up.\n"
        "- **verdict**: fernn at one evaluation point only."
    )
    for formula, rows in groupby(results.rows, key=lambda row: str(row.task.formula)):
        yield f"### `{formula}`"
        yield _offline(list(rows))
    yield "### One thread against one thread"
    yield "fernn with `FERNN_THREADS=1`, the copies on one thread."
    yield _alone(results.alone)
    yield "## Live, one sample at a time"
    yield (
        f"Samples a second, `Monitor(formula, channels).update(sample)` over {SAMPLES:,} samples, "
        "beside rtamt's online specification, which is timed only where its values are fernn's."
    )
    yield _live(results.live)
    if with_functions := functions.section():
        yield with_functions
    if grows := section():
        yield grows
    yield "## The fastest formulations"
    yield _ways(results.rows)
    yield "## Not timed"
    yield _reasons(results)


def _aims(found: Sequence[Aim]) -> str:
    head = ("how many times", "aim, at least", "measured, worst", "where", "reached in", "")
    lines = (
        (aim.text, f"{aim.wanted:g}", _number(aim.worst), f"`{aim.where}`", f"{aim.reached} of {aim.cases}",
         aim.met if aim.met == "met" else f"**{aim.met}**")
        for aim in found
    )  # fmt: skip
    return markdown_table(head, lines)


def _offline(rows: Sequence[Row]) -> str:
    peers = [name for name in NAMES if any(name in row.seconds for row in rows)]
    head = ("traces x samples", "threads", "fernn", "verdict", "of copy, prepared", "of copy, fresh", *peers)
    lines = (
        (
            row.task.shape, str(row.threads), _ms(row.seconds[WHOLE]), _ms(row.seconds[VERDICT]),
            _number(row.times(COPY)), _number(row.times(FRESH_COPY)), *(_peer(row, name) for name in peers),
        )
        for row in rows
    )  # fmt: skip
    return markdown_table(head, lines)


def _peer(row: Row, name: str) -> str:
    if name not in row.seconds:
        return f"> {TOO_LONG * 1000:.0f}" if row.reason.get(name, "").startswith(">") else "-"
    return f"{_ms(row.seconds[name])} ({_number(row.times(name))})"


def _alone(rows: Sequence[Row]) -> str:
    lines = (
        (f"`{row.task.formula}`", row.task.shape, _ms(row.seconds[WHOLE]), _number(row.times(COPY)),
         _number(row.times(FRESH_COPY)))
        for row in rows
    )  # fmt: skip
    return markdown_table(("formula", "traces x samples", "fernn, ms", "of copy, prepared", "of copy, fresh"), lines)


def _live(found: Sequence[Live]) -> str:
    lines = (
        (f"`{each.formula}`", f"{each.fernn:,.0f}", f"{each.rtamt:,.0f}" if each.rtamt else each.reason,
         _number(each.times))
        for each in found
    )  # fmt: skip
    return markdown_table(("formula", "fernn", "rtamt", "times"), lines)


def _ways(rows: Sequence[Row]) -> str:
    named = ("numpy", "torch", "jax")
    lines = ((f"`{row.task.formula}`", row.task.shape, *(row.way.get(name, "-") for name in named)) for row in rows)
    return markdown_table(("formula", "traces x samples", *named), lines)


def _reasons(results: Results) -> str:
    lines = [(name, "everything", reason) for name, reason in results.absent.items()]
    kept: dict[tuple[str, str, str], list[str]] = {}
    for row in results.rows:
        for name, reason in row.reason.items():
            kept.setdefault((name, str(row.task.formula), reason), []).append(row.task.shape)
    lines += [(name, f"`{formula}` on {', '.join(shapes)}", reason) for (name, formula, reason), shapes in kept.items()]
    return markdown_table(("who", "what", "why"), lines) if lines else "Everyone did everything."


def _ms(seconds: float) -> str:
    return _number(seconds * 1000)


def _number(value: float | None) -> str:
    """Three figures that count."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"
