"""Structures and their parameters as plain JSON data, and back."""

from __future__ import annotations

from typing import Any

from ..formula import And, Or
from .parameters import Place, Valuation
from .structures import Clause, Delayed, Join, Structure

JOINS: dict[str, Join] = {"&": And, "|": Or}
SIGNS = {join: sign for sign, join in JOINS.items()}


def plain(structure: Structure, valuation: Valuation) -> dict[str, Any]:
    """`restored` reads it back."""
    places = [[*place.window, place.low, place.high] for place in valuation.places]
    return {
        "cause": _clause(structure.cause),
        "effect": _clause(structure.effect),
        "when": list(valuation.when),
        "places": places,
    }


def restored(row: dict[str, Any]) -> tuple[Structure, Valuation]:
    places = tuple(Place((int(a), int(b)), float(low), float(high)) for a, b, low, high in row["places"])
    first, last = row["when"]
    return Structure(_read(row["cause"]), _read(row["effect"])), Valuation((int(first), int(last)), places)


def _clause(clause: Clause) -> list[Any]:
    parts = [["G" if part.always else "F", part.channel, part.relation] for part in clause.parts]
    return [parts, [SIGNS[join] for join in clause.joins]]


def _read(row: list[Any]) -> Clause:
    parts, joins = row
    return Clause(
        tuple(Delayed(kind == "G", channel, relation) for kind, channel, relation in parts),
        tuple(JOINS[sign] for sign in joins),
    )
