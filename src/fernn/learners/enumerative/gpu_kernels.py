"""Triton kernels of the prefilter: which pairs of a tile of lefts and rights may err no more than a bound.

A program goes through the traces and adds up what each pair of its tile errs, a whole number in a register. It ends
as soon as all of them err too much. What a pair is asked of each trace:

    MEETS   whether some word of left and the same word of right have a bit in common
    SINCE   whether `left S right` shows, or is missing, somewhere in a window
    LATER   whether the number of right is at least that of left
    BITS    thirty-two traces at once: in how many of them `left & right` is not what it should be

All operators are brought to these by turning words around before (`gpu_prefilter.py`).
"""

from __future__ import annotations

import triton
import triton.language as tl

MEETS, SINCE, LATER, BITS = (tl.constexpr(kind) for kind in range(4))
ONE = tl.constexpr(1)
FAR = tl.constexpr(1 << 30)
"""What a pair errs that is none: beyond the edge, or the same pair the other way around."""


@triton.jit
def load_words(at, WIDE: tl.constexpr):
    return tl.load(at).to(tl.uint64 if WIDE else tl.uint32, bitcast=True)


@triton.jit
def count_ones(x):
    """How many bits of a word of 32 are set; LLVM knows these lines and makes them one instruction."""
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) >> 24).to(tl.int32)


@triton.jit
def query_trace(
    left, right, looked, row, pitch_left, pitch_right,
    KIND: tl.constexpr, WORDS: tl.constexpr, WIDE: tl.constexpr, TURNED: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr,
):  # fmt: skip
    """One trace of all pairs of the tile: 1 where the answer is yes."""
    i, j = tl.arange(0, LEFT)[:, None], tl.arange(0, RIGHT)[None, :]
    if KIND == LATER:
        yes = (tl.load(right + row * pitch_right + j) >= tl.load(left + row * pitch_left + i)).to(tl.int32)
    else:
        TOP: tl.constexpr = 63 if WIDE else 31
        met = tl.zeros([LEFT, RIGHT], tl.uint32)
        carry = tl.zeros([LEFT, RIGHT], tl.uint64 if WIDE else tl.uint32)
        for word in range(WORDS):
            at = row * WORDS + word
            a, b = load_words(left + at * pitch_left + i, WIDE), load_words(right + at * pitch_right + j, WIDE)
            if KIND == MEETS:
                x = a & b
            else:  # as in `operators.since`
                either = a | b
                x = b | (a & ((either + b + carry) ^ either ^ b))
                carry = x >> TOP
                shown = load_words(looked + at, WIDE)
                x &= shown
                if TURNED:
                    x ^= shown
            met |= x.to(tl.uint32)
            if WIDE:
                met |= (x >> 32).to(tl.uint32)
        yes = tl.minimum(met, 1).to(tl.int32)
    return yes


