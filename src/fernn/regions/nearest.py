"""Where nothing keeps to both limits: the fewest misses with false alarms within theirs.

Best first: a box is worth at best the misses of its hardest corner where its easiest has few enough false alarms.
"""

from __future__ import annotations

import heapq
from itertools import count
from time import monotonic

import numpy as np

from .corners import Corners
from .grid import Cells
from .search import Judge, Search


def nearest(corners: Corners, judge: Judge, seconds: float) -> tuple[Cells, bool] | None:
    """A cell with the fewest misses, and whether it is proved that none has fewer; None where none was found.

    The cell is `[parameter, 2]`, first and last the same.
    """
    bad = ~judge.good
    search = Search(corners, Judge(judge.good, judge.alarms, int(bad.sum())))
    start, order = monotonic(), count()
    todo = [(0, next(order), part) for _, _, part in search.todo]
    fewest, found = int(bad.sum()) + 1, None
    while todo and todo[0][0] < fewest:
        if monotonic() - start > seconds:
            return (found, False) if found is not None else None
        part = search.judged(heapq.heappop(todo)[2])
        if part.maybe[0] >= part.maybe[1]:
            continue
        least = int(np.count_nonzero(part.hard[bad] <= part.maybe[0]))
        if part.sure[0] < part.maybe[1]:
            most = int(np.count_nonzero(part.easy[bad] <= part.sure[0]))
            if most < fewest:
                fewest, found = most, search.with_swept(part.cells, (part.sure[0], part.sure[0] + 1))
                found[:, 1] = found[:, 0]
        if least < fewest:
            for half in search.halves(part):
                heapq.heappush(todo, (least, next(order), half))
    return (found, True) if found is not None else None
