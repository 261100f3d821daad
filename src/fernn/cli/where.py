"""The option that says where the work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from .output import complain
from .progress import can_redraw

if TYPE_CHECKING:
    from ..data.streaming import Source

EVERY = 30.0  # seconds from one line to the next where there is no terminal


def _used(name: str | None) -> str | None:
    """Chosen for all that follows. Before any work, what may not be chosen is refused and an address is named."""
    from ..engines.resolve import announce_engine, use

    if name is not None:
        use(name)
    announce_engine()
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
    from ..engines import Local, resolve_engine

    return not isinstance(resolve_engine(), Local)


def is_parted(source: Source) -> bool:
    """Whether a recording is worked through file by file elsewhere; where only its one file prevents it, says so."""
    if not is_elsewhere():
        return False
    if len(source.files) > 1:
        return True
    from ..engines import resolve_engine

    complain(
        f"{source.path} is one file, which is read here, not on {resolve_engine().name}; a folder goes file by file"
    )
    return False


@contextmanager
def by_file(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows how many files are done, and where; without a terminal at first, every half minute, and at the end."""
    from ..engines import resolve_engine

    name, last = resolve_engine().name, -EVERY
    with noting(False) as doing:

        def told(done: int, of: int) -> None:
            nonlocal last
            doing(f"files {what} on {name}", done, of)
            if not can_redraw() and (done == of or monotonic() - last > EVERY):
                complain(f"files {what} on {name}: {done} of {of}")
                last = monotonic()

        yield told


@contextmanager
def noting(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Shows how many units are done, of how many."""
    from .progress import Redrawn, Silent

    shown = Redrawn() if can_redraw() and not quiet else Silent()

    def doing(what: str, done: int, of: int) -> None:
        shown.note = f"{what}: {done} of {of}"

    with shown:
        yield doing
