"""Commands on recordings larger than memory: when they are read in pieces, and how far that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .interrupt import Interrupt
from .output import complain
from .progress import Redrawn, Silent, can_redraw, clock
from .where import EVERY

if TYPE_CHECKING:
    from ..data.streaming import Stream

InPieces = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Read it in pieces; by itself where it is larger than memory."),
]
PieceRows = Annotated[int | None, typer.Option("--piece-rows", help="Rows at a time when it is read in pieces.", min=1)]


def is_streamed(file: str, options: dict[str, Any], asked: bool | None) -> bool:
    """Whether to read in pieces: if asked for, or if the file is too large for memory, or a folder."""
    if asked is not None:
        return asked
    if not Path(file).exists():
        return False
    from ..data.streaming import is_large

    return is_large(file, options.get("memory_limit"))


class Rows(Redrawn):
    """One line on a terminal: rows so far."""

    def __init__(self, far: Progress) -> None:
        super().__init__()
        self._far = far

    def _lines(self) -> list[str]:
        return [str(self._far)]


class Progress:
    """What is called after each lot; true once somebody wants it to end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._stream: Stream | None = None
        self._start = self._told = monotonic()
        self.stop: Interrupt | None = None

    def __call__(self, stream: Stream) -> bool:
        now = monotonic()
        if stream is not self._stream:
            self._stream, self._start = stream, now
        if now - self._told > EVERY and not can_redraw():
            complain(str(self))
            self._told = now
        return self.stop is not None and self.stop.asked

    def __str__(self) -> str:
        """`judged: 1,200,000 of 4,000,000 (30%) rows, 2,400 traces, 12 s`."""
        stream, seconds = self._stream, monotonic() - self._start
        if stream is None:
            return f"{self._what}: nothing yet, {clock(seconds)}"
        known = sum(stream.source.rows)
        share = f" of {known:,} ({stream.rows / known:.0%})" if known else ""
        return f"{self._what}: {stream.rows:,}{share} rows, {stream.cases:,} traces, {clock(seconds)}"


@contextmanager
def followed(what: str) -> Iterator[Progress]:
    """Progress on standard error while it is entered; Ctrl-C asks for an end."""
    far = Progress(what)
    shown = Rows(far) if can_redraw() else Silent()
    with shown, Interrupt(lambda: complain("stopping; Ctrl-C again quits at once")) as far.stop:
        yield far
