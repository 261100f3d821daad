"""A job: split the data, fit, test every formula on traces not seen, record all in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..data import Dataset, Problem, drop_categories, is_named, read_input, reorder_classes, split, suggest_command
from ..errors import DataError, RunError, describe_error, short_repr
from ..formula import Formula, parse
from ..formula.json_fields import read_json
from ..learners import Fit, Front, Learner, Prior, Progress, Watch, silent
from ..learners.base import TIME_LIMIT_NOTE, losses
from ..learners.classes import Decides, RulesFit, Tightest, read_rules
from ..learners.constraints import restrict_data
from ..learners.enumerative.certificate import Certificate
from ..learners.signals import extend_data, parse_expression
from .plan import ClassLearner, make_learner
from .run import Run, check_vacant, new_folder, remove_created, resume_command


def parts(
    data: Dataset, test: float = 0.2, seed: int = 0, classes: str | None = None
) -> tuple[Dataset, Dataset | None]:
    """(what to learn on, what to test on): copies and groups on one side; nothing to test on if `test` is 0.

    The labels are those of two classes, or real numbers; anything else is an error. With `classes`, a kind of rules
    for classes, there may be any number of them, and for one class alone no labels.
    """
    _check_labels(data, "", classes)
    if test == 0:
        return data, None
    train, rest = split(data, test, seed)
    _check_labels(train, f" after {len(rest)} of {len(data)} are kept for the test (--test 0 keeps none)", classes)
    return train, rest


def _check_labels(data: Dataset, when: str, classes: str | None) -> None:
    if classes == "one":
        return
    if data.labels is None:
        raise DataError(
            f"{data.name} has no labels to learn from{when}. Name their column with --label; "
            "if they are all good, --one-class finds what they have in common."
        )
    if not data.classes:
        return
    present = [data.classes[int(i)] for i in np.unique(data.labels)]
    if len(present) == 1:
        raise DataError(
            f"all {len(data)} traces of {data.name} are {present[0]!r}{when}. A rule that separates needs two classes; "
            "--one-class finds what all of them, or most, have in common."
        )
    if len(data.classes) > 2 and classes is None:
        raise DataError(
            f"{data.name} has {len(data.classes)} classes ({', '.join(data.classes)}), a rule tells two apart. "
            "--good NAME sets one class against the rest, fernn learn --classes each learns a rule for each of them; "
            "if the labels are quantities, pass --label-kind real."
        )


def error(formula: Formula, data: Dataset) -> float:
    """Of the formula as printed: the share of wrong verdicts, or for real labels the mean absolute error."""
    return float(losses(parse(str(formula)), data).mean())


DATA, SAMPLE = "data.npz", "sample.npz"
"""The data of a run that keeps them itself: those that were in memory, or the sample that was learned from."""
CERTIFICATE = "certificate.json"
LARGEST = 100_000_000
"""Bytes of a certificate."""


def add_origin(artifacts: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The artifacts of a fit; its certificate says how the data were read and split, and by which fernn."""
    more = {"split": dict(settings["split"]), "reading": settings["reading"], "fernn": __version__}
    return {name: {**content, **more} if name == CERTIFICATE else content for name, content in artifacts.items()}


def read_certificate(path: str | Path) -> Certificate:
    """From a file, or from the folder of a run."""
    path = Path(path)
    path = path / CERTIFICATE if path.is_dir() else path
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise DataError(f"{path} has {size:,} bytes, a certificate of fernn has at most {LARGEST:,}.")
        content = read_json(path.read_bytes())
    except FileNotFoundError:
        raise DataError(
            f"there is no {path}. An exact search writes one: fernn learn FILE --method enumerative --out RUN, "
            "without --preset."
        ) from None
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({describe_error(error)}), so it is no certificate of fernn.") from None
    return Certificate.from_json(content)


def select_certified(proof: Certificate, data: Dataset) -> Dataset:
    """The traces that the certificate is about: all of them, or those that were learned on, as its prior shows them."""
    wanted, split = proof.content["data"]["fingerprint"], proof.content.get("split")
    candidates: list[Dataset] = [data]
    if split is not None and ("prior" in proof.content or data.fingerprint != wanted):
        candidates.insert(0, parts(data, split["test"], split["seed"])[0])
    if "prior" in proof.content:
        prior = Prior.from_json(proof.content["prior"])
        candidates = [restricted for each in candidates if (restricted := restrict_data(prior, each)[0]) is not None]
        if not candidates:
            raise DataError("the prior of the certificate leaves no trace of these data, so there is nothing to check.")
    if proof.content.get("signals"):
        signals = [parse_expression(text) for text in proof.content["signals"]]
        candidates = [extend_data(each, signals) for each in candidates]
    return next((each for each in candidates if each.fingerprint == wanted), candidates[-1])


