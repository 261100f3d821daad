"""From stretches of rows to stretches of whole cases.

A case is held until a row of another one comes, so the rows of a case have to follow each other; in which order of
time is all the same. Memory: a piece, and the longest case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...errors import DataError
from ..memory import most, shown
from ..problems import Problem
from .pieces import Piece, joined

SORT = "Sort the rows by case first: polars.scan_parquet(IN).sort('CASE', 'TIME').sink_parquet(OUT)."
CELL = 16  # bytes of a cell on the way, about
LEAST = 1 << 28  # bytes that a single case may always have


def whole_cases(pieces: Iterable[Piece], limit: int | None = None, before: str = "") -> Iterator[Piece]:
    """Pieces in which every case is whole; `limit` are the bytes that one case may have.

    `before` is a case that began earlier, whose rows are left out where the pieces begin with them.
    """
    carried: list[Piece] = []
    last, held = before, 0
    allowed = max(most(limit) or 0, LEAST)
    for piece in pieces:
        runs = piece.runs
        starts = [*runs.starts.tolist(), len(piece)]
        low = 0
        if last and runs.names[0] in (last, ""):
            if len(runs.names) == 1:
                if carried:
                    carried.append(piece)
                    held += len(piece)
                    _check_room(piece, last, held, allowed)
                continue
            low = starts[1]
            if carried:
                yield joined([*carried, piece.part(0, low)])
        elif carried:
            yield joined(carried)
        _check_once(piece, last if not low else "")
        high = starts[-2]
        if high > low:
            yield piece.part(low, high)
        carried, last, held, before = [piece.part(high, len(piece))], runs.names[-1], len(piece) - high, ""
    if carried:
        yield joined(carried)


def _check_once(piece: Piece, before: str) -> None:
    """No case of the piece comes twice, nor does the one that was just ended, with which it does not begin."""
    names = piece.runs.names
    met = set(names)
    if len(met) == len(names) and before not in met:
        return
    first: dict[str, int] = {}
    for name, row in zip(names, piece.runs.starts.tolist(), strict=True):
        if name in first or (name == before and row):
            raise came_back(piece.where, piece.line(row), name, piece.line(first[name]) if name in first else None)
        first[name] = row


def came_back(where: str, line: int, case: str | None, earlier: int | None) -> DataError:
    """The rows of a case do not follow each other."""
    at = "" if earlier is None else f" (at line {earlier})"
    what = f"rows of other cases stand between those of this case, which began earlier{at}"
    what += "; a file larger than memory is read case by case"
    problem = Problem("scattered-case", "error", what, SORT, where, line, None, case)
    return DataError(str(problem), [problem])


def _check_room(piece: Piece, case: str, rows: int, allowed: int) -> None:
    size = rows * CELL * (len(piece.roles.channels) + 2)
    if size > allowed:
        what = f"the case alone has more than {rows} rows, {shown(size)} of memory"
        fix = "Cut it into several cases, or judge it as it comes: fernn monitor FORMULA."
        problem = Problem("long-case", "error", what, fix, piece.where, piece.line(len(piece) - 1), None, case or None)
        raise DataError(str(problem), [problem])
