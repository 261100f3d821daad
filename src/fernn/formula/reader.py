"""A text being read: where the reading stands, which holes it has met, and how it complains."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from itertools import count
from typing import NoReturn

from ..errors import FormulaError, excerpt
from .interval import ALL_TIME, OpenInterval, Span
from .nodes import AnyAtom, Relation
from .tokens import Token, tokens
from .words import NOT_FINITE, RELATIONS, RESERVED


class Reader:
    """Words one after another; `parse`, `atom_text` and `window_text` take them."""

    def __init__(self, text: str, dt: float | None) -> None:
        self.text, self.dt = text, dt
        self.tokens, self.place, self.depth = tokens(text), 0, 0
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
        name = hole.text[1:] or self._unused("p")
        known = self.atoms.get(name)
        if known is not None and not channels and not relations:
            return known
        made = AnyAtom(name, channels, relations) if relations else AnyAtom(name, channels)
        if self.atoms.setdefault(name, made) != made:
            self.fail(f"?{name} is {known} before this; one name is one atom", hole.at, "give it another name")
        return made

    def open_window(self, hole: Token, spans: tuple[Span, ...], pieces: int | None) -> OpenInterval:
        """The open window of this name, as `open_atom`."""
        name = hole.text[1:] or self._unused("w")
        known = self.windows.get(name)
        if known is not None and not spans and pieces is None:
            return known
        made = OpenInterval(spans or ALL_TIME.spans, name, pieces or 1)
        if self.windows.setdefault(name, made) != made:
            self.fail(f"?{name} is {known} before this; one name is one window", hole.at, "give it another name")
        return made

    def _unused(self, letter: str) -> str:
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
        if self.next.text in ("=", "=="):
            return "equality has no margin; write x >= 3 & x <= 3, or one of the two"
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
                close = get_close_matches(token.text.lower(), [w for w in RESERVED if len(w) > 2], 1, 0.7)
                if close and token.text not in RESERVED:
                    return f"did you mean '{close[0]}'?"
                if token.text in ("g", "f", "h", "o", "s") and token is before:
                    return f"operators are capital letters: {token.text.upper()}"
        if before and before.kind == "name" and self.next.kind == "name" and before.text not in RESERVED:
            return f'a name with a space goes in quotes: "{excerpt(before.text)} {excerpt(self.next.text)}"'
        return None
