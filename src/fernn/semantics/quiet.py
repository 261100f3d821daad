"""What windows do at the edges is of no interest while many rules are tried."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from ..errors import FernnWarning

_changing = Lock()
_depth = 0
_before: Any = None


@contextmanager
def quiet() -> Iterator[None]:
    """Without fernn's warnings, in all threads: the first that enters puts a filter up, the last takes it down."""
    global _depth, _before
    with _changing:
        _depth += 1
        if _depth == 1:
            _before = warnings.catch_warnings()
            _before.__enter__()
            warnings.simplefilter("ignore", FernnWarning)
    try:
        yield
    finally:
        with _changing:
            _depth -= 1
            if _depth == 0:
                _before.__exit__(None, None, None)
