"""Resampling: the same learner refitted on permuted, bootstrapped or partitioned data.

    shuffle     labels permuted: what is learned then is chance
    bootstrap   traces drawn with replacement: what is learned then could as well have been
    fold        all parts but one, tested on that one

Copies and groups are one unit of resampling: they get their label together, are drawn together, stay in one part. Each
result is kept in a file, so that an interruption loses none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from ..data import Dataset, folds
from ..data.arrays import Ints
from ..data.atomic_write import append_line
from ..data.checks import duplicate_groups
from ..data.splits import blocks
from ..engines import Failures, Local, Unit, run_units
from ..errors import MALFORMED_DATA, DataError, EngineError, UnsupportedError, short_repr, suppress_warnings
from ..formula import Formula, channels, parse
from ..formula.json_fields import as_int, as_number, as_object, read_json
from ..formula.templates import require_closed
from ..learners import Learner
from ..learners.learner_registry import engine_for, learner_from_dict, learner_to_dict, read_formula
from ..runs.job import error
from ..semantics import satisfied
from .rashomon import shape

Resample = Literal["as it is", "shuffle", "bootstrap", "fold"]
REFITS_FILE = "repeats.jsonl"


@dataclass(frozen=True, slots=True)
class Refit:
    """One more fit: the picked formula, the least error in training, and the picked one's on traces not fitted."""

    kind: Resample
    seed: int
    formula: str
    least: float
    test: float | None = None
    cases: int = 0
    """Tested on."""
    limited: bool = False
    """Whether its time limit ended the fit, so that a faster machine may find another rule."""

    __repr__ = short_repr


RefitKey = tuple[Resample, int]
MaybeRefit = Refit | None
TASK = "fernn.evaluation.resampling:refit_on_worker"
CountDone = Callable[[int, int], None]
"""How many are done, of how many."""


def refit(
    learner: Learner, data: Dataset, requests: Sequence[tuple[Resample, int]], parts: int = 5,
    keep: Path | None = None, progress: CountDone = lambda done, of: None,
) -> Iterator[Refit]:  # fmt: skip
    """Refits, one after the other or in parallel where the learner has an engine, in the order asked for.

    Those in the file `keep` that this learner gave on these data are not made again, and new ones are added to it as
    soon as they are done. The seed of a fold is its number, of `parts`.
    """
    marks = _fingerprint_refits(learner, data, parts)
    results = {} if keep is None else load_refits(keep, marks)
    left = [each for each in dict.fromkeys(requests) if each not in results]
    fresh = _refit_all(learner, data, left, parts)
    yielded = False
    for done, each in enumerate(requests):
        progress(done, len(requests))
        while each not in results:
            at, result = next(fresh)
            results[at] = result
            if keep is not None and result is not None:
                append_line(keep, json.dumps({"about": marks[result.kind]} | asdict(result), ensure_ascii=False))
        result = results[each]
        if result is not None:
            yielded = True
            yield result
    if not yielded:
        list(fresh)  # which ends in an error where all have failed
    progress(len(requests), len(requests))


def _refit_all(
    learner: Learner, data: Dataset, requests: Sequence[RefitKey], parts: int
) -> Iterator[tuple[RefitKey, MaybeRefit]]:
    """As they are done; None is for what failed on an engine again and again, which is told and left out."""
    engine = engine_for(learner)
    if isinstance(engine, Local):
        yield from ((each, _refit_once(learner, data, *each, parts)) for each in requests)
        return
    base = {"learner": learner_to_dict(learner), "parts": parts}
    units = [Unit(base | {"kind": kind}, seed) for kind, seed in requests]
    failures = Failures(engine, "repeated fits")

    def read(unit: Unit, content: Any) -> Refit:
        repeat = _parse_refit(content)
        read_formula(repeat.formula, data)
        if (repeat.kind, repeat.seed) != (unit.settings["kind"], unit.seed):
            raise ValueError(f"it is of the {repeat.kind} of seed {repeat.seed}")
        if (repeat.test is None) != (repeat.cases == 0) or (repeat.kind == "fold" and not repeat.cases):
            raise ValueError(f"it has the error {repeat.test} on {repeat.cases} traces")
        if repeat.cases > len(data) or (data.classes and max(repeat.least, repeat.test or 0.0) > 1):
            raise ValueError(f"it has the error {repeat.test} on {repeat.cases} traces, {repeat.least} in training")
        return repeat

    for answer in run_units(engine, TASK, data, units, read=read):
        kind, seed = answer.unit.settings["kind"], answer.unit.seed
        if not failures.take(answer, f"{kind} of seed {seed}"):
            yield (kind, seed), answer.found
        elif kind == "as it is":
            raise EngineError(f"the rule could not be learned again on the engine {engine.name}: it {answer.failure}")
        else:
            yield (kind, seed), None
    failures.check()


