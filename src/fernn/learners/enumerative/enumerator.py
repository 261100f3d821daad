"""The enumerator: behaviours of one length after the other, every formula of the next lengths scored.

What is left out, and why nothing is lost by it:

    merged    a formula that behaves as a shorter or equal one on all samples, or, where only verdicts matter, on
              all verdicts
    bounded   `a & b` holds for no trace for which `a` does not, so it misses at least what `a` misses; so for `|`
              and what `a` lets pass, for `O (a & b)` and `O a`, and so on
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data.arrays import Floats, Ints
from ...errors import short_repr
from ...formula.nodes import ALL_TIME, Interval, interval
from ...semantics.threads import PARALLEL_WORK, parallel_for
from .behaviour_table import BehaviourTable, VerdictSide, VerdictViews, spans_of
from .bitpack import BitLayout
from .gpu_prefilter import GpuScorer, Prefilter, Work, open_scorer
from .scoring import (
    ALL,
    ANY,
    EPS,
    BestCandidates,
    Objective,
    empty_candidates,
    merge_candidates,
    score_bit_pairs,
    score_listed_bits,
    score_listed_words,
    score_singles,
    score_word_pairs,
)
from .scoring_jobs import EVER, NONE, NOW, Job, Operators, Pairs, Singles, Unary, length_splits
from .word_operators import AND, HISTORICALLY, IMPLIES, ONCE, OR, SINCE, SYMMETRIC, TRIGGER, WEAK_SINCE

FEW = 2048
"""Pairs up to which scoring them all takes less time than finding out which of them need not be scored."""
SHORT = 1 << 23
"""Bytes of words that one thread has read before another has been told of its share."""
CHUNK = 1 << 31
"""Bytes of words read between two looks at the clock, about a tenth of a second's work."""


@dataclass
class SearchCounts:
    """Counts of formulas generated, and of how they were dealt with."""

    generated: int = 0
    merged: int = 0
    bounded: int = 0
    scored: int = 0

    __repr__ = short_repr

    def __iadd__(self, other: SearchCounts) -> SearchCounts:
        self.generated += other.generated
        self.merged += other.merged
        self.bounded += other.bounded
        self.scored += other.scored
        return self


