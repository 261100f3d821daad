"""Text cut into words, each with its place."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from ..errors import FormulaError, excerpt

Kind = Literal["number", "name", "quoted", "hole", "sign", "end"]
"""A hole is `?` with the name that touches it, if one does; its text has no quotes."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    at: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{excerpt(self.text)}'"


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)
      | (?P<name>[^\W\d]\w*(\.\w+)*)
      | (?P<quoted>"(\\.|[^"\\])*")
      | (?P<hole>\?([^\W\d]\w*(\.\w+)*|"(\\.|[^"\\])*")?)
      | (?P<sign>->|=>|>=|<=|==|!=|&&|\|\||[-+*/()\[\],;<>=!~&|¬∧∨→□◇≥≤∪∞^{}])
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> list[Token]:
    """Every word of the text, then one token for its end."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise FormulaError(_unreadable(text[at]), text, at, _advice(text[at]))
        kind, word = match.lastgroup, match.group()
        if kind == "quoted":
            found.append(Token("quoted", _unquoted(text, word, at), at))
        elif kind == "hole" and word.endswith('"'):
            found.append(Token("hole", "?" + _unquoted(text, word[1:], at + 1), at))
        elif kind != "space":
            found.append(Token(kind, word, at))  # type: ignore[arg-type]
        at = match.end()
    found.append(Token("end", "", len(text.rstrip())))
    return found


def _unquoted(text: str, word: str, at: int) -> str:
    try:
        name = str(json.loads(word, strict=False))
        name.encode("utf-8")  # half of a surrogate pair is no text
        return name
    except ValueError:
        raise FormulaError('a quoted name may escape only as JSON does: \\" \\\\ \\n \\u00e9', text, at) from None


def _unreadable(character: str) -> str:
    return "the quote opened here is not closed" if character == '"' else f"cannot read {character!r}"


def _advice(character: str) -> str | None:
    return 'names with spaces go in double quotes: "heart rate"' if character in "'`" else None
