"""Commands about recordings: look one over, or make one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common_options import (
    EngineName,
    FileOrFolder,
    InPieces,
    Json,
    PieceRows,
    by_file,
    is_split_by_file,
    is_streamed,
    reads_a_file,
    show_rows,
)
from .output import INTERRUPTED, as_json, check_output, complain, count_of

if TYPE_CHECKING:
    from ..data import DataCard, Problem


@reads_a_file
def check(
    file: FileOrFolder,
    stream: InPieces = None,
    piece_rows: PieceRows = None,
    engine: EngineName = None,
    json: Json = False,
    options: Any = None,
) -> int:
    """Show what a recording holds and all that is wrong with it.

    A folder of Parquet files, and a file larger than memory, is read in pieces; a folder on an engine, if one is named.
    """
    from ..data import data_card, inspect_input

    facts: DataCard | None
    if is_streamed(file, options, stream):
        try:
            facts, problems = _in_pieces(file, options, piece_rows)
        except KeyboardInterrupt:
            complain("interrupted: nothing can be said of a part")
            return INTERRUPTED
    else:
        dataset, problems = inspect_input(file, options)
        facts = data_card(dataset) if dataset is not None else None
    if json:
        rows = [
            {"kind": p.kind, "severity": p.severity, "where": p.where, "what": p.what, "fix": p.fix,
             "line": p.line, "column": p.column, "case": p.case}
            for p in problems
        ]  # fmt: skip
        typer.echo(as_json({"file": file, "card": facts.to_json() if facts else None, "problems": rows}))
    else:
        if facts is not None:
            typer.echo(f"{facts}\n")
        for problem in problems:
            typer.echo(f"{problem.severity}: {problem}")
        errors = sum(p.count for p in problems if p.severity == "error")
        warnings = sum(p.count for p in problems if p.severity != "error")
        typer.echo(f"{count_of(errors, 'error')}, {count_of(warnings, 'warning')}" if problems else "no problems")
    return 0 if facts is not None else 2


def _in_pieces(file: str, options: Any, rows: int | None) -> tuple[DataCard | None, tuple[Problem, ...]]:
    from ..data.streaming import open_source
    from ..data.streaming.stream_summary import Interrupted, summarize_stream
    from ..errors import DataError

    try:
        source = open_source(file, options)
    except DataError as error:
        if not error.problems:
            raise
        return None, tuple(error.problems)
    if is_split_by_file(source):
        from ..runs.out_of_core import summarize_by_parts

        with by_file("checked") as progress:
            return summarize_by_parts(source, rows, progress=progress)
    with show_rows("checked") as wants_end:
        try:
            return summarize_stream(source, rows, wants_end)
        except Interrupted:
            raise KeyboardInterrupt from None


@reads_a_file
def sample(
    file: Annotated[Path, typer.Argument(help="A CSV file, as large as you like.", metavar="FILE")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    megabytes: Annotated[float, typer.Option(help="Its size, at most.", min=0.001)] = 20.0,
    seed: Annotated[int, typer.Option(help="The same seed takes the same cases.", min=0)] = 0,
    json: Json = False,
    options: Any = None,
) -> int:
    """Take some cases out of a large recording: whole ones, the same share of each class."""
    from ..data import sample_file, suggest_command
    from ..errors import UnsupportedError

    check_output(output)
    if output.exists() and file.exists() and output.samefile(file):
        raise UnsupportedError(f"{output} is the recording itself; name another file with -o")
    result = sample_file(file, output, int(megabytes * 1e6), seed, **options)
    if json:
        typer.echo(as_json({"file": str(output), "kept": result.kept, "met": result.met, "size": result.size}))
    else:
        typer.echo(f"{output}: {result}")
        typer.echo(f"next: {suggest_command('check', [str(output)], options)}")
    return 0


def generate(
    name: Annotated[str, typer.Argument(help="cruise, intervals or tank.", metavar="NAME")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, .csv or .npz.")],
    cases: Annotated[int | None, typer.Option(help="Traces of each class; of tank, all.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same data.", min=0)] = 0,
    json: Json = False,
) -> int:
    """Write a labelled recording that the package makes itself."""
    from ..data import load, save, suggest_command, write_csv
    from ..errors import UnsupportedError

    check_output(output)
    if name == "tank":
        return _tank(output, cases, seed, json)
    makers, writers = ("cruise", "intervals"), {".csv": write_csv, ".npz": save}
    if name not in makers:
        raise UnsupportedError(f"fernn can make {', '.join(makers)} or tank, not {name!r}")
    if output.suffix not in writers:
        raise UnsupportedError(f"the file to write ends in .csv or .npz, found {output.name!r}")
    dataset = load(name, seed=seed, **({} if cases is None else {"cases": cases}))
    writers[output.suffix](dataset, output)
    if json:
        typer.echo(as_json({"file": str(output), "cases": len(dataset), "fingerprint": dataset.fingerprint}))
    else:
        typer.echo(
            f"wrote {len(dataset)} traces to {output}; look them over with: {suggest_command('check', [str(output)])}"
        )
    return 0


def _tank(output: Path, cases: int | None, seed: int, json: bool) -> int:
    """Traces with a label at every sample."""
    from ..data import suggest_command
    from ..errors import UnsupportedError
    from ..mining import tank

    if output.suffix != ".csv":
        raise UnsupportedError(f"the file to write for tank ends in .csv, found {output.name!r}")
    marks = tank(seed=seed, **({} if cases is None else {"cases": cases}))
    marks.write_csv(output)
    if json:
        typer.echo(as_json({"file": str(output), "cases": len(marks), "fingerprint": marks.fingerprint}))
    else:
        command = suggest_command("cause", [str(output)], more=["--label-per-sample", "fault"])
        typer.echo(f"wrote {len(marks)} traces to {output}; look for the causes of its faults with: {command}")
    return 0
