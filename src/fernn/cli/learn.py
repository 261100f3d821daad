"""The command `learn`: from a labelled recording to rules, with a display, with Ctrl-C, and kept in a run."""

from __future__ import annotations

import json as json_lib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

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
    TimeUnits,
    by_file,
    collect_problems,
    is_split_by_file,
    is_streamed,
    note_windows,
    one_of,
    print_problems,
    read_in_samples,
    reads_a_file,
    recording,
    show_rows,
    space_settings,
)
from .look import NoReport, write_run_report
from .output import INTERRUPTED, Interrupt, as_json, complain
from .progress import display
from .results import result_json, result_text, rules_json, rules_text

if TYPE_CHECKING:
    from ..data import Dataset, Problem
    from ..data.streaming.stratified_sample import StreamSample
    from ..learners import Prior, Progress, Watch
    from ..runs import Job, Outcome, RulesOutcome


Done = TypeVar("Done", bound=Any)
COMPILING = "compiling (first run only, ~20 s)"
FAILURES = 5
"""Failures of an engine that are told one by one."""
STOPPING = "stopping; Ctrl-C again quits at once"


def run_with_display(job: Job, quiet: bool) -> Outcome:
    """Learn with a display; a run that cannot be written is told of at the end, and is no reason to stop."""
    from .. import runs

    return _run_displayed(runs.run_job, job, quiet)


def run_rules_with_display(job: Job, quiet: bool) -> RulesOutcome:
    """The same for rules for classes."""
    from .. import runs

    return _run_displayed(runs.run_rules_job, job, quiet)


def _run_displayed(work: Callable[..., Done], job: Job, quiet: bool) -> Done:
    from ..engines.resolve import announce_engine
    from ..runs import is_method_compiled

    announce_engine()  # not amid the display
    told_off: list[str] = []

    def broken(problem: OSError) -> None:
        told_off.append(f"{problem.strerror}: {problem.filename or (job.run and job.run.folder)}")

    with show_progress(quiet, is_method_compiled(job.settings["method"])) as watch:
        done = work(job, watch, broken)
    if not told_off:
        return done
    run = job.run
    if run is not None and run.is_new and run.is_empty:
        run.discard()
        complain(f"warning: the run could not be kept ({told_off[-1]}). Choose another folder with --out.")
        return replace(done, job=replace(job, run=None))
    complain(f"warning: the run could not be written ({told_off[-1]})")
    return done


@contextmanager
def show_progress(quiet: bool, is_compiled: bool) -> Iterator[Watch]:
    """What shows the progress of a fit; after a Ctrl-C it ends the fit with the best so far."""
    shown = display(quiet)
    shown.note = "" if is_compiled else COMPILING

    def heard() -> None:
        shown.note = STOPPING

    with _quiet_warnings(), shown, Interrupt(heard) as stop:

        def watch(progress: Progress) -> None:
            if shown.note == COMPILING:
                shown.note = ""
            shown.tell(progress)
            if stop.asked:
                stop.asked = False  # once is enough: the learner may tell of its result yet
                raise KeyboardInterrupt

        yield watch


@contextmanager
def _quiet_warnings() -> Iterator[None]:
    """What a candidate's windows do at the edges is of no interest while thousands of them are tried.

    That work failed on an engine, and is left out, is told at the end.
    """
    from ..errors import EngineWarning

    met: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", EngineWarning)
            warnings.showwarning = lambda message, *_, **__: met.append(str(message))
            yield
    finally:
        for text in met[:FAILURES]:
            complain(f"warning: {text}")
        if len(met) > FAILURES:
            complain(f"warning: {len(met) - FAILURES} more shares of the work failed on the engine and are left out")


MEGABYTES = 32.0


def draw_sample(file: str, options: dict[str, Any], megabytes: float | None, seed: int) -> StreamSample:
    """Whole traces, the same share of each label; what there is to say of it goes to standard error."""
    from ..data.options import suggest_command
    from ..data.streaming import open_source
    from ..data.streaming.stratified_sample import sample_stream

    source = open_source(file, options)
    with show_rows("sampling") as wants_end:
        found = sample_stream(source, _bytes(megabytes, options.get("memory_limit")), seed, watch=wants_end)
        stopped = wants_end.stop is not None and wants_end.stop.asked
    if stopped:
        raise KeyboardInterrupt
    why = "is larger than memory allows" if Path(file).is_file() else "is a folder, which is read in pieces"
    why = why if megabytes is None else "is sampled, as --sample asks"
    if found.problems:
        print_problems(suggest_command("check", [file], options), found.problems)
    complain(f"{file} {why}: learning from {found}")
    return found


