"""Commands about methods: `methods` lists them, `compare` and `reproduce` set them side by side."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UnsupportedError
from .common_options import (
    Atoms,
    ClassWeight,
    EngineName,
    FalseAlarmCost,
    File,
    Intervals,
    Json,
    MissCost,
    NoSince,
    Past,
    Signals,
    reads_a_file,
    recording,
    space_settings,
)
from .learn import Quiet
from .output import INTERRUPTED, as_json, complain, count_of, table
from .progress import LiveLines, can_redraw, duration_text

if TYPE_CHECKING:
    from ..evaluation.trial_runs import TrialProgress
    from ..learners import Method


NO_RESULT = 1
Limit = Annotated[float | None, typer.Option(help="Seconds that a method has for a fit.", min=0)]
Workers = Annotated[int | None, typer.Option(help="Fits at once; as many as there are cores.", min=1)]


def reproduce(
    experiment: Annotated[
        list[str] | None, typer.Argument(help="methods, stopping, quantised, ...; all if none is named.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few splits: minutes instead of an hour.")] = False,
    out: Annotated[Path, typer.Option(help="Where the page, the runs and the figures go.")] = Path("reproduction"),
    limit: Limit = None,
    workers: Workers = None,
    engine: EngineName = None,
    keep: Annotated[bool, typer.Option("--keep", help="Runs of another version of fernn count as done.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Make the experiments of the paper again, its numbers beside ours.

    Needs a clone of the repository. Goes on where it was interrupted. Without the paper's recordings (FERNN_DATA) it
    runs on simulated ones.
    """
    runner = _reproduction()
    names = list(experiment or [])
    left_out = runner.plan_trials(names, quick)[1]
    for line in [] if quiet else left_out:
        complain(f"left out: {line}")
    with _guard_output(), _show_steps(quiet) as watch:
        result = runner.reproduce(out, names, quick, runner.LIMIT if limit is None else limit, workers, watch, keep)
    for line in (*result.failed, *result.notes):
        complain(line)
    if json:
        summary = {name: getattr(result, name) for name in ("runs", "made", "seconds", "left_out", "failed", "notes")}
        typer.echo(as_json({"page": str(result.page), **summary, "interrupted": result.interrupted}))
    else:
        time = duration_text(result.seconds)
        typer.echo(f"{result.made} runs made in {time}, {result.runs} in all; the page is {result.page}")
        if result.interrupted:
            typer.echo("interrupted; the same command goes on")
    return INTERRUPTED if result.interrupted else NO_RESULT if result.failed else 0


def _reproduction() -> Any:
    """The package beside the source of a clone, which is not installed with fernn."""
    root = Path(__file__).resolve().parents[3]
    if "reproduction" not in sys.modules and not (root / "reproduction" / "runner.py").is_file():
        raise UnsupportedError(
            "the paper's comparison is not part of the installed package. Clone the repository of fernn, and run "
            "make reproduce there, or python -m reproduction."
        )
    if str(root) not in sys.path:
        sys.path.append(str(root))
    return import_module("reproduction.runner")


@reads_a_file
def compare(
    file: File,
    methods: Annotated[str | None, typer.Option(help="Separated by commas; fernn,exact,lattice,tree.")] = None,
    lengths: Annotated[str, typer.Option(help="Greatest lengths, such as 2-6 or 2,4,6.")] = "2-6",
    splits: Annotated[int, typer.Option(help="How often the data are split anew.", min=1)] = 5,
    baselines: Annotated[str | None, typer.Option(help="Separated by commas, or none; those that are here.")] = None,
    past: Past = False, no_since: NoSince = False, intervals: Intervals = False, atoms: Atoms = None,
    signals: Signals = None, class_weight: ClassWeight = None, miss_cost: MissCost = None,
    false_alarm_cost: FalseAlarmCost = None,
    out: Annotated[Path | None, typer.Option(help="The folder of the comparison; comparison/NAME if none.")] = None,
    limit: Limit = None, workers: Workers = None, engine: EngineName = None, quiet: Quiet = False, json: Json = False,
    options: Any = None,
) -> int:  # fmt: skip
    """Compare methods on your data, on the same splits.

    Black-box classifiers stand beside them.
    Goes on where it was interrupted. The options of learning are for all methods; if none are named, methods that do
    not have them are left out.
    """
    from ..data import drop_categories
    from ..evaluation.comparison import DEFAULT_METHODS, LIMIT
    from ..evaluation.comparison import compare as put_beside
    from ..evaluation.trials import missing_settings
    from ..report import draw_comparison
    from ..runs.run import folder_name

    settings = space_settings(past, no_since, intervals, atoms, class_weight, miss_cost, false_alarm_cost, signals)
    if not methods:
        for line in missing_settings(DEFAULT_METHODS, settings).values():
            complain(f"left out: {line}")
    data = drop_categories(recording(file, options), complain)
    folder = out if out is not None else Path("comparison") / folder_name(data.name)
    chosen = None if baselines is None else [] if baselines == "none" else _words(baselines)
    with _guard_output(), _show_steps(quiet) as watch:
        result = put_beside(
            data, folder, _words(methods or ""), _lengths(lengths), splits, chosen, LIMIT if limit is None else limit,
            workers, watch, settings, draw_comparison,
        )  # fmt: skip
    for line in result.failed:
        complain(line)
    if json:
        rows = [dict(zip(result.head, row, strict=True)) for row in result.rows()]
        typer.echo(as_json({"page": str(result.page), "rows": rows, "interrupted": result.interrupted}))
    else:
        typer.echo(table(result.head, result.rows()))
        scope = f"those of {splits} splits that are made" if result.interrupted else count_of(splits, "split")
        typer.echo(f"\ntest error over {scope}; the page is {result.page}")
        if result.interrupted:
            typer.echo("interrupted; the same command goes on")
    return INTERRUPTED if result.interrupted else NO_RESULT if result.failed else 0


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _lengths(text: str) -> list[int]:
    """`2-6` or `2,4,6`."""
    lengths: list[int] = []
    for word in _words(text):
        low, dash, high = word.partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise UnsupportedError(f"--lengths are numbers such as 2-6 or 2,4,6; found {text!r}")
        lengths += range(int(low), int(high) + 1) if dash else [int(low)]
    return sorted(set(lengths))


