"""How pairs are dealt to the programs of a card."""

from __future__ import annotations

from dataclasses import dataclass

MEETS, LOOK, LATER, BITS = range(4)
"""What is asked of pairs, as in `kernels.py`; LOOK is its SINCE."""


@dataclass(frozen=True)
class Tile:
    """Pairs that one program works on. Numbers are powers of two."""

    left: int = 16
    right: int = 512
    warps: int = 8
    chunk: int = 32
    """Traces (of BITS, words of them) between two looks at whether all pairs of the tile err too much already."""
    registers: int = 128
    """Of a thread at most; 0 for as many as it takes."""


TILES = {MEETS: Tile(), LOOK: Tile(registers=168), LATER: Tile(), BITS: Tile(chunk=8)}
"""By what is asked. A benchmark may put others in their place before a search begins."""


def sizes(*kinds: int) -> tuple[int, int, int]:
    """Lefts, rights and traces that tiles of all these kinds divide."""
    found = [TILES[kind] for kind in kinds]
    return max(t.left for t in found), max(t.right for t in found), max(t.chunk for t in found)
