"""Boxes of cells, `[parameter, 2]`: made as small, and as few, as the same values allow."""

from __future__ import annotations

import numpy as np

from .grid import Cells
from .structure import Structure


def tightened(structure: Structure, cells: Cells) -> Cells | None:
    """The least box around all windows of this one that start before they end; None where there is none."""
    cells, before = cells.copy(), None
    while before is None or (cells != before).any():
        before = cells.copy()
        for over, (start, end) in zip(structure.windows, structure.ends, strict=True):
            if start is not None:
                cells[start, 1] = min(cells[start, 1], over.end if end is None else cells[end, 1])
            if end is not None:
                cells[end, 0] = max(cells[end, 0], over.start if start is None else cells[start, 0])
        if (cells[:, 0] > cells[:, 1]).any():
            return None
    return cells


def merged(boxes: list[Cells]) -> list[Cells]:
    """The same cells in fewer boxes: those that continue each other along one axis are joined."""
    every, before = boxes, -1
    while len(every) != before and every:
        before = len(every)
        for axis in range(len(every[0])):
            lines: dict[tuple[int, ...], list[Cells]] = {}
            for box in every:
                lines.setdefault(tuple(np.delete(box, axis, 0).ravel().tolist()), []).append(box)
            every = [box for line in lines.values() for box in _joined(line, axis)]
    return every


def _joined(line: list[Cells], axis: int) -> list[Cells]:
    found: list[Cells] = []
    for box in sorted(line, key=lambda box: int(box[axis, 0])):
        if found and found[-1][axis, 1] + 1 == box[axis, 0]:
            found[-1] = found[-1].copy()
            found[-1][axis, 1] = box[axis, 1]
        else:
            found.append(box)
    return found
