"""How many samples rules hit and at how many they cry wrongly: by the million, without keeping them.

A rule is a row of words, one bit for each sample that counts: those without a fault in the first `calm` words, those
with one in the others. To hold more often hits more and cries more, so both counts of a union are at least those of
its parts, and both counts of a conjunction at most those of its parts.
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
    """Bit number `at[k]` of each row to bit k; nothing where it is below 0."""
    for i in range(len(ids)):
        row = content[ids[i]]
        for k in range(len(at)):
            if at[k] >= 0:
                bit = (row[at[k] >> 6] >> np.uint64(at[k] & 63)) & np.uint64(1)
                out[i, k >> 6] |= bit << np.uint64(k & 63)


@njit(nogil=True)
def count_samples(rows: Any, covered: Any, calm: int, hits: Any, alarms: Any) -> None:
    """Of each row, what it adds to what is covered."""
    for i in range(len(rows)):
        some, many = 0, 0
        for word in range(rows.shape[1]):
            new = popcount(rows[i, word] & ~covered[word])
            if word < calm:
                some += new
            else:
                many += new
        alarms[i], hits[i] = some, many


@njit(nogil=True, inline="always")
def _cost(a: Any, b: Any, covered: Any, union: bool, prices: Any, bound: float) -> float:
    """Of `a & b`, or of `a | b`, together with what is covered; infinite where it exceeds the bound or the limit."""
    alarms = 0
    for word in range(prices.calm):
        met = (a[word] | b[word]) if union else (a[word] & b[word])
        alarms += popcount(met | covered[word])
    if alarms > prices.most_alarms or prices.alarm * alarms > bound:
        return np.inf
    hits = 0
    for word in range(prices.calm, len(a)):
        met = (a[word] | b[word]) if union else (a[word] & b[word])
        hits += popcount(met | covered[word])
    return prices.alarm * alarms + prices.miss * (prices.faults - hits)


@njit(nogil=True)
def cheapest_rules(
    left: Any, right: Any, lone: bool, paired: bool, first: int, last: int, gains: Any, gaps: Any, kinds: Any,
    covered: Any, base: float, prices: Any, best: Any, winner: Any,
) -> None:  # fmt: skip
    """The cheapest of `left & right` with what is covered, of each kind: lefts `first` to `last`, all rights; or `lone`
    lefts.

    `gains[side][i]` is what the hits that a row adds are worth, `base` the cost of what is covered; of `paired` sides
    each pair is looked at once. `best[kind of left, kind of right]` is (cost, gap) so far, of equals the widest gap
    wins; `winner` is (left, right).
    """
    for i in range(first, last):
        for j in range(i if lone or paired else 0, i + 1 if lone else len(right)):
            here = best[kinds[0][i], kinds[1][j]]
            least = base - min(gains[0][i], gains[1][j])
            if least > here[0] + EPS:
                continue
            gap = min(gaps[0][i], gaps[1][j])
            cost = _cost(left[i], right[j], covered, False, prices, here[0] + EPS)
            if cost < here[0] - EPS or (cost <= here[0] + EPS and gap > here[1]):
                here[0], here[1] = cost, gap
                winner[kinds[0][i], kinds[1][j], 0], winner[kinds[0][i], kinds[1][j], 1] = i, j


@njit(nogil=True)
def collect_rules(
    left: Any, right: Any, lone: bool, paired: bool, first: int, last: int, nothing: Any, prices: Any, spare: float,
    bound: float, found: Any, count: int,
) -> int:  # fmt: skip
    """All of `left & right` that may be half of a pair of rules that costs less than the bound.

    The other half is worth `spare` at most. Gives their number, which may be more than fit into `found`.
    """
    for i in range(first, last):
        for j in range(i if lone or paired else 0, i + 1 if lone else len(right)):
            cost = _cost(left[i], right[j], nothing, False, prices, bound)
            if cost - spare < bound:
                if count < len(found):
                    found[count, 0], found[count, 1] = i, j
                count += 1
    return count


@njit(nogil=True)
def cheapest_pair(
    rows: Any, hits: Any, alarms: Any, nothing: Any, first: int, last: int, prices: Any, best: Any, winner: Any
) -> int:
    """The cheapest two rows together, the first of them `first` to `last`; rows have falling hits.

    Gives how many pairs had to be looked at.
    """
    looked = 0
    for i in range(first, last):
        for j in range(i + 1, len(rows)):
            missed = prices.miss * max(prices.faults - hits[i] - hits[j], 0)
            if missed + prices.alarm * alarms[i] >= best[0] - EPS:
                break  # the hits of those behind are fewer still
            if missed + prices.alarm * alarms[j] >= best[0] - EPS:
                continue
            looked += 1
            cost = _cost(rows[i], rows[j], nothing, True, prices, best[0])
            if cost < best[0] - EPS:
                best[0] = cost
                winner[0], winner[1] = i, j
    return looked
