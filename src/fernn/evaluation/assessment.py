"""All that is known for and against a rule, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import Dataset
from ..errors import UnsupportedError, short_repr
from ..formula import Formula
from ..learners import Learner
from ..runs import Job
from ..runs.command import Suggestion, suggestions
from ..runs.methods import is_weighed, learner_of
from ..runs.rivals import candidates
from .nested_cv import NestedCV, nested_cv
from .permutation_test import HoldoutTest, PermutationTest, evaluate_rule, permutation_test
from .rashomon import RashomonSet, rashomon_set
from .resampling import REFITS_FILE, Stability, bootstrap
from .vacuity import IdlePart, NearestTrace, Slack, idle_parts, nearest_traces, remove_idle_parts, threshold_slack

SIGNIFICANCE = 0.05


@dataclass(frozen=True, eq=False)
class Assessment:
    """All checks of one rule; None for a check that was not asked for."""

    formula: Formula
    tested: HoldoutTest | None
    chance: PermutationTest | None
    nested: NestedCV | None
    stability: Stability | None
    rivals: RashomonSet
    idle: tuple[IdlePart, ...]
    """Parts of the rule that change no verdict."""
    lean: Formula
    """The rule without them."""
    rarer: float
    """Share of the rarer class among all traces: the error of a guess."""
    slack: tuple[Slack, ...]
    nearest: tuple[NearestTrace, ...]
    suggestions: tuple[Suggestion, ...] = ()
    """What this run has not used and could find a better rule."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """The rule, and all that speaks for and against it."""
        return "\n".join([str(self.formula), *self.lines()])

    @property
    def refusal(self) -> str | None:
        """Why the rule should not be believed at all; None if there is no such reason."""
        if self.chance is not None and self.chance.p > SIGNIFICANCE and self.chance.as_good:
            return f"{self.chance}, so nothing better than chance was found"
        if self.tested is not None and self.tested.refusal is not None:
            return self.tested.refusal.rstrip(".")
        if self.nested is not None and self.nested.interval[1] >= self.rarer:
            return f"{self.nested}, and the rarer class is {self.rarer:.4f}: nothing better than guessing is shown"
        return None

    def lines(self) -> Iterator[str]:
        """For a person, a sentence each."""
        yield "Do not believe it." if self.refusal else "For and against:"
        for each in (self.tested, self.nested, self.chance, self.stability):
            if each is not None:
                yield f"- {each}"
        if self.tested is None:
            yield "- no traces were kept for the test"
        if self.chance is None:
            yield "- whether chance would do as well was not asked (--shuffles 99)"
        yield f"- rivals: {self.rivals.told()}"
        for near in self.nearest:
            yield f"- {near}"
        for slack in self.slack:
            yield f"- {slack}"
        for part in self.idle:
            yield f"- {part}: the rule does without it"
        if self.idle:
            yield f"- leaner: {self.lean}"
        if self.refusal:
            yield f"Why not: {self.refusal}."
            if self.suggestions:
                yield f"What to try: {'; '.join(map(str, self.suggestions))}."

    def to_json(self) -> dict[str, Any]:
        checks = {"tested": self.tested, "chance": self.chance, "nested": self.nested, "stability": self.stability}
        summary: dict[str, Any] = {"formula": str(self.formula), "refusal": self.refusal}
        summary |= {name: None if each is None else each.to_json() for name, each in checks.items()}
        summary |= {"idle": [str(part) for part in self.idle], "leaner": str(self.lean)}
        summary["slack"] = [{"atom": str(each.atom), "low": each.low, "high": each.high} for each in self.slack]
        summary["nearest"] = [{"case": n.case, "robustness": n.robustness, "holds": n.holds} for n in self.nearest]
        summary["suggestions"] = [each.to_json() for each in self.suggestions] if self.refusal else []
        return summary | {"rivals": self.rivals.to_json()}


ReportProgress = Callable[[str, int, int], None]
"""What is being done, how many times it was done, and of how many."""


def assess(
    job: Job, shuffles: int = 0, bootstraps: int = 0, folds: int = 0, seconds: float | None = None,
    progress: ReportProgress = lambda what, done, of: None,
) -> Assessment:  # fmt: skip
    """Every check of the picked rule of a run.

    Each refit takes as long as the run did, or `seconds`. Its result is stored in the run's folder, so that no refit is
    repeated.
    """
    assert job.run is not None
    if not job.data.classes:
        raise UnsupportedError("how far a rule is to be believed is told for two classes, not for real labels")
    front = job.run.front()
    rules, are_all = candidates(job.run, job.parts[0])
    assert front is not None
    train, test_set = job.parts
    formula = front.picked.formula
    learner, keep = _refit_learner(job, train, seconds)

    def count(what: str) -> Callable[[int, int], None]:
        return lambda done, of: progress(what, done, of)

    return Assessment(
        formula,
        None if test_set is None else evaluate_rule(formula, train, test_set, is_weighed(job.settings)),
        permutation_test(learner, train, shuffles, keep=keep, progress=count("shuffles")) if shuffles else None,
        None
        if not folds
        else nested_cv(
            learner, job.data, folds, keep=_with_suffix(keep, f"-of-{folds}"), progress=count("folds"), formula=formula
        ),
        bootstrap(learner, train, formula, bootstraps, keep=keep, progress=count("drawings")) if bootstraps else None,
        rashomon_set(rules, job.data, are_all),
        idle_parts(formula, job.data),
        remove_idle_parts(formula, job.data),
        float(min(job.data.positive.mean(), 1 - job.data.positive.mean())),
        threshold_slack(formula, job.data),
        nearest_traces(formula, job.data),
        suggestions(job.settings, job.data, job.file),
    )


def _refit_learner(job: Job, data: Dataset, seconds: float | None) -> tuple[Learner, Path]:
    """The learner of the run with its time as limit, and the file that stores its refits."""
    assert job.run is not None
    limit = round(seconds if seconds is not None else max(job.run.seconds, 1.0), 1)
    settings = job.settings["learner"] | ({"time_limit": limit} if "time_limit" in job.settings["learner"] else {})
    learner = learner_of(job.settings | {"learner": settings}, data)
    return learner, _with_suffix(job.run.folder / REFITS_FILE, f"-{limit:g}s")


def _with_suffix(path: Path, more: str) -> Path:
    return path.with_name(f"{path.stem}{more}{path.suffix}")
