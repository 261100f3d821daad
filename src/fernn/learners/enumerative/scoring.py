"""Scoring of candidates in compiled loops: the errors of millions of formulas, and a table of the best of them.

A candidate is judged by one bit a trace. For `&` and `|` those of its parts are enough. An operator around a pair,
as in `O (a & b)`, needs the words of both, but nothing of it is written down. The errors of a candidate are counted
until they exceed what is of interest. Of the candidates within the bounds each set of verdicts is kept once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ...semantics.jit_cache import njit_on_disk
from . import word_operators as operators
from . import word_vectors as l
from .word_operators import (
    AND,
    ATOM,
    HISTORICALLY,
    NEGATED,
    OR,
    TRIGGER,
    WEAK_SINCE,
    apply_binary,
    apply_weak,
    write_unary,
)

compiled = njit_on_disk(l, operators)

TEXTS = 4
"""Formulas kept of those that judge alike."""


class BestCandidates(NamedTuple):
    """One row for each set of verdicts; of the formulas that give it, the shortest, then those with the widest gaps."""

    verdicts: Any
    errors: Any
    lengths: Any
    gaps: Any
    """`[hit, formula]`, widest first; below 0 where there is none."""
    made: Any
    """`[hit, formula, (around, around's window, operator, left, right, operator's window)]`"""
    times: Any
    """How many formulas of the shortest length gave these verdicts."""
    slots: Any
    state: Any
    """(hits, whether some did not fit)"""


def empty_candidates(capacity: int, lines: int) -> BestCandidates:
    slots = 1 << (2 * capacity - 1).bit_length()
    return BestCandidates(
        np.empty((capacity, lines), np.uint64), np.empty(capacity), np.empty(capacity, np.int64),
        np.full((capacity, TEXTS), -1.0), np.empty((capacity, TEXTS, 6), np.int64), np.zeros(capacity, np.int64),
        np.full(slots, -1, np.int32), np.zeros(2, np.int64),
    )  # fmt: skip


@njit(nogil=True)
def add_candidate(hits: Any, verdict: Any, error: float, length: int, gap: float, origin: Any, times: int) -> None:
    """Insert a formula into the table of candidates, by its verdicts."""
    code = np.uint64(0)
    for word in verdict:
        code = (code ^ word) * np.uint64(0xFF51AFD7ED558CCD)
        code ^= code >> np.uint64(32)
    mask = np.uint64(len(hits.slots) - 1)
    at = code & mask
    while hits.slots[at] >= 0:
        row = hits.slots[at]
        if _same(hits.verdicts[row], verdict):
            if length < hits.lengths[row]:
                hits.lengths[row], hits.times[row] = length, 0
                hits.gaps[row] = -1.0
            if length == hits.lengths[row]:
                hits.times[row] += times
                _sort_in(hits.gaps[row], hits.made[row], gap, origin)
            return
        at = (at + np.uint64(1)) & mask
    count = hits.state[0]
    if count >= len(hits.errors):
        hits.state[1] = 1
        return
    hits.slots[at] = count
    hits.verdicts[count] = verdict
    hits.errors[count], hits.lengths[count], hits.times[count] = error, length, times
    _sort_in(hits.gaps[count], hits.made[count], gap, origin)
    hits.state[0] = count + 1


@njit(nogil=True)
def _same(verdict: Any, second: Any) -> bool:
    for k in range(len(verdict)):  # noqa: SIM110
        if verdict[k] != second[k]:
            return False
    return True


@njit(nogil=True)
def _sort_in(gaps: Any, origins: Any, gap: float, origin: Any) -> None:
    """Insert by gap, the widest first, then by origin, so that the order of work does not matter."""
    for place in range(len(gaps)):
        if _before(gap, origin, gaps[place], origins[place]):
            for k in range(len(gaps) - 1, place, -1):
                gaps[k] = gaps[k - 1]
                origins[k] = origins[k - 1]
            gaps[place] = gap
            origins[place] = origin
            return


@njit(nogil=True)
def _before(gap: float, origin: Any, other_gap: float, other: Any) -> bool:
    if gap != other_gap:
        return gap > other_gap
    for k in range(len(origin)):
        if origin[k] != other[k]:
            return bool(origin[k] < other[k])
    return False


@compiled
def merge_candidates(hits: Any, other: Any) -> None:
    """Add the candidates of another table."""
    for k in range(other.state[0]):
        times = other.times[k]
        for text in range(other.gaps.shape[1]):
            if other.gaps[k, text] >= 0:
                args = other.errors[k], other.lengths[k], other.gaps[k, text], other.made[k, text]
                add_candidate(hits, other.verdicts[k], args[0], args[1], args[2], args[3], times)
                times = 0
    hits.state[1] |= other.state[1]


ANY, ALL = 0, 1
"""Whether the samples of a window have to hold it somewhere or everywhere."""
EPS = 1e-9
NEAR, BLOCK = 1 << 17, 2048
"""Bytes, and verdicts, that stay in the cache while all lefts pass over them."""


class Objective(NamedTuple):
    """What is right, one bit a trace, and what an error costs."""

    good: Any
    care: Any
    """The places that hold a trace."""
    cost: Any
    """Of an error in a word of sixty-four traces; -1 where traces of the word differ, see `each`."""
    each: Any
    most_missed: float
    """Limits: weight of good traces judged bad, and of bad ones judged good."""
    most_passed: float


@njit(nogil=True, inline="always")
def _cost(wrong: Any, line: int, judge: Any) -> float:
    if judge.cost[line] >= 0:
        return float(judge.cost[line] * l.popcount(wrong))
    total = 0.0
    while wrong:
        lowest = wrong & (~wrong + np.uint64(1))
        total += judge.each[line * 64 + l.popcount(lowest - np.uint64(1))]
        wrong ^= lowest
    return total


@njit(nogil=True)
def _accept(
    verdict: Any, error: float, length: int, gap: float, origin: Any, bounds: Any, tighten: bool, hits: Any
) -> None:
    """A candidate within its bound: in a race it leads, and only better ones count from now on; else it is kept."""
    if tighten:
        for longer in range(length, len(bounds)):
            bounds[longer] = min(bounds[longer], error - EPS)
        hits.verdicts[0] = verdict
        hits.errors[0], hits.lengths[0], hits.gaps[0, 0], hits.state[0] = error, length, gap, 1
        hits.made[0, 0] = origin
    else:
        add_candidate(hits, verdict, error, length, gap, origin, 1)


@njit(nogil=True)
def _accept_pair(
    verdict: Any, missed: float, passed: float, length: int, gaps: Any, origin: Any, judge: Any, bounds: Any,
    tighten: bool, hits: Any,
) -> None:  # fmt: skip
    """A pair within its bound: it counts if it keeps to the limits too."""
    if missed <= judge.most_missed and passed <= judge.most_passed:
        gap = min(gaps[origin[3]], gaps[origin[4]])
        _accept(verdict, missed + passed, length, gap, origin, bounds, tighten, hits)


@njit(nogil=True)
def _error(verdict: Any, judge: Any, bound: float) -> float:
    """Infinite where a limit is passed, more than the bound where the bound is passed."""
    missed = passed = 0.0
    for line in range(len(verdict)):
        missed += _cost(judge.good[line] & ~verdict[line], line, judge)
        passed += _cost(verdict[line] & ~judge.good[line], line, judge)
        if missed + passed > bound:
            break
    return np.inf if missed > judge.most_missed or passed > judge.most_passed else missed + passed


@compiled
def score_bit_pairs(
    op: int, left: Any, left_ids: Any, right: Any, right_ids: Any, symmetric: bool, first: int, last: int, lengths: Any,
    gaps: Any, origin: Any, longer: int, judge: Any, bounds: Any, tighten: bool, hits: Any,
) -> None:  # fmt: skip
    """Scores `left op right` for AND, OR and IMPLIES, from the verdicts of all lefts and of rights `first` to `last`.

    Of `paired` sides, each unordered pair once.
    """
    lines = left.shape[1]
    verdict = np.empty(lines, np.uint64)
    for start in range(first, last, BLOCK):
        for i in range(len(left)):
            for j in range(max(i, start) if symmetric else start, min(start + BLOCK, last)):
                length = lengths[left_ids[i]] + lengths[right_ids[j]] + longer
                bound = bounds[length]
                missed = passed = 0.0
                for line in range(lines):
                    if op == AND:
                        word = left[i, line] & right[j, line]
                    elif op == OR:
                        word = left[i, line] | right[j, line]
                    else:
                        word = (~left[i, line] | right[j, line]) & judge.care[line]
                    verdict[line] = word
                    missed += _cost(judge.good[line] & ~word, line, judge)
                    passed += _cost(word & ~judge.good[line], line, judge)
                    if missed + passed > bound:
                        break
                if missed + passed <= bound:
                    origin[3], origin[4] = left_ids[i], right_ids[j]
                    _accept_pair(verdict, missed, passed, length, gaps, origin, judge, bounds, tighten, hits)


@compiled
def score_word_pairs(
    op: int, mode: int, window: int, content: Any, lefts: Any, rights: Any, symmetric: bool, first: int, last: int,
    frame: Any, lengths: Any, gaps: Any, origin: Any, longer: int, judge: Any, bounds: Any, tighten: bool, hits: Any,
    like: Any,
) -> None:  # fmt: skip
    """Scores `left op right` seen through a window, somewhere or everywhere: all lefts, rights `first` to `last`.

    `window` is the address of the samples looked at from the last one.
    """
    base, row = content.ctypes.data, content.shape[1] * 8
    lines, top = len(judge.good), frame.bits - 1
    block = max(1, NEAR // row)
    verdict = np.empty(lines, np.uint64)
    flip = ~np.uint64(0) if mode == ALL else np.uint64(0)
    for start in range(first, last, block):
        for i in range(len(lefts)):
            left = base + lefts[i] * row
            for j in range(max(i, start) if symmetric else start, min(start + block, last)):
                right = base + rights[j] * row
                length = lengths[lefts[i]] + lengths[rights[j]] + longer
                bound = bounds[length]
                missed = passed = 0.0
                for line in range(lines):
                    seen, carry = l.nothing(like), l.nothing(like)
                    for word in range(frame.words):
                        at = word * frame.places + line * l.LANES
                        if op in (WEAK_SINCE, TRIGGER):
                            valid = l.load(frame.valid, at, like)
                            x = apply_weak(op, l.load(left, at, like), l.load(right, at, like), valid, carry)
                        else:
                            x = apply_binary(op, l.load(left, at, like), l.load(right, at, like), carry)
                        carry = l.earlier(x, top)
                        in_window = l.load(window, at, like)
                        if (mode == ANY) == (op not in NEGATED):
                            seen = l.either(seen, l.both(x, in_window))
                        else:
                            seen = l.either(seen, l.but_not(in_window, x))
                    holds = (l.somewhere(seen) ^ flip) & judge.care[line]
                    verdict[line] = holds
                    missed += _cost(judge.good[line] & ~holds, line, judge)
                    passed += _cost(holds & ~judge.good[line], line, judge)
                    if missed + passed > bound:
                        break
                if missed + passed <= bound:
                    origin[3], origin[4] = lefts[i], rights[j]
                    _accept_pair(verdict, missed, passed, length, gaps, origin, judge, bounds, tighten, hits)


@compiled
def costs(bits: Any, judge: Any, missed: Any, passed: Any) -> None:
    """The weight of good traces that each set of verdicts judges bad, and of bad ones that it judges good."""
    for k in range(len(bits)):
        missed[k] = passed[k] = 0.0
        for line in range(bits.shape[1]):
            missed[k] += _cost(judge.good[line] & ~bits[k, line], line, judge)
            passed[k] += _cost(bits[k, line] & ~judge.good[line], line, judge)


@compiled
def view_rows(mode: int, window: int, content: Any, ids: Any, frame: Any, care: Any, out: Any, like: Any) -> None:
    """Writes to `out`, one bit a trace, whether each row holds somewhere or everywhere in the window."""
    base, row = content.ctypes.data, content.shape[1] * 8
    for k in range(len(ids)):
        _view_row(mode, window, base + ids[k] * row, frame, care, out[k], like)


@njit(nogil=True)
def _view_row(mode: int, window: int, inner: int, frame: Any, care: Any, out: Any, like: Any) -> None:
    for line in range(len(care)):
        seen = l.nothing(like)
        for word in range(frame.words):
            at = word * frame.places + line * l.LANES
            x, in_window = l.load(inner, at, like), l.load(window, at, like)
            seen = l.either(seen, l.both(x, in_window) if mode == ANY else l.but_not(in_window, x))
        holds = l.somewhere(seen)
        out[line] = (~holds if mode == ALL else holds) & care[line]


@compiled
def score_singles(
    content: Any, ids: Any, first: int, last: int, arounds: Any, inners: Any, spans: Any, frame: Any, lengths: Any,
    gaps: Any, longer: int, judge: Any, bounds: Any, tighten: bool, hits: Any, work: int, like: Any,
) -> None:  # fmt: skip
    """Scores `around (inner row)` of rows `first` to `last`.

    `arounds` has rows of (operator or -1, its window's number, the address of that window), `inners` of (operator,
    its window's number); `spans[i]` are the spans of inner i, from the first with an end below -1 on unused.
    `work` is the address of three rows. (An array made here would be given back while its address is in use.)
    """
    base, row = content.ctypes.data, content.shape[1] * 8
    verdict, origin = np.empty(len(judge.good), np.uint64), np.empty(6, np.int64)
    origin[4] = -1
    for k in range(first, last):
        length = lengths[ids[k]] + longer
        for i in range(len(inners)):
            inner, op = base + ids[k] * row, inners[i, 0]
            if op != ATOM:
                count = 0
                while count < spans.shape[1] and spans[i, count, 1] >= -1:
                    count += 1
                write_unary(
                    op, inner, spans[i, :count], frame.valid, work, work + row, frame.words, frame.places, frame.bits,
                    like,
                )  # fmt: skip
                inner = work
            for j in range(len(arounds)):
                mode = ALL if arounds[j, 0] == HISTORICALLY else ANY
                _view_row(mode, arounds[j, 2], inner, frame, judge.care, verdict, like)
                error = _error(verdict, judge, bounds[length])
                if error <= bounds[length]:
                    origin[0], origin[1], origin[2] = arounds[j, 0], arounds[j, 1], op
                    origin[3], origin[5] = ids[k], inners[i, 1]
                    _accept(verdict, error, length, gaps[ids[k]], origin, bounds, tighten, hits)


@compiled
def score_listed_bits(
    lefts: Any, rights: Any, op: int, left: Any, left_ids: Any, right: Any, right_ids: Any, lengths: Any, gaps: Any,
    origin: Any, longer: int, judge: Any, bounds: Any, tighten: bool, hits: Any,
) -> None:  # fmt: skip
    """Pairs of verdicts; `lefts` and `rights` are their numbers on either side."""
    for k in range(len(lefts)):
        i, j = lefts[k], rights[k]
        score_bit_pairs(
            op, left[i : i + 1], left_ids[i : i + 1], right[j : j + 1], right_ids[j : j + 1], False, 0, 1, lengths,
            gaps, origin, longer, judge, bounds, tighten, hits,
        )  # fmt: skip


@compiled
def score_listed_words(
    lefts: Any, rights: Any, op: int, mode: int, window: int, content: Any, left_ids: Any, right_ids: Any, frame: Any,
    lengths: Any, gaps: Any, origin: Any, longer: int, judge: Any, bounds: Any, tighten: bool, hits: Any, like: Any,
) -> None:  # fmt: skip
    """Pairs that have to be looked at sample by sample."""
    for k in range(len(lefts)):
        i, j = lefts[k], rights[k]
        score_word_pairs(
            op, mode, window, content, left_ids[i : i + 1], right_ids[j : j + 1], False, 0, 1, frame, lengths, gaps,
            origin, longer, judge, bounds, tighten, hits, like,
        )  # fmt: skip
