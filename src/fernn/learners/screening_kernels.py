"""Compiled sweeps of screening: extremes of a signal over windows, and the best threshold of each such feature.

A feature is the greatest or the least value of a signal in a window, one number a trace. All thresholds of a feature
are tried in one pass over its sorted values. Of thresholds, windows and signals that err alike on few traces the one is
wanted that errs least on others, so the score is smoothed: a trace counts as wrong by the probability that it would be,
were its feature off by a normal error of `bandwidth` times the spread of the feature within the classes.
"""

from __future__ import annotations

from math import erfc, inf, sqrt
from typing import Any

import numpy as np

from ..semantics.jit_cache import njit_on_disk


@njit_on_disk()
def window_extremes(flat: Any, starts: Any, first: Any, last: Any, from_end: Any, out: Any) -> None:
    """`out[2*w]`, `out[2*w+1]`: the greatest and the least value of each trace in window w, `[feature, case]`.

    Windows count from the first sample on, or back from the last; they are cut off where the trace ends.
    """
    for case in range(len(starts) - 1):
        begin, size = starts[case], starts[case + 1] - starts[case]
        for w in range(len(first)):
            a, b = first[w], min(last[w], size - 1)
            if from_end:
                a, b = size - 1 - b, size - 1 - a
            low, high = inf, -inf
            for t in range(begin + a, begin + b + 1):
                low = min(low, flat[t])
                high = max(high, flat[t])
            out[2 * w, case] = high
            out[2 * w + 1, case] = low


@njit_on_disk()
def class_spread(values: Any, good: Any, weights: Any) -> Any:
    """The standard deviation of a feature within the classes."""
    total = np.zeros(2)
    mean = np.zeros(2)
    for i in range(len(values)):
        side = 1 if good[i] else 0
        total[side] += weights[i]
        mean[side] += weights[i] * values[i]
    for side in range(2):
        if total[side] > 0.0:
            mean[side] /= total[side]
    square = 0.0
    for i in range(len(values)):
        rest = values[i] - mean[1 if good[i] else 0]
        square += weights[i] * rest * rest
    return sqrt(square / (total[0] + total[1]))


@njit_on_disk()
def best_thresholds(
    features: Any, good: Any, weights: Any, bandwidth: Any, penalties: Any, base: Any, joined: Any, found: Any
) -> None:
    """The best threshold of each feature `[feature, case]`, alone or joined to a condition that is there.

    `joined` is 0 for alone, 1 for `base & new`, -1 for `base | new`; `base` has the margin of the other condition, in
    units of its spread. `found[feature]` gets score, error, the values below and above the threshold, and 1 where good
    traces lie above, else -1.
    """
    n = features.shape[1]
    total = weights.sum()
    values = np.empty(n)
    for f in range(len(features)):
        row = features[f]
        found[f, 0] = found[f, 1] = inf
        open_good = open_bad = 0.0  # what the new condition can still tell apart
        lost = 0.0
        count = 0
        for i in range(n):
            if joined * base[i] >= 0.0:
                if good[i]:
                    open_good += weights[i]
                else:
                    open_bad += weights[i]
                values[count] = row[i]
                count += 1
            elif good[i] == (joined > 0):
                lost += weights[i]
        if count < 2 or open_good == 0.0 or open_bad == 0.0:
            continue
        order = np.argsort(row)
        good_below = bad_below = 0.0
        best, gap = inf, 0.0
        last = -1
        side = 1.0
        low = high = 0.0
        for k in range(n):
            i = order[k]
            if joined * base[i] < 0.0:
                continue
            if last >= 0 and row[i] > row[last]:
                width = row[i] - row[last]
                above = good_below + open_bad - bad_below  # wrong where good traces lie above
                below = bad_below + open_good - good_below
                wrong = min(above, below)
                if wrong < best - 1e-12 * total or (wrong < best + 1e-12 * total and width > gap):
                    best, gap = min(best, wrong), width
                    side = 1.0 if above <= below else -1.0
                    low, high = row[last], row[i]
            if good[i]:
                good_below += weights[i]
            else:
                bad_below += weights[i]
            last = i
        if best == inf:
            continue
        found[f, 1] = (best + lost) / total
        found[f, 2], found[f, 3], found[f, 4] = low, high, side
        spread = class_spread(row, good, weights)
        if not spread < inf:
            found[f, 1] = inf
            continue
        spread = max(spread, 1e-9 * (abs(low) + abs(high)) + 1e-300)
        middle = low + 0.5 * (high - low)
        soft = 0.0
        for i in range(n):
            margin = side * (row[i] - middle) / spread
            if joined > 0:
                margin = min(margin, base[i])
            elif joined < 0:
                margin = max(margin, base[i])
            soft += weights[i] * 0.5 * erfc((margin if good[i] else -margin) / (bandwidth * 1.4142135623730951))
        found[f, 0] = soft / total + penalties[f]
