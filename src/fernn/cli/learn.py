"""The command `learn`: from a labelled recording to rules, with a display, with Ctrl-C, and kept in a run."""

from __future__ import annotations

import json as json_lib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common_options import (
    Atoms,
    ClassWeight,
    EngineName,
    FalseAlarmCost,
    Intervals,
    Json,
    MissCost,
    NoSince,
    Past,
    Signals,
    TimeUnits,
    one_of,
    reads_a_file,
    space_settings,
)
from .look import NoReport, write_run_report
from .output import INTERRUPTED, as_json
from .results import result_json, result_text, rules_json, rules_text

if TYPE_CHECKING:
    from ..pipeline import ClassResult, Result


LearnFile = Annotated[
    str | None,
    typer.Argument(
        help="CSV, Parquet, NPZ, .trace or .ts, a folder of Parquet files, or the name of a data set; with --resume, "
        "a run.",
        metavar="FILE",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="The folder of the run; runs/NAME-NUMBER if none is named.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]


@reads_a_file
def learn(
    file: LearnFile = None,
    max_length: Annotated[int | None, typer.Option(help="{max_length} [default: 6]", min=1)] = None,
    method: Annotated[
        str | None, typer.Option(help="How to learn: {methods}. [default: fernn]", metavar="NAME")
    ] = None,
    template: Annotated[str | None, typer.Option(help="{template}", metavar="FORMULA")] = None,
    prior: Annotated[
        str | None, typer.Option(help="What is known of the rule: a TOML or JSON file, or the JSON.", metavar="FILE")
    ] = None,
    past: Past = False,
    no_since: NoSince = False,
    intervals: Intervals = False,
    atoms: Atoms = None,
    signals: Signals = None,
    class_weight: ClassWeight = None,
    miss_cost: MissCost = None,
    false_alarm_cost: FalseAlarmCost = None,
    guess: Annotated[
        list[str] | None, typer.Option(help="fernn: a rule to begin with; may be given again.", metavar="FORMULA")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="{seed} [default: 0]", min=0)] = None,
    time_limit: Annotated[float | None, typer.Option(help="{time_limit}", min=0)] = None,
    restarts: Annotated[int | None, typer.Option(hidden=True, min=1)] = None,
    grid: Annotated[int | None, typer.Option(hidden=True, min=1)] = None,
    exact: Annotated[bool, typer.Option("--exact", hidden=True)] = False,
    tolerance: Annotated[float | None, typer.Option(hidden=True, min=0)] = None,
    max_misses: Annotated[float | None, typer.Option(hidden=True, min=0, max=1)] = None,
    max_false_alarms: Annotated[float | None, typer.Option(hidden=True, min=0, max=1)] = None,
    max_error: Annotated[float | None, typer.Option(hidden=True, min=0, max=1)] = None,
    memory: Annotated[str | None, typer.Option(hidden=True)] = None,
    folds: Annotated[int | None, typer.Option(hidden=True, min=0)] = None,
    exhaust: Annotated[bool, typer.Option("--exhaust", hidden=True)] = False,
    preset: Annotated[str | None, typer.Option(hidden=True)] = None,
    more: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any setting of the method, as fernn methods NAME lists them.", metavar="KEY=VALUE"),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Of more than two: each (one rule per class), list (in order) or ranked.")
    ] = None,
    order: Annotated[str | None, typer.Option(help="Classes from low to high, separated by commas.")] = None,
    one_class: Annotated[
        bool, typer.Option("--one-class", help="What all traces, or all good ones, have in common.")
    ] = False,
    share: Annotated[
        float | None, typer.Option(help="--one-class: share that may violate the rule. [default: 0]", min=0, max=1)
    ] = None,
    test: Annotated[float | None, typer.Option(help="Share of the traces kept for the test. [default: 0.2]")] = None,
    sample: Annotated[
        float | None, typer.Option(help="Megabytes to learn from, of data larger than memory. [default: 32]", min=0.001)
    ] = None,
    out: Out = None,
    time_units: TimeUnits = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    no_report: NoReport = False,
    engine: EngineName = None,
    quiet: Quiet = False,
    json: Json = False,
    options: Any = None,
) -> int:
    """Learn short rules that tell good traces from bad ones.

    Prints the best rule of each length, with its error on traces kept for the test. Of more than two classes each
    gets a rule. Ctrl-C keeps the best so far. Of a folder of Parquet files, or a file larger than memory, a sample is
    learned from, and all of it judges the rules.
    """
    from ..data import flags
    from ..errors import UnsupportedError
    from ..pipeline import learn_from
    from ..pipeline import resume as resume_run
    from ..runs.plan import TEST
    from .terminal import Terminal

    settings: dict[str, Any] = {
        "max_length": max_length, "template": template,
        **space_settings(past, no_since, intervals, atoms, class_weight, miss_cost, false_alarm_cost, signals),
        "guesses": guess or None, "seed": seed, "time_limit": time_limit,
        "restarts": restarts, "grid": grid, "thresholds": "exact" if exact else None,
        "tolerance": tolerance, "max_misses": max_misses, "max_false_alarms": max_false_alarms,
        "max_error": max_error, "memory": memory, "folds": folds, "exhaust": exhaust or None,
        "preset": one_of("--preset", preset, ("published",)), "share": share,
    }  # fmt: skip
    settings = {name: value for name, value in settings.items() if value is not None} | _parse_settings(more or [])
    if resume:
        fixed = {name for name in settings if name != "time_limit"}
        own = {"method": method, "test": test, "classes": classes, "order": order, "one_class": one_class or None}
        own |= {"prior": prior, "time_units": time_units or None}
        fixed |= {name for name, value in own.items() if value is not None}
        folder, file = _run_to_resume(file, out, fixed, flags(options))
        result = resume_run(folder, file, time_limit, Terminal(quiet))
    else:
        if file is None:
            raise UnsupportedError("learn needs a FILE with labelled traces; fernn demo shows how it goes without one")
        if time_units and prior is None and not {"template", "guesses"} & settings.keys():
            raise UnsupportedError(
                "--time-units says how the windows of --template, --guess and --prior are read, and none of them is "
                "given"
            )
        result = learn_from(
            file, options, settings, method or "fernn", test=TEST if test is None else test,
            classes=_kind(classes, order, one_class, share), order=_names(order), prior=prior, sample=sample,
            time_units=time_units, out=out, listener=Terminal(quiet, file, options, time_units),
        )  # fmt: skip
    typer.echo(_result_text(result, json, not no_report))
    return INTERRUPTED if result.ended == "interrupted" else 0


