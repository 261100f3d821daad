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
from .source import Source

CELL = 16  # bytes of a cell on the way, about
LEAST = 1 << 28  # bytes that a single case may always have


def whole_cases(pieces: Iterable[Piece], source: Source, before: str = "") -> Iterator[Piece]:
    """Pieces in which every case is whole; one case may have as many bytes as the source allows.

    `before` is a case that began earlier, whose rows are left out where the pieces begin with them.
    """
    carried: list[Piece] = []
    last, held = before, 0
    allowed = max(most(source.options.memory_limit) or 0, LEAST)
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
        _check_once(piece, last if not low else "", source)
        high = starts[-2]
        if high > low:
            yield piece.part(low, high)
        carried, last, held, before = [piece.part(high, len(piece))], runs.names[-1], len(piece) - high, ""
    if carried:
        yield joined(carried)


def _check_once(piece: Piece, before: str, source: Source) -> None:
    """No case of the piece comes twice, nor does the one that was just ended, with which it does not begin."""
    names = piece.runs.names
    met = set(names)
    if len(met) == len(names) and before not in met:
        return
    first: dict[str, int] = {}
    for name, row in zip(names, piece.runs.starts.tolist(), strict=True):
        if name in first or (name == before and row):
            earlier = f"at line {piece.line(first[name])}" if name in first else ""
            raise came_back(source, piece.where, piece.line(row), name, earlier)
        first[name] = row


def came_back(source: Source, where: str, line: int, case: str | None, earlier: str) -> DataError:
    """The rows of a case do not follow each other; `earlier` is where it began, in words."""
    what = f"rows of other cases stand between those of this case, which began {earlier or 'earlier'}"
    what += "; a file larger than memory is read case by case"
    problem = Problem("scattered-case", "error", what, _sorting(source), where, line, None, case)
    return DataError(str(problem), [problem])


def _sorting(source: Source) -> str:
    """How to bring the rows into order."""
    kind = "parquet" if source.begin is None else "csv"
    columns = [source.header[i] for i in (source.roles.case, source.roles.time) if i is not None]
    by = ", ".join(map(repr, columns))
    return f"Sort the rows by case first: polars.scan_{kind}(IN).sort({by}).sink_{kind}(OUT)."


def _check_room(piece: Piece, case: str, rows: int, allowed: int) -> None:
    size = rows * CELL * (len(piece.roles.channels) + 2)
    if size > allowed:
        what = f"the case alone has more than {rows} rows, {shown(size)} of memory"
        fix = "Cut it into several cases, or judge it as it comes: fernn monitor FORMULA."
        problem = Problem("long-case", "error", what, fix, piece.where, piece.line(len(piece) - 1), None, case or None)
        raise DataError(str(problem), [problem])
