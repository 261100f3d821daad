"""Text to atoms.

atom     :=  side relation side [relation side]       0 <= x <= 5 is two atoms
          |  hole ['{' {channel | relation} '}']
side     :=  sum | hole                               v <= ?c is an open threshold
sum      :=  [-] term {(+|-) term},  term := number | [number *] channel
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import FormulaError
from .nodes import And, AnyAtom, Atom, Formula, Relation
from .reader import Reader
from .tokens import Token
from .window_text import number
from .words import FLIPPED, RELATIONS, is_reserved


@dataclass
class _Sum:
    """A weighted sum of channels and a constant, as it is being read."""

    weights: list[tuple[str, float]] = field(default_factory=list)
    constant: float = 0.0


_Side = _Sum | Token


def comparison(reader: Reader) -> Formula:
    """One atom, or two around the same middle; or an open atom."""
    start = reader.next
    if start.kind == "hole" and not reader.among(RELATIONS, beyond=1):
        return _any_atom(reader)
    sides, relations = [_side(reader, "a formula")], []
    while reader.among(RELATIONS):
        relations.append(_relation(reader))
        sides.append(_side(reader, "a number"))
    if not relations:
        reader.unexpected(f"a comparison such as >= after {reader.tokens[reader.place - 1]}")
    if len(relations) > 2:
        reader.fail("at most two comparisons in a row, as in 0 <= x <= 5", start.at)
    atoms = [_atom(reader, a, r, b, start.at) for a, r, b in zip(sides, relations, sides[1:], strict=False)]
    return atoms[0] if len(atoms) == 1 else And(*atoms)


def _relation(reader: Reader) -> Relation:
    return RELATIONS[reader.take().text]


def _side(reader: Reader, wanted: str) -> _Side:
    return reader.take() if reader.next.kind == "hole" else _sum(reader, wanted)


def _atom(reader: Reader, left: _Side, relation: Relation, right: _Side, at: int) -> Formula:
    if isinstance(left, Token):  # ?c <= v  is  v >= ?c
        return _threshold(reader, right, FLIPPED[relation], left)
    if isinstance(right, Token):
        return _threshold(reader, left, relation, right)
    if not left.weights and right.weights:  # 3 <= x  is  x >= 3
        left, relation, right = right, FLIPPED[relation], left
    weights = (*left.weights, *((name, -weight) for name, weight in right.weights))
    try:
        return Atom(weights, relation, right.constant - left.constant)
    except FormulaError as error:
        reader.fail(error.message, at)


def _threshold(reader: Reader, bounded: _Side, relation: Relation, hole: Token) -> AnyAtom:
    if isinstance(bounded, Token) or bounded.constant != 0 or [weight for _, weight in bounded.weights] != [1.0]:
        reader.fail("an open threshold bounds one channel, as in v <= ?c", hole.at)
    return reader.open_atom(hole, (bounded.weights[0][0],), (relation,))


def _any_atom(reader: Reader) -> AnyAtom:
    hole = reader.take()
    if not reader.sees("{"):
        return reader.open_atom(hole)
    opening = reader.take()
    names: list[str] = []
    relations: list[Relation] = []
    while True:
        if reader.among(RELATIONS):
            relations.append(_relation(reader))
        else:
            names.append(_channel(reader, "a channel, or a comparison such as >="))
        if not reader.sees(","):
            break
        reader.take()
    if not reader.sees("}"):
        reader.unexpected("',' and another channel, or '}'")
    reader.take()
    try:
        return reader.open_atom(hole, tuple(names), tuple(relations))
    except FormulaError as error:
        if error.text is not None:
            raise
        reader.fail(error.message, opening.at)


def _sum(reader: Reader, wanted: str) -> _Sum:
    total = _Sum()
    sign = -1.0 if reader.sees("-") and reader.take() else 1.0
    while True:
        _term(reader, total, sign, wanted)
        if not reader.sees("+", "-"):
            return total
        sign = -1.0 if reader.take().text == "-" else 1.0


def _term(reader: Reader, total: _Sum, sign: float, wanted: str) -> None:
    if reader.next.kind == "number":
        value = sign * number(reader)
        if reader.sees("*"):
            reader.take()
            total.weights.append((_channel(reader, "a channel"), value))
        else:
            total.constant += value
    else:
        name = _channel(reader, wanted)
        if reader.sees("*"):
            reader.fail("an atom is linear: a number times a channel, as in 2*x")
        total.weights.append((name, sign))


def _channel(reader: Reader, wanted: str) -> str:
    token = reader.next
    if token.kind == "quoted" or (token.kind == "name" and not is_reserved(token.text)):
        if not token.text:
            reader.fail("a channel name is a non-empty text")
        return reader.take().text
    reader.unexpected(wanted)
