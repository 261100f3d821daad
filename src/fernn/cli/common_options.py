"""Options that several commands take: how a recording is read, which rules are searched, the engine, pieces."""

from __future__ import annotations

import inspect as introspection
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import Interrupt, complain, count_of
from .progress import LiveLines, Silent, can_redraw, duration_text

if TYPE_CHECKING:
    from ..data import Dataset, Problem
    from ..data.streaming import Source, Stream
    from ..formula import Formula


FormulaText = Annotated[str, typer.Argument(help='A formula, such as "G (v <= 34.3)".', metavar="FORMULA")]
File = Annotated[
    str, typer.Argument(help="CSV, Parquet, NPZ, .trace or .ts, or the name of a data set.", metavar="FILE")
]
FileOrFolder = Annotated[
    str,
    typer.Argument(
        help="CSV, Parquet, NPZ, .trace or .ts, a folder of Parquet files, or the name of a data set.", metavar="FILE"
    ),
]
"""Of commands that read in pieces."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
TimeUnits = Annotated[bool, typer.Option("--time-units", help="Windows in the formula are in time units, not samples.")]
"""Of every command that takes a formula: the only option that changes what a window means."""
StepOption = Annotated[
    float | None, typer.Option("--dt", help="Time between samples; windows count samples all the same.")
]
"""Of commands that take a formula and no file."""
UnitOption = Annotated[str | None, typer.Option(help="Unit of the times.")]

MOST_WARNINGS = 10
"""Warnings about the data that are told in words."""
READING: dict[str, Any] = {
    "label": Annotated[str, typer.Option(help="Column that says which class a trace is of; '' for none.")],
    "case_column": Annotated[str | None, typer.Option(help="Column of the case ids.")],
    "time": Annotated[str | None, typer.Option(help="Column of the times.")],
    "channels": Annotated[str | None, typer.Option(help="Columns to read as channels, separated by commas.")],
    "group": Annotated[
        str | None, typer.Option(help="Column of a machine, person or day; its traces stay on one side of a split.")
    ],
    "good": Annotated[str | None, typer.Option(help="The label of the good traces; all others are bad.")],
    "label_kind": Annotated[str, typer.Option(help="auto, class or real.")],
    "layout": Annotated[str, typer.Option(help="auto, tidy (a row a sample) or wide (a row a trace).")],
    "header": Annotated[bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.")],
    "delimiter": Annotated[str | None, typer.Option(help="Between fields; found by looking.")],
    "decimal": Annotated[str, typer.Option(help=". or ,")],
    "encoding": Annotated[str, typer.Option(help="Of the text.")],
    "bad_rows": Annotated[str, typer.Option(help="error or skip.")],
    "nonfinite": Annotated[
        str, typer.Option(help="Missing values: missing (kept, last value held), error, hold, interpolate, drop_case.")
    ],
    "dt": Annotated[float | None, typer.Option(help="Time between samples.")],
    "unit": Annotated[str | None, typer.Option(help="Unit of the times.")],
    "steps": Annotated[bool, typer.Option("--steps", help="Also changes from sample to sample, as NAME_diff.")],
    "memory_limit": Annotated[int | None, typer.Option(help="Memory that reading may take, in bytes.")],
}
_DEFAULTS: dict[str, Any] = {
    "label": "label", "label_kind": "auto", "layout": "auto", "decimal": ".",
    "encoding": "utf-8", "bad_rows": "error", "nonfinite": "missing", "steps": False,
}  # fmt: skip


def reads_a_file(command: Callable[..., Any], without: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Adds the reading options to a command, which gets them as one dictionary, `options`; but for those left out."""
    offered = {name: kind for name, kind in READING.items() if name not in without}
    signature = introspection.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "options"]
    added = [
        introspection.Parameter(
            name, introspection.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=kind
        )
        for name, kind in offered.items()
    ]

    @wraps(command)
    def wrapped(**given: Any) -> Any:
        options = {name: given.pop(name) for name in offered}
        if "label" in options:
            options["label"] = options["label"] or None
        options["case"] = options.pop("case_column")
        if options["channels"]:
            options["channels"] = [name.strip() for name in options["channels"].split(",")]
        return command(**given, options=options)

    wrapped.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in [*own, *added]}
    return wrapped


def recording(file: str, options: dict[str, Any], collected: list[Problem] | None = None) -> Dataset:
    """The dataset; its errors end the command, its warnings go to standard error, and to `met`."""
    from ..data import read_input

    return read_input(file, options, collect_problems(collected))


def collect_problems(collected: list[Problem] | None) -> Callable[[str, tuple[Problem, ...]], None]:
    """A function that prints problems and appends them to `collected`."""

    def collect(command: str, problems: tuple[Problem, ...]) -> None:
        if collected is not None:
            collected.extend(problems)
        print_problems(command, problems)

    return collect


