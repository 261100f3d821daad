"""The report of a run: the file that lies beside it, or one made now."""

from __future__ import annotations

from ..report.page import NAME, written
from ..runs import Run
from .answers import Refused


def report(run: Run) -> bytes:
    """The page; a link in the place of the file is not followed."""
    path = run.folder / NAME
    if path.is_symlink():
        raise Refused(f"{path} is a link to elsewhere. Remove it; the report is then made anew.", 409)
    if not path.is_file():
        if (run.front() is None and run.rules() is None) or "reading" not in run.settings:
            raise Refused(f"{run.folder.name} has found no formula yet, so there is nothing to report.", 409)
        written(run.folder)
    return path.read_bytes()