@contextmanager
def _guard_output() -> Iterator[None]:
    """Ignore SIGPIPE inside: a worker that ends too soon is an error here, not the end of this process."""
    if not hasattr(signal, "SIGPIPE"):
        yield
        return
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)


@contextmanager
def _show_steps(quiet: bool) -> Iterator[Callable[[TrialProgress], None]]:
    """One line that is drawn over and over on a terminal, a line a run elsewhere."""
    if quiet:
        yield lambda step: None
    elif can_redraw():
        with LiveLines() as line:
            line.note = "starting"

            def show(step: TrialProgress) -> None:
                line.note = _step_text(step)

            yield show
    else:
        yield lambda step: complain(_step_text(step))


def _step_text(step: TrialProgress) -> str:
    """`12 of 340, 35 s, 15 min 2 s left: ecg/3/fernn/4 0.038 G (hr_diff <= 5.3)`"""
    result = step.found
    outcome = result.get("problem") or f"{result['mcr']:.3f} {result['formula']}"
    progress = f"{step.done} of {step.total}, {duration_text(step.seconds)}, {duration_text(step.seconds_left)} left"
    return f"{progress}: {step.unit.key} {outcome}"


TOOLS = {
    "ask": "tells formulas apart that fit equally well: a person judges traces on which they differ",
    "cause": "finds what precedes a fault, from recordings that mark it at every sample",
    "params": "gives all thresholds and windows of a formula that keep errors within limits",
    "certify": "checks by other means that no formula errs less",
}
"""Commands that find something else than a front of formulas."""


def methods(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="One of them, to see its settings.", metavar="NAME")] = None,
    json: Json = False,
) -> int:
    """List the methods of learning, or the settings of one."""
    from ..runs import METHODS, describe_option, method

    if name is not None:
        one = method(name)
        if json:
            summary = {"method": name, "about": one.line, "settings": one.defaults, "sentences": one.sentences}
            typer.echo(as_json(summary))
            return 0
        formatter = context.make_formatter()
        formatter.write_dl(
            [(describe_option(one, key), f"{sentence} [default: {_text(one.defaults[key])}]") for key, sentence in
             one.sentences.items()]
        )  # fmt: skip
        typer.echo(f"{name}: {one.line}\n\n{formatter.getvalue()}")
        typer.echo(f"Any of them can be given as --set KEY=VALUE: fernn learn FILE --method {name} --set {_first(one)}")
        return 0
    if json:
        typer.echo(as_json({"methods": {key: one.line for key, one in METHODS.items()}, "tools": TOOLS}))
        return 0
    typer.echo(table(["method", "what it does"], [[key, one.line] for key, one in METHODS.items()]))
    typer.echo("\nfernn learn FILE --method NAME uses one; fernn methods NAME shows its settings. Besides:\n")
    typer.echo(table(["command", "what it does"], [[f"fernn {key}", line] for key, line in TOOLS.items()]))
    return 0


def _text(value: object) -> str:
    """As it is written behind `--set KEY=`."""
    if value is None or value in ([], ()):
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _first(method: Method) -> str:
    """A setting with its value, as an example."""
    return next((f"{key}={_text(value)}" for key, value in method.defaults.items() if value is not None), "KEY=VALUE")
