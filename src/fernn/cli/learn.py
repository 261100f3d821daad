"""The command `learn`: from a labelled recording to rules, with a display, with Ctrl-C, and kept in a run."""

from __future__ import annotations

import json as json_lib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data import flags, suggest_command
from ..data.label_parsing import lookalikes
from ..engines.resolve import announce_engine
from ..errors import UnsupportedError
from ..formula import parse
from ..learners import Prior
from ..pipeline import SAMPLING, ClassResult, Listener, Result, learn_from, quiet_warnings
from ..pipeline import resume as resume_run
from ..runs import is_method_compiled, run_folders
from ..runs.plan import TEST
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
    TimeUnits,
    by_file,
    note_windows,
    one_of,
    print_problems,
    reads_a_file,
    show_rows,
    space_settings,
)
from .look import NoReport, write_run_report
from .output import INTERRUPTED, Interrupt, as_json, complain
from .progress import display
from .results import result_json, result_text, rules_json, rules_text

if TYPE_CHECKING:
    from ..data import Dataset, Problem
    from ..data.streaming import Stream
    from ..learners import Progress, Watch
    from ..runs import Job


COMPILING = "compiling (first run only, ~20 s)"
STOPPING = "stopping; Ctrl-C again quits at once"


class Terminal(Listener):
    """Shows learning on standard error: a bar, or plain lines; Ctrl-C ends it with the best so far."""

    def __init__(
        self, quiet: bool, file: str = "", reading: Mapping[str, Any] | None = None, time_units: bool = False
    ) -> None:
        self._quiet, self._file, self._reading, self._time_units = quiet, file, reading or {}, time_units
        self._met: tuple[Problem, ...] = ()

    def problems(self, again: str, problems: tuple[Problem, ...]) -> None:
        self._met = problems
        print_problems(again, problems)

    def note(self, text: str) -> None:
        complain(text)

    def warning(self, text: str) -> None:
        complain(f"warning: {text}")

    def unwritable(self, problem: OSError, folder: Path, is_kept: bool) -> None:
        why = f"{problem.strerror}: {problem.filename or folder}"
        if is_kept:
            complain(f"warning: the run could not be written ({why})")
        else:
            complain(f"warning: the run could not be kept ({why}). Choose another folder with --out.")

    def data(self, data: Dataset, settings: Mapping[str, Any]) -> None:
        if settings.get("classes") == "each":
            _tell_of_lookalikes(data, self._file, self._reading, self._met)
        if self._time_units:
            return
        prior = Prior.from_json(settings.get("prior", {}))
        texts = [settings["learner"].get("template"), *(settings["learner"].get("guesses") or ()), prior.template]
        rules = [*(parse(str(text)) for text in texts if text is not None), *prior.must_hold]
        note_windows(rules, self._reading.get("dt"), data.time_unit)

    @contextmanager
    def rows(self, what: str) -> Iterator[Callable[[Stream], bool]]:
        with show_rows(what) as wants_end:
            yield wants_end
            stopped = wants_end.stop is not None and wants_end.stop.asked
        if stopped and what == SAMPLING:
            raise KeyboardInterrupt

    def files(self, what: str) -> AbstractContextManager[Callable[[int, int], None]]:
        return by_file(what)

    @contextmanager
    def fitting(self, job: Job) -> Iterator[Watch]:
        announce_engine()  # not amid the display
        with show_progress(self._quiet, is_method_compiled(job.settings["method"])) as watch:
            yield watch


