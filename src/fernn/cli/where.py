"""The option that says where the work is done."""

from __future__ import annotations

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
