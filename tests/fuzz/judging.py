"""One input tried out: it ends in a value, in a FernnError, or it is a crash."""

from __future__ import annotations

import re
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fernn.errors import FernnError

from .targets import Target, quietly

LONGEST = 10.0
"""Seconds that one input may take."""


class TooLong(BaseException):
    """It did not end."""


@dataclass(frozen=True)
class Crash:
    """What went wrong; `site` is the same for inputs that break the same thing."""

    site: str
    story: str


@dataclass(frozen=True)
class Outcome:
    """`sign` is what happened, without the names and numbers of this input."""

    sign: str
    crash: Crash | None = None


def tried(target: Target, data: bytes) -> Outcome:
    quietly(lambda _: target.ready(), b"")
    try:
        with _limited(LONGEST):
            quietly(target.attempt, data)
    except FernnError as error:
        return Outcome(f"{target.name} {type(error).__name__} {_bare(str(error))}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of another library is no Exception
        site = _site(error)
        return Outcome(f"{target.name} {site}", Crash(f"{target.name}: {site}", traceback.format_exc()))
    return Outcome(f"{target.name} fine")


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooLong(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _bare(message: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+|\n  .*", "", message)[:120]


def _site(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/fernn/" in frame.filename] or list(frames)
    place = f"{own[-1].filename.rpartition('/fernn/')[2]}:{own[-1].lineno}" if own else "?"
    return f"{type(error).__name__} at {place}"
