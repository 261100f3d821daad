"""Callbacks and `verbose` as the one watch of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..fit import Progress, Watch


def watching(callbacks: Sequence[Watch] | Watch | None, verbose: int) -> Watch:
    """A watch that tells each of the callbacks, in their order, and prints when `verbose` is above 0."""
    told: list[Watch] = [callbacks] if callable(callbacks) else list(callbacks or ())
    if verbose:
        told.append(printing(every=verbose > 1))

    def watch(progress: Progress) -> None:
        for tell in told:
            tell(progress)

    return watch


def printing(every: bool, write: Callable[[str], None] = print) -> Watch:
    """Writes a line when the picked formula changes, or `every` time."""
    last: list[object] = [None]

    def tell(progress: Progress) -> None:
        entry = progress.front.picked
        if every or entry.formula != last[0]:
            last[0] = entry.formula
            spent = f"{progress.seconds:7.1f} s {progress.share:4.0%}"
            write(f"{spent}  {progress.restarts:>5} {progress.unit}s  error {entry.train:.4f}  {entry.formula}")

    return tell
