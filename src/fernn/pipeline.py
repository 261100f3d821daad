"""From recordings to a rule that may be relied on: read, check, split, fit, test, keep the run.

    fernn.learn("drives.csv", label="outcome")      -> Result
    fernn.Result.load("runs/drives-1")              -> the same, later

`learn_from` is the pipeline itself, which the command line and the studio call with a `Listener` of their own; `learn`
is `learn_from` for data in any form, with reading options and the settings of the method by name.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from .data import (
    Dataset,
    Problem,
    drop_categories,
    from_arrays,
    from_frame,
    read_input,
    reorder_classes,
    save,
    suggest_command,
)
from .data.frames import is_frame
from .data.options import ReadOptions
from .data.problems import did_you_mean
from .data.splits import blocks
from .data.streaming import Stream, is_large, open_source
from .errors import DataError, EngineWarning, FernnWarning, FormulaError, RunError, UnsupportedError
from .evaluation.intervals import LEVEL, cluster_interval, error_interval
from .evaluation.permutation_test import Detection, HoldoutTest, evaluate_outcome
from .formula import Formula, parse, to_sentence
from .learners import Front, Prior, Watch, read_prior, silent
from .learners.base import losses
from .learners.classes import Decides
from .learners.classes.class_rules import class_losses
from .runs import Job, Outcome, RulesOutcome, load_job, load_result, new_folder, plan, reading_options
from .runs.job import DATA, SAMPLE, run_job, start_job
from .runs.plan import TEST
from .runs.run import check_vacant, writable
from .semantics.explain import Explanation, explain_case

if TYPE_CHECKING:
    from .data.streaming.stratified_sample import StreamSample

SAMPLE_MEGABYTES = 32.0
"""What is learned from, of data that are larger than memory."""
SAMPLING = "sampling"
"""What is being done while a sample is drawn: without one, nothing can be learned."""
LINES = 24
"""Lines of a `repr`, at most."""


class Listener:
    """Hears how learning goes, and shows it. This one gives warnings and shows no progress."""

    def problems(self, again: str, problems: tuple[Problem, ...]) -> None:
        """What came up in reading the data; `again` is the command that shows all of it."""
        warnings.warn("\n".join(map(str, problems)), FernnWarning, stacklevel=4)

    def note(self, text: str) -> None:
        """What a person should know of what is learned from."""
        warnings.warn(text, FernnWarning, stacklevel=4)

    def warning(self, text: str) -> None:
        """What went wrong in part, such as shares of the work that an engine lost."""
        warnings.warn(text, FernnWarning, stacklevel=4)

    def data(self, data: Dataset, settings: Mapping[str, Any]) -> None:
        """What is learned from, before it begins."""

    def rows(self, what: str) -> AbstractContextManager[Callable[[Stream], bool]]:
        """What is told of every piece of a long file, and says whether to stop."""
        return nullcontext(lambda stream: False)

    def files(self, what: str) -> AbstractContextManager[Callable[[int, int], None]]:
        """What is told how many files of a folder are done."""
        return nullcontext(lambda done, of: None)

    def fitting(self, job: Job) -> AbstractContextManager[Watch]:
        """What is told of progress while a job is fitted."""
        return nullcontext(silent)

    def unwritable(self, problem: OSError, folder: Path, is_kept: bool) -> None:
        """That the run could not be written; whether what was written before is kept."""
        why = f"{problem.strerror}: {problem.filename or folder}"
        warnings.warn(f"the run could not be written ({why})", FernnWarning, stacklevel=4)


@dataclass(frozen=True)
class ErrorEstimate:
    """An error on traces that were not learned from, with its interval."""

    error: float
    """The share of traces judged wrongly; of real-valued labels the mean absolute error."""
    interval: tuple[float, float] | None
    """In which the error on new traces lies, by 95 %; copies and groups count as one."""
    cases: int
    wrong: int | None = None
    """How many of the cases; None of real-valued labels."""

    def __float__(self) -> float:
        return self.error

    def __str__(self) -> str:
        """`0.0250: 1 of 40 wrong, 95% interval 0.0006 to 0.1316`"""
        what = f"mean absolute error on {self.cases}" if self.wrong is None else f"{self.wrong} of {self.cases} wrong"
        if self.interval is None:
            return f"{self.error:.4f}: {what}"
        low, high = self.interval
        return f"{self.error:.4f}: {what}, {LEVEL:.0%} interval {low:.4f} to {high:.4f}"


def learn(
    data: Any,
    label: Any = "label",
    *,
    method: str = "fernn",
    test: float = TEST,
    classes: str | None = None,
    order: Sequence[str] | None = None,
    prior: Prior | str | None = None,
    out: str | PathLike[str] | None = None,
    keep: bool = True,
    watch: Watch = silent,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Result | ClassResult:
    """Learn short rules that tell good traces from bad ones, and test them on traces not learned from.

    data: a file, the name of a data set, a `Dataset`, a data frame with a row a sample, or an array
        `X[case, channel, time]`, whose labels are then `label`.
    label: the column of the labels.
    method: `"fernn"`, or one that `fernn methods` lists.
    test: the share of the traces that is kept for the test; 0 keeps none.
    classes, order: of more than two classes `"each"`, `"list"` or `"ranked"`; `"one"` for what one class has in common.
    prior: what is known of the rule before.
    out, keep: the folder of the run, `runs/NAME-NUMBER` if none is named; with `keep=False` it goes with the result.
    watch: told of progress. Ctrl-C ends learning with the best so far.
    options: those of `fernn.read`, such as `case=` or `good=`, and settings of the method, such as `max_length=`,
        `seed=` or `time_limit=`; `settings` takes those, too.
    """
    listener = _Watching(watch)
    reading, more = _split_options(options, method, classes)
    settings = {**more, **(settings or {})}
    given: dict[str, Any] = {"test": test, "classes": classes, "order": order, "prior": prior, "listener": listener}
    own = None if keep else TemporaryDirectory(prefix="fernn-")
    folder = Path(own.name) / "run" if own is not None else None if out is None else Path(out)
    if own is not None and out is not None:
        raise UnsupportedError("keep=False leaves no run behind, and out= names the folder of one: pass one of them")
    if isinstance(data, (str, PathLike)):
        found = learn_from(str(data), reading | {"label": label}, settings, method, out=folder, **given)
    else:
        found = learn_from(_dataset(data, label, reading), {}, settings, method, out=folder, **given)
    return replace(found, temporary=own)


class _Watching(Listener):
    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def fitting(self, job: Job) -> AbstractContextManager[Watch]:
        return nullcontext(self._watch)


def _split_options(
    options: Mapping[str, Any], method: str, classes: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of reading, and the settings of the method."""
    known = ReadOptions.names()
    reading = {name: value for name, value in options.items() if name in known}
    settings = {name: value for name, value in options.items() if name not in known}
    for name in settings:  # of the names that plan will not know, those that were meant for reading
        if (near := did_you_mean(name, known)) and not did_you_mean(
            name, plan("", {}, method, classes=classes)["learner"]
        ):
            raise UnsupportedError(f"there is no option {name!r} of learn{near}")
    return reading, settings


