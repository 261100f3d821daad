"""How the language is written: one table, read by the parser, the printer and the exports."""

from __future__ import annotations

from .nodes import (
    FUTURE,
    PAST,
    Always,
    And,
    Eventually,
    Formula,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Relation,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
)

# Operators before a formula bind tightest.
PREFIX: dict[type[Formula], str] = {Not: "!", Always: "G", Eventually: "F", Historically: "H", Once: "O"}

# Operators between formulas, loosest first. And, Or group to the left,
# Implies to the right; Until, Since and their like beside each other need parentheses.
INFIX: dict[type[Formula], tuple[str, int]] = {
    Implies: ("->", 1),
    Until: ("U", 2),
    WeakUntil: ("W", 2),
    Release: ("R", 2),
    Since: ("S", 2),
    WeakSince: ("B", 2),
    Trigger: ("T", 2),
    Or: ("|", 3),
    And: ("&", 4),
}
TIGHTEST = 6
ANY_INFIX = INFIX[Until][1]  # a choice among operators between formulas
GROUPS_LEFT = (And, Or)
TIMED = (*FUTURE, *PAST)

# Other spellings understood on input, each with the operator it stands for.
SYNONYMS: dict[str, type[Formula]] = {
    "not": Not, "~": Not, "¬": Not,
    "always": Always, "globally": Always, "□": Always,
    "eventually": Eventually, "finally": Eventually, "◇": Eventually,
    "historically": Historically,
    "once": Once,
    "implies": Implies, "=>": Implies, "→": Implies,
    "until": Until,
    "weak_until": WeakUntil,
    "release": Release,
    "since": Since,
    "weak_since": WeakSince,
    "trigger": Trigger,
    "or": Or, "||": Or, "∨": Or,
    "and": And, "&&": And, "∧": And,
}  # fmt: skip

OPERATORS: dict[str, type[Formula]] = {word: node for node, word in PREFIX.items()}
OPERATORS |= {word: node for node, (word, _) in INFIX.items()} | SYNONYMS

CONSTANTS = {"true": True, "false": False}
RELATIONS: dict[str, Relation] = {">=": ">=", ">": ">", "<=": "<=", "<": "<", "≥": ">=", "≤": "<="}
FLIPPED: dict[Relation, Relation] = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
INFINITY_WORDS = ("inf", "infinity", "oo", "∞")
UNION = ("u", "∪")
PRESENT = "present"
"""Before a channel in parentheses: that there is a value, the opposite of the function `missing`."""

CONTEXTUAL = frozenset(word for word, node in OPERATORS.items() if node in (WeakUntil, Release, WeakSince, Trigger))
"""Operators where one can stand, after a formula; elsewhere names of channels, which need no quotes."""

RESERVED = (frozenset(OPERATORS) - CONTEXTUAL) | frozenset(CONSTANTS) | frozenset(INFINITY_WORDS)
"""A channel with one of these names is written in quotes."""

NOT_FINITE = ("nan", "inf", "infinity")
"""Words for what is no number to compare with, in capitals or not; a channel of that name is written in quotes."""


def is_reserved(name: str) -> bool:
    """Whether a channel of this name has to be written in quotes."""
    return name in RESERVED or name.lower() in NOT_FINITE
