"""The option that says where the work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer


def _used(name: str | None) -> str | None:
    if name is not None:
        from ..engine import use

        use(name)
    return name


EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine", callback=_used, metavar="NAME",
        help="Where the work is done: local, processes, ray, dask, slurm, or an address (FERNN_ENGINE).",
    ),
]  # fmt: skip
"""Taken note of as it is read; whatever the command then learns, is learned there."""


def is_elsewhere() -> bool:
    """Whether work is done elsewhere than in this process."""
    from ..engine import Local, engine_of

    return not isinstance(engine_of(), Local)


@contextmanager
def noting(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Shows how many units are done, of how many."""
    from .progress import Redrawn, Silent, can_redraw

    shown = Redrawn() if can_redraw() and not quiet else Silent()

    def doing(what: str, done: int, of: int) -> None:
        shown.note = f"{what}: {done} of {of}"

    with shown:
        yield doing
