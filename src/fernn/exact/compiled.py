"""What Python calls: the compiled loops, kept on disk under the text of all that they call."""

from __future__ import annotations

from typing import Any

from ..semantics.ondisk import compiled_on_disk, is_kept
from . import filing, hits, lanes, listed, operators, scoring


def _loops() -> tuple[Any, ...]:
    compiled = compiled_on_disk(filing, hits, lanes, listed, operators, scoring)

    @compiled
    def file_atom(*args: Any) -> Any:
        return filing.file_atom(*args)

    @compiled
    def grow(*args: Any) -> Any:
        return filing.grow(*args)

    @compiled
    def refiled(*args: Any) -> Any:
        return filing.refiled(*args)

    @compiled
    def absorb(*args: Any) -> Any:
        return hits.absorb(*args)

    @compiled
    def costs(*args: Any) -> Any:
        return scoring.costs(*args)

    @compiled
    def score_bit_pairs(*args: Any) -> Any:
        return scoring.score_bit_pairs(*args)

    @compiled
    def score_word_pairs(*args: Any) -> Any:
        return scoring.score_word_pairs(*args)

    @compiled
    def seen(*args: Any) -> Any:
        return scoring.seen(*args)

    @compiled
    def score_singles(*args: Any) -> Any:
        return scoring.score_singles(*args)

    @compiled
    def score_listed_bits(*args: Any) -> Any:
        return listed.score_listed_bits(*args)

    @compiled
    def score_listed_words(*args: Any) -> Any:
        return listed.score_listed_words(*args)

    pairs = score_bit_pairs, score_word_pairs, score_listed_bits, score_listed_words
    return file_atom, grow, refiled, absorb, costs, seen, score_singles, *pairs


(
    file_atom, grow, refiled, absorb, costs, seen, score_singles, score_bit_pairs, score_word_pairs, score_listed_bits,
    score_listed_words,
) = _loops()  # fmt: skip


def is_compiled() -> bool:
    return is_kept(score_word_pairs)
