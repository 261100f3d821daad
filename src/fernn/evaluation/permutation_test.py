"""Tests against chance: a permutation test of the learner, and Fisher's exact test of a rule on its test set.

Permutation test: the labels are permuted and the same learner learns again. If rules learned from nonsense are as good
as the one at hand, so may this one be nonsense. Good means the least error in training, which the learner looks for;
longer formulas and fewer traces make it small by chance too, and so count against themselves.

Fisher's exact test (1935), one-sided, needs no refit: verdicts and labels are what they are, but who has which label is
random. Then the number of good traces that are called good follows the hypergeometric distribution, and

    p = P(X >= as many as there were)

Where traces come in blocks the four counts are those of the effective sample size
(`intervals.effective_sample_size`). A rule is also set beside the baseline that always says the more common class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Dataset
from ..data.splits import blocks
from ..errors import short_repr
from ..formula import Formula, parse
from ..learners import Learner
from ..learners.base import losses
from ..learners.baselines import BASELINES
from ..learners.classes.class_rules import labels_among
from ..runs import Outcome
from ..runs.methods import is_weighed
from ..semantics import satisfied, score
from .intervals import clopper_pearson, effective_sample_size
from .resampling import CountDone, describe_limited, refit

if TYPE_CHECKING:
    from ..learners.classes import Decides, Envelope
    from ..runs import RulesOutcome


SHUFFLES = 99
ENOUGH = 20
"""Shuffles that did as well, after which the answer is plain and no more are made."""
TINY = 1e-12
FEW = 19  # shuffles below which p cannot come down to 0.05


@dataclass(frozen=True)
class PermutationTest:
    """The error on the labels as they are, and on each shuffle of them."""

    error: float
    shuffled: tuple[float, ...]
    limited: int = 0
    """How many of these fits their time limit ended."""

    __repr__ = short_repr

    @property
    def as_good(self) -> int:
        """How many shuffles gave a rule at least as good."""
        return sum(error <= self.error + TINY for error in self.shuffled)

    @property
    def p(self) -> float:
        """How likely a rule at least this good is where the labels mean nothing: at most so, on average."""
        return (1 + self.as_good) / (1 + len(self.shuffled))

    def __str__(self) -> str:
        of = f"{len(self.shuffled)} shuffle{'s' * (len(self.shuffled) != 1)}"
        sentence = f"a rule this good appears by chance in {self.as_good} of {of} of the labels (p = {self.p:.2g})"
        sentence = sentence if self.as_good or len(self.shuffled) >= FEW else f"{sentence}, too few to be sure"
        return sentence + describe_limited(self.limited, 1 + len(self.shuffled))

    def to_json(self) -> dict[str, Any]:
        summary = {"error": self.error, "shuffled": list(self.shuffled), "as_good": self.as_good, "p": self.p}
        return summary | {"limited": self.limited}


def permutation_test(
    learner: Learner, data: Dataset, shuffles: int = SHUFFLES, seed: int = 0, keep: Path | None = None,
    progress: CountDone = lambda done, of: None,
) -> PermutationTest:  # fmt: skip
    """Learn from the labels as they are, and from so many shuffles of them.

    Fewer, once it is plain that chance does as well: then p is the share among those that were made, plus one. That is
    after a fixed number of successes, so p stays what it says (Besag and Clifford, 1991).
    """
    requests = [("as it is", 0), *(("shuffle", seed + i) for i in range(shuffles))]
    errors: list[float] = []
    limited = 0
    for each in refit(learner, data, requests, keep=keep, progress=progress):  # type: ignore[arg-type]
        errors.append(each.least)
        limited += each.limited
        if sum(error <= errors[0] + TINY for error in errors[1:]) >= ENOUGH:
            break
    return PermutationTest(errors[0], tuple(errors[1:]), limited)


RARE = 0.05
"""As good as this by chance at most as often, or it counts as chance."""

MANY = 0.5
"""Good traces flagged, as a share, from which on an alarm says nothing."""

DO_NOT = "Do not rely on it."


@dataclass(frozen=True)
class HoldoutTest:
    """Wrong verdicts of a rule, and of the more common class, on the traces kept for the test."""

    wrong: int
    guessed: int
    """Wrong verdicts where every trace is said to be of the class that is more common among those learned from."""
    count: int
    size: float
    """How many traces, each by itself, would tell as much; `count` unless they come in groups."""
    p_value: float | None = None
    """How often verdicts that have nothing to do with the labels agree with them as well; None for several classes."""
    least_p_value: float | None = None
    """The same of verdicts that are all right: where this is not rare, there are too few traces to tell."""
    weighed: bool = False
    """Whether classes count differently for the learner: then more errors than the guess are no reproach."""

    __repr__ = short_repr

    @property
    def error(self) -> float:
        return self.wrong / self.count

    @property
    def guess(self) -> float:
        return self.guessed / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """Of the error, 95%."""
        return clopper_pearson(self.error * self.size, self.size)

    @property
    def is_better(self) -> bool:
        """Than chance, and than the guess."""
        if self.p_value is None:
            return self.interval[1] < self.guess
        return self.p_value <= RARE and (self.weighed or self.wrong < self.guessed)

    @property
    def refusal(self) -> str | None:
        """Why the rule should not be used, in a sentence; None if there is no such reason."""
        if self.is_better:
            return None
        counts = f"{self.wrong} of the {self.count} traces kept for the test are judged wrongly"
        guess = f"always saying the more common class errs in {self.guessed}"
        if self.p_value is None:
            return f"Nothing better than guessing is shown: {counts}, {guess}. {DO_NOT}"
        at_random = f"random labels would do as well {_percent(self.p_value)} of the time"
        if self.least_p_value is not None and self.least_p_value > RARE and self.wrong < self.guessed:
            few = f"{self.count} traces kept for the test are too few to tell even a rule without errors from chance"
            by_chance = f"random labels would do as well {_percent(self.least_p_value)} of the time"
            return f"Nothing better than chance can be shown: {few} ({by_chance}). Record more."
        if self.p_value <= RARE:
            return f"Nothing better than guessing is shown: {counts}, {guess}. {DO_NOT}"
        return f"Nothing better than chance is shown: {counts}, {guess}, and {at_random}. {DO_NOT}"

    def __str__(self) -> str:
        low, high = self.interval
        chance = (
            "" if self.p_value is None else f"; random labels would do as well {_percent(self.p_value)} of the time"
        )
        return (
            f"error {self.error:.4f} on {self.count} traces kept for the test (95% from {low:.4f} to {high:.4f}); "
            f"saying the more common class errs in {self.guess:.4f}{chance}"
        )

    def to_json(self) -> dict[str, Any]:
        summary: dict[str, Any] = {"wrong": self.wrong, "guessed": self.guessed, "count": self.count, "size": self.size}
        summary |= {"error": self.error, "interval": list(self.interval), "luck": self.p_value}
        return summary | {"better": self.is_better, "refusal": self.refusal}


@dataclass(frozen=True)
class Detection:
    """What a rule of one class flags: of known faults, which it never saw, and of good traces kept for the test."""

    caught: int
    faults: int
    flagged: int
    good: int
    sizes: tuple[float, float]
    """How many faults and good traces, each by itself, would tell as much."""
    excluded: float
    """The share of artificial variants of the good traces that it rejects."""
    kinds: Mapping[str, float]
    """The same by how they were made."""

    __repr__ = short_repr
    p_value: float | None
    """How often flags that have nothing to do with faults would catch as many; None without faults or good traces."""
    least_p_value: float | None
    """The same of flags that are all right."""

    @property
    def catch(self) -> tuple[float, float] | None:
        """The interval of the share of faults that is caught, 95%; None where no fault is known."""
        return _interval(self.caught, self.faults, self.sizes[0])

    @property
    def false_alarms(self) -> tuple[float, float] | None:
        """The interval of the share of good traces that is flagged, 95%."""
        return _interval(self.flagged, self.good, self.sizes[1])

    @property
    def refusal(self) -> str | None:
        """Why the rule is of no use, in a sentence; None if there is no such reason."""
        both = f"it catches {self.caught} of {self.faults} known faults and flags {self.flagged} of {self.good} good"
        if self.faults and not self.caught:
            return f"This rule is useless against the known faults: it catches none of the {self.faults}. {DO_NOT}"
        if self.p_value is not None and self.p_value > RARE:
            if self.least_p_value is not None and self.least_p_value > RARE:
                few = f"{self.faults} known faults and {self.good} good traces kept for the test are too few to tell"
                return f"Nothing better than chance can be shown: {few} ({_percent(self.least_p_value)}). Record more."
            return f"This rule is useless: {both} traces kept for the test, which is no better than chance. {DO_NOT}"
        if self.false_alarms is not None and self.false_alarms[0] > MANY:
            flagged = f"it flags {self.flagged} of the {self.good} good traces kept for the test"
            return f"This rule is useless as an alarm: {flagged}, so these are not like those learned from. {DO_NOT}"
        return None

    def lines(self) -> Iterator[str]:
        """For a person, a sentence each."""
        if self.catch is not None:
            yield f"It catches {self.caught} of {self.faults} known faults{_between(self.catch)}."
        if self.false_alarms is not None:
            yield f"It flags {self.flagged} of {self.good} good traces kept for the test{_between(self.false_alarms)}."
        if not self.faults:
            yield "What it catches is not known: no faulty trace is among the data. Record some and label them to see."
        kinds = ", ".join(f"{name} {share:.0%}" for name, share in self.kinds.items())
        yield f"It rejects {self.excluded:.1%} of artificial variants (not real faults): {kinds}."

    def __str__(self) -> str:
        return " ".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        summary: dict[str, Any] = {"caught": self.caught, "faults": self.faults, "catch": self.catch}
        summary |= {"flagged": self.flagged, "good": self.good, "false_alarms": self.false_alarms}
        summary |= {"excluded": self.excluded, "kinds": dict(self.kinds), "luck": self.p_value}
        return summary | {"lines": list(self.lines()), "refusal": self.refusal}


def evaluate_outcome(outcome: Outcome | RulesOutcome) -> HoldoutTest | Detection | None:
    """What was learned, beside chance; None where no traces were kept for the test, or labels are real numbers."""
    train, test_set = outcome.job.parts
    if isinstance(outcome, Outcome):
        if test_set is None or not train.classes:
            return None
        return evaluate_rule(outcome.front.picked.formula, train, test_set, is_weighed(outcome.job.settings))
    rules: Any = outcome.rules
    if rules.kind == "one":
        return evaluate_detection(rules, train, test_set)
    return None if test_set is None else evaluate_rules(rules, train, test_set)


def evaluate_detection(rules: Envelope, train: Dataset, test_set: Dataset | None) -> Detection:
    """A rule of one class, learned from the good traces of `train`: all bad traces are new to it."""
    labelled = [part for part in (train, test_set) if part is not None and len(part.classes) == 2]
    faults = [part.subset(~part.positive) for part in labelled if not part.positive.all()]
    good = test_set
    if test_set is not None and len(test_set.classes) == 2:
        good = test_set.subset(test_set.positive) if test_set.positive.any() else None
    out = np.concatenate([np.zeros(0, bool), *(~satisfied(rules.formula, part) for part in faults)])
    numbers = [blocks(part) + 10**9 * i for i, part in enumerate(faults)]
    block = np.concatenate([np.zeros(0, np.int64), *numbers])
    flags = np.zeros(0, bool) if good is None else ~satisfied(rules.formula, good)
    sizes = (
        effective_sample_size(out.astype(np.float64), block) if len(out) else 0.0,
        effective_sample_size(flags.astype(np.float64), blocks(good)) if good is not None and len(flags) else 0.0,
    )
    p_value = least = None
    if len(out) and len(flags):
        per_good, per_bad = sizes[1] / len(flags), sizes[0] / len(out)
        counts = [(~flags).sum() * per_good, flags.sum() * per_good, (~out).sum() * per_bad, out.sum() * per_bad]
        p_value, least = fisher_exact(*map(float, counts)), fisher_exact(sizes[1], 0.0, 0.0, sizes[0])
    picked = rules.entries[rules.pick]
    return Detection(
        int(out.sum()), len(out), int(flags.sum()), len(flags), sizes, picked.excluded, picked.kinds, p_value, least
    )


def evaluate_rule(formula: Formula | str, train: Dataset, test_set: Dataset, weighed: bool = False) -> HoldoutTest:
    """The rule beside the guess."""
    matrix = score(formula, test_set)
    guess = BASELINES["majority"].judged(train, test_set)
    rule = parse(formula) if isinstance(formula, str) else formula
    size = effective_sample_size(losses(rule, test_set), blocks(test_set))
    table = [matrix.true_good, matrix.false_bad, matrix.false_good, matrix.true_bad]
    best = [matrix.true_good + matrix.false_bad, 0, 0, matrix.false_good + matrix.true_bad]
    p_value, least = (fisher_exact(*(each * size / len(test_set) for each in counts)) for counts in (table, best))
    wrong = matrix.false_good + matrix.false_bad
    return HoldoutTest(wrong, int((guess != test_set.positive).sum()), len(test_set), size, p_value, least, weighed)


def evaluate_rules(rules: Decides, train: Dataset, test_set: Dataset) -> HoldoutTest:
    """Rules for classes beside the class that is most common among the traces learned from."""
    labels = labels_among(test_set, rules.classes)
    wrong = (rules.classify(test_set) != labels).astype(np.float64)
    common = np.bincount(labels_among(train, rules.classes), minlength=len(rules.classes)).argmax()
    return HoldoutTest(
        int(wrong.sum()), int((labels != common).sum()), len(test_set), effective_sample_size(wrong, blocks(test_set))
    )


def fisher_exact(good_good: float, good_bad: float, bad_good: float, bad_bad: float) -> float:
    """Fisher's exact test, of good and bad traces that are called good or bad; shares of a trace are left out.

    How often random labels give at least as many good traces that are called good.
    """
    from scipy.stats import hypergeom

    a, b, c, d = (floor(each + 1e-9) for each in (good_good, good_bad, bad_good, bad_bad))
    count = a + b + c + d
    p = float(hypergeom.sf(a - 1, count, a + b, a + c)) if count else 1.0
    return float(f"{p:.12g}")  # 1 of 20 is 0.05, not what rounding leaves of it


def _interval(wrong: int, count: int, size: float) -> tuple[float, float] | None:
    return clopper_pearson(min(wrong * size / count, size), size) if count else None


def _between(ends: tuple[float, float]) -> str:
    return f" (95% from {ends[0]:.1%} to {ends[1]:.1%})"


def _percent(share: float) -> str:
    """`58 %`, with more digits where it is small."""
    if share < 1e-6:
        return "less than 0.0001 %"
    return f"{share:.0%}".replace("%", " %") if share >= 0.1 else f"{share * 100:.2g} %"