def refit_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """On a worker: one more fit."""
    assert data is not None
    return asdict(_refit_once(learner_from_dict(settings["learner"]), data, settings["kind"], seed, settings["parts"]))


def _refit_once(learner: Learner, data: Dataset, kind: Resample, seed: int, parts: int) -> Refit:
    train, rest = resample(data, kind, seed, parts)
    with suppress_warnings():
        fit = learner.fit(train)
        if fit.ended == "interrupted":
            raise KeyboardInterrupt  # half a fit is none
        rule = fit.front.picked.formula
        least = min(entry.train for entry in fit.front)
        test = None if rest is None else error(rule, rest)
    return Refit(kind, seed, str(rule), least, test, 0 if rest is None else len(rest), fit.ended == "time limit")


def resample(data: Dataset, kind: Resample, seed: int, parts: int = 5) -> tuple[Dataset, Dataset | None]:
    """(what to learn on, what to test on)."""
    if kind == "as it is":
        return data, None
    if kind == "shuffle":
        return permute_labels(data, seed), None
    if kind == "bootstrap":
        return draw_bootstrap(data, seed)
    return folds(data, parts)[seed]


def permute_labels(data: Dataset, seed: int) -> Dataset:
    """With labels dealt anew: among blocks of copies and groups that have one label each, and within those that have
    several, such as pairs of a good and a bad run."""
    if data.labels is None:
        raise DataError(f"{data.name} has no labels to shuffle.")
    labels, same = data.labels, duplicate_groups(data)
    cases = _group_indices(blocks(data))
    random = np.random.default_rng([seed, 7])
    for _ in range(100):
        permuted: Any = labels.copy()
        _permute_among([at for at in cases if len(np.unique(labels[at])) == 1], labels, permuted, random)
        for at in cases:
            if len(np.unique(labels[at])) > 1:  # its copies keep together, too
                alike = [at[same_group] for same_group in _group_indices(same[at])]
                _permute_among([each for each in alike if len(np.unique(labels[each])) == 1], labels, permuted, random)
        if len(np.unique(permuted)) > 1:
            return replace(data, labels=permuted)
    raise DataError(f"{data.name}: its labels cannot be dealt anew, there are too few blocks of copies or groups.")


def _group_indices(numbers: Ints) -> list[Ints]:
    """The places of each number."""
    return [np.flatnonzero(numbers == number) for number in np.unique(numbers)]


def _permute_among(alike: list[Ints], labels: Any, permuted: Any, random: np.random.Generator) -> None:
    """Gives the one label of each of these sets of cases to another of them."""
    for at, source in zip(alike, random.permutation(len(alike)).tolist(), strict=True):
        permuted[at] = labels[alike[source][0]]


def draw_bootstrap(data: Dataset, seed: int) -> tuple[Dataset, Dataset | None]:
    """Blocks drawn with replacement, as many as there are; and what was not drawn, to test on."""
    block = blocks(data)
    random = np.random.default_rng([seed, 11])
    count = int(block.max()) + 1
    for _ in range(100):
        times = np.bincount(random.integers(0, count, count), minlength=count)[block]
        at = np.repeat(np.arange(len(data)), times)
        labels: Any = None if data.labels is None else data.labels[at]
        if not data.classes or len(np.unique(labels)) > 1:
            names = tuple(f"{data.cases[case]} ({i})" for i, case in enumerate(at.tolist()))
            drawn = data.subset(at, names)
            left = times == 0
            return drawn, data.subset(left) if left.any() else None
    raise DataError(f"{data.name}: too few blocks of copies or groups to draw from.")


def describe_limited(count: int, of: int) -> str:
    """What is added to a result of which some repeated fits were ended by their time limit; nothing where none was."""
    if not count:
        return ""
    affected = f"{count} of these {of} fits" if count < of else "these fits"
    return f"; the time limit stopped {affected}, so another machine may come to another result (--seconds allows more)"


def _fingerprint_refits(learner: Learner, data: Dataset, parts: int) -> dict[Resample, str]:
    """Of each kind: what tells fits of this learner to these data from others that are kept in the same file."""
    try:
        settings = json.dumps(learner_to_dict(learner), sort_keys=True, default=str)
    except UnsupportedError:  # not one of fernn's own
        settings = type(learner).__qualname__
    kinds: tuple[Resample, ...] = get_args(Resample)
    texts = {kind: f"{settings} {data.fingerprint} {parts if kind == 'fold' else ''}" for kind in kinds}
    return {kind: blake2b(text.encode(), digest_size=8).hexdigest() for kind, text in texts.items()}