def _bytes(megabytes: float | None, limit: int | None) -> int:
    """The size of the sample: as asked, or what learning has room for within a memory limit."""
    most = int((megabytes or MEGABYTES) * 1e6)
    return most if megabytes is not None or limit is None else max(min(most, limit // 4), 1)


def judge_on_all_data(done: Outcome | RulesOutcome) -> Outcome | RulesOutcome:
    """With the errors on all the data, where what was learned from is a sample of them."""
    from ..data.streaming import open_source
    from ..runs import Outcome
    from ..runs.out_of_core import judge_on_all, judge_on_all_by_parts

    sample = done.job.settings.get("sample")
    if sample is None or not isinstance(done, Outcome):
        return done
    total, kept = sum(sample["met"].values()), sum(sample["kept"].values())
    notes = [f"learned from a sample: {kept} of {total} traces of {sample['of']}"]
    papers = {}
    if len(done.job.data.classes) == 2:
        source = open_source(sample["of"], sample["reading"])
        if is_split_by_file(source):
            with by_file("judged by all") as told:
                found = judge_on_all_by_parts(done.front, done.job.data, source, told=told)
        else:
            with show_rows("judged by all") as wants_end:
                found = judge_on_all(done.front, done.job.data, source, watch=wants_end)
        notes += found.notes(done.front)
        papers["all.json"] = found.to_json()
    if done.job.run is not None:
        done.job.run.add_notes(notes, papers)
    return replace(done, notes=(*done.notes, *notes))


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
    met: list[Problem] = []
    if resume:
        from ..data import flags

        fixed = {name for name in given if name != "time_limit"}
        named = {"method": method, "test": test, "classes": classes, "order": order, "one_class": one_class or None}
        named |= {"prior": prior, "time_units": time_units or None}
        fixed |= {name for name, value in named.items() if value is not None}
        done = _resume_run(file, out, fixed, flags(options), time_limit, quiet, met)
    else:
        kind = _kind(classes, order, one_class, share)
        test = 0.2 if test is None else test
        done = _learn_new(
            file, out, method or "fernn", given, test, prior, options, quiet, met, kind, order, sample, time_units
        )
    done = judge_on_all_data(done)
    typer.echo(_result_text(done, json, met, not no_report))
    return INTERRUPTED if done.ended == "interrupted" else 0


def _learn_new(
    file: str | None, out: Path | None, method: str, given: dict[str, Any], test: float, prior: str | None,
    options: Any, quiet: bool, met: list[Problem], kind: str | None = None, order: str | None = None,
    sample: float | None = None, time_units: bool = False,
) -> Outcome | RulesOutcome:  # fmt: skip
    from ..errors import UnsupportedError
    from ..learners import read_prior
    from ..runs import plan, plan_rules, start_job, start_rules_job
    from ..runs.out_of_core import SAMPLE, plan_sample, save_sample
    from ..runs.run import check_vacant, new_folder, writable

    if file is None:
        raise UnsupportedError("learn needs a FILE with labelled traces; fernn demo shows how it goes without one")
    if not 0 <= test < 1:
        raise UnsupportedError(f"--test is a share of the traces, from 0 up to 1; found {test}")
    if time_units and prior is None and not {"template", "guesses"} & given.keys():
        raise UnsupportedError(
            "--time-units says how the windows of --template, --guess and --prior are read, and none of them is given"
        )
    known = None if prior is None or time_units else read_prior(prior)
    if prior is not None and kind is not None:
        raise UnsupportedError("--prior is for a rule that tells two classes apart, not for rules for classes")
    plan(file, options, method, given, test) if kind != "one" else {}  # a slip is told before a long file is read
    if out is not None:
        check_vacant(out)  # told before a long file is read
    taken = None
    if is_streamed(file, options, True if sample is not None else None):
        taken = draw_sample(file, options, sample, given.get("seed", 0))
        data = taken.data
        out = out if out is not None else new_folder(data.name)
    else:
        data = recording(file, options, met)
    given, known = _in_samples(given, prior, data, time_units, options.get("dt"))
    planned = plan(file, options, method, given, test, known) if kind != "one" else {}
    if kind is None and len(data.classes) > 2:
        kind = "each"
        _tell_of_lookalikes(data, file, options, met)
        if known is not None:
            raise UnsupportedError(f"--prior is for two classes, {data.name} has {len(data.classes)}; see --good NAME")
    if kind is not None:
        planned = plan_rules(kind, file, options, method, given, test)
        data, planned = _in_order(data, order, planned)
    if taken is not None and out is not None:
        planned, file = plan_sample(planned, taken, file, out), str(out / SAMPLE)
    job = start_job(data, planned, file, out) if kind is None else start_rules_job(data, planned, file, out)
    assert job.run is not None
    try:
        if taken is not None and out is not None:
            job.run.own = (SAMPLE,)
            with writable(out):
                save_sample(data, out)
        return run_with_display(job, quiet) if kind is None else run_rules_with_display(job, quiet)
    except Exception:
        job.run.discard()
        raise


def _in_samples(
    given: dict[str, Any], prior: str | None, data: Dataset, time_units: bool, dt: float | None
) -> tuple[dict[str, Any], Prior | None]:
    """The settings and the prior, the windows of their formulas in samples: what a run keeps."""
    from ..errors import FormulaError
    from ..learners import read_prior

    if time_units and data.dt is None:
        raise FormulaError(f"{data.name} has no known time between samples: pass --dt, or leave out --time-units")

    texts = [*([given["template"]] if "template" in given else []), *given.get("guesses", [])]
    if not all(isinstance(text, str) for text in texts):
        return given, None if prior is None else read_prior(prior)
    read = read_in_samples(texts, data, time_units, dt)
    if time_units:
        given = given | ({"template": read.pop(0)} if "template" in given else {})
        given = given | ({"guesses": read} if "guesses" in given else {})
    known = None if prior is None else read_prior(prior, data.dt if time_units else None)
    if known is not None and not time_units:
        note_windows([*known.must_hold, *([known.template] if known.template else [])], dt, data.time_unit)
    return given, known


def _tell_of_lookalikes(data: Dataset, file: str, options: Any, met: list[Problem]) -> None:
    """How to have two classes where there are more because of labels that are written in several ways."""
    from ..data import suggest_command
    from ..data.label_parsing import lookalikes

    if not any(problem.kind == "similar-labels" for problem in met) or data.labels is None:
        return
    counts = {name: int((data.labels == i).sum()) for i, name in enumerate(data.classes)}
    odd = {each.label for each in lookalikes(counts)}
    complain(f"learning a rule for each of {len(data.classes)} classes, which takes longer than one rule for two.")
    complain("If two are meant, stop it with Ctrl-C, and name the good one; all others then count as one class:")
    for name in (name for name in data.classes if name not in odd):
        complain("  " + suggest_command("learn", [file], {**options, "good": name}))


def _resume_run(
    file: str | None, out: Path | None, fixed: set[str], read: list[str], limit: float | None, quiet: bool,
    met: list[Problem],
) -> Outcome | RulesOutcome:  # fmt: skip
    from ..errors import UnsupportedError
    from ..runs import load_job, load_result, load_rules_result

    if out is None and file is not None and Path(file).is_dir():
        out, file = Path(file), None
    if out is None:
        raise UnsupportedError(f"--resume needs the folder of the run: --out RUN{_runs_here()}")
    if fixed or read:
        named = ", ".join([*("--" + name.replace("_", "-") for name in sorted(fixed)), *read[::2]])
        raise UnsupportedError(f"a run keeps its settings, {named} cannot change them; start a new run instead")
    job = load_job(out, file, collect_problems(met), classes=True)
    assert job.run is not None
    if job.run.ended == "done" and (job.run.rules() or job.run.front()) is not None:
        complain(f"{out} is finished: nothing is left to do")
        return load_rules_result(job) if job.classes else load_result(job)
    job.run.resume()
    if limit is not None:
        settings = job.settings | {"learner": job.settings["learner"] | {"time_limit": limit}}
        job = replace(job, settings=settings)
    return run_rules_with_display(job, quiet) if job.classes else run_with_display(job, quiet)


def _result_text(done: Outcome | RulesOutcome, json: bool, met: list[Problem], with_report: bool) -> str:
    """What was found, and where its report is."""
    from ..runs import RulesOutcome

    report = write_run_report(done, met, with_report)
    if isinstance(done, RulesOutcome):
        return as_json(rules_json(done, report)) if json else rules_text(done, report)
    return as_json(result_json(done, report)) if json else result_text(done, report=report)


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


def _in_order(data: Dataset, order: str | None, planned: dict[str, Any]) -> tuple[Dataset, dict[str, Any]]:
    """The data with their classes from low to high, and the plan that says so."""
    from ..data import reorder_classes

    if order is None:
        return data, planned
    names = [name.strip() for name in order.split(",")]
    return reorder_classes(data, names), planned | {"order": names}


def _runs_here() -> str:
    from ..runs import run_folders

    found = run_folders()
    return f"; the latest here is {found[0]}" if found else ""


def _parse_settings(given: list[str]) -> dict[str, Any]:
    """`depth=2` and the like, values as JSON writes them or as plain words."""
    from ..errors import UnsupportedError

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
