"""Whether this is within a unit: then it is done here, and given to nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_inside: ContextVar[bool] = ContextVar("fernn_inside_a_unit", default=False)


def is_inside() -> bool:
    return _inside.get()


@contextmanager
def inside() -> Iterator[None]:
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)
