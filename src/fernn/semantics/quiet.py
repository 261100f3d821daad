"""What windows do at the edges is of no interest while many rules are tried."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import FernnWarning


@contextmanager
def quiet() -> Iterator[None]:
    """Without fernn's warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FernnWarning)
        yield
