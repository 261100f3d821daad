"""Kernels that count hits and false alarms of millions of rules, as bits.

A rule is a row of words, one bit for each sample that counts: those without a fault in the first `calm` words, those
with one in the others. A rule that holds more often has more hits and more false alarms, so both counts of a union are
at least those of its parts, and both counts of a conjunction at most those of its parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..learners.enumerative.word_vectors import popcount

EPS = 1e-9


class ErrorCosts(NamedTuple):
    """What an error costs, and where the faulty samples are."""

    calm: int
    """Words of samples without a fault."""
    faults: int
    miss: float
    alarm: float
    most_alarms: float


@njit(nogil=True)
def gather_bits(content: Any, ids: Any, at: Any, out: Any) -> None:
    """Copy bit `at[k]` of each row to bit k; none where it is below 0."""
    for i in range(len(ids)):
        row = content[ids[i]]
        for k in range(len(at)):
            if at[k] >= 0:
                bit = (row[at[k] >> 6] >> np.uint64(at[k] & 63)) & np.uint64(1)
                out[i, k >> 6] |= bit << np.uint64(k & 63)


@njit(nogil=True)
def count_samples(rows: Any, covered: Any, calm: int, hits: Any, alarms: Any) -> None:
    """The hits and false alarms that each row adds to what is covered."""
    for i in range(len(rows)):
        new_alarms, new_hits = 0, 0
        for word in range(rows.shape[1]):
            new = popcount(rows[i, word] & ~covered[word])
            if word < calm:
                new_alarms += new
            else:
                new_hits += new
        alarms[i], hits[i] = new_alarms, new_hits


@njit(nogil=True, inline="always")
def _cost(a: Any, b: Any, covered: Any, union: bool, prices: Any, bound: float) -> float:
    """Of `a & b`, or of `a | b`, together with what is covered; infinite where it exceeds the bound or the limit."""
    alarms = 0
    for word in range(prices.calm):
        bits = (a[word] | b[word]) if union else (a[word] & b[word])
        alarms += popcount(bits | covered[word])
    if alarms > prices.most_alarms or prices.alarm * alarms > bound:
        return np.inf
    hits = 0
    for word in range(prices.calm, len(a)):
        bits = (a[word] | b[word]) if union else (a[word] & b[word])
        hits += popcount(bits | covered[word])
    return prices.alarm * alarms + prices.miss * (prices.faults - hits)


@njit(nogil=True)
def cheapest_rules(
    left: Any, right: Any, lone: bool, symmetric: bool, first: int, last: int, gains: Any, gaps: Any, kinds: Any,
    covered: Any, base: float, prices: Any, best: Any, winner: Any,
) -> None:  # fmt: skip
    """The cheapest of `left & right` with what is covered, of each kind: lefts `first` to `last`, all rights; or `lone`
    lefts.

    `gains[side][i]` is what the hits that a row adds are worth, `base` the cost of what is covered; where both sides
    are one family (`symmetric`) each pair is evaluated once. `best[kind of left, kind of right]` is (cost, gap) so far,
    of equals the widest gap wins; `winner` is (left, right).
    """
    for i in range(first, last):
        for j in range(i if lone or symmetric else 0, i + 1 if lone else len(right)):
            so_far = best[kinds[0][i], kinds[1][j]]
            least = base - min(gains[0][i], gains[1][j])
            if least > so_far[0] + EPS:
                continue
            gap = min(gaps[0][i], gaps[1][j])
            cost = _cost(left[i], right[j], covered, False, prices, so_far[0] + EPS)
            if cost < so_far[0] - EPS or (cost <= so_far[0] + EPS and gap > so_far[1]):
                so_far[0], so_far[1] = cost, gap
                winner[kinds[0][i], kinds[1][j], 0], winner[kinds[0][i], kinds[1][j], 1] = i, j


@njit(nogil=True)
def collect_rules(
    left: Any, right: Any, lone: bool, symmetric: bool, first: int, last: int, nothing: Any, prices: Any, spare: float,
    bound: float, out: Any, count: int,
) -> int:  # fmt: skip
    """All of `left & right` that may be half of a pair of rules that costs less than the bound.

    The other half is worth `spare` at most. Their number is returned, which may be more than fit into `out`.
    """
    for i in range(first, last):
        for j in range(i if lone or symmetric else 0, i + 1 if lone else len(right)):
            cost = _cost(left[i], right[j], nothing, False, prices, bound)
            if cost - spare < bound:
                if count < len(out):
                    out[count, 0], out[count, 1] = i, j
                count += 1
    return count


@njit(nogil=True)
def cheapest_pair(
    rows: Any, hits: Any, alarms: Any, nothing: Any, first: int, last: int, prices: Any, best: Any, winner: Any
) -> int:
    """The cheapest two rows together, the first of them `first` to `last`; rows have falling hits.

    Returns how many pairs had to be evaluated.
    """
    evaluated = 0
    for i in range(first, last):
        for j in range(i + 1, len(rows)):
            missed = prices.miss * max(prices.faults - hits[i] - hits[j], 0)
            if missed + prices.alarm * alarms[i] >= best[0] - EPS:
                break  # the hits of those behind are fewer still
            if missed + prices.alarm * alarms[j] >= best[0] - EPS:
                continue
            evaluated += 1
            cost = _cost(rows[i], rows[j], nothing, True, prices, best[0])
            if cost < best[0] - EPS:
                best[0] = cost
                winner[0], winner[1] = i, j
    return evaluated
