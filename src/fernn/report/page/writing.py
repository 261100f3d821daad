"""From the folder of a run to the file of its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...data import Problem, suggest_command
from ...data.atomic_write import write_text
from ...errors import RunError
from ...runs import Job, Run, data_file, load_job
from .page import page

NAME = "report.html"


def written(run: str | Path, out: Path | None = None, file: str | None = None) -> Path:
    """Writes the report of a run, in its folder if nothing else is said; `file` is where the data are now."""
    problems: list[Problem] = []
    if out is not None:
        check_report(out)
    return written_of(_opened(run, file, problems), problems, out)


def written_of(job: Job, problems: Sequence[Problem], out: Path | None = None) -> Path:
    """The same for a job whose data are at hand, with what was found in reading them."""
    assert job.run is not None
    path = job.run.folder / NAME if out is None else out
    check_report(path)
    write_text(path, page(job, problems), follow_links=out is not None)
    return path


def check_report(path: Path) -> None:
    """That a report can be written there, which can be told before it is made."""
    if path.is_dir() and not path.is_symlink():
        raise RunError(f"{path} is a folder; a report is a file. Name one, such as {path / NAME}.")
    if not path.parent.is_dir():
        raise RunError(f"{path} cannot be written: there is no folder {path.parent}. Make it, or name another file.")


def _opened(folder: str | Path, file: str | None, problems: list[Problem]) -> Job:
    run = Run.open(folder)
    if file is None:
        try:
            file = data_file(run)
        except RunError:
            again = suggest_command("report", [str(folder)], more=["--data", "FILE"])
            raise RunError(
                f"the data of the run, {run.settings['file']}, is not there any more. Name it where it is now: {again}"
            ) from None
    return load_job(folder, file, lambda _, found: problems.extend(found), classes=True)
