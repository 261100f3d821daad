"""How learning goes, on standard error: a bar that is redrawn, or plain lines where there is no terminal."""

from __future__ import annotations

import os
import sys
from math import inf, isfinite, isnan
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from .output import complain, count_of, truncate

if TYPE_CHECKING:
    from ..learners import Entry, Progress

STOPPING = "stopping; Ctrl-C again quits at once"
TICK = 0.25  # seconds from one drawing to the next
UP, CLEAR_LINE, CLEAR_BELOW = "\x1b[{}A", "\x1b[K", "\x1b[J"


class Silent:
    """Shows nothing; what the others add to it is how they show."""

    note = ""
    """What to say beside the progress, or before there is any."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def tell(self, progress: Progress) -> None:
        pass


class Lines(Silent):
    """A line when the front improves, at most one a second."""

    def __init__(self) -> None:
        self._formulas: set[str] = set()
        self._line, self._printed = "", -inf

    def __enter__(self) -> Lines:
        if self.note:
            complain(self.note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._line:
            complain(self._line)

    def tell(self, progress: Progress) -> None:
        new = [entry for entry in progress.front if str(entry.formula) not in self._formulas]
        if new:
            self._formulas |= {str(entry.formula) for entry in new}
            best = min(new, key=lambda entry: entry.train)
            where = f"{duration_text(progress.seconds)}, {count_text(progress)}"
            what = f"{progress.what}: " * bool(progress.what)
            self._line = f"{where}: {what}error {_error(best)} at length {best.length}: {best.formula}"
        if self._line and monotonic() - self._printed >= 1:
            complain(self._line)
            self._line, self._printed = "", monotonic()


class LiveLines(Silent):
    """Lines on a terminal, drawn over and over, and gone at the end."""

    def __init__(self) -> None:
        self._height = 0
        self._over = Event()
        self._thread = Thread(target=self._redraw, daemon=True)

    def __enter__(self) -> LiveLines:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        sys.stderr.write((UP.format(self._height) if self._height else "") + CLEAR_BELOW)
        sys.stderr.flush()

    def _redraw(self) -> None:
        """Leaves the cursor below the lines, so that whatever ends the process leaves a tidy screen."""
        while not self._over.is_set():
            lines = [truncate(line, _columns() - 1) for line in self._lines()]
            back = UP.format(self._height) if self._height else ""
            try:
                sys.stderr.write(back + "".join(f"\r{line}{CLEAR_LINE}\n" for line in lines))
                sys.stderr.flush()
            except OSError:  # the terminal is gone
                return
            self._height = len(lines)
            self._over.wait(TICK)

    def _lines(self) -> list[str]:
        """What to draw now; always as many."""
        return [self.note]


class Bar(LiveLines):
    """Two lines: how far, how long, and the best formula so far."""

    def __init__(self) -> None:
        super().__init__()
        self._start = self._last_progress = monotonic()
        self._progress: Progress | None = None
        self._full, self._empty = "█", "░"
        try:
            (self._full + self._empty).encode(sys.stderr.encoding)
        except (LookupError, TypeError, UnicodeError):
            self._full, self._empty = "#", "-"

    def tell(self, progress: Progress) -> None:
        self._progress, self._last_progress = progress, monotonic()

    def _lines(self) -> list[str]:
        time, progress, note = monotonic(), self._progress, self.note
        if progress is None:
            return [f"{note or 'starting'}  {duration_text(time - self._start)}", ""]
        since, left = time - self._last_progress, progress.seconds_left
        text = f" {progress.share:4.0%}  {count_text(progress)}  {duration_text(progress.seconds + since)}"
        text += f", {duration_text(max(left - since, 0))} left" if isfinite(left) else ""
        width = max(10, min(30, _columns() - 1 - len(text)))
        filled = round(width * min(max(progress.share, 0), 1))
        best = progress.front.picked
        beside = "".join(f"{words}  " for words in (note, progress.what) if words)
        bar = self._full * filled + self._empty * (width - filled)
        return [bar + text, f"{beside}error {_error(best)}  {best.formula}"]


def display(quiet: bool) -> Silent:
    """What suits standard error."""
    if quiet:
        return Silent()
    return Bar() if can_redraw() else Lines()


def can_redraw() -> bool:
    """Whether standard error is a terminal that lets lines be drawn over."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def count_text(progress: Progress) -> str:
    """`640 restarts`, or `12.3 million formulas, 4.1 million a second`."""
    if progress.restarts < 1_000_000:
        return count_of(progress.restarts, progress.unit)
    pace = progress.restarts / max(progress.seconds, 1e-3) / 1e6
    return f"{progress.restarts / 1e6:.1f} million {progress.unit}s, {pace:.1f} million a second"


def _error(entry: Entry) -> str:
    """On validation once it is known, until then in training."""
    return f"{entry.train if isnan(entry.validation) else entry.validation:.4f}"


def duration_text(seconds: float) -> str:
    """`7 s`, `2 min 5 s`, `1 h 3 min`."""
    total = int(seconds)
    if total < 60:
        return f"{total} s"
    return f"{total // 60} min {total % 60} s" if total < 3600 else f"{total // 3600} h {total // 60 % 60} min"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
