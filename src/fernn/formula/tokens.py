"""The words of a text, and where its parser stands among them: holes met so far, complaints with their place."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count
from typing import Literal, NoReturn

from ..errors import FormulaError, excerpt
from .grammar import CONTEXTUAL, NOT_FINITE, RELATIONS, RESERVED
from .nodes import ALL_TIME, AnyAtom, OpenInterval, Relation, Span

TokenKind = Literal["number", "name", "quoted", "hole", "sign", "end"]
"""A hole is `?` with the name that touches it, if one does; its text has no quotes."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
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


def tokenize(text: str) -> list[Token]:
    """Every word of the text, then one token for its end."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise FormulaError(_describe_character(text[at]), text, at, _suggest_quotes(text[at]))
        kind, word = match.lastgroup, match.group()
        if kind == "quoted":
            found.append(Token("quoted", _unquote(text, word, at), at))
        elif kind == "hole" and word.endswith('"'):
            found.append(Token("hole", "?" + _unquote(text, word[1:], at + 1), at))
        elif kind != "space":
            found.append(Token(kind, word, at))  # type: ignore[arg-type]
        at = match.end()
    found.append(Token("end", "", len(text.rstrip())))
    return found


def _unquote(text: str, word: str, at: int) -> str:
    try:
        name = str(json.loads(word, strict=False))
        name.encode("utf-8")  # half of a surrogate pair is no text
        return name
    except ValueError:
        raise FormulaError('a quoted name may escape only as JSON does: \\" \\\\ \\n \\u00e9', text, at) from None


def _describe_character(character: str) -> str:
    return "the quote opened here is not closed" if character == '"' else f"cannot read {character!r}"


def _suggest_quotes(character: str) -> str | None:
    return 'names with spaces go in double quotes: "heart rate"' if character in "'`" else None


class TokenStream:
    """The tokens of a text: where parsing stands, which holes it has met, and how it complains."""

    def __init__(self, text: str, dt: float | None) -> None:
        self.text, self.dt = text, dt
        self.tokens, self.place, self.depth = tokenize(text), 0, 0
        self.names = {token.text[1:] for token in self.tokens if token.kind == "hole"}
        self.atoms: dict[str, AnyAtom] = {}
        self.windows: dict[str, OpenInterval] = {}

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def sees(self, *words: str, beyond: int = 0) -> bool:
        """Whether one of these words, unquoted, is next, or `beyond` so many others."""
        return self.among(words, beyond)

    def among(self, words: Collection[str], beyond: int = 0) -> bool:
        """As `sees`, for the words of a table."""
        place = self.place + beyond
        token = self.tokens[place if place < len(self.tokens) else -1]
        return token.text in words and token.kind != "quoted"

    def take(self) -> Token:
        token = self.next
        self.place += 1
        return token

    # holes

    def open_atom(self, hole: Token, channels: tuple[str, ...] = (), relations: tuple[Relation, ...] = ()) -> AnyAtom:
        """The open atom of this name; what it may use is said at the first mention, and may be repeated."""
        name = hole.text[1:] or self._unused_name("p")
        known = self.atoms.get(name)
        if known is not None and not channels and not relations:
            return known
        made = AnyAtom(name, channels, relations) if relations else AnyAtom(name, channels)
        if self.atoms.setdefault(name, made) != made:
            self.fail(f"?{name} is {known} before this; one name is one atom", hole.at, "give it another name")
        return made

    def open_window(self, hole: Token, spans: tuple[Span, ...], pieces: int | None) -> OpenInterval:
        """The open window of this name, as `open_atom`."""
        name = hole.text[1:] or self._unused_name("w")
        known = self.windows.get(name)
        if known is not None and not spans and pieces is None:
            return known
        made = OpenInterval(spans or ALL_TIME.spans, name, pieces or 1)
        if self.windows.setdefault(name, made) != made:
            self.fail(f"?{name} is {known} before this; one name is one window", hole.at, "give it another name")
        return made

    def _unused_name(self, letter: str) -> str:
        name = next(name for number in count(1) if (name := f"{letter}{number}") not in self.names)
        self.names.add(name)
        return name

    # complaints

    def fail(self, message: str, at: int | None = None, hint: str | None = None) -> NoReturn:
        raise FormulaError(message, self.text, self.next.at if at is None else at, hint)

    def unexpected(self, wanted: str) -> NoReturn:
        self.fail(f"expected {wanted}, found {self.next}", hint=self.suggestion())

    def suggestion(self) -> str | None:
        """What was probably meant here, judged from the word here and the one before."""
        before = self.tokens[self.place - 1] if self.place else None
        if self.next.kind == "name" and self.next.text.lower() in NOT_FINITE:
            return f'thresholds are finite numbers; a channel named {self.next.text} goes in quotes: "{self.next.text}"'
        if self.next.text == "=":
            return 'write == to ask for one value: gear == 3, mode == "LAND"'
        if self.next.text in ("==", "!="):
            return "== and != compare one channel with a text or a number, and end there"
        if before and before.kind == "name" and self.next.text == "=>":
            return "did you mean >= ? (=> is implication)"
        if before and before.text in RESERVED and self.next.text in RELATIONS:
            return f'a channel named {before.text} goes in quotes: "{before.text}"'
        if before and before.text in ("{", ",") and self.next.kind == "name" and self.next.text in RESERVED:
            return f'a channel named {self.next.text} goes in quotes: "{self.next.text}"'
        if before and before.text == "?" and self.next.kind == "number":
            return "the name of a hole begins with a letter: ?p1"
        if self.next.text == "^" or (before and before.kind == "name" and self.next.text == "{"):
            return "a window is written G[0,5], a power or an index is not part of the language"
        for token in (self.next, before):
            if token and token.kind == "name" and len(token.text) < 40:
                words = RESERVED | CONTEXTUAL
                close = get_close_matches(token.text.lower(), [w for w in words if len(w) > 2], 1, 0.7)
                if close and token.text not in words:
                    return f"did you mean '{close[0]}'?"
                if token.text in ("g", "f", "h", "o", "s") and token is before:
                    return f"operators are capital letters: {token.text.upper()}"
        if before and before.kind == "name" and self.next.kind == "name" and before.text not in RESERVED:
            return f'a name with a space goes in quotes: "{excerpt(before.text)} {excerpt(self.next.text)}"'
        return None
