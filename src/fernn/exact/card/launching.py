"""One question put to the card: the pairs that may be within the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..scoring import Judge
from .questions import Question
from .tiles import TILES
from .weights import Units

Codes = npt.NDArray[np.int64]
"""`right << 32 | left`, sorted."""
ROOM = 1 << 22
"""Pairs that can be handed back at a time."""
WRITERS = 1024
"""Programs that go over tiles again."""


class Launch:
    """A question with all that stays the same while stretches of the rights are asked about."""

    def __init__(
        self, question: Question, units: Units, judge: Judge, lengths: tuple[Any, Any], longer: int, paired: bool,
    ) -> None:  # fmt: skip
        import torch

        self.question, self.units, self.judge = question, units, judge
        self.longer, self.paired = longer, paired
        self.tile = TILES[question.kind]
        self.device = question.left.device
        self.lefts, self.rights = (len(each) for each in lengths)
        self.shortest = longer + int(lengths[0].min()) + int(lengths[1].min())
        self.longest = longer + int(lengths[0].max()) + int(lengths[1].max())
        self._left = self._here(_wide(lengths[0], question.left.shape[2]))
        self._right = self._here(_wide(lengths[1], question.right.shape[2]))
        self._none = torch.zeros(1, dtype=torch.int32, device=self.device)
        q = question
        self._tables = [
            self._none if each is None else self._here(each)
            for each in (q.weight, q.passing, q.should, q.counts, q.base, q.base_passing)
        ]
        self._found = torch.empty(ROOM, dtype=torch.int64, device=self.device)

    def _here(self, values: Any) -> Any:
        import torch

        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def find(self, first: int, last: int, bounds: Any, tighten: bool) -> Codes | None:
        """Of rights `first` to `last`; None where there are more than ROOM. `first` is a multiple of the tile.

        In a race, to `tighten`, those that err least are enough, and all of these are there.
        """
        import torch

        tile, judge, units = self.tile, self.judge, self.units
        grid = -(-self.lefts // tile.left) * -(-(last - first) // tile.right)
        table = np.full(1 << (len(bounds) - 1).bit_length(), -1, np.int32)
        table[: len(bounds)] = units.bounds(bounds)
        known = self._here(table)
        tiles = torch.empty(grid, dtype=torch.int32, device=self.device)
        state = torch.zeros(2, dtype=torch.int64, device=self.device)
        limits = (
            units.most(judge.most_missed), units.most(judge.most_passed), units.sure(judge.most_missed),
            units.sure(judge.most_passed),
        )  # fmt: skip
        for write in (False, True):
            self._go(min(grid, WRITERS) if write else grid, write, tighten, first, last, known, tiles, state, limits)
        count = int(state[1])
        if count > len(self._found):
            return None
        found: Codes = self._found[:count].sort().values.cpu().numpy()
        return found

    def _go(
        self, grid: int, write: bool, tighten: bool, first: int, last: int, bounds: Any, tiles: Any, state: Any,
        limits: tuple[int, int, int, int],
    ) -> None:  # fmt: skip
        from ...engine.card import interpreted
        from .kernels import scout

        q, tile = self.question, self.tile
        more = {} if interpreted() or write or not tile.registers else {"maxnreg": tile.registers}
        within = limits[0] < self.units.most(np.inf) or limits[1] < self.units.most(np.inf)
        scout[(grid,)](
            q.left, q.right[:, :, first:], self._none if q.looked is None else q.looked, *self._tables, bounds,
            self._left, self._right[first:], tiles, self._found, state, self.lefts, first, last, q.left.shape[2],
            q.right.shape[2], len(q.base) - 1, self.longer, self.shortest, self.longest, len(self._found),
            self.units.slack, *limits,
            KIND=q.kind, WORDS=q.words, WIDE=q.left.element_size() == 8, TURNED=q.turned, LIMITS=within,
            TIGHTEN=tighten, PAIRED=self.paired, MIXED=self.shortest < self.longest, WRITE=write,
            LENGTHS=len(bounds), LEFT=tile.left, RIGHT=tile.right, CHUNK=tile.chunk, num_warps=tile.warps, **more,
        )  # fmt: skip


def _wide(lengths: Any, width: int) -> Any:
    return np.pad(np.asarray(lengths, np.int32), (0, width - len(lengths)))
