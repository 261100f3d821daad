"""The card of one search: what is on it, and which jobs are worth its while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.card import opened
from ..packed import Words
from ..scoring import BLOCK, NEAR, Judge
from ..shelf import Ids, Shelf
from ..views import Side
from .content import Content
from .launching import Launch
from .questions import Asking, Question
from .scout import Scout
from .tiles import LATER, LOOK, MEETS, sizes
from .weights import units

WORTH = 1 << 25
"""Bytes of words from which on a job is asked about; less is done before the card has begun."""


class Card:
    """Words go to the card when a job first needs them."""

    def __init__(self, device: Any, shelf: Shelf) -> None:
        self.device, self.shelf = device, shelf
        self._known: Asking | None = None

    def _asking(self, judge: Judge) -> Asking:
        """Limits apart, a search has one judge."""
        if self._known is None:
            good = np.unpackbits(np.ascontiguousarray(judge.good).view(np.uint8), bitorder="little").astype(bool)
            content = Content(self.shelf, self.device, good, sizes(MEETS, LOOK, LATER)[2])
            self._known = Asking(content, units(judge, content.traces), judge)
        return self._known

    def bit_pairs(
        self, op: int, a: Side, b: Side, paired: bool, longer: int, judge: Judge, again: Callable[..., None], cost: int,
    ) -> Scout | None:  # fmt: skip
        """Scouts `a op b`; None where the job is too small. `cost` is the bytes that a right takes."""
        if cost * len(b.ids) < WORTH:
            return None
        question = self._asking(judge).of_bits(op, a.bits, b.bits)
        return self._scout(question, judge, (a.ids, b.ids), longer, paired, again, BLOCK)

    def word_pairs(
        self, op: int, mode: int, window: int, mask: Words, left: Ids, right: Ids, paired: bool, longer: int,
        judge: Judge, again: Callable[..., None], cost: int,
    ) -> Scout | None:  # fmt: skip
        """Scouts `left op right` in a window; None where the job is too small, or needs no words."""
        if cost * len(right) < WORTH:
            return None
        question = self._asking(judge).of_words(op, mode, window, mask, left, right)
        return self._scout(question, judge, (left, right), longer, paired, again, max(1, NEAR // self.shelf.bytes))

    def _scout(
        self, question: Question | None, judge: Judge, sides: tuple[Ids, Ids], longer: int, paired: bool,
        again: Callable[..., None], block: int,
    ) -> Scout | None:  # fmt: skip
        if question is None:
            return None
        lengths = self.shelf.rows.lengths
        of = lengths[sides[0]], lengths[sides[1]]
        return Scout(Launch(question, self._asking(judge).units, judge, of, longer, paired), again, block)


def card(device: str, shelf: Shelf) -> Card | None:
    """None for the processor."""
    place = opened(device)
    return None if place is None else Card(place, shelf)
