"""Learning rules for classes, as a job that is kept in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..data import Dataset
from ..errors import RunError, UnsupportedError, short_repr
from ..learners import Progress, Watch, silent
from ..learners.base import TIME_LIMIT_NOTE
from ..learners.classes import Decides, OnePerClass, Ordered, Ranked, RulesFit, Tightest, read_rules
from .job import Job, plan
from .methods import Method, complete_settings
from .methods import learner as named_learner
from .run import Run, check_vacant, new_folder, remove_created, resume_command

CLASSES = {
    "each": "a formula for each class against the rest",
    "list": "an ordered list: if F1 then A, else if F2 then B, ...",
    "ranked": "a formula whose robustness grows with the rank of the class",
    "one": "the tightest formulas that all traces, or all but a share, satisfy",
}
"""The kinds of rules for classes, a line each."""
TIGHTEST = Method(Tightest, CLASSES["one"])


@dataclass(frozen=True)
class RulesOutcome:
    """What came of a job."""

    job: Job
    rules: Decides
    train: float
    """The share of traces that got another class than theirs, of those learned on."""
    test: float | None
    """The same of those kept for the test, by the rules as printed."""
    ended: str
    seconds: float
    cases: tuple[int, int]
    """Learned on, tested on."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """The rules, and how learning ended."""
        return f"{self.rules}\n{self.ended}, after {self.seconds:.1f} s"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the result."""
        return (TIME_LIMIT_NOTE,) if self.ended == "time limit" else ()


def plan_rules(
    classes: str, file: str, reading: dict[str, Any], method: str, given: dict[str, Any], test: float
) -> dict[str, Any]:
    """The settings of a run that learns rules of this kind."""
    if classes not in CLASSES:
        raise UnsupportedError(f"--classes is each, list or ranked; found {classes!r}")
    if classes == "ranked" and method != "fernn":
        raise UnsupportedError("ranked classes are learned by the method fernn, which meets real-valued labels")
    if classes != "one":
        return plan(file, reading, method, given, test) | {"classes": classes}
    if method not in ("fernn", "tightest"):
        raise UnsupportedError("one class is learned by a search of its own; leave --method out")
    chosen = complete_settings("tightest", TIGHTEST, given)
    whole = plan(file, reading, "fernn", {"seed": chosen["seed"]}, test)
    return whole | {"method": "tightest", "learner": chosen, "classes": classes}


def start_rules_job(data: Dataset, planned: dict[str, Any], file: str, out: Path | None = None) -> Job:
    """A job with a new run, in `out` or under runs/; nothing is written before all is known to be well."""
    job = Job(data, planned, file, planned["reading"])
    if out is not None:
        check_vacant(out)
    try:
        train, _ = job.parts
        learner = rules_learner(planned, data)
        if isinstance(learner, Tightest):
            learner.good(train)
        run = Run.create(out if out is not None else new_folder(data.name), planned, data)
    except Exception:
        if out is not None:
            remove_created(out)
        raise
    return Job(data, planned, file, planned["reading"], run)


def rules_learner(settings: Mapping[str, Any], data: Dataset) -> Any:
    """The learner that the settings of a run mean."""
    kind, chosen = settings["classes"], dict(settings["learner"])
    if kind == "one":
        return Tightest(**complete_settings("tightest", TIGHTEST, chosen))
    limit = chosen.get("time_limit")
    inner: Any = named_learner(settings["method"], chosen | {"time_limit": None}, data)
    ways: dict[str, Any] = {"each": OnePerClass, "list": Ordered, "ranked": Ranked}
    return ways[kind](inner, time_limit=limit)


def run_rules_job(job: Job, watch: Watch = silent, broken: Callable[[OSError], None] | None = None) -> RulesOutcome:
    """Learn on one part of the data, test on the other; finishes the run.

    Where the run cannot be written `broken` is told, and learning goes on; without it, that is an error.
    """

    def kept(work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as problem:
            if broken is None:
                raise
            broken(problem)

    def told(progress: Progress) -> None:
        if job.run is not None:
            kept(partial(job.run.record, progress))
        watch(progress)

    run = job.run
    train, held = job.parts
    fit: RulesFit = rules_learner(job.settings, job.data).fit(train, told, None if run is None else run.state)
    rules = read_rules(fit.rules.to_json())  # what is tested is what is kept
    test = None if held is None else rules.error(held)
    if run is not None:
        about = {"train": fit.train, "test": test, "ended": fit.ended, "seconds": round(fit.seconds, 3)}
        kept(partial(run.finish_rules, fit.rules.to_json() | about, fit.state))
    return RulesOutcome(job, rules, fit.train, test, fit.ended, fit.seconds, _sizes(job))


def load_rules_result(job: Job) -> RulesOutcome:
    """What a run has to show as it is, without learning on."""
    assert job.run is not None
    rules, told = load_rules(job.run)
    return RulesOutcome(job, rules, told["train"], told["test"], told["ended"], told["seconds"], _sizes(job))


def load_rules(run: Run) -> tuple[Decides, dict[str, Any]]:
    """The rules of a run, and what else is known of them."""
    told = run.rules()
    if told is None and not run.settings.get("classes"):
        raise RunError(f"{run.folder} holds a rule that tells two classes apart, no rules for classes. Use fernn eval.")
    if told is None:
        raise RunError(f"{run.folder} has no rules yet. Go on with it: {resume_command(run.folder)}")
    return read_rules(told), told


def _sizes(job: Job) -> tuple[int, int]:
    train, held = job.parts
    alone = job.classes == "one" and len(train.classes) == 2
    return int(train.positive.sum()) if alone else len(train), 0 if held is None else len(held)