def _names(order: str | None) -> list[str] | None:
    return None if order is None else [name.strip() for name in order.split(",")]


def _run_to_resume(file: str | None, out: Path | None, fixed: set[str], read: list[str]) -> tuple[Path, str | None]:
    """The folder of the run, and where its data are now; what cannot be changed is told."""
    from ..errors import UnsupportedError

    if out is None and file is not None and Path(file).is_dir():
        out, file = Path(file), None
    if out is None:
        raise UnsupportedError(f"--resume needs the folder of the run: --out RUN{_runs_here()}")
    if fixed or read:
        flags = ", ".join([*("--" + name.replace("_", "-") for name in sorted(fixed)), *read[::2]])
        raise UnsupportedError(f"a run keeps its settings, {flags} cannot change them; start a new run instead")
    return out, file


def _result_text(result: Result | ClassResult, json: bool, with_report: bool) -> str:
    """What was found, and where its report is."""
    from ..pipeline import Result

    report = write_run_report(result) if with_report else None
    if isinstance(result, Result):
        return as_json(result_json(result.outcome, report)) if json else result_text(result.outcome, report=report)
    return as_json(rules_json(result.outcome, report)) if json else rules_text(result.outcome, report)


def _kind(classes: str | None, order: str | None, one_class: bool, share: float | None) -> str | None:
    """Which rules for classes are asked for; None where the data are to say."""
    from ..errors import UnsupportedError

    one_of("--classes", classes, ("each", "list", "ranked"))
    if one_class and (classes or order):
        raise UnsupportedError("--one-class is for one class alone: leave out --classes and --order")
    if share is not None and not one_class:
        raise UnsupportedError("--share is of traces that may violate what they have in common: pass --one-class too")
    if order and classes not in (None, "ranked"):
        raise UnsupportedError(f"--order is for --classes ranked, not for {classes}")
    return "one" if one_class else "ranked" if order else classes


def _runs_here() -> str:
    from ..runs import run_folders

    folders = run_folders()
    return f"; the latest here is {folders[0]}" if folders else ""


def _parse_settings(pairs: list[str]) -> dict[str, Any]:
    """`depth=2` and the like, values as JSON writes them or as plain words."""
    from ..errors import UnsupportedError

    chosen: dict[str, Any] = {}
    for text in pairs:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UnsupportedError(f"--set takes NAME=VALUE, such as depth=2; found {text!r}")
        name = name.strip().replace("-", "_")
        try:
            chosen[name] = json_lib.loads(value)
        except ValueError:
            chosen[name] = value
    return chosen
