"""The exceptions, as a tree, and helpers for messages.

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

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields as fields_of
from itertools import islice
from threading import Lock
from typing import Any

LONGEST_LINE = 1000
"""Characters of a line in a message; whatever is quoted in it, a message stays one that can be read."""


def excerpt(text: str, most: int = 80, at: int | None = None) -> str:
    """The text, or what stands around `at` (else its two ends), in about so many characters."""
    if len(text) <= most:
        return text
    if at is None:
        return f"{text[: most // 2]} ... {text[len(text) - most // 2 :]}"
    start, end = _excerpt_bounds(text, most, at)
    return "... " * (start > 0) + text[start:end] + " ..." * (end < len(text))


def _excerpt_bounds(text: str, most: int, at: int) -> tuple[int, int]:
    start = max(0, min(at - most // 2, len(text) - most))
    return start, min(len(text), start + most)


def _shorten_lines(message: object) -> object:
    if not isinstance(message, str) or len(message) <= LONGEST_LINE:
        return message
    return "\n".join(excerpt(line, LONGEST_LINE) for line in message.split("\n"))


class FernnError(Exception):
    """Anything fernn says no to."""

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(_shorten_lines(message), *more)


WIDEST = 100
"""Characters of a formula that are shown around the place of an error."""


class FormulaError(FernnError, ValueError):
    """A formula that cannot be read or built; shows the place when it came from text."""

    def __init__(self, message: str, text: str | None = None, at: int = 0, hint: str | None = None) -> None:
        self.message, self.text, self.at, self.hint = message, text, at, hint
        super().__init__(self._draw())

    def _draw(self) -> str:
        lines = [self.message]
        if self.text is not None:
            start = self.text.rfind("\n", 0, self.at) + 1
            line, at = self.text[start:].split("\n", 1)[0], self.at - start
            shown = excerpt(line, WIDEST, at).encode("utf-8", "replace").decode()
            first = _excerpt_bounds(line, WIDEST, at)[0] if len(line) > WIDEST else 0
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
        super().__init__(_shorten_lines(message), *more)


class EngineWarning(FernnWarning):
    """Some of the work that was handed to an engine failed, and is left out of the answer."""


_filter_lock = Lock()
_filter_depth = 0
_filter_state: Any = None


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """No warnings of fernn, in all threads: the first that enters puts a filter up, the last takes it down."""
    global _filter_depth, _filter_state
    with _filter_lock:
        _filter_depth += 1
        if _filter_depth == 1:
            _filter_state = warnings.catch_warnings()
            _filter_state.__enter__()
            warnings.simplefilter("ignore", FernnWarning)
    try:
        yield
    finally:
        with _filter_lock:
            _filter_depth -= 1
            if _filter_depth == 0:
                _filter_state.__exit__(None, None, None)


MALFORMED_DATA = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)
"""What is raised where data are not as they should be."""


@contextmanager
def convert_errors(kind: type[FernnError], what: str) -> Iterator[None]:
    """What breaks inside becomes an error of this kind, which says `what`; one that is of this kind already stays."""
    try:
        yield
    except kind:
        raise
    except (FernnError, *MALFORMED_DATA) as error:
        raise kind(f"{what} ({describe_error(error)}).") from error


def describe_error(error: BaseException) -> str:
    """What an error says, in a line of no great length."""
    said = f"there is no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
    return shorten(said.encode("utf-8", "backslashreplace").decode())


def shorten(said: str, most: int = 200) -> str:
    """In a line of so many characters, cut at a word."""
    line = " ".join(said.split())
    return line if len(line) <= most else f"{line[: most - 4].rsplit(' ', 1)[0]} ..."


MOST_LETTERS = 1400
"""Of what `short_repr` says of all fields together."""


def short_repr(self: Any) -> str:
    """`__repr__` of a dataclass in a few lines, whatever it holds: long values are cut, large ones counted."""
    names = [each.name for each in fields_of(self) if each.repr]
    room = max(24, MOST_LETTERS // max(len(names), 1))
    return f"{type(self).__name__}({', '.join(f'{name}={_short_value(getattr(self, name), room)}' for name in names)})"


def _short_value(value: Any, room: int, deep: bool = False) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and bool(value.shape):
        return f"<{value.dtype} array of {' x '.join(map(str, value.shape))}>"
    if isinstance(value, str) and len(value) > room:
        return f"{value[: max(room - 20, 8)]!r}... {len(value)} letters"
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        shown = ", ".join(_short_value(each, room // 3, True) for each in islice(value, 2))
        whole = f"[{shown}]" if len(value) <= 2 else f"[{shown}, ... {len(value)} in all]"
        return whole if len(whole) <= room and not (deep and len(value) > 2) else f"<{len(value)} in all>"
    if isinstance(value, Mapping):
        shown = ", ".join(
            f"{_short_value(key, 20)}: {_short_value(each, room // 3, True)}" for key, each in islice(value.items(), 3)
        )
        whole = f"{{{shown}}}" if len(value) <= 3 else f"{{{shown}, ... {len(value)} in all}}"
        return whole if len(whole) <= room else f"<{len(value)} entries>"
    text = f"'{value}'" if type(value).__module__.startswith("fernn.formula.") else repr(value)
    return text if len(text) <= room else f"{text[: max(room - 4, 8)]} ..."
