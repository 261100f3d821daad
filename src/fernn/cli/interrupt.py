"""Ctrl-C once asks for an end, Ctrl-C twice is one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

INTERRUPTED = 130
"""The exit code of a command that was ended by Ctrl-C."""


class Interrupt:
    """While it is entered, the first Ctrl-C only sets `asked`; the second ends the process at once.

    The second is left to the system, so that it works in the midst of compiled code too. What is on disk is
    whole at every moment, so nothing is broken by it.
    """

    def __init__(self, heard: Callable[[], None]) -> None:
        self.asked = False
        self._heard = heard
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
        self._heard()
