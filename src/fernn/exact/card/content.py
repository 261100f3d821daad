"""The words of a shelf on the card, and sides made of them as the kernels read them: `[trace, word, row]`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..packed import Words
from ..shelf import Ids, Shelf

BLOCK = 1 << 28
"""Bytes turned around at a time."""


class Content:
    """Grows with the shelf: each row goes to the card once. Good and bad traces take turns, as far as they go."""

    def __init__(self, shelf: Shelf, device: Any, good: npt.NDArray[np.bool_], multiple: int) -> None:
        import torch

        self.shelf, self.device = shelf, device
        layout = shelf.layout
        self.traces = len(layout.order)
        self.padded = -(-self.traces // multiple) * multiple
        self.words, self.wide = layout.words, layout.bits == 64
        self.dtype = torch.int64 if self.wide else torch.int32
        self.order = _in_turns(good[: self.traces])
        self._order = torch.from_numpy(self.order).to(device)
        self._plain = {8: torch.uint8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[layout.bits]
        self._shape = layout.words, layout.places
        self._rows = torch.empty((0, *self._shape), dtype=self._plain, device=device)
        self._have = 0
        self._block = max(1, BLOCK // shelf.bytes)
        self.valid = self.of_words(layout.valid)

    def of_words(self, words: Words) -> Any:
        """`[trace, word, 1]` of `[word, place]`."""
        return self._turned(self._given(words[None]))

    def _given(self, words: Words) -> Any:
        """`[row, word, place]` on the card."""
        import torch

        signed = words.view(f"i{words.itemsize}") if words.itemsize > 1 else words
        return torch.from_numpy(np.ascontiguousarray(signed)).to(self.device)

    def _turned(self, rows: Any) -> Any:
        """`[trace, word, row]`, every word of 32 or 64 bits, of `[row, word, place]`."""
        made = rows.index_select(2, self._order).permute(2, 1, 0).to(self.dtype)
        return made & 0xFFFF if self.shelf.layout.bits == 16 else made

    def _take(self) -> None:
        """Brings new rows of the shelf to the card."""
        import torch

        count = self.shelf.count
        if count > len(self._rows):
            wider = torch.empty((max(2 * len(self._rows), count), *self._shape), dtype=self._plain, device=self.device)
            wider[: self._have] = self._rows[: self._have]
            self._rows = wider
        for start in range(self._have, count, self._block):
            new = self.shelf.rows.content[start : min(start + self._block, count)].view(self.shelf.layout.dtype)
            self._rows[start : start + len(new)] = self._given(new.reshape(len(new), *self._shape))
        self._have = max(self._have, count)

    def side(self, ids: Ids, multiple: int) -> Any:
        """The words of these rows; rows of nothing fill it up to a multiple, and traces of nothing at the end."""
        import torch

        self._take()
        width = -(-len(ids) // multiple) * multiple
        out = torch.zeros((self.padded, self.words, width), dtype=self.dtype, device=self.device)
        at = torch.from_numpy(ids).to(self.device)
        for start in range(0, len(ids), self._block):
            part = at[start : start + self._block]
            out[: self.traces, :, start : start + len(part)] = self._turned(self._rows.index_select(0, part))
        return out


def _in_turns(good: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Places such that any stretch of them has about the same share of good ones: errors then show early."""
    place = np.empty(len(good))
    for side in (good, ~good):
        place[side] = (np.arange(side.sum()) + 0.5) / max(int(side.sum()), 1)
    return np.argsort(place, kind="stable")


def latest(side: Any) -> Any:
    """`[trace, 1, row]`: the number of the last sample whose bit is set, counted from 1; 0 where there is none."""
    import torch

    wide = side.dtype == torch.int64
    best = torch.zeros((len(side), 1, side.shape[2]), dtype=torch.int32, device=side.device)
    for word in range(side.shape[1]):
        x = side[:, word].to(torch.int64)
        for half in range(2 if wide else 1):
            part = (x >> (32 * half)) & 0xFFFFFFFF
            exponent = torch.frexp(part.to(torch.float64)).exponent.to(torch.int32)  # 1 + the number of its top bit
            start = word * (64 if wide else 32) + 32 * half
            best[:, 0] = torch.where(part != 0, exponent + start, best[:, 0])
    return best
