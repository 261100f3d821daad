"""What the kernels of a card do, written out in NumPy, pair by pair: for tests where Triton is not at hand."""

from __future__ import annotations

import numpy as np

from fernn.learners.enumerative.gpu_prefilter import BITS, LATER, LOOK, MEETS


def answers(question) -> np.ndarray:
    """`[trace, left, right]`: whether the answer is yes; of BITS, the words of `left & right`."""
    unsigned = np.uint64 if question.left.element_size() == 8 else np.uint32
    left, right = (side.numpy().view(unsigned) for side in (question.left, question.right))
    if question.kind == LATER:
        return right.view(np.int32)[:, 0, None, :] >= left.view(np.int32)[:, 0, :, None]
    a, b = left[:, :, :, None], right[:, :, None, :]
    if question.kind == BITS:
        return (a & b)[:, 0]
    if question.kind == MEETS:
        return ((a & b) != 0).any(axis=1)
    assert question.kind == LOOK
    return _since(a, b, question.looked.numpy().view(unsigned), question.turned)


def _since(a, b, looked, turned) -> np.ndarray:
    """Sample by sample."""
    bits = a.itemsize * 8
    shape = (a.shape[0], a.shape[2], b.shape[3])
    held, met = np.zeros(shape, bool), np.zeros(shape, bool)
    for word in range(a.shape[1]):
        for bit in range(bits):
            x, y = ((side[:, word] >> np.array(bit, side.dtype)) & 1 == 1 for side in (a, b))
            held = y | (x & held)
            shows = (looked[:, word] >> np.array(bit, looked.dtype)) & 1 == 1
            met |= (held != turned) & shows[:, None, None]
    return met


def ones(words) -> np.ndarray:
    return np.unpackbits(words.view(np.uint8).reshape(*words.shape, 4), axis=-1).sum(axis=-1).astype(np.int64)


def find(launch, first, last, bounds, tighten):
    """As `Launch.find`, with every pair that is within the bounds."""
    q, units, judge = launch.question, launch.units, launch.judge
    yes = answers(q)
    weight = q.weight.astype(np.int64)[:, None, None]
    if q.kind == BITS:
        words = [each.view(np.uint32)[:, None, None] for each in (q.should, q.counts, q.passing)]
        error = (ones((yes ^ words[0]) & words[1]) * weight).sum(axis=0)
        passed = (ones((~yes if q.turned else yes) & words[2]) * weight).sum(axis=0)
    else:
        error = (yes * weight).sum(axis=0) + q.base[-1]
        passed = (yes * q.passing.astype(np.int64)[:, None, None]).sum(axis=0) + q.base_passing[-1]
    error, passed = error[: launch.lefts, : launch.rights], passed[: launch.lefts, : launch.rights]
    lengths = launch._left.numpy()[: launch.lefts, None] + launch._right.numpy()[None, : launch.rights] + launch.longer
    hit = error <= units.bounds(bounds)[lengths]
    hit &= (error - passed <= units.most(judge.most_missed)) & (passed <= units.most(judge.most_passed))
    i, j = np.nonzero(hit)
    kept = (j >= first) & (j < last) & (~np.array(launch.paired) | (j >= i))
    return np.sort(j[kept] << 32 | i[kept])