@dataclass(eq=False)
class Enumerator:
    layout: BitLayout
    shelf: BehaviourTable
    judge: Objective
    windows: list[Interval] = field(default_factory=lambda: [interval(0, 0), ALL_TIME])
    prune: bool = True
    pulse: Callable[[], None] = lambda: None
    """Called often; what it raises ends the search."""
    device: str = "cpu"
    """Where large jobs are scored; what is found is the same."""
    _known_lengths: dict[int, tuple[Ints, tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gpu: GpuScorer | None = open_scorer(self.device, self.shelf)
        self.views = VerdictViews(self.layout, self.shelf, self.judge, self.windows)
        self._scopes = 0
        self.lead = empty_candidates(1, self.layout.lines)
        """The formula that errs least of all that were raced, the one met last where there are several."""

    def window(self, over: Interval) -> int:
        """The number of a window."""
        if over not in self.windows:
            self.windows.append(over)
        return self.windows.index(over)

    def scope(self) -> int:
        """A new one: what is filed in it is merged with nothing else."""
        self._scopes += 1
        return self._scopes

    def grown(self, parts: list[tuple[Unary, Ints, Ints | None]], scope: int = 0) -> tuple[Ints, int]:
        """Files all of these as a new family; gives its rows, and how many formulas did not fit into memory."""
        first, dropped = self.shelf.count, 0
        chunk = max(1, CHUNK // (16 * self.shelf.bytes))
        for (op, window), left, right in parts:
            over = self.windows[window] if op in (ONCE, HISTORICALLY) else None
            total = len(left) * (1 if right is None else len(right))
            at = 0
            while at < total and not self.shelf.is_full:
                at = self.shelf.grow(op, left, right, over, window, scope, at, chunk)
                self.pulse()
            dropped += total - at
        return np.arange(first, self.shelf.count), dropped

    def of_length(self, n: int, families: dict[int, Ints], allowed: Operators) -> tuple[Ints, int]:
        """The behaviours that no shorter formula has, from shorter families."""
        parts: list[tuple[Unary, Ints, Ints | None]] = [(unary, families[n - 1], None) for unary in allowed.unary]
        for op in allowed.binary:
            parts += [((op, NOW), families[i], families[j]) for i, j in length_splits(n, op)]
        return self.grown(parts)

    def run(self, job: Job, bounds: Floats, hits: BestCandidates | None) -> SearchCounts:
        """Scores a job. `bounds` are errors of interest by length: without `found` they sink to below the best met,
        with it all that are met are kept there."""
        if isinstance(job, Singles):
            return self._singles(job, bounds, hits)
        if not len(job.left) or not len(job.right):
            return SearchCounts()
        (least, most), (more, still) = self._lengths(job.left), self._lengths(job.right)
        bound = float(bounds[least + more + job.longer : most + still + job.longer + 1].max())
        total = _pair_count(len(job.left), len(job.right), job.paired)
        if bound < 0 and self.prune:  # nothing errs less than not at all
            return SearchCounts(total, bounded=total)
        op = job.op
        mode = ALL if job.around[0] == HISTORICALLY else ANY
        window = NOW if job.around == NONE else job.around[1]
        if op == SINCE and job.around == (ONCE, EVER) and job.closed:  # O (a S b) is O b
            return SearchCounts(total, merged=total)
        if job.around == NONE and op in (AND, OR, IMPLIES):
            return self._bit_pairs(job, (ANY, NOW), (ANY, NOW), bound, bounds, hits)
        if (op, mode) in ((AND, ALL), (OR, ANY)):
            return self._bit_pairs(job, (mode, window), (mode, window), bound, bounds, hits)
        if (op, mode) == (IMPLIES, ANY):
            return self._bit_pairs(job, (ALL, window), (ANY, window), bound, bounds, hits)
        return self._word_pairs(job, mode, window, bound, bounds, hits)

    def _lengths(self, family: Ints) -> tuple[int, int]:
        """Of its shortest and its longest formula."""
        cached = self._known_lengths.get(id(family))
        if cached is None or cached[0] is not family:
            lengths = self.shelf.rows.lengths[family]
            cached = self._known_lengths[id(family)] = family, (int(lengths.min()), int(lengths.max()))
        return cached[1]

    def _singles(self, job: Singles, bounds: Floats, hits: BestCandidates | None) -> SearchCounts:
        """One behaviour, with up to two operators around it."""
        rows, each = self.shelf.rows, len(job.arounds) * len(job.inners)
        arounds = np.array([(op, number, self.views.mask(number)) for op, number in job.arounds])
        inners, spans = np.array(job.inners), self._spans(job.inners)

        def work(low: int, high: int, bounds: Floats, tighten: bool, into: BestCandidates) -> None:
            spare = np.empty((3, self.shelf.bytes), np.uint8)
            score_singles(
                rows.content, job.left, low, high, arounds, inners, spans, self.shelf.frame, rows.lengths,
                rows.gaps, job.longer, self.judge, bounds, tighten, into, spare.ctypes.data, self.shelf.like,
            )  # fmt: skip

        self._score(len(job.left), work, bounds, hits, 2 * each * self.shelf.bytes)
        return SearchCounts(len(job.left) * each, scored=len(job.left) * each)

    def _spans(self, unaries: tuple[Unary, ...]) -> Ints:
        """`[unary, span, (start, end)]`; ends below -1 where a window has fewer spans than another."""
        spans = [spans_of(self.windows[number]) for _, number in unaries]
        padded = np.full((len(spans), max(len(each) for each in spans), 2), -2)
        for row, each in zip(padded, spans, strict=True):
            row[: len(each)] = each
        return padded

    def _bit_pairs(
        self, job: Pairs, left: tuple[int, int], right: tuple[int, int], bound: float, bounds: Floats,
        hits: BestCandidates | None,
    ) -> SearchCounts:  # fmt: skip
        """Pairs whose verdicts follow from those of the two sides."""
        symmetric = job.paired
        total = _pair_count(len(job.left), len(job.right), symmetric)
        view = self.views.all_seen if total < FEW else self.views.seen
        a = view(job.left, job.names[0], *left)
        b = a if symmetric else view(job.right, job.names[1], *right)
        count = _pair_count(len(a.ids), len(b.ids), symmetric)
        op, rows = job.op, self.shelf.rows
        if self.prune and count >= FEW:
            a, b = self._possible(op, a, b, bound)
        scored = _pair_count(len(a.ids), len(b.ids), symmetric)

        def work(low: int, high: int, bounds: Floats, tighten: bool, into: BestCandidates) -> None:
            score_bit_pairs(
                op, a.bits, a.ids, b.bits, b.ids, symmetric, low, high, rows.lengths, rows.gaps, _derivation(job),
                job.longer, self.judge, bounds, tighten, into,
            )  # fmt: skip

        def rescore(lefts: Ints, rights: Ints, bounds: Floats, tighten: bool, into: BestCandidates) -> None:
            score_listed_bits(
                lefts, rights, op, a.bits, a.ids, b.bits, b.ids, rows.lengths, rows.gaps, _derivation(job), job.longer,
                self.judge, bounds, tighten, into,
            )  # fmt: skip

        cost = len(a.ids) * 8 * a.bits.shape[1]
        scout = self.gpu.bit_pairs(op, a, b, symmetric, job.longer, self.judge, rescore, cost) if self.gpu else None
        self._score(len(b.ids), work, bounds, hits, cost, scout)
        return SearchCounts(total, total - count, count - scored, scored)

    def _possible(self, op: int, a: VerdictSide, b: VerdictSide, bound: float) -> tuple[VerdictSide, VerdictSide]:
        """What is left of the sides of `&`, `|` or `->` when pairs that exceed the bound are left out."""
        most_missed = min(bound, self.judge.most_missed) + EPS
        most_passed = min(bound, self.judge.most_passed) + EPS
        if op == AND:
            return a.within(a.missed <= most_missed), b.within(b.missed <= most_missed)
        if op == OR:
            return a.within(a.passed <= most_passed), b.within(b.passed <= most_passed)
        return a, b.within(b.passed <= most_passed)

    def _word_pairs(
        self, job: Pairs, mode: int, window: int, bound: float, bounds: Floats, hits: BestCandidates | None
    ) -> SearchCounts:
        """Pairs that have to be looked at sample by sample."""
        op, rows, symmetric = job.op, self.shelf.rows, job.paired
        left, right = job.left, job.right
        total = _pair_count(len(left), len(right), symmetric)
        if self.prune and total >= FEW:
            left, right = self._likely(job, mode, window, bound)
        scored = _pair_count(len(left), len(right), symmetric)
        mask = self.views.mask(window)

        def work(low: int, high: int, bounds: Floats, tighten: bool, into: BestCandidates) -> None:
            score_word_pairs(
                op, mode, mask, rows.content, left, right, symmetric, low, high, self.shelf.frame, rows.lengths,
                rows.gaps, _derivation(job), job.longer, self.judge, bounds, tighten, into, self.shelf.like,
            )  # fmt: skip

        def rescore(lefts: Ints, rights: Ints, bounds: Floats, tighten: bool, into: BestCandidates) -> None:
            score_listed_words(
                lefts, rights, op, mode, mask, rows.content, left, right, self.shelf.frame, rows.lengths, rows.gaps,
                _derivation(job), job.longer, self.judge, bounds, tighten, into, self.shelf.like,
            )  # fmt: skip

        cost = len(left) * self.shelf.bytes
        scout = None
        if self.gpu is not None and op not in (WEAK_SINCE, TRIGGER):  # its kernels know Since
            looked = self.views.looked(window)
            scout = self.gpu.word_pairs(
                op, mode, window, looked, left, right, symmetric, job.longer, self.judge, rescore, cost
            )  # fmt: skip
        self._score(len(right), work, bounds, hits, cost, scout)
        return SearchCounts(total, 0, total - scored, scored)

    def _likely(self, job: Pairs, mode: int, window: int, bound: float) -> tuple[Ints, Ints]:
        """What is left of the sides when pairs that exceed the bound are left out."""
        most_missed = min(bound, self.judge.most_missed) + EPS
        most_passed = min(bound, self.judge.most_passed) + EPS
        op, left, right, see = job.op, job.left, job.right, self.views.all_seen
        sides = list(zip((left, right), job.names, strict=True))
        if (op, mode) == (AND, ANY):  # O (a & b) needs O a and O b
            keep = [see(side, name, ANY, window).missed <= most_missed for side, name in sides]
        elif (op, mode) == (OR, ALL):  # H a is enough for H (a | b)
            keep = [see(side, name, ALL, window).passed <= most_passed for side, name in sides]
        elif op == SINCE:  # b is enough for a S b, somewhere and everywhere; and without b there is no a S b
            good = see(*sides[1], mode, window).passed <= most_passed
            if window in (NOW, EVER):
                good &= see(*sides[1], ANY, EVER).missed <= most_missed
            keep = [np.ones(len(left), bool), good]
        elif op == TRIGGER:  # a T b needs b, somewhere and everywhere; and b all the time is enough
            good = see(*sides[1], mode, window).missed <= most_missed
            if window in (NOW, EVER):
                good &= see(*sides[1], ALL, EVER).passed <= most_passed
            keep = [np.ones(len(left), bool), good]
        elif op == WEAK_SINCE:  # b is enough for a B b, somewhere and everywhere; and so is a all the time
            keep = [np.ones(len(left), bool), see(*sides[1], mode, window).passed <= most_passed]
            if window in (NOW, EVER):
                keep[0] = see(*sides[0], ALL, EVER).passed <= most_passed
        else:
            return left, right
        if left is right and op in SYMMETRIC:
            same = left[keep[0]]
            return same, same
        return left[keep[0]], right[keep[1]]

    def _score(
        self, count: int, work: Work, bounds: Floats, hits: BestCandidates | None, cost: int = 64,
        scout: Prefilter | None = None,
    ) -> None:  # fmt: skip
        """Calls `work(low, high, bounds, tighten, into)` for all of `count` on all cores, a chunk at a time; with a
        scout, only for what it leaves."""
        chunk = max(1, min(count, CHUNK // max(cost, 1)))
        for start in range(0, count, chunk):
            size = min(chunk, count - start)
            parts: list[tuple[Floats, BestCandidates]] = []
            todo = work if scout is None else scout.work(start, start + size, bounds, hits is None, work)
            if todo is None:
                self.pulse()
                continue

            def stretch(low: int, high: int, start: int = start, parts: Any = parts, todo: Work = todo) -> int:
                own = bounds.copy(), empty_candidates(1 if hits is None else len(hits.errors), self.layout.lines)
                parts.append(own)
                todo(start + low, start + high, own[0], hits is None, own[1])
                return 0

            if size * cost < SHORT:
                todo(start, start + size, bounds, hits is None, self.lead if hits is None else hits)
            else:
                parallel_for(stretch, size, PARALLEL_WORK)
            for own, partial in parts:
                np.minimum(bounds, own, out=bounds)
                if hits is not None:
                    merge_candidates(hits, partial)
                elif partial.state[0] and (not self.lead.state[0] or partial.errors[0] < self.lead.errors[0]):
                    self.lead = partial
            self.pulse()


def _derivation(job: Pairs) -> Ints:
    """How a hit of this job came about, its rows still to be filled in."""
    return np.array([job.around[0], job.around[1], job.op, -1, -1, NOW])


def _pair_count(left: int, right: int, symmetric: bool) -> int:
    return left * (left + 1) // 2 if symmetric else left * right