def load_refits(path: Path, marks: Mapping[Resample, str]) -> dict[RefitKey, MaybeRefit]:
    """Those in the file that have the mark of their kind."""
    refits: dict[RefitKey, MaybeRefit] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}
    for line in lines[:-1]:  # what follows the last line end is torn, or nothing
        with suppress(*MALFORMED_DATA):
            content = as_object(read_json(line))
            mark = content.pop("about", None)
            repeat = _parse_refit(content)
            if mark == marks[repeat.kind]:
                refits[repeat.kind, repeat.seed] = repeat
    return refits


def _parse_refit(content: Any) -> Refit:
    """A refit from JSON; raises one of `MALFORMED_DATA` where it is none."""
    repeat = Refit(**as_object(content))
    as_int(repeat.seed), as_number(repeat.least), as_int(repeat.cases)
    test = as_number(0.0 if repeat.test is None else repeat.test)
    if not (repeat.least >= 0 and test >= 0 and isfinite(test * repeat.cases)):
        raise ValueError(f"{repeat.least} and {repeat.test} are no errors")
    require_closed(parse(repeat.formula))
    if not isinstance(repeat.limited, bool):
        raise TypeError(f"{repeat.limited!r:.40} says not whether a time limit ended the fit")
    if repeat.kind not in get_args(Resample):
        raise ValueError(f"{repeat.kind!r:.40} is no kind of repeated fit")
    return repeat


BOOTSTRAPS = 50


@dataclass(frozen=True)
class Stability:
    """The rules learned from bootstrap samples, compared with the rule at hand."""

    formula: Formula
    formulas: tuple[Formula, ...]
    alike: tuple[float, ...]
    """For each, the share of the recorded traces that it judges as the rule does."""
    tested: tuple[float | None, ...]
    """For each, its error on the traces that were not drawn."""
    limited: int = 0
    """How many of these fits their time limit ended."""

    __repr__ = short_repr

    @property
    def same(self) -> float:
        """How often every recorded trace was judged as by the rule."""
        return float(np.mean([share == 1 for share in self.alike]))

    @property
    def agreement(self) -> float:
        """The mean share of recorded traces judged as by the rule."""
        return float(np.mean(self.alike))

    @property
    def shapes(self) -> list[tuple[str, float]]:
        """Structures without their thresholds, and how often they were found; the most common first."""
        counts = Counter(shape(formula) for formula in self.formulas)
        return [(text, count / len(self.formulas)) for text, count in counts.most_common()]

    @property
    def read(self) -> list[tuple[str, float]]:
        """Channels, and how often a rule read them."""
        counts = Counter(name for formula in self.formulas for name in channels(formula))
        return [(name, count / len(self.formulas)) for name, count in counts.most_common()]

    def __str__(self) -> str:
        own = dict(self.shapes).get(shape(self.formula), 0.0)
        return (
            f"learned anew from {len(self.formulas)} drawings of the traces, a rule of this shape comes up in "
            f"{own:.0%}; "
            f"rules agree with this one on {self.agreement:.1%} of the traces"
            f"{describe_limited(self.limited, len(self.formulas))}"
        )

    def to_json(self) -> dict[str, Any]:
        summary = {"formulas": [str(formula) for formula in self.formulas], "alike": list(self.alike)}
        shapes = [{"what": what, "share": share} for what, share in self.shapes]
        return summary | {"same": self.same, "agreement": self.agreement, "shapes": shapes, "limited": self.limited}


def bootstrap(
    learner: Learner, data: Dataset, formula: Formula | str, bootstraps: int = BOOTSTRAPS, seed: int = 0,
    keep: Path | None = None, progress: CountDone = lambda done, of: None,
) -> Stability:  # fmt: skip
    """Learn from so many drawings of the data, and compare with the rule at hand."""
    formula = parse(formula) if isinstance(formula, str) else formula
    requests: Sequence[Any] = [("bootstrap", seed + i) for i in range(bootstraps)]
    refits = list(refit(learner, data, requests, keep=keep, progress=progress))
    own, formulas = satisfied(formula, data), tuple(parse(each.formula) for each in refits)
    alike = tuple(float((satisfied(each, data) == own).mean()) for each in formulas)
    tests, limited = tuple(each.test for each in refits), sum(each.limited for each in refits)
    return Stability(formula, formulas, alike, tests, limited)
