"""What stands near a formula and says less: a planted formula must differ from all of it."""

from __future__ import annotations

from collections.abc import Iterator

from ..formula import ALL_TIME, Formula
from ..formula.nodes import children, rebuilt


def shorter(formula: Formula) -> Iterator[Formula]:
    """Every formula with one operator dropped, an operand in its place, and every formula inside.

    `F (p & q)` gives `p & q`, `F p`, `F q`, `p` and `q`.
    """
    yield from dict.fromkeys((*_dropped(formula), *_inside(formula)))


def wider(formula: Formula) -> Iterator[Formula]:
    """The formula with one of its bounded windows over all time, for each of them, and with all of them."""
    spots = [path for path, part in _parts(formula) if _is_bounded(part)]
    for path in spots:
        yield _widened(formula, {path})
    if len(spots) > 1:
        yield _widened(formula, set(spots))


def has_window(formula: Formula) -> bool:
    """Whether some window has an end or starts later than now."""
    return any(_is_bounded(part) for _, part in _parts(formula))


def _dropped(formula: Formula) -> Iterator[Formula]:
    inside = children(formula)
    yield from inside
    for i, part in enumerate(inside):
        for less in _dropped(part):
            yield rebuilt(formula, (*inside[:i], less, *inside[i + 1 :]))


def _inside(formula: Formula) -> Iterator[Formula]:
    for part in children(formula):
        yield part
        yield from _inside(part)


Path = tuple[int, ...]


def _parts(formula: Formula, path: Path = ()) -> Iterator[tuple[Path, Formula]]:
    yield path, formula
    for i, part in enumerate(children(formula)):
        yield from _parts(part, (*path, i))


def _is_bounded(node: Formula) -> bool:
    over = getattr(node, "over", ALL_TIME)
    return not over.is_all_time


def _widened(formula: Formula, spots: set[Path], path: Path = ()) -> Formula:
    inside = tuple(_widened(part, spots, (*path, i)) for i, part in enumerate(children(formula)))
    if path in spots:
        return type(formula)(*inside)
    return rebuilt(formula, inside)