@dataclass(frozen=True)
class Job:
    """Data to learn from and `settings` of a run; `file` and `reading` say where the data came from."""

    data: Dataset
    settings: dict[str, Any]
    file: str
    reading: dict[str, Any]
    run: Run | None = None

    __repr__ = short_repr

    @cached_property
    def parts(self) -> tuple[Dataset, Dataset | None]:
        """What is learned on and what is tested on."""
        split = self.settings["split"]
        return parts(self.data, split["test"], split["seed"], self.classes)

    @cached_property
    def learner(self) -> Learner | ClassLearner:
        """What learns, with the settings of the run."""
        return make_learner(self.settings, self.data)

    @property
    def classes(self) -> str | None:
        """The kind of rules for classes that is learned; None for one rule that tells two apart."""
        return self.settings.get("classes")

    @property
    def sizes(self) -> tuple[int, int]:
        """How many traces are learned on, and how many tested on."""
        train, test_set = self.parts
        only_good = self.classes == "one" and len(train.classes) == 2
        return int(train.positive.sum()) if only_good else len(train), 0 if test_set is None else len(test_set)


@dataclass(frozen=True)
class Outcome:
    """The result of a job."""

    job: Job
    front: Front
    test: tuple[float, ...] | None
    ended: str
    seconds: float
    notes: tuple[str, ...] = ()
    """What the method has to say of its result."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """The formulas from simple to accurate, and how learning ended."""
        return f"{self.front}\n{self.ended}, after {self.seconds:.1f} s"

    @property
    def cases(self) -> tuple[int, int]:
        """Learned on, tested on."""
        return self.job.sizes


@dataclass(frozen=True)
class RulesOutcome:
    """The result of a job that learned rules for classes."""

    job: Job
    rules: Decides
    train: float
    """The share of traces that got another class than theirs, of those learned on."""
    test: float | None
    """The same of those kept for the test, by the rules as printed."""
    ended: str
    seconds: float

    __repr__ = short_repr

    def __str__(self) -> str:
        """The rules, and how learning ended."""
        return f"{self.rules}\n{self.ended}, after {self.seconds:.1f} s"

    @property
    def cases(self) -> tuple[int, int]:
        """Learned on, tested on."""
        return self.job.sizes

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the result."""
        return (TIME_LIMIT_NOTE,) if self.ended == "time limit" else ()


Broken = Callable[[OSError], None]
"""Told when the run cannot be written; learning goes on."""


def start_job(data: Dataset, planned: dict[str, Any], file: str, out: Path | None = None) -> Job:
    """A job with a new run, in `out` or under runs/; nothing is written before all is known to be well."""
    job = Job(data, planned, file, planned["reading"])
    if out is not None:
        check_vacant(out)
    try:
        train = job.parts[0]
        if isinstance(job.learner, Tightest):
            job.learner.good(train)
        run = Run.create(out if out is not None else new_folder(data.name), planned, data)
    except Exception:
        if out is not None:
            remove_created(out)  # it may have been made for this run already
        raise
    return _with_run(job, run)


def _with_run(job: Job, run: Run) -> Job:
    """The same job, recorded in a run; its cached properties are kept."""
    result = replace(job, run=run)
    result.__dict__.update({name: job.__dict__[name] for name in ("parts", "learner") if name in job.__dict__})
    return result


def load_job(
    folder: str | Path, file: str | None = None, warned: Callable[[str, tuple[Problem, ...]], None] | None = None,
    classes: bool = False,
) -> Job:  # fmt: skip
    """The job of a run that is there, with its data, which must be as they were; `file` says where they are now.

    With `classes` it may be one of rules for classes.
    """
    run = Run.open(folder)
    if run.settings.get("classes") and not classes:
        raise RunError(
            f"{folder} holds rules for classes, this needs a run with one rule that tells two apart. Apply them with "
            f"{suggest_command('classify', [str(folder), 'FILE'])}; for such a rule of one class: fernn learn FILE "
            "--good NAME"
        )
    file = file or data_file(run)
    for name in ("method", "learner", "split"):
        run.setting(name)
    reading = run.setting("reading")
    data = read_input(file, reading, warned)
    data = data if "signals" in run.settings["learner"] else drop_categories(data)
    if run.settings.get("order"):
        data = reorder_classes(data, run.settings["order"])
    run.check(data)
    return Job(data, run.settings, file, reading, run)


