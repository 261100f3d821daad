"""The report of a run: the file that lies beside it, or one made now."""

from __future__ import annotations

from ..runs import Run
from .answers import Refused

REPORT = "report.html"


def report(run: Run) -> bytes:
    """The page; a link in the place of the file is not followed."""
    path = run.folder / REPORT
    if path.is_symlink() or not path.is_file():
        raise Refused(f"{run.folder.name} has no report. Write one: fernn report {run.folder}", 404)
    return path.read_bytes()