@contextmanager
def show_progress(quiet: bool, is_compiled: bool) -> Iterator[Watch]:
    """What shows the progress of a fit; after a Ctrl-C it ends the fit with the best so far."""
    shown = display(quiet)
    shown.note = "" if is_compiled else COMPILING

    def heard() -> None:
        shown.note = STOPPING

    with quiet_warnings(lambda text: complain(f"warning: {text}")), shown, Interrupt(heard) as stop:

        def watch(progress: Progress) -> None:
            if shown.note == COMPILING:
                shown.note = ""
            shown.tell(progress)
            if stop.asked:
                stop.asked = False  # once is enough: the learner may tell of its result yet
                raise KeyboardInterrupt

        yield watch


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
    max_length: Annotated[
        int | None, typer.Option(help="Most conditions such as v <= 3, and operators, in a formula (6).", min=1)
    ] = None,
    method: Annotated[str | None, typer.Option(help="fernn, or one that fernn methods lists.")] = None,
    template: Annotated[str | None, typer.Option(help="A formula with open choices, to search only those.")] = None,
    prior: Annotated[
        str | None, typer.Option(help="What is known of the rule: a TOML or JSON file, or the JSON.", metavar="FILE")
    ] = None,
    past: Past = False,
    no_since: NoSince = False,
    intervals: Intervals = False,
    atoms: Atoms = None,
    class_weight: ClassWeight = None,
    miss_cost: MissCost = None,
    false_alarm_cost: FalseAlarmCost = None,
    guess: Annotated[list[str] | None, typer.Option(help="A formula to begin with; may be given again.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same rules (0).", min=0)] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds, at most.", min=0)] = None,
    restarts: Annotated[int | None, typer.Option(help="How often to begin anew (64).", min=1)] = None,
    grid: Annotated[int | None, typer.Option(help="enumerative: thresholds a channel (32).", min=1)] = None,
    exact: Annotated[bool, typer.Option("--exact", help="enumerative: every threshold that matters.")] = False,
    tolerance: Annotated[float | None, typer.Option(help="enumerative: how much worse a rival may be.", min=0)] = None,
    max_misses: Annotated[
        float | None, typer.Option(help="enumerative: most of the bad, as a share, judged good.", min=0, max=1)
    ] = None,
    max_false_alarms: Annotated[
        float | None, typer.Option(help="enumerative: most of the good judged bad.", min=0, max=1)
    ] = None,
    max_error: Annotated[
        float | None, typer.Option(help="maxsat: share of the traces that may be judged wrongly (0).", min=0, max=1)
    ] = None,
    memory: Annotated[str | None, typer.Option(help="enumerative: to keep behaviours in (2GB).")] = None,
    folds: Annotated[int | None, typer.Option(help="Parts for validation (5); 0 for none.", min=0)] = None,
    exhaust: Annotated[bool, typer.Option("--exhaust", help="enumerative: all lengths, for all rivals.")] = False,
    preset: Annotated[str | None, typer.Option(help="enumerative, lattice: published, as in the literature.")] = None,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Any setting of the method, as NAME=VALUE; may be given again.", metavar="NAME=VALUE"
        ),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Of more than two: each (one rule per class), list (in order) or ranked.")
    ] = None,
    order: Annotated[str | None, typer.Option(help="Classes from low to high, separated by commas.")] = None,
    one_class: Annotated[
        bool, typer.Option("--one-class", help="What all traces, or all good ones, have in common.")
    ] = False,
    share: Annotated[
        float | None, typer.Option(help="--one-class: share of the traces that may violate the rule (0).", min=0, max=1)
    ] = None,
    test: Annotated[float | None, typer.Option(help="Share of the traces kept for the test (0.2).")] = None,
    sample: Annotated[
        float | None,
        typer.Option(help="Megabytes to learn from, of data larger than memory (32).", min=0.001),
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
    given: dict[str, Any] = {
        "max_length": max_length, "template": template,
        **space_settings(past, no_since, intervals, atoms, class_weight, miss_cost, false_alarm_cost),
        "guesses": guess or None, "seed": seed, "time_limit": time_limit,
        "restarts": restarts, "grid": grid, "thresholds": "exact" if exact else None,
        "tolerance": tolerance, "max_misses": max_misses, "max_false_alarms": max_false_alarms,
        "max_error": max_error, "memory": memory, "folds": folds, "exhaust": exhaust or None,
        "preset": one_of("--preset", preset, ("published",)), "share": share,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None} | _parse_settings(more or [])
    if resume:
        fixed = {name for name in given if name != "time_limit"}
        named = {"method": method, "test": test, "classes": classes, "order": order, "one_class": one_class or None}
        named |= {"prior": prior, "time_units": time_units or None}
        fixed |= {name for name, value in named.items() if value is not None}
        folder, file = _run_to_resume(file, out, fixed, flags(options))
        found = resume_run(folder, file, time_limit, Terminal(quiet))
    else:
        if file is None:
            raise UnsupportedError("learn needs a FILE with labelled traces; fernn demo shows how it goes without one")
        if time_units and prior is None and not {"template", "guesses"} & given.keys():
            raise UnsupportedError(
                "--time-units says how the windows of --template, --guess and --prior are read, and none is given"
            )
        found = learn_from(
            file, options, given, method or "fernn", test=TEST if test is None else test,
            classes=_kind(classes, order, one_class, share), order=_names(order), prior=prior, sample=sample,
            time_units=time_units, out=out, listener=Terminal(quiet, file, options, time_units),
        )  # fmt: skip
    typer.echo(_result_text(found, json, not no_report))
    return INTERRUPTED if found.ended == "interrupted" else 0


def _names(order: str | None) -> list[str] | None:
    return None if order is None else [name.strip() for name in order.split(",")]


def _tell_of_lookalikes(data: Dataset, file: str, options: Mapping[str, Any], met: Sequence[Problem]) -> None:
    """How to have two classes where there are more because of labels that are written in several ways."""
    if not any(problem.kind == "similar-labels" for problem in met) or data.labels is None:
        return
    counts = {name: int((data.labels == i).sum()) for i, name in enumerate(data.classes)}
    odd = {each.label for each in lookalikes(counts)}
    complain(f"learning a rule for each of {len(data.classes)} classes, which takes longer than one rule for two.")
    complain("If two are meant, stop it with Ctrl-C, and name the good one; all others then count as one class:")
    for name in (name for name in data.classes if name not in odd):
        complain("  " + suggest_command("learn", [file], {**options, "good": name}))


def _run_to_resume(file: str | None, out: Path | None, fixed: set[str], read: list[str]) -> tuple[Path, str | None]:
    """The folder of the run, and where its data are now; what cannot be changed is told."""
    if out is None and file is not None and Path(file).is_dir():
        out, file = Path(file), None
    if out is None:
        raise UnsupportedError(f"--resume needs the folder of the run: --out RUN{_runs_here()}")
    if fixed or read:
        named = ", ".join([*("--" + name.replace("_", "-") for name in sorted(fixed)), *read[::2]])
        raise UnsupportedError(f"a run keeps its settings, {named} cannot change them; start a new run instead")
    return out, file


def _result_text(found: Result | ClassResult, json: bool, with_report: bool) -> str:
    """What was found, and where its report is."""
    report = write_run_report(found) if with_report else None
    if isinstance(found, Result):
        return as_json(result_json(found.outcome, report)) if json else result_text(found.outcome, report=report)
    return as_json(rules_json(found.outcome, report)) if json else rules_text(found.outcome, report)


def _kind(classes: str | None, order: str | None, one_class: bool, share: float | None) -> str | None:
    """Which rules for classes are asked for; None where the data are to say."""
    one_of("--classes", classes, ("each", "list", "ranked"))
    if one_class and (classes or order):
        raise UnsupportedError("--one-class is for one class alone: leave out --classes and --order")
    if share is not None and not one_class:
        raise UnsupportedError("--share is of traces that may violate what they have in common: pass --one-class too")
    if order and classes not in (None, "ranked"):
        raise UnsupportedError(f"--order is for --classes ranked, not for {classes}")
    return "one" if one_class else "ranked" if order else classes


def _runs_here() -> str:
    found = run_folders()
    return f"; the latest here is {found[0]}" if found else ""


def _parse_settings(given: list[str]) -> dict[str, Any]:
    """`depth=2` and the like, values as JSON writes them or as plain words."""
    chosen: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UnsupportedError(f"--set takes NAME=VALUE, such as depth=2; found {text!r}")
        name = name.strip().replace("-", "_")
        try:
            chosen[name] = json_lib.loads(value)
        except ValueError:
            chosen[name] = value
    return chosen
