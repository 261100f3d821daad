"""Temporal operators on bit-packed traces: the words of a formula from the words of its parts.

    Once           x | -x: every bit from the lowest set one on
    Historically   not Once not
    Since          the carries of an addition: a bit of `right` sets off a carry, a run of `left` hands it on
    Trigger        not (not left Since not right)
    WeakSince      right Trigger (left or right)
    a window       the signal ored with itself moved on, each move twice as far as the last

All look back. What a word hands on to the next is a carry; so the traces may be of any length.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from . import word_vectors as l

ATOM, AND, OR, SINCE, NOT_SINCE, IMPLIES, ONCE, HISTORICALLY, NOT, WEAK_SINCE, TRIGGER = range(11)
"""What made a behaviour; ATOM is whatever was there from the start."""
SYMMETRIC = (AND, OR)
NEGATED = (NOT_SINCE, WEAK_SINCE, TRIGGER)
"""Worked out as a Since, of which they are the negation."""


@njit(nogil=True, inline="always")
def since(left: Any, right: Any, carry: Any) -> Any:
    """`right | left & (what held one sample ago)`; `carry`, 0 or 1, is what held at the end of the word before.

    The sum of `left | right` and `right` has a carry into a sample exactly where Since held one sample ago.
    """
    either = l.either(left, right)
    total = l.plus(l.plus(either, right), carry)
    before = l.differ(l.differ(total, either), right)
    return l.either(right, l.both(left, before))


@njit(nogil=True, inline="always")
def once(inner: Any, carry: Any) -> Any:
    """`carry` is all ones where it held in a word before."""
    return l.either(l.either(inner, l.negate(inner)), carry)


@njit(nogil=True, inline="always")
def apply_binary(op: int, left: Any, right: Any, carry: Any) -> Any:
    """A word of a binary operator; `carry` is for Since. Of NOT_SINCE it is the Since, from which the carry comes."""
    if op == AND:
        return l.both(left, right)
    if op == OR:
        return l.either(left, right)
    if op in (SINCE, NOT_SINCE):
        return since(left, right, carry)
    return l.either(l.invert(left), right)


@njit(nogil=True, inline="always")
def apply_weak(op: int, left: Any, right: Any, valid: Any, carry: Any) -> Any:
    """The negation of a word of WEAK_SINCE or TRIGGER, a Since of what does not hold at samples that there are."""
    hold, goal = (right, l.either(left, right)) if op == WEAK_SINCE else (left, right)
    return since(l.but_not(valid, hold), l.but_not(valid, goal), carry)


@njit(nogil=True)
def write_binary(
    op: int, left: int, right: int, valid: int, out: int, words: int, places: int, bits: int, like: Any
) -> None:
    """Writes `left op right` of every trace to `out`; addresses of rows, `valid` the samples that there are."""
    for first in range(0, places, l.LANES):
        carry = l.nothing(like)
        for word in range(words):
            at = word * places + first
            one, two = l.load(left, at, like), l.load(right, at, like)
            if op in (WEAK_SINCE, TRIGGER):
                result = apply_weak(op, one, two, l.load(valid, at, like), carry)
            else:
                result = apply_binary(op, one, two, carry)
            carry = l.earlier(result, bits - 1)
            if op in NEGATED:
                result = l.invert(result)
            l.store(out, at, l.both(result, l.load(valid, at, like)))


@njit(nogil=True)
def write_unary(
    op: int, inner: int, spans: Any, valid: int, out: int, spare: int, words: int, places: int, bits: int, like: Any
) -> None:
    """Writes `op inner` to `out`: NOT, or ONCE or HISTORICALLY over the spans, `[span, (start, end)]`, end -1 for all.

    `spare` is the address of two more rows.
    """
    for first in range(0, places, l.LANES):
        for word in range(words):
            at = word * places + first
            x = l.load(inner, at, like)
            if op != ONCE:  # of Historically, the negation is worked on
                x = l.but_not(l.load(valid, at, like), x)
            l.store(spare, at, x)
            l.store(out, at, x if op == NOT else l.nothing(like))
        if op == NOT:
            continue
        for span in range(len(spans)):
            _window(spare, spare + words * places * (bits // 8), first, spans[span, 0], spans[span, 1], words, places,
                    bits, like, out)  # fmt: skip
        for word in range(words):
            at = word * places + first
            x = l.load(out, at, like)
            if op == HISTORICALLY:
                x = l.invert(x)
            l.store(out, at, l.both(x, l.load(valid, at, like)))


@njit(nogil=True)
def _window(
    inner: int, work: int, first: int, start: int, end: int, words: int, places: int, bits: int, like: Any, out: int
) -> None:
    """Ors into `out` where `inner` held at some sample from `start` to `end` ago."""
    carry = l.nothing(like)
    for word in range(words):
        at = word * places + first
        x = l.load(inner, at, like)
        if end < 0:
            x = once(x, carry)
            carry = l.arithmetic_shift(x, bits - 1)
        l.store(work, at, x)
    if end >= 0:
        have, wanted = 1, end - start + 1
        while have < wanted:
            step = min(have, wanted - have)
            for word in range(words - 1, -1, -1):  # from the last, so that what is read is not yet changed
                at = word * places + first
                l.store(work, at, l.either(l.load(work, at, like), _shift(work, word, step, first, places, bits, like)))
            have += step
    for word in range(words):
        at = word * places + first
        l.store(out, at, l.either(l.load(out, at, like), _shift(work, word, start, first, places, bits, like)))


@njit(nogil=True)
def _shift(row: int, word: int, by: int, first: int, places: int, bits: int, like: Any) -> Any:
    """The word of the signal as it was `by` samples ago."""
    words, part = by // bits, by % bits
    shifted = l.nothing(like)
    if word - words >= 0:
        shifted = l.later(l.load(row, (word - words) * places + first, like), part)
    if part > 0 and word - words - 1 >= 0:
        rest = l.earlier(l.load(row, (word - words - 1) * places + first, like), bits - part)
        shifted = l.either(shifted, rest)
    return shifted
