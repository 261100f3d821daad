"""A job on the card: stretches of it are asked about ahead, and the processor judges what is left as it always does.

The processor goes through the same chunks in the same order as without a card, so bounds sink, leads change and hits
are filed as they would. Only candidates are left out that are beyond the bounds, or, in a race, behind one that
errs less: which of several equal ones leads is decided as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .launching import Codes, Launch

STRETCH = 1 << 37
"""Words of pairs asked about at once, less than a second's work."""
Work = Callable[[int, int, Any, bool, Any], None]


class Scout:
    """`again(lefts, rights, bounds, tighten, into)` judges listed pairs; `block` rights are taken together."""

    def __init__(self, launch: Launch, again: Callable[..., None], block: int) -> None:
        self.launch, self.again, self.block = launch, again, block
        self.found: Codes | None = np.empty(0, np.int64)
        self.low = self.high = 0
        self.crowded = False
        """Whether so many are within the bounds that the card is of no help."""

    def work(self, low: int, high: int, bounds: Any, tighten: bool, every: Work) -> Work | None:
        """What to do about rights `low` to `high`, a chunk of the processor: None for nothing, `every` for all."""
        if high > self.high and not self.crowded:
            self._ask(low, high, bounds, tighten)
        if self.found is None or self.crowded:
            return every
        start, end = np.searchsorted(self.found, [low << 32, high << 32])
        return self._listed if end > start else None

    def _ask(self, low: int, high: int, bounds: Any, tighten: bool) -> None:
        """As many chunks as can be asked about at once; fewer where too many pairs are left."""
        launch, chunk = self.launch, high - low
        step, question = launch.tile.right, launch.question
        each = launch.lefts * question.left.shape[0] * question.words
        count = max(1, STRETCH // max(1, each * chunk))
        while True:
            end = min(low + count * chunk, launch.rights)
            first = low // step * step
            found = launch.find(first, end, bounds, tighten)
            if found is not None or count == 1:
                break
            count = -(-min(count, -(-(launch.rights - low) // chunk)) // 8)
        self.found, self.low, self.high = found, low, end
        self.crowded = found is None

    def _listed(self, low: int, high: int, bounds: Any, tighten: bool, into: Any) -> None:
        """The pairs that are left of rights `low` to `high`, in the order of the processor."""
        assert self.found is not None
        start, end = np.searchsorted(self.found, [low << 32, high << 32])
        if start == end:
            return
        codes = self.found[start:end]
        lefts, rights = codes & 0xFFFFFFFF, codes >> 32
        order = np.lexsort((rights, lefts, (rights - low) // self.block))
        self.again(lefts[order], rights[order], bounds, tighten, into)
