"""Scoring of candidates that are listed one by one, in the order given, by the loops that score them all."""

from __future__ import annotations

from typing import Any

from numba import njit

from .scoring import score_bit_pairs, score_word_pairs


@njit(nogil=True)
def score_listed_bits(
    lefts: Any, rights: Any, op: int, left: Any, left_ids: Any, right: Any, right_ids: Any, lengths: Any, gaps: Any,
    made: Any, longer: int, judge: Any, bounds: Any, tighten: bool, hits: Any,
) -> None:  # fmt: skip
    """Pairs of verdicts; `lefts` and `rights` are their numbers on either side."""
    for k in range(len(lefts)):
        i, j = lefts[k], rights[k]
        score_bit_pairs(
            op, left[i : i + 1], left_ids[i : i + 1], right[j : j + 1], right_ids[j : j + 1], False, 0, 1, lengths,
            gaps, made, longer, judge, bounds, tighten, hits,
        )  # fmt: skip


@njit(nogil=True)
def score_listed_words(
    lefts: Any, rights: Any, op: int, mode: int, window: int, content: Any, left_ids: Any, right_ids: Any, frame: Any,
    lengths: Any, gaps: Any, made: Any, longer: int, judge: Any, bounds: Any, tighten: bool, hits: Any, like: Any,
) -> None:  # fmt: skip
    """Pairs that have to be looked at sample by sample."""
    for k in range(len(lefts)):
        i, j = lefts[k], rights[k]
        score_word_pairs(
            op, mode, window, content, left_ids[i : i + 1], right_ids[j : j + 1], False, 0, 1, frame, lengths, gaps,
            made, longer, judge, bounds, tighten, hits, like,
        )  # fmt: skip
