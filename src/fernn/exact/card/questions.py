"""What is asked of pairs, brought to what the kernels ask: words turned around, and what a yes adds to the errors.

O (a & b)           some sample has a and b                      met
H (a | b)           none has neither                             not met
H (a -> b)          none has a without b                         not met
a S b               b was later than the last sample without a   met
H (a S b)           a or b everywhere, and b at first            not met
O (a S b)           some sample has b                            met
a & b, a | b, ...   verdicts alone, thirty-two traces a word
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..jobs import EVER, NOW
from ..operators import AND, IMPLIES, NOT_SINCE, OR, SINCE
from ..packed import Bits, Words
from ..scoring import ALL, ANY, Judge
from ..shelf import Ids
from .content import Content, latest
from .tiles import BITS, LATER, LOOK, MEETS, TILES, sizes
from .weights import Ints, Units

MOST_PLANES = 30


@dataclass(frozen=True, eq=False)
class Question:
    """`left` and `right` are sides; the rest as in `kernels.scout`."""

    kind: int
    left: Any
    right: Any
    weight: Ints
    passing: Ints
    base: Ints
    base_passing: Ints
    looked: Any = None
    should: Ints | None = None
    counts: Ints | None = None
    words: int = 1
    turned: bool = False


class Asking:
    """The questions of one search."""

    def __init__(self, content: Content, units: Units, judge: Judge) -> None:
        self.content, self.units = content, units
        places = np.unpackbits(np.ascontiguousarray(judge.good).view(np.uint8), bitorder="little").astype(bool)
        self.good = places[content.order]
        self.each = units.each[content.order]
        self.judge = judge

    def of_words(self, op: int, mode: int, window: int, mask: Words, left: Ids, right: Ids) -> Question | None:
        """`left op right` seen through a window, somewhere or everywhere; None for what bits can say."""
        content = self.content
        lefts, rights, _ = sizes(MEETS, LOOK, LATER)
        a, b = content.side(left, lefts), content.side(right, rights)
        looked = content.of_words(mask)
        kind, turned = MEETS, False
        traces = content.traces
        flip = mode == ALL
        if (op, mode) == (AND, ANY):
            a[:traces] &= looked
        elif (op, mode) == (OR, ALL):
            a[:traces] = ~a[:traces] & looked
            b = ~b
        elif (op, mode) == (IMPLIES, ALL):
            a[:traces] &= looked
            b = ~b
        elif op not in (SINCE, NOT_SINCE):
            return None
        elif window == NOW:
            kind, flip = LATER, op == NOT_SINCE
            a[:traces] = ~a[:traces] & content.valid
            a, b = latest(a).clamp_(min=1), latest(b)
        elif window == EVER and (mode == ANY) == (op == SINCE):
            a[:traces] = content.valid
        elif window == EVER:
            a[:traces] = ~a[:traces] & content.valid
            a[:, 0] |= 1
            b = ~b
        else:
            kind, turned = LOOK, (mode == ANY) != (op == SINCE)
        return Question(
            kind, a, b, *self._yes(flip, TILES[kind].chunk), self._padded(looked) if kind == LOOK else None,
            words=1 if kind == LATER else content.words, turned=turned,
        )  # fmt: skip

    def _padded(self, looked: Any) -> Any:
        import torch

        whole = torch.zeros((self.content.padded, self.content.words), dtype=looked.dtype, device=looked.device)
        whole[: self.content.traces] = looked[:, :, 0]
        return whole

    def _yes(self, flip: bool, step: int) -> tuple[Ints, Ints, Ints, Ints]:
        """What a yes adds to errors and to bad traces judged good, and what both have without; `flip`: yes is no."""
        sign = -1 if flip else 1
        bad = np.where(self.good, 0, self.each)
        weight, passing = sign * np.where(self.good, -self.each, self.each), sign * bad
        base, base_passing = (bad, bad) if flip else (self.each - bad, 0 * bad)
        rounds = self.content.padded // step
        sums = _summed(base, rounds, step), _summed(base_passing, rounds, step)
        return self._filled(weight), self._filled(passing), *sums

    def _filled(self, values: Any) -> Ints:
        return np.pad(values, (0, self.content.padded - len(values))).astype(np.int32)

    def of_bits(self, op: int, left: Bits, right: Bits) -> Question:
        """`left & right`, `left | right` or `left -> right` of verdicts. Words whose traces weigh differently are asked
        several times, once for each binary digit of the weights."""
        turned = op != AND  # a | b is not (not a and not b), a -> b is not (a and not b)
        good = np.ascontiguousarray(self.judge.good).view(np.uint32)
        at, masks, worth = self._asked_words
        lefts, rights, step = sizes(BITS)
        rounds = -(-len(at) // step)
        spare = rounds * step - len(at)
        should = good[at] ^ np.uint32(0xFFFFFFFF if turned else 0)
        weight, should, counts, passing = (
            np.pad(values, (0, spare)) for values in (worth, should, masks, masks & ~good[at])
        )
        none = np.zeros(rounds + 1, np.int32)
        a = self._placed(left, at, spare, lefts, op == OR)
        b = self._placed(right, at, spare, rights, turned)
        return Question(
            BITS, a, b, weight.astype(np.int32), passing.view(np.int32), none, none, None, should.view(np.int32),
            counts.view(np.int32), turned=turned,
        )  # fmt: skip

    @cached_property
    def _asked_words(self) -> tuple[Any, Any, Any]:
        return _planes(self.units.each.reshape(-1, 32), np.ascontiguousarray(self.judge.care).view(np.uint32))

    def _placed(self, bits: Bits, at: Any, spare: int, multiple: int, inverted: bool) -> Any:
        """`[word asked, 1, row]`"""
        import torch

        device = self.content.device
        rows = torch.from_numpy(np.ascontiguousarray(bits).view(np.int32)).to(device)
        made = rows.t().index_select(0, torch.from_numpy(at).to(device))
        made = ~made if inverted else made
        width = -(-len(bits) // multiple) * multiple
        whole = torch.zeros((len(at) + spare, 1, width), dtype=torch.int32, device=device)
        whole[: len(at), 0, : len(bits)] = made
        return whole


def _summed(values: Any, rounds: int, step: int) -> Ints:
    """`[round]`: the sum over all traces of the rounds before; the last is that of all."""
    filled = np.pad(values, (0, rounds * step - len(values))).reshape(rounds, step)
    return np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int32)


def _planes(each: Any, care: Any) -> tuple[Any, Any, Any]:
    """Words to be asked, which of their bits count, and for how much; weights are `[word, bit]`."""
    at: list[int] = []
    masks: list[int] = []
    worth: list[int] = []
    for word, weights in enumerate(each):
        if not care[word]:
            continue
        here = weights[: int(care[word]).bit_count()]
        if (here == here[0]).all():
            rows = [(int(care[word]), int(here[0]))]
        else:
            bits = ((here[:, None] >> np.arange(MOST_PLANES)) & 1).astype(np.uint64)
            planes = (bits << np.arange(len(here), dtype=np.uint64)[:, None]).sum(axis=0)
            rows = [(int(plane), 1 << digit) for digit, plane in enumerate(planes.tolist()) if plane]
        at += [word] * len(rows)
        masks += [mask for mask, _ in rows]
        worth += [weight for _, weight in rows]
    return np.array(at, np.int64), np.array(masks, np.uint32), np.array(worth, np.int64)
