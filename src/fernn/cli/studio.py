"""The command that serves the local page."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from .reading import reads_a_file

LARGE, WORKABLE = 60_000_000, 8_000_000
"""Bytes of a text file above which the page works with a sample of it, and bytes of that."""


@reads_a_file
def studio(
    file: Annotated[
        str | None, typer.Argument(help="A recording to begin with, or the name of a data set.", metavar="FILE")
    ] = None,
    port: Annotated[int, typer.Option(help="Where the page is served; a free one for 0.", min=0, max=65535)] = 0,
    folder: Annotated[Path, typer.Option(help="Where runs and uploads lie.")] = Path("runs"),
    upload_limit: Annotated[str, typer.Option(help="Largest file that can be dropped on the page.")] = "60MB",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    options: Any = None,
) -> int:
    """Serve a page on this machine on which to learn rules, see them on the traces and change them.

    Nothing leaves the machine. Ctrl-C ends it; what is being learned is kept.
    """
    from ..errors import UnsupportedError

    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise UnsupportedError(f"the studio needs {' and '.join(missing)}: pip install 'fernn[studio]'")
    from ..learners.memory import bytes_of
    from ..studio.server import serve

    if file is not None and not _is_large(file):
        _check(file, options)
    if folder.exists() and not folder.is_dir():
        raise UnsupportedError(f"{folder} is a file; runs lie in a folder. Name another one with --folder.")
    if file is not None and _is_large(file):
        file = _part(Path(file), options, folder)
    serve(file, options, folder, port, bytes_of(upload_limit), not no_browser, typer.echo)
    return 0


def _is_large(file: str) -> bool:
    """Whether it is a text file that takes longer to read than a person waits."""
    from ..data.readers.registry import TEXT, file_format

    path = Path(file)
    return path.is_file() and file_format(path) == TEXT and path.stat().st_size > LARGE


def _part(path: Path, options: dict[str, Any], folder: Path) -> str:
    """Some of its cases, in a file among the runs, which is what the page works with."""
    from ..data import sample_file, suggest_command

    typer.echo(f"{path.name} is large: taking a sample of its cases ...")
    samples = folder / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    taken = sample_file(path, samples / f"{path.stem}-sample.csv", WORKABLE, **options)
    typer.echo(f"{taken}. All of it: {suggest_command('learn', [str(path)], options)}")
    return str(taken.path)


def _check(file: str, options: dict[str, Any]) -> None:
    """That there is such a file and that it can be held in memory; what is in it is for the page to show."""
    from ..data import is_named
    from ..data.file_checks import fits_memory
    from ..data.problems import Ledger
    from ..errors import DataError

    path = Path(file)
    if not path.exists() and is_named(file):
        return
    if not path.is_file():
        what = f"{file!r} is a folder" if path.is_dir() else f"there is no file {file!r}"
        raise DataError(f"{what}. Name a recording, or a data set such as cruise; or none, and drop one on the page.")
    ledger = Ledger(path.name)
    if not fits_memory(path, options["memory_limit"], ledger):
        raise DataError("\n".join(map(str, ledger.problems())), ledger.problems())