def print_problems(command: str, problems: tuple[Problem, ...]) -> None:
    """The warnings in words, as `fernn check` has them; of many, the first, and by which command to see the others."""
    from ..data.checks import NAMED

    warnings = [problem for problem in problems if problem.severity != "error"]
    warnings.sort(key=lambda problem: problem.kind not in NAMED)
    for problem in warnings[:MOST_WARNINGS]:
        complain(f"warning: {problem}")
    if len(warnings) > MOST_WARNINGS:
        number = sum(problem.count for problem in warnings)
        complain(f"{count_of(number, 'warning')} about the data; to see all of them: {command}")


def read_rule_and_data(text: str, file: str, options: dict[str, Any], time_units: bool) -> tuple[Formula, Dataset]:
    """The formula, its windows in samples, and the recording, which has all its channels."""
    from ..data.problems import unknown_channel
    from ..errors import FormulaError
    from ..formula import channels

    if not time_units:
        read_formula(text)  # a slip in the formula is told before a long file is read
    data = recording(file, options)
    formula = read_formula(text, data.dt, time_units, data.name)
    for name in channels(formula):
        if name not in data.channels:
            raise FormulaError(unknown_channel(name, data.channels, f"{data.name} has"))
    if not time_units:
        note_windows([formula], options.get("dt"), data.time_unit)
    warn_of_compiling()
    return formula, data


def read_formula(
    text: str, dt: float | None = None, time_units: bool = False, name: str = "The stream of samples"
) -> Formula:
    """The formula or template, its windows in samples: as they are written, or with `time_units` by way of `dt`.

    One text means one thing in every command: `dt` alone changes nothing.
    """
    from ..errors import FormulaError
    from ..formula import parse
    from ..formula.export.target import check_dt

    if dt is not None:
        check_dt(dt)
    if time_units and dt is None:
        raise FormulaError(f"{name} has no known time between samples: pass --dt, or leave out --time-units")
    return parse(text, dt=dt if time_units else None)


def note_windows(rules: Iterable[Formula], dt: float | None, unit: str | None) -> None:
    """Says that windows count samples to whoever gave --dt without --time-units; nothing where no window is bounded."""
    from ..formula.export.target import farthest_window_end
    from ..formula.printer import format_duration, format_number

    reaches = [reach for reach in map(farthest_window_end, rules) if reach is not None]
    if dt is None or not reaches:
        return
    clock, reach = unit or "time units", max(reaches)
    complain(
        f"note: windows in a formula count samples, here up to {reach}, which is {format_duration(reach, dt)} {clock} "
        f"with --dt {format_number(dt)}; --time-units reads them in {clock}"
    )


def read_in_samples(texts: Iterable[str], data: Dataset, time_units: bool, given_dt: float | None) -> list[str]:
    """Formulas or templates as texts whose windows count samples, for what keeps texts."""
    formulas = [read_formula(text, data.dt, time_units, data.name) for text in texts]
    if not time_units:
        note_windows(formulas, given_dt, data.time_unit)
    return [str(formula) for formula in formulas]


def warn_of_windows(rules: Iterable[Formula], data: Dataset) -> None:
    """The warnings about rules that are shown: where the traces end before a window begins."""
    from ..formula import direction
    from ..semantics import robustness

    for rule in rules:
        if direction(rule) != "mixed":
            robustness(rule, data)


def warn_of_compiling() -> None:
    """Says so where the kernels are not compiled yet."""
    from ..semantics.interpreter import run_bytecode
    from ..semantics.jit_cache import is_compiled

    if not is_compiled(run_bytecode):
        complain("compiling the kernels for this machine, once: some ten seconds")


Past = Annotated[bool, typer.Option("--past", help="Rules that look back from the end of a trace.")]
NoSince = Annotated[bool, typer.Option("--no-since", help="Without Until, or Since for the past.")]
Intervals = Annotated[bool, typer.Option("--intervals", help="Learn windows in time too, as in F[3,9].")]
Atoms = Annotated[str | None, typer.Option(help="{atoms}")]
Signals = Annotated[
    list[str] | None,
    typer.Option(help="{signals} Expressions are given one by one.", metavar="raw|auto|EXPRESSION"),
]
ClassWeight = Annotated[str | None, typer.Option(help="balanced: both classes count the same.")]
MissCost = Annotated[float | None, typer.Option(help="{miss_cost} [default: 1]", min=0)]
FalseAlarmCost = Annotated[float | None, typer.Option(help="{false_alarm_cost} [default: 1]", min=0)]


