"""The two rules that together cost least, of all that there are.

False alarms only add up, and the hits of two rules are at most those of both. So with a pair known, only rules that
are cheap enough by themselves can be half of a better one, and of these only few pairs need a look.
"""

from __future__ import annotations

import numpy as np

from . import compiled
from .counting import EPS
from .forms import Form
from .rows import Rows, Rule

WORK = 1 << 31
"""Words read at most."""
MANY = 1 << 15
"""Rules, at most, of which pairs are looked at."""

Half = tuple[Form, int, int]
"""A rule by its form and its places in the families of it."""


def best_pair(rows: Rows, longest: int, bound: float) -> tuple[tuple[Rule, ...] | None, bool]:
    """The cheapest two rules of at most this length, None where not below the bound; and whether all were looked at."""
    found = halves(rows, longest, bound)
    if found is None:
        return None, False
    if len(found) < 2:
        return None, True
    content = np.stack([rows.met(*half) for half in found])
    _, first = np.unique(content, axis=0, return_index=True)
    hits, alarms = rows.tally(content[first])
    order = np.lexsort((alarms, -hits))
    hits, alarms, first = hits[order], alarms[order], first[order]
    content = content[first]
    best, winner, work, low = np.array([bound]), np.array([-1, -1]), 0, 0
    for low, high in rows.chunks(len(content), len(content)):
        if work > WORK:
            break
        args = (content, hits, alarms, rows.nothing, low, high, rows.prices, best, winner)
        work += int(compiled.pairs(*args)) * content.shape[1]
        rows.pulse()
    else:
        low = len(content)
    pair = None if winner[0] < 0 else tuple(rows.read(*found[first[k]]) for k in winner.tolist())
    return pair, low == len(content)


def halves(rows: Rows, longest: int, bound: float) -> list[Half] | None:
    """All rules that may be half of a pair that costs less than the bound; None where there are too many."""
    spare = rows.prices.miss * _most_hits(rows, longest, bound)
    found: list[Half] = []
    for form in rows.forms:
        if form.length > longest:
            continue
        left, right, lone, paired = rows.sides(form)
        here, count = np.empty((MANY - len(found), 2), np.int64), 0
        for low, high in rows.chunks(len(left), 1 if lone else len(right)):
            args = (left, right, lone, paired, low, high, rows.nothing, rows.prices, spare, bound, here, count)
            count = int(compiled.collect(*args))
            rows.pulse()
            if count > len(here):
                return None
        found += [(form, i, j) for i, j in here[:count].tolist()]
    return found


def _most_hits(rows: Rows, longest: int, bound: float) -> int:
    """Of a rule whose alarms alone cost no more than the bound."""
    most = min(rows.prices.most_alarms, bound / max(rows.prices.alarm, EPS))
    found = rows.best(longest, rows.prices._replace(alarm=0.0, most_alarms=most))
    return 0 if found is None else int(rows.tally(found.row[None])[0][0])