def _dataset(data: Any, label: Any, reading: dict[str, Any]) -> Dataset:
    """Data in memory, read as they are asked to be."""
    if isinstance(data, Dataset):
        if reading or not (isinstance(label, str) and label == "label"):
            raise UnsupportedError("a Dataset is learned from as it is: leave out label= and the options of reading")
        return data
    if is_frame(data):
        return from_frame(data, label, **reading)
    if not isinstance(data, (np.ndarray, list, tuple)):
        raise DataError(
            f"learn takes a file, a Dataset, a frame or an array [case, channel, time]; found {type(data).__name__}"
        )
    if np.ndim(data[0] if len(data) else 0) == 0:
        raise DataError(
            "an array of traces is [case, channel, time], or [case, time] for one channel; here is one axis."
        )
    named = {"group": "groups", "case": "cases", "unit": "time_unit"}
    y = None if isinstance(label, str) else label
    return from_arrays(data, y, **{named.get(name, name): value for name, value in reading.items()})


def learn_from(
    source: str | Dataset,
    reading: Mapping[str, Any],
    settings: Mapping[str, Any],
    method: str = "fernn",
    *,
    test: float = TEST,
    classes: str | None = None,
    order: Sequence[str] | None = None,
    prior: Prior | str | None = None,
    sample: float | None = None,
    time_units: bool = False,
    out: Path | None = None,
    listener: Listener | None = None,
) -> Result | ClassResult:
    """The pipeline: `source` is read as `reading` says and learned from with these settings of the method.

    Of data larger than memory, `sample` megabytes are learned from, and all of them judge the rules. `time_units` is of
    the windows in a template, guesses and a prior.
    """
    listener = listener or Listener()
    known = prior if isinstance(prior, Prior) else None if prior is None or time_units else read_prior(prior)
    file = source if isinstance(source, str) else DATA
    planned = plan(file, reading, method, settings, test, known, classes, order)  # told before a long file is read
    if out is not None:
        check_vacant(out)
    found: StreamSample | None = None
    problems: list[Problem] = []
    if isinstance(source, Dataset):
        data = source
    elif sample is not None or (Path(source).exists() and is_large(source, reading.get("memory_limit"))):
        found = _sample(source, reading, sample, planned["split"]["seed"], listener, problems)
        data = found.data
    else:
        data = read_input(source, reading, _collect(problems, listener))
    data = data if "signals" in planned["learner"] else drop_categories(data, listener.note)
    planned = _in_samples(planned, prior, data) if time_units else planned
    data, planned = _settle_classes(data, planned)
    listener.data(data, planned)
    own = SAMPLE if found is not None else DATA if isinstance(source, Dataset) else None
    if own is not None:
        out = new_folder(data.name) if out is None else out
        planned = planned | {"file": str((out / own).resolve())}
        planned = planned if found is None else _of_sample(planned, found, file, reading)
        file = str(out / own)
    job = start_job(data, planned, file, out)
    assert job.run is not None
    try:
        if own is not None and out is not None:
            job.run.own = (own,)
            with writable(out):
                save(data, out / own)
        done = _fit(job, listener)
    except Exception:
        job.run.discard()
        raise
    return make_result(_judge_on_all(done, listener), problems)