def space_settings(
    past: bool, no_since: bool, intervals: bool, atoms: str | None, class_weight: str | None, miss_cost: float | None,
    false_alarm_cost: float | None, signals: list[str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The options of the search space that were given, as settings of a method."""
    settings: dict[str, Any] = {
        "direction": "past" if past else None, "since": False if no_since else None, "intervals": intervals or None,
        "atoms": one_of("--atoms", atoms, ("axis", "linear", "differences")),
        "signals": read_signals(signals),
        "class_weight": one_of("--class-weight", class_weight, ("balanced",)),
        "miss_cost": miss_cost, "false_alarm_cost": false_alarm_cost,
    }  # fmt: skip
    return {name: value for name, value in settings.items() if value is not None}


def read_signals(given: list[str] | None) -> Any:
    """`raw`, `auto`, or the expressions that were given; None where nothing was."""
    return given[0] if given in (["raw"], ["auto"]) else tuple(given or ()) or None


def one_of(flag: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    """The value, if it is one of these."""
    from ..errors import UnsupportedError

    if value is not None and value not in allowed:
        raise UnsupportedError(f"{flag} is {' or '.join(allowed)}; found {value!r}")
    return value


EVERY = 30.0  # seconds from one line to the next where there is no terminal


def _use_engine(name: str | None) -> str | None:
    """Choose the engine of the process. Before any work, one that is not allowed is refused and an address printed."""
    from ..engines.resolve import announce_engine, use

    if name is not None:
        use(name)
    announce_engine()
    return name


EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine", callback=_use_engine, metavar="NAME",
        help="Where the work is done: {engines}, or an address (FERNN_ENGINE).",
    ),
]  # fmt: skip
"""Taken note of as it is read; whatever the command then learns, is learned there."""


def is_remote() -> bool:
    """Whether work is done elsewhere than in this process."""
    from ..engines import Local, resolve_engine

    return not isinstance(resolve_engine(), Local)


def is_split_by_file(source: Source) -> bool:
    """Whether a recording is worked through file by file elsewhere; where only its one file prevents it, says so."""
    if not is_remote():
        return False
    if len(source.files) > 1:
        return True
    from ..engines import resolve_engine

    complain(
        f"{source.path} is one file, which is read here, not on {resolve_engine().name}; a folder goes file by file"
    )
    return False


@contextmanager
def by_file(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many files are done, and where; without a terminal at first, every half minute, and at the end."""
    from ..engines import resolve_engine

    name, last = resolve_engine().name, -EVERY
    with show_units(False) as show:

        def progress(done: int, of: int) -> None:
            nonlocal last
            show(f"files {what} on {name}", done, of)
            if not can_redraw() and (done == of or monotonic() - last > EVERY):
                complain(f"files {what} on {name}: {done} of {of}")
                last = monotonic()

        yield progress


@contextmanager
def show_units(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show how many units are done, of how many."""
    from .progress import LiveLines, Silent

    display = LiveLines() if can_redraw() and not quiet else Silent()

    def progress(what: str, done: int, of: int) -> None:
        display.note = f"{what}: {done} of {of}"

    with display:
        yield progress


InPieces = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Read it in pieces; by itself where it is larger than memory."),
]
PieceRows = Annotated[int | None, typer.Option("--piece-rows", help="Rows at a time when it is read in pieces.", min=1)]


def is_streamed(file: str, options: dict[str, Any], choice: bool | None) -> bool:
    """Whether to read in pieces: if asked for, or if the file is too large for memory, or a folder."""
    if choice is not None:
        return choice
    if not Path(file).exists():
        return False
    from ..data.streaming import is_large

    return is_large(file, options.get("memory_limit"))


class RowCounter(LiveLines):
    """One line on a terminal: rows so far."""

    def __init__(self, far: RowProgress) -> None:
        super().__init__()
        self._far = far

    def _lines(self) -> list[str]:
        return [str(self._far)]


class RowProgress:
    """Progress by rows, called after each batch; true once the user wants to stop."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._stream: Stream | None = None
        self._start = self._last_line = monotonic()
        self.stop: Interrupt | None = None

    def __call__(self, stream: Stream) -> bool:
        time = monotonic()
        if stream is not self._stream:
            self._stream, self._start = stream, time
        if time - self._last_line > EVERY and not can_redraw():
            complain(str(self))
            self._last_line = time
        return self.stop is not None and self.stop.asked

    def __str__(self) -> str:
        """`judged: 1,200,000 of 4,000,000 (30%) rows, 2,400 traces, 12 s`."""
        stream, seconds = self._stream, monotonic() - self._start
        if stream is None:
            return f"{self._what}: nothing yet, {duration_text(seconds)}"
        total = sum(stream.source.rows)
        share = f" of {total:,} ({stream.rows / total:.0%})" if total else ""
        return f"{self._what}: {stream.rows:,}{share} rows, {stream.cases:,} traces, {duration_text(seconds)}"


@contextmanager
def show_rows(what: str) -> Iterator[RowProgress]:
    """Progress on standard error while it is entered; Ctrl-C asks for an end."""
    progress = RowProgress(what)
    display = RowCounter(progress) if can_redraw() else Silent()
    with display, Interrupt(lambda: complain("stopping; Ctrl-C again quits at once")) as progress.stop:
        yield progress
