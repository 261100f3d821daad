"""A job of learning: what is to be learned from what, carried out and kept in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..data import Dataset, Problem, is_named, read_input, reorder_classes, suggest_command
from ..errors import RunError
from ..learners import Front, Prior, Watch, silent
from ..plain import short_repr
from .certifying import with_origin
from .folders import check_vacant, new_folder, remove_made, resume_command
from .learning import error, learned, parts
from .methods import learner_of, settings
from .run import Run


@dataclass(frozen=True)
class Job:
    """What is to be done: `settings` are those of a run, `file` and `reading` say where the data came from."""

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

    @property
    def classes(self) -> str | None:
        """The kind of rules for classes that is learned; None for one rule that tells two apart."""
        return self.settings.get("classes")


@dataclass(frozen=True)
class Outcome:
    """What came of a job."""

    job: Job
    front: Front
    test: tuple[float, ...] | None
    ended: str
    seconds: float
    cases: tuple[int, int]
    """Learned on, tested on."""
    notes: tuple[str, ...] = ()
    """What the method has to say of its result."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """The formulas from simple to accurate, and how learning ended."""
        return f"{self.front}\n{self.ended}, after {self.seconds:.1f} s"


def plan(
    file: str,
    reading: dict[str, Any],
    method: str = "fernn",
    given: dict[str, Any] | None = None,
    test: float = 0.2,
    prior: Prior | None = None,
) -> dict[str, Any]:
    """The settings of a run: `given` are those of the method that differ from its defaults, `prior` what is known."""
    chosen = settings(method, given or {})
    known = {} if prior is None else {"prior": prior.to_json()}
    return known | {
        "method": method,
        "learner": chosen,
        "split": {"test": test, "seed": chosen["seed"]},
        "file": str(Path(file).resolve()) if Path(file).exists() else file,
        "reading": reading,
    }


def begun(data: Dataset, planned: dict[str, Any], file: str, out: Path | None = None) -> Job:
    """A job with a new run, in `out` or under runs/; nothing is written before all is known to be well."""
    job = Job(data, planned, file, planned["reading"])
    if out is not None:
        check_vacant(out)
    try:
        learner_of(planned, job.parts[0])
        return replace(job, run=Run.create(out if out is not None else new_folder(data.name), planned, data))
    except Exception:
        if out is not None:
            remove_made(out)  # it may have been made for this run already
        raise


def reopened(
    folder: str | Path,
    file: str | None = None,
    warned: Callable[[str, tuple[Problem, ...]], None] | None = None,
    classes: bool = False,
) -> Job:
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
    file = file or file_of(run)
    for name in ("method", "learner", "split"):
        run.setting(name)
    reading = run.setting("reading")
    data = read_input(file, reading, warned)
    if run.settings.get("order"):
        data = reorder_classes(data, run.settings["order"])
    run.check(data)
    return Job(data, run.settings, file, reading, run)


def file_of(run: Run) -> str:
    """Where the data of a run are."""
    file = str(run.setting("file"))
    if not is_named(file) and not Path(file).exists():
        again = suggest_command("learn", ["FILE"], more=["--resume", "--out", str(run.folder)])
        raise RunError(f"the data of the run, {file}, is not there any more. Name it where it is now: {again}")
    return file


def reading_of(settings: Mapping[str, Any], file: str) -> dict[str, Any]:
    """How this file is read as the data of the run with these settings were.

    A run that learned from a sample keeps it in a file of its own, which needs no options; what other recordings need
    are those of the file that was sampled.
    """
    sample = settings.get("sample")
    is_own = Path(file).resolve() == Path(settings["file"]).resolve()
    return dict(settings["reading"] if sample is None or is_own else sample["reading"])


def carried_out(job: Job, watch: Watch = silent, broken: Callable[[OSError], None] | None = None) -> Outcome:
    """Learn on one part of the data, test every formula on the other; finishes the run.

    Where the run cannot be written `broken` is told, and learning goes on; without it, that is an error.
    """
    train, held = job.parts
    made = learner_of(job.settings, job.data)
    fit = learned(made, train, job.run, watch, broken)
    fit = replace(fit, papers=with_origin(fit.papers, job.settings))
    test = None if held is None else tuple(error(entry.formula, held) for entry in fit.front)
    if job.run is not None:
        try:
            job.run.finish(fit, test)
        except OSError as problem:
            if broken is None:
                raise
            broken(problem)
    cases = (len(train), 0 if held is None else len(held))
    return Outcome(job, fit.front, test, fit.ended, fit.seconds, cases, fit.notes)


def as_found(job: Job) -> Outcome:
    """What a run has to show as it is, without learning on."""
    assert job.run is not None
    front = job.run.front()
    if front is None:
        raise RunError(f"{job.run.folder} has found no formula yet. Go on with it: {resume_command(job.run.folder)}")
    train, held = job.parts
    cases = (len(train), 0 if held is None else len(held))
    run = job.run
    return Outcome(job, front, run.test(), run.ended or "interrupted", run.seconds, cases, run.notes)