def resume(
    folder: str | PathLike[str], file: str | None = None, time_limit: float | None = None,
    listener: Listener | None = None,
) -> Result | ClassResult:  # fmt: skip
    """Go on with a run that was interrupted, or cut off; `file` says where its data are now."""
    listener, problems = listener or Listener(), []  # type: ignore[var-annotated]
    job = load_job(Path(folder), file, _collect(problems, listener), classes=True)
    assert job.run is not None
    if job.run.ended == "done":
        listener.note(f"{folder} is finished: nothing is left to do")
        return make_result(load_result(job), problems)
    job.run.resume()
    if time_limit is not None:
        job = replace(job, settings=job.settings | {"learner": job.settings["learner"] | {"time_limit": time_limit}})
    return make_result(_judge_on_all(_fit(job, listener), listener), problems)


def _collect(problems: list[Problem], listener: Listener) -> Callable[[str, tuple[Problem, ...]], None]:
    def tell(again: str, found: tuple[Problem, ...]) -> None:
        problems.extend(found)
        listener.problems(again, found)

    return tell


def _sample(
    file: str, reading: Mapping[str, Any], megabytes: float | None, seed: int, listener: Listener,
    problems: list[Problem],
) -> StreamSample:  # fmt: skip
    """Whole traces, the same share of each label; what there is to say of it is told."""
    from .data.streaming.stratified_sample import sample_stream

    limit = reading.get("memory_limit")
    most = int((megabytes or SAMPLE_MEGABYTES) * 1e6)
    most = most if megabytes is not None or limit is None else max(min(most, limit // 4), 1)
    with listener.rows(SAMPLING) as wants_end:
        found = sample_stream(open_source(file, dict(reading)), most, seed, watch=wants_end)
    why = "is larger than memory allows" if Path(file).is_file() else "is a folder, which is read in pieces"
    why = why if megabytes is None else "is sampled, as --sample asks"
    if found.problems:
        _collect(problems, listener)(suggest_command("check", [file], reading), found.problems)
    listener.note(f"{file} {why}: learning from {found}")
    return found


def _of_sample(planned: dict[str, Any], found: StreamSample, file: str, reading: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run whose data are a sample, which it keeps itself."""
    about: dict[str, Any] = {"of": str(Path(file).resolve()), "reading": dict(reading)}
    about |= {"kept": found.kept, "met": found.met, "samples": found.samples}
    return {**planned, "reading": {}, "sample": about}


def _in_samples(planned: dict[str, Any], prior: Prior | str | None, data: Dataset) -> dict[str, Any]:
    """The settings with the windows of their formulas, which are in time units, in samples: what a run keeps."""
    if data.dt is None:
        raise FormulaError(f"{data.name} has no known time between samples: pass --dt, or leave out --time-units")
    chosen = dict(planned["learner"])
    if isinstance(chosen.get("template"), str):
        chosen["template"] = str(parse(chosen["template"], dt=data.dt))
    if chosen.get("guesses"):
        chosen["guesses"] = [str(parse(text, dt=data.dt)) for text in chosen["guesses"]]
    known = {} if prior is None or isinstance(prior, Prior) else {"prior": read_prior(prior, data.dt).to_json()}
    return planned | {"learner": chosen} | known


def _settle_classes(data: Dataset, planned: dict[str, Any]) -> tuple[Dataset, dict[str, Any]]:
    """More than two classes have a rule each; where their order is given they stand in it."""
    if planned.get("classes") is None and len(data.classes) > 2:
        if "prior" in planned:
            raise UnsupportedError(f"--prior is for two classes, {data.name} has {len(data.classes)}; see --good NAME")
        planned = planned | {"classes": "each"}
    return (reorder_classes(data, planned["order"]) if planned.get("order") else data), planned


def _fit(job: Job, listener: Listener) -> Outcome | RulesOutcome:
    """Fit and test; a run that cannot be written is told of, and is no reason to stop."""
    broken: list[OSError] = []
    with quiet_warnings(listener.warning), listener.fitting(job) as watch:
        done = run_job(job, watch, broken.append)
    run = job.run
    if not broken or run is None:
        return done
    is_kept = not (run.is_new and run.is_empty)
    if not is_kept:
        run.discard()
        done = replace(done, job=replace(job, run=None))
    listener.unwritable(broken[-1], run.folder, is_kept)
    return done


FAILURES = 5
"""Failures of an engine that are told one by one."""


@contextmanager
def quiet_warnings(tell: Callable[[str], None]) -> Iterator[None]:
    """What a candidate's windows do at the edges is of no interest while thousands of them are tried.

    That work failed on an engine, and is left out, is told at the end.
    """
    met: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", EngineWarning)
            warnings.showwarning = lambda message, *_, **__: met.append(str(message))
            yield
    finally:
        for text in met[:FAILURES]:
            tell(text)
        if len(met) > FAILURES:
            tell(f"{len(met) - FAILURES} more shares of the work failed on the engine and are left out")


def _judge_on_all(done: Outcome | RulesOutcome, listener: Listener) -> Outcome | RulesOutcome:
    """With the errors on all the data, where what was learned from is a sample of them."""
    from .engines import Local, resolve_engine
    from .runs.out_of_core import judge_on_all, judge_on_all_by_parts

    sample = done.job.settings.get("sample")
    if sample is None or not isinstance(done, Outcome):
        return done
    total, kept = sum(sample["met"].values()), sum(sample["kept"].values())
    notes = [f"learned from a sample: {kept} of {total} traces of {sample['of']}"]
    artifacts = {}
    if len(done.job.data.classes) == 2:
        source, engine = open_source(sample["of"], sample["reading"]), resolve_engine()
        is_remote = not isinstance(engine, Local)
        if is_remote and len(source.files) == 1:
            listener.note(f"{source.path} is one file, which is read here, not on {engine.name}")
        if is_remote and len(source.files) > 1:
            with listener.files("judged by all") as told:
                found = judge_on_all_by_parts(done.front, done.job.data, source, told=told)
        else:
            with listener.rows("judged by all") as wants_end:
                found = judge_on_all(done.front, done.job.data, source, watch=wants_end)
        notes += found.notes(done.front)
        artifacts["all.json"] = found.to_json()
    if done.job.run is not None:
        done.job.run.add_notes(notes, artifacts)
    return replace(done, notes=(*done.notes, *notes))


@dataclass(frozen=True, eq=False, repr=False)
class _RunResult:
    """What rules and a rule have in common: the run, its report, saving and loading."""

    outcome: Any
    problems: tuple[Problem, ...] = ()
    """What came up in reading the data."""
    temporary: TemporaryDirectory[str] | None = None
    """The folder of a run that is not kept, which goes when nobody needs the result any more."""

    @property
    def data(self) -> Dataset:
        """What was learned from and tested on."""
        found: Dataset = self.outcome.job.data
        return found

    @property
    def run(self) -> Path | None:
        """The folder of the run; None where it could not be written."""
        run = self.outcome.job.run
        return None if run is None else run.folder

    @property
    def ended(self) -> str:
        """`done`, `time limit` or `interrupted`."""
        return str(self.outcome.ended)

    @cached_property
    def holdout_test(self) -> HoldoutTest | Detection | None:
        """What was learned beside chance, on the traces kept for the test; None where there are none."""
        return evaluate_outcome(self.outcome)

    @property
    def refusal(self) -> str | None:
        """Why what was learned should not be used; None if no reason is known."""
        return None if self.holdout_test is None else self.holdout_test.refusal

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """Writes all of it as one HTML file, `report.html` in the run if nothing else is said."""
        from .report.page import write_result_report

        self._folder()
        return write_result_report(self.outcome, self.problems, None if path is None else Path(path))

    def save(self, path: str | PathLike[str]) -> Path:
        """Copies the run to a new folder, from which `load` reads it; with the data, where they were in memory."""
        folder = Path(path)
        check_vacant(folder)
        with writable(folder):
            shutil.copytree(self._folder(), folder, dirs_exist_ok=True)
        return folder

    def _folder(self) -> Path:
        if self.run is None:
            raise RunError("the run of this result could not be written, so there is nothing to take it from.")
        return self.run

    def _other(self, data: Any, label: Any, reading: Mapping[str, Any]) -> Dataset:
        """Other recordings, read as those of the run were unless asked otherwise."""
        if not isinstance(data, (str, PathLike)):
            return _dataset(data, label, dict(reading))
        options = {**reading_options(self.outcome.job.settings, str(data)), **reading}
        options |= {} if isinstance(label, str) and label == "label" else {"label": label}
        return read_input(str(data), options, Listener().problems)

    def _text(self) -> list[str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        lines = self._text()
        shown = lines if len(lines) <= LINES else [*lines[: LINES - 1], f"... {len(lines) - LINES + 1} lines more"]
        return "\n".join(line if len(line) <= 160 else f"{line[:157]}..." for line in shown)

    def _closing(self) -> list[str]:
        learned, tested = self.outcome.cases
        on = f"learned on {learned} traces in {self.outcome.seconds:.1f} s"
        lines = [f"{on}, tested on {tested} others" if tested else f"{on}; no traces were kept for the test"]
        lines += [str(self.refusal)] if self.refusal else []
        is_kept = self.run is not None and self.temporary is None
        more = "; fernn.resume goes on with the run" if is_kept else ""
        lines += [] if self.ended == "done" else [f"ended early: {self.ended}{more}"]
        return lines + ([f"run: {self.run}"] if is_kept else [])


class Result(_RunResult):
    """A learned rule: what it says, how often it is wrong on traces not learned from, and the run it is kept in."""

    outcome: Outcome

    @property
    def formula(self) -> Formula:
        """The picked rule."""
        return self.front.picked.formula

    @property
    def sentence(self) -> str:
        """The rule in plain words."""
        return to_sentence(self.formula, self.data.dt, self.data.time_unit)

    @property
    def front(self) -> Front:
        """The best rule of each length, from simple to accurate."""
        return self.outcome.front

    @cached_property
    def test_error(self) -> ErrorEstimate | None:
        """Of the rule as printed, on the traces kept for the test; None where none were kept."""
        held = self.outcome.job.parts[1]
        return None if held is None else estimate_error(self.formula, held)

    def score(self, data: Any, label: Any = "label", **reading: Any) -> ErrorEstimate:
        """The error of the rule on other recordings, given in any form that `learn` takes."""
        return estimate_error(self.formula, self._other(data, label, reading))

    def explain(self, case: object) -> Explanation:
        """Why a trace satisfies or violates the rule: the sample that decides, and the way to it."""
        return explain_case(self.formula, self.data, case)

    @classmethod
    def load(cls, folder: str | PathLike[str], file: str | None = None) -> Result | ClassResult:
        """What a run on disk has found; `file` says where its data are now, if they have moved."""
        problems: list[Problem] = []
        job = load_job(Path(folder), file, lambda _, found: problems.extend(found), classes=True)
        return make_result(load_result(job), problems)

    def _text(self) -> list[str]:
        error = [] if self.test_error is None else [f"test error {self.test_error}"]
        rules = str(self.front).splitlines()
        return [str(self.formula), self.sentence, "", *error, *self._closing(), "", *rules]

    def _repr_html_(self) -> str:
        lines = [*([] if self.test_error is None else [f"test error {self.test_error}"]), *self._closing()]
        words = "".join(f"<br>{escape(line)}" for line in lines)
        return f"<p>{escape(self.sentence)}{words}</p>{self.front._repr_html_()}"


class ClassResult(_RunResult):
    """Learned rules for classes, how often they are wrong on traces not learned from, and the run they are kept in."""

    outcome: RulesOutcome

    @property
    def rules(self) -> Decides:
        """What gives each trace its class."""
        return self.outcome.rules

    @property
    def sentence(self) -> str:
        """The rules in plain words."""
        return " ".join(self.rules.sentences(self.data.dt, self.data.time_unit))

    @cached_property
    def test_error(self) -> ErrorEstimate | None:
        """Of the rules as printed, on the traces kept for the test; None where none were kept."""
        held = self.outcome.job.parts[1]
        return None if held is None else estimate_class_error(self.rules, held)

    def score(self, data: Any, label: Any = "label", **reading: Any) -> ErrorEstimate:
        """The error of the rules on other recordings, given in any form that `learn` takes."""
        return estimate_class_error(self.rules, self._other(data, label, reading))

    def predict(self, data: Any, **reading: Any) -> list[str]:
        """The class of each trace of other recordings."""
        return list(self.rules.names(self._other(data, None, reading)))

    def explain(self, case: object) -> tuple[Explanation, ...]:
        """Why a trace satisfies or violates each of the rules."""
        from .report.view.class_view import choices

        return tuple(explain_case(each.formula, self.data, case) for each in choices(self.rules, self.data))

    load = Result.load

    def _text(self) -> list[str]:
        error = [] if self.test_error is None else [f"test error {self.test_error}"]
        return [*str(self.rules).splitlines(), "", *error, *self._closing()]

    def _repr_html_(self) -> str:
        return "".join(f"<div>{escape(line)}</div>" for line in self._text())


def make_result(done: Outcome | RulesOutcome, problems: Sequence[Problem] = ()) -> Result | ClassResult:
    """What came of a job, to be used from Python."""
    return (Result if isinstance(done, Outcome) else ClassResult)(done, tuple(problems))


def estimate_error(formula: Formula, data: Dataset) -> ErrorEstimate:
    """Of the formula as printed, on these traces."""
    lost = losses(parse(str(formula)), data)
    wrong = int(np.count_nonzero(lost)) if data.classes else None
    return ErrorEstimate(float(lost.mean()), error_interval(lost, data), len(data), wrong)


def estimate_class_error(rules: Any, data: Dataset) -> ErrorEstimate:
    """Of rules for classes, on these traces."""
    lost = class_losses(rules, data)
    return ErrorEstimate(float(lost.mean()), cluster_interval(lost, blocks(data)), len(data), int(lost.sum()))
