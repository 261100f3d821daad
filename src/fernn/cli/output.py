"""How results leave a command: text and tables for people, one JSON object for programs; and Ctrl-C."""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

INTERRUPTED = 130
"""The exit code of a command that was ended by Ctrl-C."""


class Interrupt:
    """While it is entered, the first Ctrl-C only sets `asked`; the second ends the process at once.

    The second is left to the system, so that it works in the midst of compiled code too. What is on disk is
    whole at every moment, so nothing is broken by it.
    """

    def __init__(self, on_first: Callable[[], None]) -> None:
        self.asked = False
        self._on_first = on_first
        self._before: Any = signal.SIG_DFL

    def __enter__(self) -> Interrupt:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is not signal.SIG_IGN:  # a job in the background hears no Ctrl-C
            signal.signal(signal.SIGINT, self._first)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _first(self, *_: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        self._on_first()


def complain(text: str) -> None:
    """To standard error, so that standard output stays what was asked for."""
    print(text, file=sys.stderr)


class Warnings:
    """Shows warnings on standard error, in the place of `warnings.showwarning`: each once, and a handful at most."""

    MOST = 5

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, message: object, *_: object, **__: object) -> None:
        if str(message) not in self._seen:
            self._seen.add(str(message))
            if len(self._seen) <= self.MOST:
                complain(f"warning: {message}")

    def finish(self) -> None:
        """Says how many were not shown."""
        more = len(self._seen) - self.MOST
        if more > 0:
            complain(f"and {count_of(more, 'warning')} more of this kind")


def check_output(path: Path | None) -> None:
    """That a file can be written there, as far as that is known before any work is done."""
    from ..errors import UnsupportedError

    if path is None:
        return
    if path.is_dir():
        raise UnsupportedError(f"{path} is a folder; name the file to write")
    if not path.parent.is_dir():
        raise UnsupportedError(
            f"{path} cannot be written: there is no folder {path.parent}. Make it, or name another file."
        )


def as_json(value: Any) -> str:
    """JSON that every reader takes: infinities as the words "inf" and "-inf"."""
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value + 0.0 if isinstance(value, float) else value  # -0 becomes 0


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of text: the first one flush left, numbers flush right."""
    cells = [[_cell(value) for value in row] for row in rows]
    columns = list(zip(titles, *cells, strict=True))
    widths = [max(map(text_width, column)) for column in columns]
    numeric = [all(_is_number(cell) for cell in column[1:]) for column in columns]
    lines = []
    for row in [list(titles), *cells]:
        parts = [
            " " * (width - text_width(cell)) + cell if right else cell + " " * (width - text_width(cell))
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def text_width(text: str) -> int:
    """The columns of a terminal that a text takes: wide letters take two, accents on their own none."""
    return len(text) if text.isascii() else sum(map(_letter_width, text))


def truncate(text: str, width: int) -> str:
    """The text, cut to this many columns of a terminal."""
    at = 0
    for i, letter in enumerate(text):
        at += _letter_width(letter)
        if at > width:
            return text[: max(i - 1, 0)] + "…"
    return text


def _letter_width(letter: str) -> int:
    return 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1


def _cell(value: object) -> str:
    return short(value) if isinstance(value, float) else "" if value is None else str(value)


def count_of(number: int, thing: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """`1.7 %`, `38 %`."""
    return f"{share * 100:.2g} %" if share < 0.995 else "100 %"


def short(value: float) -> str:
    """A number as people read it."""
    from ..formula.printer import format_short

    return format_short(value)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell == ""
    return True