def data_file(run: Run) -> str:
    """Where the data of a run are."""
    file = str(run.setting("file"))
    if (own := run.folder / Path(file).name).name in (DATA, SAMPLE) and own.is_file():
        return str(own)  # the run may have moved
    if not is_named(file) and not Path(file).exists():
        resume = suggest_command("learn", ["FILE"], more=["--resume", "--out", str(run.folder)])
        raise RunError(f"the data of the run, {file}, is not there any more. Name it where it is now: {resume}")
    return file


def reading_options(settings: Mapping[str, Any], file: str) -> dict[str, Any]:
    """How this file is read as the data of the run with these settings were.

    A run that learned from a sample keeps it in a file of its own, which needs no options; what other recordings need
    are those of the file that was sampled.
    """
    sample = settings.get("sample")
    is_own = Path(file).resolve() == Path(settings["file"]).resolve()
    return dict(settings["reading"] if sample is None or is_own else sample["reading"])


def run_job(job: Job, watch: Watch = silent, broken: Broken | None = None) -> Outcome | RulesOutcome:
    """Learn on one part of the data, test on the other; finishes the run.

    A KeyboardInterrupt that the learner lets through ends the fit with the last front it told of. Where the run cannot
    be written `broken` is told, and learning goes on; without it, that is an error.
    """
    train, test_set = job.parts
    fit = fit_in_run(job.learner, train, job.run, watch, broken)
    fit = replace(fit, seconds=round(fit.seconds, 3))  # as a run keeps them, so that its report says the same
    if isinstance(fit, RulesFit):
        rules = read_rules(fit.rules.to_json())  # what is tested is what is kept
        outcome = RulesOutcome(
            job, rules, fit.train, None if test_set is None else rules.error(test_set), fit.ended, fit.seconds
        )
        summary = {"train": fit.train, "test": outcome.test, "ended": fit.ended, "seconds": round(fit.seconds, 3)}
        if job.run is not None:
            _keep(partial(job.run.finish_rules, fit.rules.to_json() | summary, fit.state), broken)
        return outcome
    fit = replace(fit, artifacts=add_origin(fit.artifacts, job.settings))
    test = None if test_set is None else tuple(error(entry.formula, test_set) for entry in fit.front)
    if job.run is not None:
        _keep(partial(job.run.finish, fit, test), broken)
    return Outcome(job, fit.front, test, fit.ended, fit.seconds, fit.notes)


def fit_in_run(
    learner: Any, data: Dataset, run: Run | None = None, watch: Watch = silent, broken: Broken | None = None
) -> Any:
    """Fit, keeping every step in the run, from where the run stands: `run_job` without a test."""
    last: Progress | None = None

    def record(progress: Progress) -> None:
        nonlocal last
        last = progress
        if run is not None:
            _keep(partial(run.record, progress), broken)
        watch(progress)

    try:
        return learner.fit(data, record, None if run is None else run.state)
    except KeyboardInterrupt:
        if last is None or isinstance(learner, ClassLearner):
            raise
        return Fit(last.front, last.seconds, "interrupted", last.state)


def _keep(work: Callable[[], None], broken: Broken | None) -> None:
    try:
        work()
    except OSError as problem:
        if broken is None:
            raise
        broken(problem)


def load_result(job: Job) -> Outcome | RulesOutcome:
    """The result of a run as it is on disk, without learning on."""
    assert job.run is not None
    if job.classes:
        rules, summary = load_rules(job.run)
        return RulesOutcome(job, rules, summary["train"], summary["test"], summary["ended"], summary["seconds"])
    stored = job.run.result()
    if stored is None:
        raise RunError(f"{job.run.folder} has found no formula yet. Go on with it: {resume_command(job.run.folder)}")
    return Outcome(job, stored.front, stored.test, stored.ended or "interrupted", stored.seconds, stored.notes)


def load_rules(run: Run) -> tuple[Decides, dict[str, Any]]:
    """The rules of a run, and what else is known of them."""
    content = run.rules()
    if content is None and not run.settings.get("classes"):
        raise RunError(f"{run.folder} holds a rule that tells two classes apart, no rules for classes. Use fernn eval.")
    if content is None:
        raise RunError(f"{run.folder} has no rules yet. Go on with it: {resume_command(run.folder)}")
    return read_rules(content), content
