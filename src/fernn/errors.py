"""What can go wrong, as a tree.

    FernnError
    ├── FormulaError          the text or the value is not a formula
    ├── DataError             the recordings cannot be used as they are (holds the problems found)
    ├── SignalError           arrays do not fit the formula: shapes, channels, NaN, infinity
    ├── RunError              a folder that is no run, or a run that cannot be used so
    ├── EngineError           work that was handed to an engine came to nothing
    └── UnsupportedError      a legal request that this reading of a formula cannot serve
    FernnWarning              the answer stands, but read this first
    └── EngineWarning         some work that was handed to an engine is left out of it

Every message says what was wanted, what came, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LONGEST_LINE = 1000
"""Characters of a line in a message; whatever is quoted in it, a message stays one that can be read."""


def excerpt(text: str, most: int = 80, at: int | None = None) -> str:
    """The text, or what stands around `at` (else its two ends), in about so many characters."""
    if len(text) <= most:
        return text
    if at is None:
        return f"{text[: most // 2]} ... {text[len(text) - most // 2 :]}"
    start, end = _stretch(text, most, at)
    return "... " * (start > 0) + text[start:end] + " ..." * (end < len(text))


def _stretch(text: str, most: int, at: int) -> tuple[int, int]:
    start = max(0, min(at - most // 2, len(text) - most))
    return start, min(len(text), start + most)


def _readable(message: object) -> object:
    if not isinstance(message, str) or len(message) <= LONGEST_LINE:
        return message
    return "\n".join(excerpt(line, LONGEST_LINE) for line in message.split("\n"))


class FernnError(Exception):
    """Anything fernn says no to."""

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(_readable(message), *more)


WIDEST = 100
"""Characters of a formula that are shown around the place of an error."""


class FormulaError(FernnError, ValueError):
    """A formula that cannot be read or built; shows the place when it came from text."""

    def __init__(self, message: str, text: str | None = None, at: int = 0, hint: str | None = None) -> None:
        self.message, self.text, self.at, self.hint = message, text, at, hint
        super().__init__(self._drawn())

    def _drawn(self) -> str:
        lines = [self.message]
        if self.text is not None:
            start = self.text.rfind("\n", 0, self.at) + 1
            line, at = self.text[start:].split("\n", 1)[0], self.at - start
            shown = excerpt(line, WIDEST, at).encode("utf-8", "replace").decode()
            first = _stretch(line, WIDEST, at)[0] if len(line) > WIDEST else 0
            lines += [f"  {shown}", "  " + " " * (at - first + 4 * (first > 0)) + "^"]
        if self.hint:
            lines.append(self.hint)
        return "\n".join(lines)


class DataError(FernnError, ValueError):
    """Recordings that cannot be used as they are; `problems` lists all that was found."""

    def __init__(self, message: str, problems: Sequence[Any] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__(message)


class SignalError(FernnError, ValueError):
    """Arrays that do not fit the formula: shape, channel names, NaN or infinity."""


class RunError(FernnError):
    """A folder that is not a run, holds another one, or is held by another process."""


class EngineError(FernnError):
    """Work that was handed to an engine failed again and again, or was answered with something else."""


class UnsupportedError(FernnError, ValueError):
    """A legal formula that this export or monitor cannot serve; says which can."""


class FernnWarning(UserWarning):
    """The answer stands, but something about it should be known."""

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(_readable(message), *more)


class EngineWarning(FernnWarning):
    """Some of the work that was handed to an engine failed, and is left out of the answer."""
