"""What Python calls: the compiled loops, kept on disk under the text of all that they call."""

from __future__ import annotations

from typing import Any

from numba import njit

from ..semantics.ondisk import is_kept, texts
from . import filing, hits, lanes, listed, operators, scoring


def _loops(sources: tuple[str, ...]) -> tuple[Any, ...]:
    @njit(nogil=True, cache=True)
    def file_atom(*args: Any) -> Any:
        sources  # noqa: B018
        return filing.file_atom(*args)

    @njit(nogil=True, cache=True)
    def grow(*args: Any) -> Any:
        sources  # noqa: B018
        return filing.grow(*args)

    @njit(nogil=True, cache=True)
    def refiled(*args: Any) -> Any:
        sources  # noqa: B018
        return filing.refiled(*args)

    @njit(nogil=True, cache=True)
    def absorb(*args: Any) -> Any:
        sources  # noqa: B018
        return hits.absorb(*args)

    @njit(nogil=True, cache=True)
    def costs(*args: Any) -> Any:
        sources  # noqa: B018
        return scoring.costs(*args)

    @njit(nogil=True, cache=True)
    def score_bit_pairs(*args: Any) -> Any:
        sources  # noqa: B018
        return scoring.score_bit_pairs(*args)

    @njit(nogil=True, cache=True)
    def score_word_pairs(*args: Any) -> Any:
        sources  # noqa: B018
        return scoring.score_word_pairs(*args)

    @njit(nogil=True, cache=True)
    def seen(*args: Any) -> Any:
        sources  # noqa: B018
        return scoring.seen(*args)

    @njit(nogil=True, cache=True)
    def score_singles(*args: Any) -> Any:
        sources  # noqa: B018
        return scoring.score_singles(*args)

    @njit(nogil=True, cache=True)
    def score_listed_bits(*args: Any) -> Any:
        sources  # noqa: B018
        return listed.score_listed_bits(*args)

    @njit(nogil=True, cache=True)
    def score_listed_words(*args: Any) -> Any:
        sources  # noqa: B018
        return listed.score_listed_words(*args)

    pairs = score_bit_pairs, score_word_pairs, score_listed_bits, score_listed_words
    return file_atom, grow, refiled, absorb, costs, seen, score_singles, *pairs


(
    file_atom, grow, refiled, absorb, costs, seen, score_singles, score_bit_pairs, score_word_pairs, score_listed_bits,
    score_listed_words,
) = _loops(texts(filing, hits, lanes, listed, operators, scoring))  # fmt: skip


def is_compiled() -> bool:
    return is_kept(score_word_pairs)