@triton.jit
def prefilter_pairs(
    left, right, looked, weight, passing, should, counts, base, base_passing, bounds, lengths_left, lengths_right,
    tiles, found, state, lefts, first, last, pitch_left, pitch_right, rounds, longer, shortest, longest, room, slack,
    most_missed, most_passed, sure_missed, sure_passed,
    KIND: tl.constexpr, WORDS: tl.constexpr, WIDE: tl.constexpr, TURNED: tl.constexpr, LIMITS: tl.constexpr,
    TIGHTEN: tl.constexpr, PAIRED: tl.constexpr, MIXED: tl.constexpr, WRITE: tl.constexpr, LENGTHS: tl.constexpr,
    LEFT: tl.constexpr, RIGHT: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """First every tile: those with pairs within the bounds go to `tiles`, `state[0]` of them; to TIGHTEN, the least
    error that is met becomes the bound. Then, to WRITE, these tiles again: `found` gets `right << 32 | left` of each
    pair within the bounds, in no order, `state[1]` of them; they may be more than there is room for.

    Sides are `[trace, word, row]`; rights are numbers `first` to `last` of all, in columns from 0 on.
    `weight[trace]` is what a yes adds to the errors, `base[round]` what all traces up to there add whatever the
    answers; `passing` and `base_passing` are the same for bad traces judged good. Of BITS, `counts` are the bits that
    count, `should` what they should be, and `passing` those of bad traces, which are judged good where
    `left & right` is not TURNED. `bounds` are by length. A bound that is met holds for what errs `slack` more.
    """
    lengths = tl.arange(0, LENGTHS)
    fits = (lengths >= shortest) & (lengths <= longest)
    di, dj = tl.arange(0, LEFT)[:, None], tl.arange(0, RIGHT)[None, :]
    across = (lefts + LEFT - 1) // LEFT
    turn, turns = tl.program_id(0), tl.program_id(0) + 1
    if WRITE:
        turns = tl.load(state).to(tl.int32)
    while turn < turns:
        tile = turn
        if WRITE:
            tile = tl.load(tiles + turn)
        i0, j0 = (tile % across) * LEFT, (tile // across) * RIGHT
        is_pair = (i0 + di < lefts) & (j0 + dj < last - first)
        if PAIRED:
            is_pair &= j0 + dj + first >= i0 + di
        error = tl.where(is_pair, 0, FAR)
        passed = tl.zeros([LEFT, RIGHT], tl.int32)
        bound = tl.max(tl.load(bounds + lengths, mask=fits, other=-1, volatile=True))
        done = 0
        alive = bound >= 0
        if PAIRED:
            alive &= j0 + RIGHT + first > i0
        while alive:
            for step in range(CHUNK):
                row = (done * CHUNK + step).to(tl.int64)
                if KIND == BITS:
                    x = load_words(left + i0 + row * pitch_left + di, False)
                    x &= load_words(right + j0 + row * pitch_right + dj, False)
                    wrong = (x ^ load_words(should + row, False)) & load_words(counts + row, False)
                    error += count_ones(wrong) * tl.load(weight + row)
                    if LIMITS:
                        bad = load_words(passing + row, False)
                        x &= bad
                        if TURNED:
                            x ^= bad
                        passed += count_ones(x) * tl.load(weight + row)
                else:
                    yes = query_trace(
                        left + i0,
                        right + j0,
                        looked,
                        row,
                        pitch_left,
                        pitch_right,
                        KIND,
                        WORDS,
                        WIDE,
                        TURNED,
                        LEFT,
                        RIGHT,
                    )
                    error += yes * tl.load(weight + row)
                    if LIMITS:
                        passed += yes * tl.load(passing + row)
            done += 1
            # Warps may read different bounds. What all of them go by is the one result of a reduction.
            bound = tl.max(tl.load(bounds + lengths, mask=fits, other=-1, volatile=True))
            alive = (done < rounds) & (tl.min(error - bound) + tl.load(base + done) <= 0)
        if done == rounds:
            error += tl.load(base + rounds)
            hit = is_pair & (error <= bound)
            missed = error
            if LIMITS:
                passed += tl.load(base_passing + rounds)
                missed = error - passed
                hit &= (missed <= most_missed) & (passed <= most_passed)
            if WRITE:
                own = tl.load(lengths_left + i0 + di) + tl.load(lengths_right + j0 + dj) + longer
                hit &= error <= tl.load(bounds + own, mask=hit, other=-1)
                if tl.max(hit.to(tl.int32)) > 0:
                    place = tl.atomic_add(state + 1 + tl.zeros([LEFT, RIGHT], tl.int32), ONE, mask=hit, sem="relaxed")
                    code = (j0 + dj + first).to(tl.int64) << 32 | (i0 + di).to(tl.int64)
                    tl.store(found + place, code, mask=hit & (place < room))
            else:
                if TIGHTEN:
                    sure = hit
                    if LIMITS:
                        sure &= (missed <= sure_missed) & (passed <= sure_passed)
                    if MIXED:
                        own = tl.load(lengths_left + i0 + di) + tl.load(lengths_right + j0 + dj) + longer
                        length = shortest
                        while length <= longest:
                            least = tl.min(tl.where(sure & (own == length), error, FAR)) + slack
                            met = least + tl.zeros([LENGTHS], tl.int32)
                            tl.atomic_min(bounds + lengths, met, mask=lengths >= length)
                            length += 1
                    else:
                        met = tl.min(tl.where(sure, error, FAR)) + slack + tl.zeros([LENGTHS], tl.int32)
                        tl.atomic_min(bounds + lengths, met, mask=lengths >= longest)
                if tl.max(hit.to(tl.int32)) > 0:
                    tl.store(tiles + tl.atomic_add(state, ONE, sem="relaxed"), tile)
        turn += tl.num_programs(0)
